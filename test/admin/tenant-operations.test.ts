import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type AdministeredCore, administered } from '../../src/admin/administration.js'
import { loadConfig } from '../../src/app/configuration.js'
import { openCore } from '../../src/app/core.js'
import { AUDIT_EVENTS } from '../../src/audit/audit-events.js'
import { COMMAND_LINE, OpenUnitOfWork } from '../../src/audit/audited-unit-of-work.js'
import type { Environment } from '../../src/config/config.js'
import { changeCapturePage } from '../../src/features/capture-sessions/capture-page-operations.js'
import { DAY_MS, ManualClock } from '../../src/lib/clock.js'
import type { TenantRecord } from '../../src/storage/records.js'

const actor = { name: 'dashboard:operator', requestId: 'req_1' }
const clock = new ManualClock()
let dataDir: string
let core: AdministeredCore
let tenant: TenantRecord
let count = 0

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'countersign-test-'))
  core = administered(await openCore(loadConfig({ COUNTERSIGN_DATA_DIR: dataDir }), clock), clock)
})
afterAll(async () => {
  await core?.store.close()
  await rm(dataDir, { recursive: true, force: true })
})
beforeEach(async () => {
  ;({ tenant } = await core.tenancy.create(`tenant-${++count}`))
})

const log = async () =>
  (await core.store.read.auditEntries(tenant.id, 0, 100)).map(({ entry }) => JSON.parse(entry))
const issue = () =>
  core.store.transaction('installation', (tx) => tx.setProductionIssued(tenant.id, clock.now()))
const enrol = (userId: string, environment: Environment) =>
  core.store.transaction('installation', (tx) => {
    const blindIndex = core.vault.blindIndex(tenant.id, environment, userId)
    return tx.insertSubject(core.vault.create(tenant.id, environment, blindIndex, userId).record)
  })

describe('an operation', () => {
  it('an operation appends one audit entry with the actor, the request and the facts', async () => {
    const { keys, tenants } = core.operations
    await issue()
    await keys.revealProduction(tenant, actor)
    await keys.reissue(tenant, actor, 'sandbox', 1000, null)
    await keys.revoke(tenant, COMMAND_LINE, 'production')
    const { current, previous } = await keys.rotateSigning(tenant, actor, false)
    await tenants.setContract(tenant, actor, {
      ratePerSecond: 7,
      fmr: 1e-5,
      requireLiveness: 'active',
      replaceVerdictMinutes: 10,
    })
    await changeCapturePage(core.operations.audited, tenant, actor, {
      company: 'Bank of Ada',
      returnOrigins: ['https://bank.example'],
      frameAncestors: [],
      consent: { version: '1', text: 'We compare your face.' },
      color: '#0b57d0',
    })
    const by = { actor: actor.name, request_id: actor.requestId }
    const times = { at: expect.any(String), sequence: expect.any(Number) }
    expect(await log()).toEqual([
      { ...by, ...times, event: 'key_revealed', type: 'production' },
      { ...by, ...times, event: 'key_reissued', type: 'sandbox', grace_seconds: 1 },
      { actor: 'operator', request_id: null, ...times, event: 'key_revoked', type: 'production', revoked: 1 },
      { ...by, ...times, event: 'rotate_signing', current: current.id, previous: previous.id },
      {
        ...by,
        ...times,
        event: 'contract_changed',
        rate_per_second: 7,
        fmr: 1e-5,
        require_liveness: 'active',
        replace_verdict_minutes: 10,
        previous: {
          rate_per_second: tenant.ratePerSecond,
          fmr: null,
          require_liveness: null,
          replace_verdict_minutes: null,
        },
      },
      {
        ...by,
        ...times,
        event: 'capture_page_changed',
        company: 'Bank of Ada',
        return_origins: ['https://bank.example'],
        frame_ancestors: [],
        consent_version: '1',
        color: '#0b57d0',
        logo_sha256: null,
        consent_sha256: createHash('sha256').update('We compare your face.').digest('hex'),
        previous: {
          company: null,
          return_origins: [],
          frame_ancestors: [],
          consent_version: null,
          consent_sha256: null,
          color: null,
          logo_sha256: null,
        },
      },
    ])
    for (const { event } of await log()) expect(AUDIT_EVENTS).toContain(event)
    expect(await core.audit.verify(core.store.read, tenant.id)).toEqual({ entries: 6, brokenAt: null })
  })

  it('a refused operation changes nothing and appends no audit entry', async () => {
    const { keys } = core.operations
    await keys.rotateSigning(tenant, actor, false)
    const before = await core.store.read.signingSecrets(tenant.id, clock.now())
    await expect(keys.rotateSigning(tenant, actor, false)).rejects.toMatchObject({
      code: 'rotation_in_progress',
    })
    await expect(keys.revealProduction(tenant, actor)).rejects.toMatchObject({
      code: 'production_key_not_issued',
    })
    await expect(keys.revoke(tenant, actor, 'production')).rejects.toMatchObject({ code: 'no_active_key' })
    expect(await core.store.read.signingSecrets(tenant.id, clock.now())).toEqual(before)
    expect(await log()).toHaveLength(1)
  })

  it('an operation in an open unit of work leaves its facts to that unit and appends no audit entry', async () => {
    const { current, previous, facts } = await core.store.transaction('installation', async (tx) => {
      const unit = new OpenUnitOfWork(tx)
      const rotation = await core.operations.keys.rotateSigning(tenant, unit, false)
      return { ...rotation, facts: unit.facts }
    })
    expect(facts).toEqual({ event: 'rotate_signing', current: current.id, previous: previous.id })
    expect(await log()).toEqual([])
  })
})

describe('a new tenant', () => {
  it('the first audit entry of a new tenant has the actor and the contract', async () => {
    const { tenants } = core.operations
    const contract = { ratePerSecond: 7, fmr: 1e-5 }
    ;({ tenant } = await tenants.create('founded', actor, contract, 'http://admin'))
    expect(await log()).toEqual([
      {
        event: 'tenant_created',
        actor: actor.name,
        request_id: actor.requestId,
        name: 'founded',
        rate_per_second: 7,
        fmr: 1e-5,
        require_liveness: null,
        replace_verdict_minutes: null,
        at: expect.any(String),
        sequence: 1,
      },
    ])
  })
})

describe('an erasure', () => {
  const erase = (environment: Environment, userId = 'ada') =>
    core.operations.users.erase(tenant, actor, { environment, userId })

  it('a repeated erasure returns the same receipt for a day and is recorded as repeated', async () => {
    await enrol('ada', 'production')
    const { receipt, isRepeated } = await erase('production')
    expect(isRepeated).toBe(false)
    expect(await erase('production')).toMatchObject({
      receipt: { erasureId: receipt.erasureId },
      isRepeated: true,
    })
    clock.advance(DAY_MS)
    await expect(erase('production')).rejects.toMatchObject({ code: 'reference_not_found' })
    const by = { event: 'delete', actor: actor.name, request_id: actor.requestId }
    expect(await log()).toMatchObject([
      { ...by, status: 200, subject: expect.any(String), erasure_id: receipt.erasureId, captures: 0 },
      { ...by, status: 200, erasure_id: receipt.erasureId, repeated: true },
      { ...by, status: 404, code: 'reference_not_found' },
    ])
  })

  it('an erasure in the sandbox appends no audit entry', async () => {
    await enrol('ada', 'sandbox')
    expect((await erase('sandbox')).isRepeated).toBe(false)
    await expect(erase('sandbox', 'nobody')).rejects.toMatchObject({ code: 'reference_not_found' })
    expect(await log()).toEqual([])
  })
})

describe('a tenant', () => {
  const authenticate = (key: string) => core.tenancy.authenticate(`Bearer ${key}`, 'sandbox')

  it('deleting a tenant erases every user, key, secret, link and session, and keeps the audit log', async () => {
    const { lifecycle, tenants } = core.operations
    const created = await core.tenancy.create('closing')
    const neighbour = tenant
    await enrol('neighbour', 'production')
    tenant = created.tenant
    // More than a batch.
    for (let i = 0; i < 201; i++) await enrol(`user-${i}`, i % 2 === 0 ? 'production' : 'sandbox')
    await tenants.createLoginLink(tenant, actor, 'http://admin')
    const { store } = core
    const receipt = await lifecycle.delete(tenant, actor)
    expect(receipt).toMatchObject({ users: 201, references: 0, erasureId: expect.stringMatching(/^era_/) })
    expect(await store.read.blindIndexesOf(tenant.id, 10)).toEqual([])
    expect(await store.read.signingSecrets(tenant.id, clock.now())).toEqual([])
    await expect(authenticate(created.sandboxKey)).rejects.toMatchObject({ code: 'revoked_api_key' })
    expect((await log()).at(-1)).toMatchObject({
      event: 'tenant_deleted',
      actor: actor.name,
      erasure_id: receipt.erasureId,
      users: 201,
    })
    expect((await core.audit.verify(store.read, tenant.id)).brokenAt).toBeNull()
    expect(await store.read.blindIndexesOf(neighbour.id, 10)).toHaveLength(1)

    const deleted = { code: 'tenant_deleted' }
    for (const again of [
      () => lifecycle.delete(tenant, actor),
      () => lifecycle.resume(tenant, actor),
      () => core.tenancy.findLive(tenant.name),
    ])
      await expect(again()).rejects.toMatchObject(deleted)
    await expect(core.tenancy.create('closing')).rejects.toMatchObject({ code: 'tenant_exists' })
    // A call that was under way brings nobody back.
    await expect(enrol('late', 'production')).rejects.toThrow('the tenant is deleted')
  })
})
