/** The model packs at the dashboard: what is loaded, the change from one pack to another, and a new reference of drift. */

import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { MINUTE_MS } from '../../src/lib/clock.js'
import type { ApiClient } from '../support/client.js'
import { type DashboardClient, loginToken, signIn } from '../support/dashboard.js'
import { base64, face } from '../support/faces.js'
import { operationsOf } from '../support/operations.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { writeCalibration, writeShiftedPack } from '../support/packs.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'

const OLD = 'baseline@1.0.0'
const NEW = 'shifted@1.0.0'
const NO_PLAN = { at_coverage: null, at_date: null }

let folder: string
let running: TestService
let operator: DashboardClient
let tenant: TestTenant
let production: ApiClient

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-models-page-'))
  const models = join(folder, 'models')
  await cp(inject('modelsDir'), models, { recursive: true })
  const baseline = join(models, 'baseline')
  await writeCalibration(join(baseline, 'calibration.json'), baseline, {
    source: 'users',
    data: {
      ...{ photos: 900, people: 600, genuine_pairs: 0, impostor_pairs: 179_700 },
      ...{ failed_to_acquire: 0, likely_duplicates: 2 },
    },
  })
  await writeShiftedPack(join(folder, 'shifted'), inject('modelsDir'))
  running = await startService(
    {
      COUNTERSIGN_MODELS_DIR: models,
      COUNTERSIGN_FOLLOWING_PACKS: join(folder, 'shifted'),
      COUNTERSIGN_ACCEPT_PACK: 'baseline,shifted',
    },
    { ownEngine: true },
  )
  operator = await signIn(running, { password: OPERATOR_PASSWORD })
  tenant = await running.tenant()
  production = await running.production(tenant)
  const image = base64(await face('ada'))
  for (const user_id of ['ada', 'late']) await production.enroll({ user_id, image })
})
afterAll(async () => {
  await running?.stop()
  await rm(folder, { recursive: true, force: true })
})

const models = async () => (await operator.call('GET', '/models')).body
const post = (path: string, body: unknown, client = operator) => client.call('POST', `/models/${path}`, body)
const changesOf = async () => {
  const entries = await running.service.core.store.read.auditEntriesOfEvent(
    tenant.id,
    'models_changed',
    0,
    100,
  )
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
    const session = await signIn(running, { login_token: await loginToken(running, tenant.id) })
    const begin = { to: NEW, strict_fmr: null, ...NO_PLAN }
    expect((await post('begin', begin, session)).status).toBe(403)
    expect((await session.call('GET', '/models')).status).toBe(403)
    const made = await operator.call('POST', '/operators', { name: 'vera', role: 'viewer' })
    const viewer = await signIn(running, { name: 'vera', password: made.body.password })
    expect((await viewer.call('GET', '/models')).status).toBe(200)
    expect((await post('begin', begin, viewer)).status).toBe(403)
    expect((await models()).migration).toBeNull()
  })
})

describe('a change of the model pack at the dashboard', () => {
  it('is begun, planned, moved, moved back and finished, and the audit log has each step', async () => {
    const begun = await post('begin', { to: NEW, strict_fmr: 1e-6, ...NO_PLAN })
    expect(begun).toMatchObject({ status: 200, body: { from: OLD, to: NEW, strict_fmr: 1e-6 } })
    const again = await post('begin', { to: NEW, strict_fmr: null, ...NO_PLAN })
    expect(again).toMatchObject({ status: 409, body: { code: 'model_migration_under_way' } })

    const at_date = '2040-01-31T06:00:00.000Z'
    expect((await post('plan', { at_coverage: 0.9, at_date })).body).toMatchObject({
      at_coverage: 0.9,
      at_date,
    })
    const image = base64(await face('ada'))
    expect((await production.enroll({ user_id: 'ada', image, replace: true })).status).toBe(201)
    expect((await models()).tenants[0]).toMatchObject({
      deciding: OLD,
      progress: { users: 2, covered: 1, coverage: 0.5 },
    })

    const all = { tenant: null, force: false }
    expect(await post('decide', all)).toMatchObject({ status: 409, body: { code: 'model_coverage_too_low' } })
    const forced = await post('decide', { tenant: tenant.id, force: true })
    expect(forced).toMatchObject({ status: 200, body: { moved: [tenant.name] } })
    expect((await models()).tenants[0].deciding).toBe(NEW)
    expect((await post('back', all)).body.moved).toEqual([tenant.name])
    expect((await models()).tenants[0].deciding).toBe(OLD)
    expect((await post('decide', { tenant: null, force: true })).body.moved).toEqual([tenant.name])

    expect(await post('finish', { dropping: NEW })).toMatchObject({
      status: 409,
      body: { code: 'model_decisions_differ' },
    })
    expect((await models()).migration.is_finishing).toBe(false)
    expect(await post('finish', { dropping: OLD })).toMatchObject({
      status: 200,
      body: { from: OLD, to: NEW, is_finishing: true },
    })
    running.clock.advance(2 * MINUTE_MS)
    await operationsOf(running.service).modelSweep.advance(() => true)
    expect(await models()).toMatchObject({ migration: null, tenants: [{ deciding: NEW, progress: null }] })

    const changes = await changesOf()
    expect(changes.map(({ change }) => change)).toEqual([
      ...['begun', 'planned', 'decision_moved', 'decision_moved', 'decision_moved', 'finishing', 'finished'],
    ])
    expect(new Set(changes.slice(0, -1).map(({ actor }) => actor))).toEqual(new Set(['dashboard:operator']))
  })

  it('is refused for a pack that is not loaded, and for a time that is none', async () => {
    for (const to of ['other@1.0.0', OLD])
      expect(await post('begin', { to, strict_fmr: null, ...NO_PLAN })).toMatchObject({
        status: 409,
        body: { code: 'model_pack_not_served' },
      })
    const begin = { to: NEW, strict_fmr: null, at_coverage: null, at_date: 'tomorrow' }
    expect(await post('begin', begin)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(await post('plan', NO_PLAN)).toMatchObject({ status: 409, body: { code: 'no_model_migration' } })
  })
})

describe('a new reference of drift', () => {
  const path = () => `/tenants/${tenant.id}/drift/restart`

  it('is begun by the operator and not by the tenant, whose alert it is not', async () => {
    const session = await signIn(running, { login_token: await loginToken(running, tenant.id) })
    expect((await session.call('POST', path(), {})).status).toBe(403)
    const { status, body } = await operator.call('POST', path(), {})
    expect(status).toBe(200)
    const record = (await running.service.core.store.read.tenantById(tenant.id))!
    expect(new Date(record.driftSince!).toISOString()).toBe(body.since)
  })
})
