import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { VERSION } from '../../src/version.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'

let running: TestService
let tenant: TestTenant

beforeAll(async () => {
  running = await startService()
  tenant = await running.tenant()
})
afterAll(() => running?.stop())

describe('health', () => {
  it('is 200 ok in both environments, with its checks', async () => {
    const production = await running.production(tenant)
    for (const [environment, client] of [
      ['sandbox', tenant.sandbox],
      ['production', production],
    ] as const) {
      const response = await client.health()
      expect(response.status).toBe(200)
      expect(response.body).toEqual({
        status: 'ok',
        environment,
        version: VERSION,
        checks: {
          engine: {
            status: 'ok',
            model: running.service.engine.pack.modelId,
            workers: { ready: 1, configured: 1 },
            queue: { waiting: 0, running: 0, limit: 32 },
            execution_provider: 'cpu',
            fallbacks: [],
          },
          store: { status: 'ok' },
        },
      })
    }
  })

  it('writes no audit entry', async () => {
    const production = await running.production(await running.tenant())
    const before = await running.service.ledger.store.read.counts()
    await production.health()
    expect((await running.service.ledger.store.read.counts()).auditEntries).toBe(before.auditEntries)
  })

  it('tells which provider could not serve', async () => {
    const fallen = await startService({ COUNTERSIGN_EXECUTION_PROVIDERS: 'cuda,cpu' })
    try {
      const { body } = await (await fallen.tenant()).sandbox.health()
      const { execution_provider, fallbacks } = body.checks.engine
      const isCuda = execution_provider === 'cuda'
      expect(fallbacks.map(({ provider }: { provider: string }) => provider)).toEqual(isCuda ? [] : ['cuda'])
    } finally {
      await fallen.stop()
    }
  })

  // The last in this file: the engine does not come back.
  it('is 503 degraded, with Retry-After, when the engine cannot serve', async () => {
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
