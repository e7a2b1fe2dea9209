import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../src/lib/clock.js'
import { expectRefusal } from '../support/answers.js'
import { apiClient } from '../support/client.js'
import { countRows, keptBytes } from '../support/database.js'
import { serviceOfFile, type TestTenant } from '../support/service.js'

let tenant: TestTenant

const running = await serviceOfFile()
beforeEach(async () => {
  tenant = await running.tenant()
})

const at = (environment: 'production' | 'sandbox', key: string) =>
  apiClient(running.service.url(environment), key)
const authorized = (authorization: string) =>
  running
    .anonymous('sandbox')
    .call('GET', '/v1/health', undefined, { headers: { Authorization: authorization } })
const reissue = async (type: 'production' | 'sandbox', graceMs: number) => {
  const { store, tenancy } = running.service.core
  const record = await tenancy.find(tenant.id)
  return store.transaction('installation', (tx) => tenancy.reissueKey(tx, record, type, graceMs, null))
}

describe('a key', () => {
  it('an API key is a prefix, 32 random bytes in base62 and a checksum', async () => {
    expect(tenant.sandboxKey).toMatch(/^svc-sbx-[0-9A-Za-z]{49}$/)
    const production = await running.production(tenant)
    expect(production.key).toMatch(/^svc-prod-[0-9A-Za-z]{49}$/)
    expect((await running.tenant()).sandboxKey).not.toBe(tenant.sandboxKey)
  })

  it('an API key is malformed when it is changed, cut, extended, in another case or under another prefix', async () => {
    const key = tenant.sandboxKey
    for (const wrong of [
      ...[8, 20, key.length - 7, key.length - 1].map(
        (position) => key.slice(0, position) + (key[position] === 'x' ? 'y' : 'x') + key.slice(position + 1),
      ),
      key.slice(0, -1),
      `${key}0`,
      key.toUpperCase(),
      key.replace('svc-sbx-', 'svc-prod-'),
      key.slice(8),
      'x'.repeat(3000),
    ])
      await expectRefusal(at('sandbox', wrong).health(), 401, 'malformed_api_key')
  })

  it('API keys are stored only as SHA-256', async () => {
    const production = await running.production(tenant)
    for (const key of [tenant.sandboxKey, production.key]) {
      for (const [name, bytes] of await keptBytes(running)) expect(bytes.includes(key), name).toBe(false)
      const hash = createHash('sha256').update(key).digest()
      expect(await countRows(running, 'api_key', 'hash = $1', [hash])).toBe(1)
    }
    expect(running.logText()).not.toContain(tenant.sandboxKey)
  })
})

describe('the Authorization header', () => {
  it('an Authorization header of another scheme or form is malformed', async () => {
    for (const authorization of [
      tenant.sandboxKey,
      'Bearer',
      `Basic ${tenant.sandboxKey}`,
      `Bearer ${tenant.sandboxKey} extra`,
      `Bearer "${tenant.sandboxKey}"`,
      `Bearer ${tenant.sandboxKey},Bearer ${tenant.sandboxKey}`,
    ]) {
      const response = await authorized(authorization)
      expect([response.status, response.body.code], authorization).toEqual([401, 'malformed_api_key'])
      expect(response.body.error).toBe('authentication_failed')
      expect(response.text).not.toContain(tenant.sandboxKey)
    }
  })

  it('a missing or empty Authorization header gets missing_api_key', async () => {
    for (const call of [running.anonymous('sandbox').health(), authorized('')])
      await expectRefusal(call, 401, 'missing_api_key')
  })
})

describe('a revoked key', () => {
  it('a revoked key is refused at once, and the tenant’s other key stays valid', async () => {
    const production = await running.production(tenant)
    const { store, tenancy } = running.service.core
    const record = await tenancy.find(tenant.id)
    expect((await production.health()).status).toBe(200)
    await store.transaction('installation', (tx) => tenancy.revokeKeys(tx, record, 'production'))
    await expectRefusal(production.health(), 401, 'revoked_api_key')
    expect((await tenant.sandbox.health()).status).toBe(200)
    await expect(
      store.transaction('installation', (tx) => tenancy.revokeKeys(tx, record, 'production')),
    ).rejects.toMatchObject({ code: 'no_active_key' })
  })

  it('a revoked key gets revoked_api_key even in the other environment', async () => {
    const { store, tenancy } = running.service.core
    const record = await tenancy.find(tenant.id)
    await store.transaction('installation', (tx) => tenancy.revokeKeys(tx, record, 'sandbox'))
    await expectRefusal(at('production', tenant.sandboxKey).health(), 401, 'revoked_api_key')
  })
})

describe('a reissue', () => {
  it('a reissue without grace revokes the old key at once', async () => {
    const key = await reissue('sandbox', 0)
    expect((await at('sandbox', key).health()).status).toBe(200)
    await expectRefusal(tenant.sandbox.health(), 401, 'revoked_api_key')
  })

  it('a reissue with grace keeps both keys valid until it ends, to the millisecond', async () => {
    const key = await reissue('sandbox', HOUR_MS)
    running.clock.advance(HOUR_MS - 1)
    expect((await tenant.sandbox.health()).status).toBe(200)
    expect((await at('sandbox', key).health()).status).toBe(200)
    running.clock.advance(1)
    await expectRefusal(tenant.sandbox.health(), 401, 'revoked_api_key')
    expect((await at('sandbox', key).health()).status).toBe(200)
  })

  it('a reissue never extends the grace of an older key', async () => {
    await reissue('sandbox', HOUR_MS)
    await reissue('sandbox', 10 * HOUR_MS)
    running.clock.advance(HOUR_MS)
    expect((await tenant.sandbox.health()).body.code).toBe('revoked_api_key')
  })

  it('a reissue revokes a key that is already in its grace period: at most two are valid', async () => {
    const keys = [tenant.sandboxKey]
    for (let times = 0; times < 10; times++) keys.push(await reissue('sandbox', HOUR_MS))
    const statuses: number[] = []
    for (const key of keys) statuses.push((await at('sandbox', key).health()).status)
    expect(statuses).toEqual([...Array(9).fill(401), 200, 200])
  })

  it('a production key can be reissued only after it was issued', async () => {
    await expect(reissue('production', 0)).rejects.toMatchObject({ code: 'production_key_not_issued' })
  })
})

it('refuses a tenant name that is taken', async () => {
  const { tenancy } = running.service.core
  await expect(tenancy.create(tenant.name)).rejects.toMatchObject({ code: 'tenant_exists' })
  for (const name of ['', ' ', '-x', 'a b', 'x'.repeat(65), '../x', 'é'])
    await expect(tenancy.create(name)).rejects.toMatchObject({ code: 'invalid_tenant_name' })
  await expect(tenancy.find('nobody')).rejects.toMatchObject({ code: 'tenant_not_found' })
})
