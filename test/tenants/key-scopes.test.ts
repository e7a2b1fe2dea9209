/** Further API keys: what each scope allows and refuses at every endpoint, from which networks a key is taken, and how it ends. */

import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { HOUR_MS, MINUTE_MS } from '../../src/lib/clock.js'
import type { KeyGrants } from '../../src/tenants/key-grants.js'
import { SCOPES, type Scope } from '../../src/tenants/key-scopes.js'
import { expectRefusal } from '../support/answers.js'
import { SoftwareAuthenticator } from '../support/authenticator.js'
import { allowReturn, askForSession } from '../support/capture-page.js'
import { answerTo } from '../support/challenges.js'
import { type ApiClient, apiClient, type CallOptions } from '../support/client.js'
import { DESCRIPTIONS, exampleBody, examplePath } from '../support/descriptions.js'
import { photoOf } from '../support/faces.js'
import { ORIGIN, passkeysPath, registered, usePasskeys } from '../support/passkeys.js'
import { serviceOfFile, WITH_PAGE } from '../support/service.js'

type Environment = 'production' | 'sandbox'

let made = 0

const running = await serviceOfFile({ ...WITH_PAGE, COUNTERSIGN_TRUSTED_PROXIES: '127.0.0.0/8' })
const image = await photoOf('ada')
const tenant = await running.tenant()
const full = await running.production(tenant)
await allowReturn(running, tenant)
// A tenant may have 50 named keys of an environment, and there are more tests than that.
afterEach(async () => {
  const { operations, record } = await keys()
  for (const { name, type, revokedAt } of await running.service.core.store.read.apiKeys(tenant.id))
    if (name !== null && revokedAt === null)
      await operations.revokeNamed(record, COMMAND_LINE, type, name).catch((error) => {
        // Both keys of a reissued name have been revoked with the first of them.
        if (error.code !== 'no_active_key') throw error
      })
})

/** Enrolls a further user, who has no passkey. */
async function another(): Promise<string> {
  const user_id = `enrolled-${++made}`
  await tenant.sandbox.enroll({ user_id, image })
  return user_id
}

async function create(
  grants: Partial<KeyGrants>,
  environment: Environment = 'sandbox',
): Promise<ApiClient & { key: string; id: string; name: string }> {
  const { operations, record } = await keys()
  const name = grants.name ?? `key-${++made}`
  const { key, record: row } = await operations.create(record, COMMAND_LINE, environment, {
    scopes: null,
    networks: null,
    ...grants,
    name,
  })
  return { ...apiClient(running.service.url(environment), key), key, id: row.id, name }
}

const keys = async (id = tenant.id) => ({
  operations: running.operations.keys,
  record: await running.service.core.tenancy.find(id),
})

let users = 0
const newUser = () => `scoped-${++users}`
const action = 'x'

interface ScopedCall {
  what: string
  endpoint: string
  needs: readonly Scope[]
  call: (client: ApiClient) => Promise<unknown>
}
const scoped = (
  ...[what, endpoint, needs, call]: [string, string, Scope[], ScopedCall['call']]
): ScopedCall => ({
  what,
  endpoint,
  needs,
  call,
})

/** Calls of the API, with the scopes that each needs: all of them. */
const NAMED: ScopedCall[] = [
  scoped('enrolling a new user', 'enroll', ['enroll'], (client) =>
    client.enroll({ user_id: newUser(), image }),
  ),
  scoped('assessing photos', 'enroll', ['enroll'], (client) =>
    client.enroll({ user_id: newUser(), image, dry_run: true }),
  ),
  scoped('replacing a reference', 'enroll', ['enroll', 'replace'], (client) =>
    client.enroll({ user_id: 'enrolled', image, replace: true }),
  ),
  scoped('adding photos to a reference', 'enroll', ['enroll', 'replace'], (client) =>
    client.enroll({ user_id: 'enrolled', image, add: true }),
  ),
  scoped('verifying a user', 'verify', ['verify'], (client) =>
    client.verify({ user_id: 'enrolled', image, action }),
  ),
  scoped('a challenge for a verify', 'create_challenge', ['verify'], (client) =>
    client.call('POST', '/v1/challenges', { user_id: 'enrolled', action }),
  ),
  scoped('a challenge for an enrolment', 'create_challenge', ['enroll'], (client) =>
    client.call('POST', '/v1/challenges', { user_id: newUser(), purpose: 'enroll' }),
  ),
  scoped('a capture session for a verify', 'create_capture_session', ['verify'], (client) =>
    askForSession(client, { user_id: 'enrolled' }),
  ),
  scoped('a capture session for an enrolment', 'create_capture_session', ['enroll'], (client) =>
    askForSession(client, { user_id: newUser(), purpose: 'enroll', action: undefined }),
  ),
  scoped(
    'a capture session that replaces a reference',
    'create_capture_session',
    ['enroll', 'replace'],
    (client) =>
      askForSession(client, { user_id: 'enrolled', purpose: 'enroll', action: undefined, replace: true }),
  ),
  scoped(
    'what came of a capture session for an enrolment',
    'get_capture_session',
    ['enroll'],
    async (client) => {
      const asked = await askForSession(tenant.sandbox, {
        ...{ user_id: newUser(), purpose: 'enroll', action: undefined },
      })
      return client.call('GET', `/v1/capture-sessions/${asked.body.session_id}`)
    },
  ),
  scoped('looking a user up', 'get_user', ['read'], (client) => client.call('GET', '/v1/users/enrolled')),
  scoped('the audit log', 'list_audit', ['audit'], (client) => client.call('GET', '/v1/audit')),
  scoped('erasing a user', 'delete', ['erase'], async (client) => {
    const user = newUser()
    await tenant.sandbox.enroll({ user_id: user, image })
    return client.erase(user)
  }),
  scoped('rotating the signing secret', 'rotate_signing', ['rotate'], (client) =>
    client.rotate({ force: true }),
  ),
  scoped(
    'the beginning of the registration of a passkey',
    'begin_passkey_registration',
    ['enroll'],
    async (client) => client.call('POST', passkeysPath(await another(), '/registration'), {}),
  ),
  scoped('registering a passkey', 'register_passkey', ['enroll'], async (client) => {
    const user_id = await another()
    const { body } = await tenant.sandbox.call('POST', passkeysPath(user_id, '/registration'), {})
    const credential = new SoftwareAuthenticator({ origin: ORIGIN }).create(body.options)
    const { challenge_id, nonce } = body
    return client.call('POST', passkeysPath(user_id), { challenge_id, nonce, credential })
  }),
  scoped('listing passkeys', 'list_passkeys', ['read'], (client) =>
    client.call('GET', passkeysPath('enrolled')),
  ),
  scoped('revoking a passkey', 'revoke_passkey', ['enroll'], async (client) => {
    const user_id = await another()
    const { answer } = await registered(tenant.sandbox, user_id)
    return client.call('DELETE', passkeysPath(user_id, `/${answer.body.passkey_id}`))
  }),
  scoped('beginning the recovery of a passkey', 'verify', ['verify', 'recover'], (client) =>
    client.verify({ user_id: 'enrolled', image, action: { type: 'recover_passkey' } }),
  ),
  scoped('cancelling the recovery of a passkey', 'cancel_passkey_recovery', ['recover'], async (client) => {
    const user_id = await another()
    await registered(tenant.sandbox, user_id)
    const action = { type: 'recover_passkey' }
    const { body } = await tenant.sandbox.call('POST', '/v1/challenges', { user_id, action })
    await tenant.sandbox.verify({ user_id, action, challenge: answerTo(body, image) })
    return client.call('DELETE', passkeysPath(user_id, '/recovery'))
  }),
  scoped('options for a passkey to sign', 'begin_passkey_assertion', ['verify'], async (client) => {
    const user_id = await another()
    await registered(tenant.sandbox, user_id)
    return client.call('POST', passkeysPath(user_id, '/assertion'), { action })
  }),
  scoped('a report of health', 'health', [], (client) => client.health()),
]

/** Endpoints whose key needs one of several scopes, each with a test of its own. */
const ONE_OF_SEVERAL = ['guide', 'get_verification']
/** Endpoints of which no call is named are called as their example says, with the one scope that they name. */
const CALLS = [
  ...NAMED,
  ...DESCRIPTIONS.filter(
    ({ id }) => ![...NAMED.map(({ endpoint }) => endpoint), ...ONE_OF_SEVERAL].includes(id),
  )
    .filter(({ example, scopes }) => example && scopes.length < 2)
    .map(
      (one): ScopedCall => ({
        what: `the example of ${one.id}`,
        endpoint: one.id,
        needs: one.scopes,
        call: (client) => client.call(one.method, examplePath(one), one.body && exampleBody(one)),
      }),
    ),
]

describe('a key with scopes', () => {
  beforeAll(async () => {
    for (const user_id of ['enrolled', 'ada+match']) await tenant.sandbox.enroll({ user_id, image })
    await usePasskeys(running, tenant)
  })

  for (const { what, needs, call } of CALLS) {
    it(`a key with ${needs.join(' and ') || 'any scope'} is accepted: ${what}`, async () => {
      const scopes = needs.length > 0 ? needs : ['audit']
      const answer = (await call(await create({ scopes: scopes as Scope[] }))) as {
        status: number
        body: { code?: string }
      }
      // The tenant holds a production key, after which no sandbox key rotates: that refusal comes after the scope.
      expect([undefined, 'production_key_required']).toContain(answer.body.code)
    })

    for (const missing of needs)
      it(`a key with every scope except ${missing} is refused: ${what}`, async () => {
        const scopes = SCOPES.filter(
          (scope) => scope !== missing && !(missing === 'enroll' && scope === 'replace'),
        )
        const answer = (await call(await create({ scopes }))) as Awaited<ReturnType<ApiClient['health']>>
        expect([answer.status, answer.body.code]).toEqual([403, 'insufficient_scope'])
        expect(answer.body.error).toBe('permission_denied')
        expect(answer.body.details.map(({ scope }: { scope: string }) => scope)).toContain(missing)
        expect(answer.headers.get('www-authenticate')).toContain(missing)
      })
  }

  it.each<[string, Scope[], (client: ApiClient) => ReturnType<ApiClient['call']>]>([
    [
      'guidance',
      ['verify', 'enroll'],
      (client) => client.call('POST', '/v1/guidance', { image, step: 'turn_left' }),
    ],
    [
      'looking a verification up',
      ['verify', 'read'],
      async (client) => {
        const { body } = await tenant.sandbox.verify({ user_id: 'enrolled', image, action })
        return client.call('GET', `/v1/verifications/${body.verification_id}`)
      },
    ],
  ])('%s needs one of the scopes %j', async (_, needed, call) => {
    for (const scope of needed) expect((await call(await create({ scopes: [scope] }))).status).toBe(200)
    const others = SCOPES.filter((scope) => ![...needed, 'replace', 'recover'].includes(scope))
    const { body } = await call(await create({ scopes: others }))
    expect(body.code).toBe('insufficient_scope')
    expect(body.details.map(({ scope }: { scope: string }) => scope)).toEqual(needed)
  })

  it('the table of scopes covers every endpoint', () => {
    const tried = new Set([...CALLS.map(({ endpoint }) => endpoint), ...ONE_OF_SEVERAL])
    expect(tried).toEqual(new Set(DESCRIPTIONS.map(({ id }) => id)))
  })

  it('a stolen key with only the scope verify cannot replace a reference', async () => {
    const payments = await create({ scopes: ['verify', 'enroll'] }, 'production')
    await full.enroll({ user_id: 'victim', image })
    const before = (await full.call('GET', '/v1/users/victim')).body
    const thief = await photoOf('grace')
    const attempt = { user_id: 'victim', image: thief, replace: true }
    const headers = { 'X-Svc-Idempotency-Key': 'attempt' }
    for (let i = 0; i < 2; i++)
      expect((await payments.enroll(attempt, { headers })).body.code).toBe('insufficient_scope')
    expect((await full.call('GET', '/v1/users/victim')).body).toEqual(before)
    expect((await payments.verify({ user_id: 'victim', image: thief, action })).body.verdict).toBe('rejected')
  })

  it('an idempotent replay of another key’s call needs the scope of the call', async () => {
    const headers = { 'X-Svc-Idempotency-Key': 'kept' }
    const request = { user_id: 'enrolled', image, action }
    expect((await tenant.sandbox.verify(request, { headers })).status).toBe(200)
    const auditor = await create({ scopes: ['audit'] })
    expect((await auditor.verify(request, { headers })).body.code).toBe('insufficient_scope')
  })
})

describe('a key with networks', () => {
  const from = (address: string): CallOptions => ({ headers: { 'X-Forwarded-For': address } })

  it('a key with networks is accepted only from these networks, IPv4 and IPv6', async () => {
    const key = await create({ networks: ['10.1.0.0/16', '192.0.2.7', '2001:db8::/32'] })
    for (const inside of ['10.1.255.1', '192.0.2.7', '2001:db8:1::9'])
      expect((await key.health(from(inside))).status).toBe(200)
    for (const outside of ['10.2.0.1', '192.0.2.8', '2001:db9::1', '127.0.0.1']) {
      await expectRefusal(key.health(from(outside)), 403, 'network_not_allowed')
    }
  })

  it('a key with networks ignores an address that an untrusted caller writes into the header', async () => {
    const key = await create({ networks: ['10.1.0.0/16'] })
    // The proxy appends the address it sees.
    expect((await key.health(from('10.1.0.1, 203.0.113.5'))).body.code).toBe('network_not_allowed')
  })

  it('the log names a key that is refused because of its network', async () => {
    const key = await create({ networks: ['10.1.0.0/16'] })
    const { headers } = await key.health(from('203.0.113.5'))
    const line = () =>
      running
        .logText()
        .split('\n')
        .find((text) => text.includes(headers.get('x-request-id')!))
    await expect.poll(line).toBeDefined()
    expect(JSON.parse(line()!)).toMatchObject({ key: key.id, address: '203.0.113.5' })
  })
})

describe('a further key', () => {
  it('revoking a named production key leaves the first key valid', async () => {
    const [one, other] = [await create({}, 'production'), await create({}, 'production')]
    for (const client of [one, other, full]) expect((await client.health()).status).toBe(200)
    const { operations, record } = await keys()
    await operations.revokeNamed(record, COMMAND_LINE, 'production', one.name)
    expect((await one.health()).body.code).toBe('revoked_api_key')
    for (const client of [other, full]) expect((await client.health()).status).toBe(200)
  })

  it('reissuing a named key keeps its name, scopes and networks, with a grace period', async () => {
    const old = await create({ scopes: ['audit'], networks: ['127.0.0.1'] })
    const { operations, record } = await keys()
    const key = await operations.reissue(record, COMMAND_LINE, 'sandbox', HOUR_MS, old.name)
    const next = apiClient(running.service.url('sandbox'), key)
    for (const client of [old, next]) {
      expect((await client.call('GET', '/v1/audit')).status).toBe(200)
      expect((await client.erase('anybody')).body.code).toBe('insufficient_scope')
      const abroad = await client.health({ headers: { 'X-Forwarded-For': '203.0.113.5' } })
      expect(abroad.body.code).toBe('network_not_allowed')
    }
    running.clock.advance(HOUR_MS + MINUTE_MS)
    expect((await old.health()).status).toBe(401)
    expect((await next.health()).status).toBe(200)
    expect((await tenant.sandbox.health()).status).toBe(200)
  })

  it('a named key survives a reissue of the first key, and is revoked with all keys', async () => {
    const { operations, record } = await keys((await running.tenant()).id)
    const grants = { name: 'ci', scopes: ['verify'], networks: null }
    const { key } = await operations.create(record, COMMAND_LINE, 'sandbox', grants)
    const client = apiClient(running.service.url('sandbox'), key)
    await operations.reissue(record, COMMAND_LINE, 'sandbox', 0, null)
    expect((await client.health()).status).toBe(200)
    expect(await operations.revoke(record, COMMAND_LINE, 'sandbox')).toBe(2)
    expect((await client.health()).status).toBe(401)
  })

  it('refuses a key name that another valid key of the environment has', async () => {
    await create({ name: 'twice' })
    await expect(create({ name: 'twice' })).rejects.toMatchObject({ code: 'key_exists' })
    await create({ name: 'twice' }, 'production')
  })

  it('refuses invalid grants of a key', async () => {
    for (const [grants, code] of [
      [{ name: 'two words' }, 'invalid_key_name'],
      [{ scopes: ['admin'] }, 'invalid_scope'],
      [{ scopes: [] }, 'invalid_scope'],
      [{ scopes: ['replace'] }, 'invalid_scope'],
      [{ networks: ['10.0.0.0/33'] }, 'invalid_network'],
      [{ networks: ['example.com'] }, 'invalid_network'],
      [{ networks: [] }, 'invalid_network'],
    ] as Array<[Partial<KeyGrants>, string]>)
      await expect(create(grants)).rejects.toMatchObject({ code })
  })

  it('refuses a named production key before the production key was issued', async () => {
    const { operations, record } = await keys((await running.tenant()).id)
    const grants = { name: 'early', scopes: ['verify'], networks: null }
    await expect(operations.create(record, COMMAND_LINE, 'production', grants)).rejects.toMatchObject({
      code: 'production_key_not_issued',
    })
  })

  it('the audit log records the grants of a named key, never its text', async () => {
    const key = await create({ scopes: ['verify'], networks: ['10.0.0.0/8'] }, 'production')
    const { body } = await full.call('GET', '/v1/audit?event=key_created&limit=200')
    const bounds = { scopes: 'verify', networks: '10.0.0.0/8', certificate: null }
    const { id, name } = key
    expect(body.data.at(-1).facts).toEqual({ type: 'production', key: id, name, ...bounds })
    expect(JSON.stringify(body)).not.toContain(key.key)
  })
})

it('keys without recorded scopes have every scope, new ones included', async () => {
  expect((await full.call('GET', '/v1/users/nobody')).body.code).toBe('reference_not_found')
  const { store } = running.service.core
  const [first] = (await store.read.apiKeys(tenant.id)).filter(({ name }) => name === null)
  expect(first).toMatchObject({ scopes: null, networks: null })
})
