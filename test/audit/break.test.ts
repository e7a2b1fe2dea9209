/** A log that somebody changed in the database: what callers and operators of a running service see. */
import { expect, it } from 'vitest'
import { photoOf } from '../support/faces.js'
import { serviceOfFile } from '../support/service.js'

const running = await serviceOfFile()

it('a broken audit log is reported in the log, the metric and the tenant’s own audit log, and users are still verified', async () => {
  const { service, database } = running
  const tenant = await running.tenant()
  const production = await running.production(tenant)
  const image = await photoOf('ada')
  const verify = () => production.verify({ user_id: 'ada', image, action: 'login' })
  expect((await production.enroll({ user_id: 'ada', image })).status).toBe(201)
  expect((await verify()).status).toBe(200)
  const { audit, store } = service.core
  const { entries, brokenAt } = await audit.verify(store.read, tenant.id)
  expect(brokenAt).toBeNull()
  const metric = async () =>
    /^countersign_audit_breaks_total (\d+)$/m.exec(
      await (await fetch(`${service.adminUrl}/metrics`)).text(),
    )?.[1]
  expect(await metric()).toBe('0')

  await database.query(`DELETE FROM audit_seal WHERE tenant_id = '${tenant.id}'`)
  expect((await verify()).status).toBe(200)
  expect((await verify()).status).toBe(200)
  expect(await metric()).toBe('1')
  expect(running.logText()).toContain('an audit log was changed in the database')
  expect(await audit.verify(store.read, tenant.id)).toEqual({ entries, brokenAt: entries + 1 })
  const { body } = await production.call('GET', `/v1/audit?after=${entries}`)
  expect(body.data).toMatchObject([
    {
      event: 'audit_break_found',
      actor: 'service',
      facts: { sealed_sequence: null, found_sequence: entries },
    },
    { event: 'verify' },
    { event: 'verify' },
  ])
})
