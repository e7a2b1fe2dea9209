import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { sqliteFile } from '../../src/config/config.js'
import { VERSION } from '../../src/lib/version.js'
import { StoreUnavailableError } from '../../src/storage/store.js'
import { base64, face } from '../support/faces.js'
import { serviceOfFile, serviceOfTest } from '../support/service.js'

const running = await serviceOfFile()
const tenant = await running.tenant()

describe('health', () => {
  it('reports health with 200 and its checks in both environments', async () => {
    const production = await running.production(tenant)
    for (const [environment, client] of [
      ['sandbox', tenant.sandbox],
      ['production', production],
    ] as const) {
      const response = await client.health()
      const { transport } = running.service
      expect(response.status).toBe(200)
      expect(response.body).toEqual({
        status: 'ok',
        environment,
        version: VERSION,
        checks: {
          engine: {
            status: 'ok',
            model: running.service.engine.pack.modelId,
            following_models: [],
            grade: 'evaluation',
            workers: { ready: 1, configured: 1 },
            queue: { waiting: 0, running: 0, limit: 32 },
            execution_provider: 'cpu',
            fallbacks: [],
          },
          store: { status: 'ok' },
          http: { status: 'ok', transport: transport.name, reason: transport.reason },
        },
      })
    }
  })

  it('writes no audit entry for a health report', async () => {
    const production = await running.production(await running.tenant())
    const before = await running.service.core.store.read.counts()
    await production.health()
    expect((await running.service.core.store.read.counts()).auditEntries).toBe(before.auditEntries)
  })

  it('reports which provider could not serve', async () => {
    const fallen = await serviceOfTest({ COUNTERSIGN_EXECUTION_PROVIDERS: 'cuda,cpu' })
    const { body } = await (await fallen.tenant()).sandbox.health()
    const { execution_provider, fallbacks } = body.checks.engine
    const isCuda = execution_provider === 'cuda'
    expect(fallbacks.map(({ provider }: { provider: string }) => provider)).toEqual(isCuda ? [] : ['cuda'])
  })

  // This test is the last one with this service: the engine does not come back.
  it('reports health with 503, degraded and Retry-After, when the engine cannot serve', async () => {
    await running.service.engine.drain()
    const response = await tenant.sandbox.health()
    expect(response.status).toBe(503)
    expect(response.body).toMatchObject({
      status: 'degraded',
      checks: { engine: { status: 'degraded' }, store: { status: 'ok' } },
    })
    expect(response.body).not.toHaveProperty('error')
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})

it('answers writes with a coded 503 while another process locks the database, shows it in health, and recovers', async () => {
  const locked = await serviceOfTest({ COUNTERSIGN_DEADLINE_MS: '1500' })
  const { sandbox } = await locked.tenant()
  const image = base64(await face('ada', 120))
  const other = new Database(sqliteFile(locked.service.config), { timeout: 0 })
  // The service runs on this thread: a wait inside SQLite would block the commit that it waits for.
  await expect.poll(() => other.exec('BEGIN IMMEDIATE').inTransaction).toBe(true)
  const refused = await sandbox.enroll({ user_id: 'ada', image })
  expect(refused.status).toBe(503)
  expect(refused.body.code).toBe('store_unavailable')
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  const degraded = await sandbox.health()
  expect(degraded.status).toBe(503)
  expect(degraded.body).toMatchObject({ status: 'degraded', checks: { store: { status: 'degraded' } } })
  other.exec('COMMIT')
  other.close()
  await expect.poll(async () => (await sandbox.health()).status).toBe(200)
  expect((await sandbox.enroll({ user_id: 'ada', image })).status).toBe(201)
})

it('reports a database that cannot be read to recent callers of health, and lets nobody else in', async () => {
  const lost = await serviceOfTest()
  const [known, stranger] = [await lost.tenant(), await lost.tenant()]
  expect((await known.sandbox.health()).status).toBe(200)
  const { read } = lost.service.core.store
  const gone = async () => {
    throw new StoreUnavailableError('the disk is gone')
  }
  Object.assign(read, { apiKeyByHash: gone, tenantById: gone })
  const degraded = await known.sandbox.health()
  expect(degraded.status).toBe(503)
  expect(degraded.body).toMatchObject({ status: 'degraded', checks: { store: { status: 'degraded' } } })
  expect((await stranger.sandbox.health()).body.code).toBe('store_unavailable')
  expect((await known.sandbox.erase('ada')).body.code).toBe('store_unavailable')
})
