/** Keycloak asks for a person by its HTTP authentication channel: a simulated realm, the real service, and a person at the capture page. */

import { SignJWT } from 'jose'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { COMMAND_LINE } from '../../../src/audit/audited-unit-of-work.js'
import { type Callback, CallbackBook } from '../../../src/features/openid/keycloak/callback-book.js'
import { UNKNOWN_OUTCOME_MS } from '../../../src/features/openid/keycloak/callback-sender.js'
import type { KeycloakRealm } from '../../../src/features/openid/keycloak/keycloak-realm.js'
import type { NewOpenIdClient, OpenIdClient } from '../../../src/features/openid/openid-clients.js'
import { callbackReader } from '../../../src/features/openid/openid-tables.js'
import { webhookReader } from '../../../src/features/webhooks/webhook-tables.js'
import { MINUTE_MS } from '../../../src/lib/clock.js'
import { Visitor } from '../../support/capture-page.js'
import { blank } from '../../support/images.js'
import { Keycloak } from '../../support/keycloak.js'
import { OpenIdApplication, openIdClients } from '../../support/openid-application.js'
import { rsaKey } from '../../support/rsa-keys.js'
import { serviceOfFile, type TestTenant, WITH_OPENID } from '../../support/service.js'
import { webhooksOf } from '../../support/webhooks.js'

const ACR = 'urn:countersign:acr:face-active'
const WAIT = { timeout: 15_000, interval: 50 }

type Asked = Parameters<Keycloak['ask']>[0]

let tenant: TestTenant
let keycloak: Keycloak
let application: OpenIdClient

const running = await serviceOfFile(WITH_OPENID)

beforeEach(async () => {
  tenant = await running.tenant()
  keycloak = await Keycloak.start(() => running.clock.now())
  application = await register()
  keycloak.channel = channelOf(application)
  await tenant.subscribe('sandbox', 'openid.link_ready')
  return () => keycloak.close()
})

async function register(changes: Partial<NewOpenIdClient> = {}): Promise<OpenIdClient> {
  const { issuer } = keycloak
  const settings = { name: 'keycloak', redirectUris: [], acr: ACR }
  return OpenIdApplication.add(running, tenant, {
    ...{ ...settings, keycloak: { issuer, url: issuer, user: 'sub' }, ...changes },
  })
}

/** Replaces the application of the realm by one with other settings. */
async function registerAgain(changes: Partial<KeycloakRealm>): Promise<void> {
  const { issuer } = keycloak
  await openIdClients(running).remove(await tenant.record(), COMMAND_LINE, application.record.id)
  const realm = { issuer, url: issuer, user: 'sub', ...changes } as const
  keycloak.channel = channelOf(await register({ keycloak: realm }))
}

const channelOf = ({ record }: OpenIdClient) =>
  `${running.service.origin('openid')}/sandbox/keycloak/${record.id}`

/** The data of the webhooks that took a link to the backend, oldest first. */
async function links(): Promise<Array<Record<string, string>>> {
  return (await tenant.told()).map(({ data }) => data)
}

/** Asks for a person, and opens the link that the backend got. */
async function ask(options: Asked = {}) {
  // Deliveries are listed by their time.
  running.clock.advance(1000)
  const asked = await keycloak.ask(options)
  expect(asked.status).toBe(201)
  const link = (await links()).at(-1)!
  return { id: asked.id, link, visitor: new Visitor(link.url!) }
}

/** Asks for a person. @returns the status with the error that Keycloak gets */
async function outcome(options: Asked = {}): Promise<string> {
  const { status, body } = await keycloak.ask(options)
  return `${status} ${JSON.parse(body).error}`
}

async function capture(visitor: Visitor): Promise<void> {
  await visitor.enter()
  await visitor.capture(blank)
}

const refusals = () => tenant.audit('openid_refused')
const results = () => keycloak.callbacks.map(({ id, status, answer }) => [id, status, answer])
const reported = (count = 1) => vi.waitFor(() => expect(keycloak.callbacks).toHaveLength(count), WAIT)
/** Longer than the interval at which due callbacks are looked for. */
const looked = () => new Promise((resolve) => setTimeout(resolve, 2500))

describe('a realm of Keycloak', () => {
  it('gets 201, and SUCCEED only when the person was approved for its message', async () => {
    const { id, link, visitor } = await ask({ message: 'TXN-4417', client: 'shop' })
    expect(link).toMatchObject({
      ...{ user_id: 'ada+match', application: 'keycloak', requested_by: 'shop', message: 'TXN-4417' },
      expires_at: new Date(Math.floor(running.clock.now() / 1000) * 1000 + 120_000).toISOString(),
    })
    const page = await visitor.open()
    expect(page.text).toContain('TXN-4417')
    await looked()
    expect([keycloak.state(id), results()]).toEqual(['pending', []])
    await visitor.agree()
    const { body } = await visitor.capture(blank)
    expect(body.return_url).toContain(`${running.service.origin('openid')}/sandbox/keycloak/done`)
    expect(await (await fetch(body.return_url)).text()).toMatch(/^Done\./)
    await reported()
    expect([keycloak.state(id), results()]).toEqual(['approved', [[id, 'SUCCEED', 200]]])
    const { result } = (await tenant.sandbox.call('GET', `/v1/capture-sessions/${link.session_id}`)).body
    expect(result.body.jwt_public).toBeTruthy()
    await looked()
    expect(results()).toHaveLength(1)
  })

  it('may leave the message out only where the application says so', async () => {
    expect(await outcome({ message: null })).toBe('400 action_not_valid')
    expect(await links()).toEqual([])
    await registerAgain({ isMessageOptional: true })
    const { visitor, link } = await ask({ message: null, client: 'mail' })
    expect(link.message).toBeNull()
    expect((await visitor.open()).text).toContain('mail')
    await visitor.agree()
    await visitor.capture(blank)
    await reported()
    expect(results()[0]![1]).toBe('SUCCEED')
  })

  it('gets UNAUTHORIZED for another face, and CANCELLED when the person goes back, also after a try', async () => {
    const other = await ask({ user: { id: 'eve+no_match', name: 'eve' } })
    await other.visitor.enter()
    for (let attempt = 0; attempt < 3; attempt++) await other.visitor.capture(blank)
    await reported()
    const gone = await ask({ user: { id: 'eve+no_match', name: 'eve' } })
    await capture(gone.visitor)
    await gone.visitor.post('cancel')
    await reported(2)
    expect(results()).toEqual([
      [other.id, 'UNAUTHORIZED', 200],
      [gone.id, 'CANCELLED', 200],
    ])
    expect((await refusals()).map(({ code }) => code)).toEqual(['user_rejected', 'user_gave_up'])
  })

  it('gets UNAUTHORIZED when the person did not begin, and the backend gets a webhook', async () => {
    await tenant.subscribe('sandbox', 'openid.request_disowned')
    const { id, link, visitor } = await ask({ client: 'shop' })
    expect((await visitor.open()).text).toContain('id="not-me"')
    await visitor.post('disown')
    await reported()
    expect(results()).toEqual([[id, 'UNAUTHORIZED', 200]])
    expect((await refusals()).map(({ code }) => code)).toEqual(['user_disowned'])
    expect(await tenant.told('openid.request_disowned')).toHaveLength(1)
    expect(await links()).toContainEqual({
      ...{ user_id: 'ada+match', session_id: link.session_id },
      ...{ application: 'keycloak', requested_by: 'shop' },
    })
  })

  it('waits in vain for a person who does not finish in time, and for one whom nobody knows', async () => {
    const late = await ask()
    await late.visitor.enter()
    const unknown = await keycloak.ask({ user: { id: 'nobody', name: 'nobody' } })
    expect([unknown.status, unknown.body, (await links()).length]).toEqual([201, '', 1])
    running.clock.advance(2 * MINUTE_MS)
    await late.visitor.capture(blank)
    await looked()
    expect(results()).toEqual([])
    expect(await refusals()).toMatchObject([{ code: 'user_unknown', detail: 'reference_not_found' }])
  })

  it('reaches one person with three requests at a time, and the realm is not told', async () => {
    const [first] = [await ask(), await ask(), await ask()]
    expect((await keycloak.ask()).status).toBe(201)
    expect(await links()).toHaveLength(3)
    expect(await refusals()).toMatchObject([
      { code: 'rate_limited', detail: 'the person has 3 open requests' },
    ])
    // Another person, and one request less.
    await ask({ user: { id: 'grace+match', name: 'grace' } })
    await capture(first!.visitor)
    await ask()
    // Requests of which the time is over no longer count.
    running.clock.advance(4 * MINUTE_MS)
    await ask()
    expect(await links()).toHaveLength(6)
  })

  it('is refused where no webhook takes the link, whether or not the person is known', async () => {
    const [endpoint] = await running.service.core.store.read.statements(webhookReader).endpointsOf(tenant.id)
    await webhooksOf(running.service).remove(await tenant.record(), COMMAND_LINE, endpoint!.id)
    for (const id of ['ada+match', 'nobody'])
      expect(await outcome({ user: { id, name: id } })).toBe('422 link_not_deliverable')
  })

  it('reads the person by user name only where the application says so', async () => {
    await registerAgain({ user: 'login_hint' })
    const { link } = await ask({ user: { id: 'f3b1c2', name: 'grace+match' } })
    expect(link.user_id).toBe('grace+match')
  })

  it('may stand next to others of the same server, which all ask at one address', async () => {
    const staff = await Keycloak.start(() => running.clock.now(), 'staff')
    onTestFinished(() => staff.close())
    await register({
      ...{ name: 'staff', keycloak: { issuer: staff.issuer, url: staff.issuer, user: 'sub' } },
    })
    staff.channel = keycloak.channel
    expect((await staff.ask()).status).toBe(201)
    const link = (await links()).at(-1)!
    expect(link.application).toBe('staff')
    await capture(new Visitor(link.url!))
    await vi.waitFor(() => expect(staff.callbacks).toHaveLength(1), WAIT)
    expect(keycloak.callbacks).toEqual([])
  })

  it('gets nothing where the approval is weaker than its acr_values or than the application wants', async () => {
    expect(await outcome({ acrValues: 'urn:countersign:acr:face-active-hwk' })).toBe('422 acr_not_reached')
    // A level of the realm's own is none of ours: the application's setting decides.
    expect((await keycloak.ask({ acrValues: 'gold' })).status).toBe(201)
  })
})

describe('a request that is not the realm’s', () => {
  const wrong: Array<[string, () => Promise<Asked> | Asked, string]> = [
    ['of another realm', () => ({ claims: { iss: 'https://sso.other.example/realms/x' } }), 'no application'],
    ['for somebody else', () => ({ claims: { aud: 'account' } }), 'another aud'],
    ['that has expired', () => ({ claims: { exp: Math.floor(running.clock.now() / 1000) - 1 } }), 'expired'],
    ['without an end', () => ({ claims: { exp: undefined } }), 'lacks'],
    [
      'with a long life',
      () => ({ claims: { exp: Math.floor(running.clock.now() / 1000) + 7200 } }),
      'an hour',
    ],
    ['without an id', () => ({ claims: { jti: undefined } }), 'lacks'],
    ['that is no bearer token', () => ({ claims: { typ: 'Refresh' } }), 'no bearer token'],
    ['that a person has', () => ({ claims: { sid: 'session' } }), 'access token of a person'],
    ['with the scopes of a person', () => ({ claims: { scope: 'openid' } }), 'access token of a person'],
    ['signed by another key', async () => ({ token: await forged('RS256') }), 'not signed by the realm'],
    ['signed by a shared secret', async () => ({ token: await forged('HS256') }), 'public key'],
    ['that is no token', () => ({ token: 'x' }), 'no application'],
  ]

  async function forged(alg: 'RS256' | 'HS256'): Promise<string> {
    const seconds = Math.floor(running.clock.now() / 1000)
    const key = alg === 'HS256' ? new Uint8Array(32) : rsaKey().privateKey
    return new SignJWT({ typ: 'Bearer', azp: 'shop' })
      .setProtectedHeader({ alg, kid: 'realm-key' })
      .setIssuer(keycloak.issuer)
      .setAudience(keycloak.issuer)
      .setSubject('ada+match')
      .setJti('7')
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + 60)
      .sign(key)
  }

  it.each(wrong)('is refused with a token %s', async (_what, options, why) => {
    expect(await outcome(await options())).toBe('401 token_not_valid')
    expect(await links()).toEqual([])
    expect(await refusals()).toMatchObject([
      { code: 'token_not_valid', client: application.record.id, detail: expect.stringContaining(why) },
    ])
  })

  it('is refused when the same token comes again, even for another person', async () => {
    const { token, status } = await keycloak.ask()
    expect(status).toBe(201)
    expect(await outcome({ token, user: { id: 'eve+match', name: 'eve' } })).toBe('409 token_used')
    expect(await links()).toHaveLength(1)
    expect((await refusals()).map(({ code }) => code)).toEqual(['token_used'])
  })

  it('is refused where the client wants a consent, the message cannot be shown, or the body is another', async () => {
    expect(await outcome({ consent: true })).toBe('422 consent_required')
    expect(await outcome({ message: 'right\u202eleft' })).toBe('400 action_not_valid')
    expect(await outcome({ user: { id: 'ada+match', name: '' } })).toBe('400 request_not_valid')
  })

  it('is refused at the issuer of the other environment, and for an id that nobody has', async () => {
    const { record } = application
    const origin = running.service.origin('openid')
    const statuses = []
    for (const path of [`/keycloak/${record.id}`, `/sandbox/keycloak/oic_${'0'.repeat(32)}`]) {
      keycloak.channel = `${origin}${path}`
      statuses.push((await keycloak.ask()).status)
    }
    expect(statuses).toEqual([404, 404])
    expect((await fetch(channelOf(application))).status).toBe(405)
  })

  it('is refused while the keys of the realm cannot be read', async () => {
    await keycloak.close()
    expect(await outcome()).toBe('503 realm_unreachable')
  })
})

describe('a realm’s application', () => {
  it('cannot ask by OpenID Connect', async () => {
    const response = await fetch(`${running.service.origin('openid')}/sandbox/request`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ client_id: application.record.id, client_secret: '' }),
    })
    expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([
      401,
      'invalid_client',
    ])
  })

  it.each([
    ['invalid_redirect_uri', { redirectUris: ['https://app.bank.example/callback'] }],
    ['invalid_realm', { keycloak: { issuer: 'http://sso.bank.example/realms/x', url: 'x', user: 'sub' } }],
    ['realm_exists', { name: 'again' }],
  ] as Array<[string, Partial<NewOpenIdClient>]>)('is refused as %s', async (code, changes) => {
    await expect(register(changes)).rejects.toMatchObject({ code })
  })
})

describe('a result', () => {
  it('is repeated until the realm is there, over a restart of the service', async () => {
    const { id, visitor } = await ask()
    const comeBack = await keycloak.goDown()
    await capture(visitor)
    await looked()
    await running.restart()
    running.clock.advance(5000)
    await looked()
    await comeBack()
    running.clock.advance(5000)
    await reported()
    expect([keycloak.state(id), results()]).toEqual(['approved', [[id, 'SUCCEED', 200]]])
    // A service that stops before it has read the realm's answer does not know the outcome, and has to report again.
    await looked()
    await running.restart()
    running.clock.advance(MINUTE_MS)
    await looked()
    expect(results()).toHaveLength(1)
  })

  it('whose outcome is unknown is not repeated before the client has fetched its tokens', async () => {
    const { id, visitor } = await ask()
    keycloak.failing = 'hang'
    await capture(visitor)
    await reported()
    await running.restart()
    keycloak.failing = null
    running.clock.advance(UNKNOWN_OUTCOME_MS - 1000)
    await looked()
    expect([results().length, keycloak.fetchTokens(id)]).toEqual([1, true])
    running.clock.advance(2000)
    await reported(2)
    expect(results()).toEqual([
      [id, 'SUCCEED', 200],
      [id, 'SUCCEED', 403],
    ])
    running.clock.advance(MINUTE_MS)
    await looked()
    expect(results()).toHaveLength(2)
  })

  it('is given up when the realm refuses it, or after the end of the token', async () => {
    const refused = await ask()
    keycloak.failing = 400
    await capture(refused.visitor)
    await vi.waitFor(async () => {
      expect((await refusals()).map(({ code, detail }) => [code, detail])).toEqual([
        ['result_not_taken', 'HTTP 400'],
      ])
    }, WAIT)
    keycloak.failing = 503
    const ended = await ask()
    await capture(ended.visitor)
    await looked()
    running.clock.advance(2 * MINUTE_MS)
    keycloak.failing = null
    await looked()
    expect(results()).toEqual([])
  })

  it.each([
    ['user_differs', { userId: 'grace+match' }],
    ['action_not_valid', { action: { type: 'login', application: 'another' } }],
    ['acr_not_reached', { asked: { values: ['urn:countersign:acr:face-active-hwk'], isEssential: true } }],
  ] as Array<[string, Partial<Callback>]>)(
    'is UNAUTHORIZED where the verdict is for another request: %s',
    async (code, changes) => {
      const { visitor, link } = await ask()
      const comeBack = await keycloak.goDown()
      await capture(visitor)
      const { core } = running.service
      const book = new CallbackBook(core.keys, core.vault)
      const changed = await vi.waitFor(async () => {
        running.clock.advance(1000)
        const [record] = await core.store.read.statements(callbackReader).due(running.clock.now(), 1)
        const callback = { ...(await book.opened(core.store.read, record!)), ...changes }
        const blindIndex = record!.blindIndex!
        const owner = { sessionId: link.session_id!, blindIndex, dataKey: null }
        await core.store.transaction({ tenantId: tenant.id }, (tx) =>
          book.enqueue(tx, record!, owner, callback, running.clock.now()),
        )
        return true
      }, WAIT)
      expect(changed).toBe(true)
      await comeBack()
      running.clock.advance(UNKNOWN_OUTCOME_MS)
      await reported()
      expect(results()[0]![1]).toBe('UNAUTHORIZED')
      expect((await refusals()).map((refusal) => refusal.code)).toContain(code)
    },
  )

  it('is not reported for a person who was erased meanwhile', async () => {
    const { visitor, link } = await ask()
    const comeBack = await keycloak.goDown()
    await capture(visitor)
    const { core } = running.service
    const index = core.vault.blindIndex(tenant.id, 'sandbox', link.user_id!)
    await core.store.transaction('installation', (tx) => tx.eraseSubject(index))
    await comeBack()
    running.clock.advance(UNKNOWN_OUTCOME_MS)
    await looked()
    expect(results()).toEqual([])
  })
})
