/** Tests of the export of what is kept about a person: it has everything but the templates. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { base64, face } from '../support/faces.js'
import { operationsOf } from '../support/operations.js'
import { startService, type TestService } from '../support/service.js'

let running: TestService
beforeAll(async () => {
  running = await startService()
})
afterAll(() => running?.stop())

it('exports enrollment, consent, lockout, last use and audit entries of one user, and records that it did', async () => {
  const tenant = await running.tenant({ ratePerSecond: 1000 })
  const production = await running.production(tenant)
  const [ada, grace] = [base64(await face('ada')), base64(await face('grace'))]
  const consent = { id: 'terms-1', agreed_at: '2026-11-23T10:00:00Z' }
  const { body: enrolled } = await production.enroll({ user_id: 'ada', image: ada, consent })
  await production.enroll({ user_id: 'grace', image: grace })
  const rejected = await production.verify({ user_id: 'ada', image: grace, action: 'look' })
  const { tenancy } = running.service.core
  const operations = operationsOf(running.service)
  const record = await tenancy.find(tenant.id)
  const exportOf = (userId: string) =>
    operations.exports.run(record, COMMAND_LINE, { environment: 'production', userId })
  const facts = await exportOf('ada')
  expect(facts).toMatchObject({
    environment: 'production',
    user: { user_id: 'ada', reference: { reference_id: enrolled.reference_id, consent } },
    remembered_captures: 2,
    passkeys: [],
    erasure_announced_at: null,
  })
  expect(facts.last_used_at).not.toBeNull()
  expect(facts.audit_entries).toMatchObject([
    { event: 'enroll', reference_id: enrolled.reference_id },
    { event: 'verify', verification_id: rejected.body.verification_id, reason: 'no_match' },
  ])
  const [vector] = (await running.database.query('SELECT sealed FROM reference')) as Array<{ sealed: Buffer }>
  expect(JSON.stringify(facts)).not.toContain(vector!.sealed.toString('base64').slice(0, 24))
  expect(JSON.stringify(facts)).not.toMatch(/embedding|vector|\[-?0\.\d/)
  expect((await exportOf('ada')).audit_entries.at(-1)).toMatchObject({
    event: 'user_exported',
    actor: 'operator',
  })
  await expect(exportOf('nobody')).rejects.toThrow('No reference is enrolled')
})
