/** The model packs at the dashboard: what is loaded, the change from one pack to another, and a new reference of drift. */

import { describe, expect, it } from 'vitest'
import { base64, face } from '../support/faces.js'
import { finishChange, NEW, OLD, openConsole, startWithTwoPacks } from './console.js'

const NO_PLAN = { at_coverage: null, at_date: null }

const desk = await openConsole(startWithTwoPacks)
const { operator, running, tenant } = desk
const production = await running.production(tenant)
const image = base64(await face('ada'))
for (const user_id of ['ada', 'late']) await production.enroll({ user_id, image })

const models = async () => (await operator.call('GET', '/models')).body
const post = (path: string, body: unknown, by = operator) => by.call('POST', `/models/${path}`, body)
const changesOf = async () => {
  const entries = await desk.store.read.auditEntriesOfEvent(tenant.id, 'models_changed', 0, 100)
  return entries.map(({ entry }) => JSON.parse(entry))
}

describe('the page of the model packs', () => {
  it('names the loaded packs, and the rate that was measured between the users of the installation', async () => {
    const { packs, migration, tenants } = await models()
    expect(packs.map(({ model }: { model: string }) => model)).toEqual([OLD, NEW])
    expect(packs[0].own_rate).toMatchObject({
      ...{ date: '2026-05-31', people: 600, pairs: 179_700, likely_duplicates: 2 },
      points: [{ fmr: 1e-4, basis: 'measured' }],
    })
    expect(packs[1].own_rate).toBeNull()
    expect(migration).toBeNull()
    expect(tenants).toEqual([{ tenant_id: tenant.id, name: tenant.name, deciding: OLD, progress: null }])
  })

  it('changes nothing for a tenant, nor for an operator who may only look', async () => {
    const { own: session } = desk
    const begin = { to: NEW, strict_fmr: null, ...NO_PLAN }
    expect((await post('begin', begin, session)).status).toBe(403)
    expect((await session.call('GET', '/models')).status).toBe(403)
    const { viewer } = desk
    expect((await viewer.call('GET', '/models')).status).toBe(200)
    expect((await post('begin', begin, viewer)).status).toBe(403)
    expect((await models()).migration).toBeNull()
  })
})

describe('a change of the model pack at the dashboard', () => {
  it('is begun, planned, moved, moved back and finished, and the audit log has each step', async () => {
    const begun = await post('begin', { to: NEW, strict_fmr: 1e-6, ...NO_PLAN })
    expect(begun).toMatchObject({ status: 200, body: { from: OLD, to: NEW, strict_fmr: 1e-6 } })
    expect((await post('begin', { to: NEW, strict_fmr: null, ...NO_PLAN })).outcome).toBe(
      '409 model_migration_under_way',
    )

    const at_date = '2040-01-31T06:00:00.000Z'
    expect((await post('plan', { at_coverage: 0.9, at_date })).body).toMatchObject({
      at_coverage: 0.9,
      at_date,
    })
    expect((await production.enroll({ user_id: 'ada', image, replace: true })).status).toBe(201)
    expect((await models()).tenants[0]).toMatchObject({
      deciding: OLD,
      progress: { users: 2, covered: 1, coverage: 0.5 },
    })

    const all = { tenant: null, force: false }
    expect((await post('decide', all)).outcome).toBe('409 model_coverage_too_low')
    const forced = await post('decide', { tenant: tenant.id, force: true })
    expect(forced).toMatchObject({ status: 200, body: { moved: [tenant.name] } })
    expect((await models()).tenants[0].deciding).toBe(NEW)
    expect((await post('back', all)).body.moved).toEqual([tenant.name])
    expect((await models()).tenants[0].deciding).toBe(OLD)
    expect((await post('decide', { tenant: null, force: true })).body.moved).toEqual([tenant.name])

    expect((await post('finish', { dropping: NEW })).outcome).toBe('409 model_decisions_differ')
    expect((await models()).migration.is_finishing).toBe(false)
    expect(await post('finish', { dropping: OLD })).toMatchObject({
      status: 200,
      body: { from: OLD, to: NEW, is_finishing: true },
    })
    await finishChange(running)
    expect(await models()).toMatchObject({ migration: null, tenants: [{ deciding: NEW, progress: null }] })

    const changes = await changesOf()
    expect(changes.map(({ change }) => change)).toEqual([
      ...['begun', 'planned', 'decision_moved', 'decision_moved', 'decision_moved', 'finishing', 'finished'],
    ])
    expect(new Set(changes.slice(0, -1).map(({ actor }) => actor))).toEqual(new Set(['dashboard:operator']))
  })

  it('is refused for a pack that is not loaded, and for a time that is none', async () => {
    for (const to of ['other@1.0.0', OLD])
      expect((await post('begin', { to, strict_fmr: null, ...NO_PLAN })).outcome).toBe(
        '409 model_pack_not_served',
      )
    const begin = { to: NEW, strict_fmr: null, at_coverage: null, at_date: 'tomorrow' }
    expect((await post('begin', begin)).outcome).toBe('400 invalid_request')
    expect((await post('plan', NO_PLAN)).outcome).toBe('409 no_model_migration')
  })
})

describe('a new reference of drift', () => {
  const path = () => `/tenants/${tenant.id}/drift/restart`

  it('is begun by the operator and not by the tenant, whose alert it is not', async () => {
    const { own: session } = desk
    expect((await session.call('POST', path(), {})).status).toBe(403)
    const { status, body } = await operator.call('POST', path(), {})
    expect(status).toBe(200)
    const record = (await running.service.core.store.read.tenantById(tenant.id))!
    expect(new Date(record.driftSince!).toISOString()).toBe(body.since)
  })
})
