/** Every refusal of the OpenID provider ends in an error of the protocol and in an entry of the tenant's audit log. */
import { readFile } from 'node:fs/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../../src/audit/audited-unit-of-work.js'
import { REFUSAL_CODES } from '../../../src/features/openid/refusals.js'
import { HOUR_MS } from '../../../src/lib/clock.js'
import { packageFile } from '../../../src/lib/package-root.js'
import { Visitor } from '../../support/capture-page.js'
import type { ApiClient } from '../../support/client.js'
import { base64, face, landscape, photoOf } from '../../support/faces.js'
import { plain } from '../../support/images.js'
import { OpenIdApplication, openIdClients, REDIRECT } from '../../support/openid-application.js'
import { confirmAt } from '../../support/openid-browser.js'
import { serviceOfFile, serviceOfTest, type TestTenant, WITH_OPENID } from '../../support/service.js'

let tenant: TestTenant
let application: OpenIdApplication

const running = await serviceOfFile(WITH_OPENID)
beforeEach(async () => {
  tenant = await running.tenant()
  application = await OpenIdApplication.register(running, tenant)
})

const LOGIN = { type: 'login', application: 'Wiki' }

const newBrowser = () => application.newBrowser()
const refusals = () => tenant.audit('openid_refused')
/** Codes in the audit log of the tenant. */
const codes = async () => (await refusals()).map(({ code }) => code)
const errorOf = (stand: { left: URL | null }) => stand.left?.searchParams.get('error')
const codeIn = (address: URL | null) => address!.searchParams.get('code')
/** Enrolls the user `ada` of the tests in production, or another one. */
async function enroll({ call }: ApiClient, user_id = 'ada') {
  const consent = { id: 'c', agreed_at: new Date(running.clock.now()).toISOString() }
  const { status } = await call('POST', '/v1/enroll', { user_id, image: await photoOf('ada'), consent })
  expect(status).toBe(201)
}

describe('a request of an application', () => {
  it('refuses a wrong secret', async () => {
    const { status, body } = await application.push({ login_hint: 'ada+match' }, { secret: 'wrong' })
    expect([status, body.error]).toEqual([401, 'invalid_client'])
    const [entry] = await refusals()
    expect(entry).toMatchObject({
      event: 'openid_refused',
      code: 'client_not_authenticated',
      client: application.client.record.id,
      environment: 'sandbox',
      actor: 'openid',
    })
    expect(JSON.stringify(entry)).not.toContain('wrong')
  })

  it('refuses an application at the issuer of the other environment', async () => {
    const astray = new OpenIdApplication(running.service.origin('openid')!, application.client)
    expect((await astray.push()).status).toBe(401)
    expect(await codes()).toEqual(['client_of_other_environment'])
  })

  it('refuses a redirect address that differs in one character', async () => {
    expect((await application.push({ redirect_uri: `${REDIRECT}/` })).status).toBe(400)
    const stand = await newBrowser().open(
      application.authorize({ ...application.request(), redirect_uri: 'https://evil.example/' }),
    )
    expect([stand.status, stand.left]).toEqual([400, null])
    expect(stand.text).toMatch(/^invalid_redirect_uri/)
    expect(await codes()).toEqual(['redirect_uri_not_registered', 'redirect_uri_not_registered'])
  })

  it.each([
    ['pkce_missing', 'invalid_request', { code_challenge: undefined, code_challenge_method: undefined }],
    ['pkce_missing', 'invalid_request', { code_challenge_method: 'plain' }],
    ['request_not_valid', 'unsupported_response_type', { response_type: 'token' }],
    ['request_not_valid', 'invalid_request', { scope: 'profile' }],
    ...[[{ type: 'payment' }], [LOGIN, LOGIN], [{ type: 'transfer_of_power' }]].map((details) => [
      ...(['action_not_valid', 'invalid_authorization_details'] as const),
      { authorization_details: JSON.stringify(details) },
    ]),
  ] as Array<[string, string, Record<string, string | undefined>]>)(
    'refuses it with the code %s',
    async (code, error, more) => {
      const { status, body } = await application.push({ login_hint: 'ada+match', ...more })
      expect([status, body.error, await codes()]).toEqual([400, error, [code]])
    },
  )

  it('refuses a request in the address of the browser', async () => {
    const address = application.authorize({ ...application.request(), login_hint: 'ada+match' })
    expect(errorOf(await newBrowser().open(address))).toBe('invalid_request')
    expect(await codes()).toEqual(['request_not_pushed'])
  })

  it('refuses a pushed request that is used a second time, or never was', async () => {
    const address = await application.ask('ada+match')
    const browser = newBrowser()
    expect(codeIn(await browser.signIn(address))).toBeTruthy()
    for (const visitor of [browser, newBrowser()]) {
      expect(errorOf(await visitor.open(address))).toBe('invalid_request_uri')
    }
    const request_uri = 'urn:ietf:params:oauth:request_uri:never'
    const never = application.authorize({ client_id: application.client.record.id, request_uri })
    expect(errorOf(await browser.open(never))).toBe('invalid_request_uri')
    expect(await codes()).toEqual(Array(3).fill('request_uri_not_valid'))
  })

  it('refuses the pushed request of another application', async () => {
    const other = await OpenIdApplication.register(running, tenant)
    const { searchParams } = new URL(await application.ask('ada+match'))
    const client_id = other.client.record.id
    const stolen = other.authorize({ client_id, request_uri: searchParams.get('request_uri')! })
    const stand = await newBrowser().open(stolen)
    expect(stand.left?.pathname ?? '').not.toMatch(/capture/)
    expect(await codes()).toHaveLength(1)
  })

  it('refuses a code that is redeemed twice, by another application, at another address or with another verifier', async () => {
    const other = await OpenIdApplication.register(running, tenant)
    const codeFor = async (user: string) => codeIn(await application.signIn(user))
    const used = await codeFor('ada+match')
    expect((await application.redeem(used)).status).toBe(200)
    const thief = { id: other.client.record.id, secret: other.client.secret! }
    for (const redeemed of [
      application.redeem(used),
      application.redeem(await codeFor('bob+match'), {}, thief),
      application.redeem(await codeFor('cai+match'), { redirect_uri: 'https://evil.example/' }),
      application.redeem(await codeFor('dee+match'), { code_verifier: 'x'.repeat(43) }),
    ])
      expect((await redeemed).body.error).toBe('invalid_grant')
    expect(await codes()).toEqual([...Array(3).fill('code_not_valid'), 'pkce_verifier_wrong'])
  })

  it('redeems a code once where it is redeemed several times at once', async () => {
    const code = codeIn(await application.signIn('ada+match'))
    const answers = await Promise.all([1, 2, 3, 4].map(() => application.redeem(code)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400])
  })

  it('refuses an application that asks not to disturb the person', async () => {
    const stand = await newBrowser().open(await application.ask('ada+match', { prompt: 'none' }))
    expect([errorOf(stand), await codes()]).toEqual(['login_required', ['person_needed']])
  })
})

describe('a request about a person', () => {
  it.each([
    ['user_unknown', 'nobody'],
    ['user_not_named', ''],
    ['user_rejected', 'eve+no_match'],
  ])('refuses it with the code %s, which the application does not learn', async (code, hint) => {
    const { searchParams } = await application.signIn(hint)
    expect([searchParams.get('error'), searchParams.get('error_description'), await codes()]).toEqual([
      ...['access_denied', 'The person was not confirmed.', [code]],
    ])
  })

  it.each(['urn:example:acr:phr', 'urn:countersign:acr:face-active-hwk'])(
    'refuses it with an error of its own when it insists on the acr %s, which cannot be had',
    async (value) => {
      const claims = JSON.stringify({ id_token: { acr: { essential: true, values: [value] } } })
      const back = await application.signIn('ada+match', { claims })
      expect(back.searchParams.get('error')).toBe('unmet_authentication_requirements')
      expect(await codes()).toEqual(['acr_not_reached'])
    },
  )

  it('refuses a person who cancels', async () => {
    const browser = newBrowser()
    const { left } = await browser.open(await application.ask('ada+match'))
    const visitor = new Visitor(left!.href)
    await visitor.open()
    const { body } = await visitor.post('cancel')
    expect(errorOf(await browser.open(body.return_url))).toBe('access_denied')
    expect(await refusals()).toMatchObject([
      { code: 'user_gave_up', capture_session: expect.stringMatching(/^cap_/) },
    ])
  })

  it.each([
    ['an unknown person', 'nobody'],
    ['a rejected person', 'eve+no_match'],
  ])('shows %s the address of help, and then answers the application', async (_who, hint) => {
    const helpUrl = 'https://help.bank.example/face?a=1&b="2"'
    application = await OpenIdApplication.register(running, tenant, { helpUrl })
    const browser = newBrowser()
    let stand = await browser.open(await application.ask(hint, { ui_locales: 'de' }))
    if (stand.left) stand = await browser.open(await confirmAt(stand.left))
    expect(stand).toMatchObject({ status: 200, left: null })
    expect(stand.text).toContain('href="https://help.bank.example/face?a=1&amp;b=&quot;2&quot;"')
    expect(stand.text).toContain('<html lang="de">')
    const [, back = ''] = /<a href="([^"]+)">Zurück/.exec(stand.text) ?? []
    expect(errorOf(await browser.open(back))).toBe('access_denied')
  })

  it('refuses an application that was removed, and the API key in whose name it asked', async () => {
    const { record } = application.client
    await openIdClients(running).remove(await tenant.record(), COMMAND_LINE, record.id)
    expect((await application.push()).status).toBe(401)
    const keys = await running.service.core.store.read.apiKeys(tenant.id)
    expect(keys.find(({ id }) => id === record.keyId)!.revokedAt).not.toBeNull()
  })

  it('refuses an application whose API key was revoked', async () => {
    const { tenancy } = running.service.core
    const { name } = application.client
    const found = await tenancy.find(tenant.id)
    await running.service.core.store.transaction({ tenantId: tenant.id }, (tx) =>
      tenancy.revokeNamedKey(tx, found, 'sandbox', `openid.${name}`),
    )
    const back = await application.signIn('ada+match')
    expect(back.searchParams.get('error')).toBe('temporarily_unavailable')
    expect(await codes()).toEqual(['key_not_valid'])
  })
})

describe('a browser', () => {
  it('refuses a browser at each step where another one began, which can go on', async () => {
    const browser = newBrowser()
    const back = await browser.confirm(await application.ask('ada+match'))
    const uid = browser.interaction.split('/').at(-1)!
    for (const address of [browser.interaction, back, `${application.issuer}/auth/${uid}`]) {
      const stand = await newBrowser().open(address)
      expect([stand.status, stand.left, stand.text.split(':')[0]]).toEqual([400, null, 'invalid_request'])
    }
    expect(await codes()).toEqual(Array(3).fill('opened_elsewhere'))
    expect(codeIn((await browser.open(back)).left)).toBeTruthy()
  })

  it('refuses the browser that began where the person confirmed in another one, which nothing brings the answer', async () => {
    const began = newBrowser()
    const { left } = await began.open(await application.ask('ada+match', { ui_locales: 'de' }))
    const back = await confirmAt(left!)
    const own = new URL(await newBrowser().confirm(await application.ask('eve+match')))
    const { searchParams } = new URL(back)
    const id = searchParams.get('capture_session')!
    const done = `${began.interaction}/done`
    for (const query of [
      '',
      `?capture_session=${id}`,
      `?capture_session=${id}&capture_proof=${'A'.repeat(43)}`,
      `?capture_session=${id}&capture_proof=${own.searchParams.get('capture_proof')}`,
      `?capture_session=${id}&capture_proof=no`,
      own.search,
    ]) {
      const stand = await began.open(done + query)
      expect([stand.status, stand.left, query]).toEqual([403, null, query])
      expect(stand.text).toContain('Gehen Sie zum anderen Browser zurück')
    }
    // The page of the link gives this browser no proof either.
    const page = new Visitor(left!.href)
    expect([(await page.open()).status, (await page.status()).status]).toEqual([403, 403])
    expect(await codes()).toEqual(Array(6).fill('confirmed_elsewhere'))
    // Nothing is over: with the proof, the same browser goes on.
    expect(codeIn((await began.open(back)).left)).toBeTruthy()
  })

  it('refuses a browser that goes back into a sign-in that is over', async () => {
    const browser = newBrowser()
    const back = await browser.confirm(await application.ask('ada+match'))
    expect(codeIn((await browser.open(back)).left)).toBeTruthy()
    for (const address of [back, browser.interaction]) {
      const stand = await browser.open(address)
      expect([stand.status, stand.left]).toEqual([400, null])
      expect(stand.text).toContain('Begin again')
    }
    expect(running.logText()).toContain('interaction_over')
  })

  it('lets two sign-ins in two tabs end each with its own person', async () => {
    const browser = newBrowser()
    const first = await browser.open(await application.ask('ada+match', { state: 'one' }))
    const second = await browser.open(await application.ask('bob+match', { state: 'two' }))
    const [one, two] = [await confirmAt(first.left!), await confirmAt(second.left!)]
    for (const [back, state] of [
      [two, 'two'],
      [one, 'one'],
    ] as const)
      expect((await browser.open(back)).left!.searchParams.get('state')).toBe(state)
    expect(await codes()).toEqual([])
  })

  it('gets the same session of the capture page in a second tab, and when it returns too early', async () => {
    const browser = newBrowser()
    const { left } = await browser.open(await application.ask('ada+match'))
    for (const again of [browser.interaction, `${browser.interaction}/done`])
      expect((await browser.open(again)).left!.href).toBe(left!.href)
  })

  it('ignores the capture session of another person', async () => {
    const browser = newBrowser()
    const approved = new URL(await browser.confirm(await application.ask('ada+match')))
    const eve = await browser.open(await application.ask('eve+no_match'))
    const exchanged = `${browser.interaction}/done${approved.search}`
    expect((await browser.open(exchanged)).left!.href).toBe(eve.left!.href)
  })
})

describe('a person who is not confirmed', () => {
  /** Returns the pages and answers of a browser from request to answer, without the parts that differ for every request. */
  async function seen(hint: string, picture: () => Promise<Buffer> = plain) {
    const browser = newBrowser()
    const { left } = await browser.open(await application.ask(hint))
    const visitor = new Visitor(left!.href)
    const { status, text } = await visitor.open()
    const [, main = ''] = /<main[^>]*>([\s\S]*)<\/main>/.exec(text) ?? []
    const steps: unknown[] = [status, main, (await visitor.agree()).body.state]
    let body: { state: string; message?: string; return_url?: string } = { state: 'again' }
    for (let tries = 0; body.state === 'again'; tries++) {
      expect(tries).toBeLessThan(4)
      body = (await visitor.capture(base64(await picture()))).body
      const { return_url: _url, message = '', ...rest } = body
      // The advice names the movement that failed, and the movements of each challenge are others.
      const advice = /(?:Turn your head|Raise or lower your chin) a little further\./
      steps.push({ ...rest, message: message.replace(advice, 'Move further.') })
    }
    const back = (await browser.open(body.return_url!)).left!
    return [...steps, back.searchParams.get('error'), back.searchParams.get('error_description')]
  }

  it('sees the same in the sandbox, whether rejected, locked out or unknown', async () => {
    const rejected = await seen('eve+no_match')
    expect(rejected).toHaveLength(8)
    expect(await seen('nobody')).toEqual(rejected)
    expect(await codes()).toEqual(['user_rejected', 'user_unknown'])
  })

  it('sees the same in production, whether rejected, locked out or unknown', async () => {
    const api = await running.production(tenant)
    application = await OpenIdApplication.register(running, tenant, { environment: 'production' })
    await enroll(api)
    const grace = () => face('grace')
    const unknown = await seen('nobody', grace)
    const rejected = await seen('ada', grace)
    expect(rejected).toEqual(unknown)
    // A picture without a face is advised on in the same way.
    expect(await seen('ada', landscape)).toEqual(await seen('nobody', landscape))
    for (let more = 0; (await codes()).at(-1) !== 'user_locked_out'; more++) {
      expect(more).toBeLessThan(5)
      expect(await seen('ada', grace)).toEqual(unknown)
    }
    expect((await codes()).slice(0, 2)).toEqual(['user_unknown', 'user_rejected'])
    const [first, second] = await refusals()
    expect([first!.subject, second!.subject]).toEqual([undefined, expect.any(String)])
  })
})

describe('a person who is erased', () => {
  it('ends a sign-in that had begun: nothing of it is left', async () => {
    await enroll(tenant.sandbox, 'ada+match')
    const browser = newBrowser()
    const back = await browser.confirm(await application.ask('ada+match'))
    expect((await tenant.sandbox.erase('ada+match')).status).toBe(200)
    const opened = await browser.open(back)
    expect([opened.left, opened.status]).toEqual([null, 400])
  })
})

describe('a tenant', () => {
  it('cannot ask for a user of another tenant', async () => {
    const other = await running.tenant()
    await enroll(await running.production(other))
    await running.production(tenant)
    application = await OpenIdApplication.register(running, tenant, { environment: 'production' })
    expect((await application.signIn('ada')).searchParams.get('error')).toBe('access_denied')
    expect(await codes()).toEqual(['user_unknown'])
    expect(await other.audit('openid_refused')).toEqual([])
  })
})

describe('rate limits', () => {
  it('hold for the tenant as at the API', async () => {
    const slow = await serviceOfTest({ ...WITH_OPENID, COUNTERSIGN_SANDBOX_RATE_LIMIT: '0.01/s' })
    tenant = await slow.tenant()
    application = await OpenIdApplication.register(slow, tenant)
    const open = async () => newBrowser().open(await application.ask('ada+match'))
    expect((await open()).left!.pathname).toMatch(/^\/capture\//)
    expect(errorOf(await open())).toBe('temporarily_unavailable')
    expect(await codes()).toEqual(['rate_limited'])
  })
})

describe('the audit log', () => {
  it('is not filled by anyone who knows a client id, and counts what it leaves out once an hour', async () => {
    const asked = application.request()
    const elsewhere = application.authorize({ ...asked, redirect_uri: 'https://evil.example/' })
    const unpushed = application.authorize({ ...asked, login_hint: 'ada+match' })
    const unsent = application.authorize({ client_id: application.client.record.id, request_uri: 'urn:x' })
    for (let sent = 0; sent < 10; sent++) {
      await application.push({}, { secret: 'wrong' })
      for (const address of [elsewhere, unpushed, unsent]) await newBrowser().open(address)
    }
    expect(await codes()).toHaveLength(30)
    // A refusal of the application's own request has its entry all the same.
    await application.signIn('nobody')
    expect((await codes()).slice(30)).toEqual(['user_unknown'])
    running.clock.advance(HOUR_MS)
    await application.push({}, { secret: 'wrong' })
    await application.push({}, { secret: 'wrong' })
    const entries = await refusals()
    expect(entries).toHaveLength(32)
    expect(entries.at(-1)).toMatchObject({ code: 'client_not_authenticated', count: 11 })
  })

  it('has only codes that the guide explains', async () => {
    const guide = await readFile(packageFile('docs', 'guides', 'openid.md'), 'utf8')
    const rows = [...guide.matchAll(/^- `(\w+)`: (.*)$/gm)].map(([, code, meaning]) => [code, meaning])
    expect(rows).toEqual(expect.arrayContaining(Object.entries(REFUSAL_CODES)))
  })
})
