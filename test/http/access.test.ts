/** Access: every endpoint for every kind of caller, with the expected answer and a count of the effects. */
import { describe, expect, it } from 'vitest'
import { type ApiClient, apiClient } from '../support/client.js'
import { countRows } from '../support/database.js'
import { base64, face } from '../support/faces.js'
import { serviceOfFile, type TestTenant } from '../support/service.js'

type Environment = 'production' | 'sandbox'
type Expected = [status: number, code: string | null]

const USER = 'alice'
const image = base64(await face('ada'))
const another = base64(await face('adaToday'))
const running = await serviceOfFile({
  COUNTERSIGN_LOCKOUT_ATTEMPTS: '0',
  COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s',
})
const owner = await running.tenant()
const foreign = await running.tenant()
const revokedTenant = await running.tenant()
const keysOf = async (tenant: TestTenant) => ({
  production: (await running.production(tenant)).key,
  sandbox: tenant.sandboxKey,
})
const keys = {
  owner: await keysOf(owner),
  foreign: await keysOf(foreign),
  revoked: await keysOf(revokedTenant),
}
const { store, tenancy } = running.service.core
const record = await tenancy.find(revokedTenant.id)
await store.transaction('installation', async (tx) => {
  await tenancy.revokeKeys(tx, record, 'production')
  await tenancy.revokeKeys(tx, record, 'sandbox')
})
const clients = { production: clientsAt('production'), sandbox: clientsAt('sandbox') }

function clientsAt(environment: Environment): Record<string, ApiClient> {
  const url = running.service.url(environment)
  const key = keys.owner[environment]
  // One character changed keeps the form and breaks the checksum.
  const typo = key.slice(0, 12) + (key[12] === 'a' ? 'b' : 'a') + key.slice(13)
  return {
    anonymous: apiClient(url),
    malformed: apiClient(url, typo),
    unknown: apiClient(url, unknownKey(environment === 'production' ? 'svc-prod-' : 'svc-sbx-')),
    'sandbox key': apiClient(url, keys.owner.sandbox),
    'production key': apiClient(url, keys.owner.production),
    revoked: apiClient(url, keys.revoked[environment]),
    'foreign tenant': apiClient(url, keys.foreign[environment]),
  }
}

/** Well-formed, with a right checksum (CRC-32 in base62), and nobody's. */
function unknownKey(prefix: string): string {
  const stem = `${prefix}${'0'.repeat(43)}`
  let crc = ~0
  for (const byte of Buffer.from(stem)) {
    crc ^= byte
    for (let i = 0; i < 8; i++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  let value = ~crc >>> 0
  let checksum = ''
  for (let i = 0; i < 6; i++) {
    checksum = digits[value % 62] + checksum
    value = Math.floor(value / 62)
  }
  return stem + checksum
}

const ENDPOINTS: Record<string, (client: ApiClient) => ReturnType<ApiClient['health']>> = {
  enroll: (client) => client.enroll({ user_id: USER, image }),
  verify: (client) => client.verify({ user_id: USER, image: another, action: 'x' }),
  delete: (client) => client.erase(USER),
  health: (client) => client.health(),
  'rotate-signing': (client) => client.rotate(),
}

const missing: Expected = [401, 'missing_api_key']
const malformed: Expected = [401, 'malformed_api_key']
const unknown: Expected = [401, 'invalid_api_key']
const revoked: Expected = [401, 'revoked_api_key']
const elsewhere: Expected = [403, 'wrong_environment']
const REFUSED: Record<string, Record<Environment, Expected>> = {
  anonymous: { production: missing, sandbox: missing },
  malformed: { production: malformed, sandbox: malformed },
  unknown: { production: unknown, sandbox: unknown },
  revoked: { production: revoked, sandbox: revoked },
  'sandbox key': { production: elsewhere, sandbox: [200, null] },
  'production key': { production: [200, null], sandbox: elsewhere },
}

/** Answers to the key of the owner, and to that of another tenant, with the user enrolled by the owner only. */
const GRANTED: Record<string, { own: Expected; foreign: Expected }> = {
  enroll: { own: [409, 'already_enrolled'], foreign: [201, null] },
  verify: { own: [200, null], foreign: [404, 'reference_not_found'] },
  delete: { own: [200, null], foreign: [404, 'reference_not_found'] },
  health: { own: [200, null], foreign: [200, null] },
  'rotate-signing': { own: [200, null], foreign: [200, null] },
}
/** Both tenants hold a production key. */
const NEEDS_PRODUCTION_KEY: Expected = [403, 'production_key_required']
const GRANTED_IN_SANDBOX: typeof GRANTED = {
  ...GRANTED,
  'rotate-signing': { own: NEEDS_PRODUCTION_KEY, foreign: NEEDS_PRODUCTION_KEY },
}

const TABLES = ['subject', 'reference', 'capture', 'audit', 'erasure', 'signing_secret', 'idempotency']
const rows = () => Promise.all(TABLES.map((table) => countRows(running, table)))

for (const environment of ['production', 'sandbox'] as const)
  describe(`at the ${environment} base URL`, () => {
    for (const [endpoint, call] of Object.entries(ENDPOINTS)) {
      for (const [who, expectations] of Object.entries(REFUSED)) {
        const [status, code] = expectations[environment]
        if (code === null) continue
        it(`${endpoint} refuses ${who} with ${status} ${code}, and nothing changes`, async () => {
          const before = await rows()
          const response = await call(clients[environment][who]!)
          expect([response.status, response.body.code]).toEqual([status, code])
          expect(response.text).not.toMatch(/reference_id|jwt|svc-sec|"checks"/)
          expect(await rows()).toEqual(before)
          if (status === 401) expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/)
        })
      }

      it(`${endpoint} serves the owner, and shows a foreign tenant nothing of the owner’s users`, async () => {
        const own = clients[environment][environment === 'production' ? 'production key' : 'sandbox key']!
        const stranger = clients[environment]['foreign tenant']!
        await stranger.erase(USER)
        await own.enroll({ user_id: USER, image, replace: true })
        // The receipt of the erasure above has expired.
        running.clock.advance(24 * 3600 * 1000)
        const expected = (environment === 'production' ? GRANTED : GRANTED_IN_SANDBOX)[endpoint]!
        const theirs = await call(stranger)
        expect([theirs.status, theirs.body.code ?? null]).toEqual(expected.foreign)
        // The stranger's call has not changed the owner's user.
        const verified = await own.verify({ user_id: USER, image: another, action: 'x' })
        expect(verified.body.verdict).toBe('approved')
        const ours = await call(own)
        expect([ours.status, ours.body.code ?? null]).toEqual(expected.own)
      })
    }
  })

describe('a foreign tenant', () => {
  it('keeps users of the same id apart between two tenants', async () => {
    const [own, stranger] = [clients.production['production key']!, clients.production['foreign tenant']!]
    await own.enroll({ user_id: 'same-id', image, replace: true })
    await stranger.enroll({ user_id: 'same-id', image: base64(await face('grace')), replace: true })
    const request = { user_id: 'same-id', image: another, action: 'x' }
    expect((await own.verify(request)).body.verdict).toBe('approved')
    expect((await stranger.verify(request)).body).toMatchObject({ verdict: 'rejected', reason: 'no_match' })
    await stranger.erase('same-id')
    expect((await own.verify(request)).body.verdict).toBe('approved')
  })

  it('does not give a tenant the receipt of another tenant’s erasure', async () => {
    const [own, stranger] = [clients.production['production key']!, clients.production['foreign tenant']!]
    await own.enroll({ user_id: 'erased-here', image })
    await own.erase('erased-here')
    expect((await stranger.erase('erased-here')).status).toBe(404)
  })

  it('writes to the audit log of the calling tenant only', async () => {
    const sequence = async (tenant: TestTenant) => (await store.read.auditHead(tenant.id))?.sequence ?? 0
    const [ours, theirs] = [await sequence(owner), await sequence(foreign)]
    await clients.production['foreign tenant']!.enroll({ user_id: 'audited', image })
    expect([await sequence(owner), await sequence(foreign)]).toEqual([ours, theirs + 1])
  })
})
