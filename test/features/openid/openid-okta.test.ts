/** The profile for Okta's IdP authenticator: signed requests instead of pushed ones, `preferred_username`, and the userinfo endpoint. */
import { decodeJwt } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { OpenIdApplication, REDIRECT } from '../../support/openid-application.js'
import { serviceOfFile, type TestTenant, WITH_OPENID } from '../../support/service.js'

let tenant: TestTenant
let okta: OpenIdApplication

const running = await serviceOfFile(WITH_OPENID)
beforeEach(async () => {
  tenant = await running.tenant()
  okta = await OpenIdApplication.register(running, tenant, { profile: 'okta' })
})

/** Parameters as Okta sends them: without PKCE, with the scopes of its form. */
function parameters(login_hint: string) {
  const { code_challenge: _challenge, code_challenge_method: _method, ...rest } = okta.request()
  return { ...rest, scope: 'openid profile email', login_hint }
}

/** The address to which an application sends the browser with a signed request. */
function addressOf(application: OpenIdApplication, request: string, beside = {}): string {
  const client_id = application.client.record.id
  return application.authorize({ client_id, response_type: 'code', scope: 'openid', ...beside, request })
}
const signIn = (request: string, beside = {}) => okta.newBrowser().signIn(addressOf(okta, request, beside))
const errorOf = (back: URL) => back.searchParams.get('error')
const codes = async () => (await tenant.audit('openid_refused')).map(({ code }) => code)

describe('an application with the profile okta', () => {
  it('gets the login as preferred_username in the ID token and from userinfo', async () => {
    const back = await signIn(await okta.sign(parameters('ada+match')))
    expect(back.origin + back.pathname).toBe(REDIRECT)
    const { status, body } = await okta.redeem(back.searchParams.get('code'), { code_verifier: undefined })
    expect(status).toBe(200)
    expect(decodeJwt(String(body.id_token))).toMatchObject({
      sub: 'ada+match',
      preferred_username: 'ada+match',
      amr: ['face'],
      nonce: 'nonce',
    })
    expect(await okta.userinfo(String(body.access_token))).toMatchObject({
      status: 200,
      body: { sub: 'ada+match', preferred_username: 'ada+match' },
    })
  })

  it('is refused without a signature, and with that of another secret', async () => {
    const unsigned = await okta.newBrowser().signIn(okta.authorize(parameters('ada+match')))
    expect(errorOf(unsigned)).toBe('invalid_request')
    const forged = await signIn(await okta.sign(parameters('ada+match'), 'x'.repeat(43)))
    expect(errorOf(forged)).toBe('invalid_request_object')
    expect(await codes()).toEqual(['request_not_pushed', 'hint_not_valid'])
  })

  it('gets one code for one verdict, although the browser comes back several times at once', async () => {
    const browser = okta.newBrowser()
    const back = await browser.confirm(addressOf(okta, await okta.sign(parameters('ada+match'))))
    const resumed = await browser.step(back)
    const stands = await Promise.all(Array.from({ length: 6 }, () => browser.open(resumed!)))
    const redeemable = stands.filter((stand) => stand.left?.searchParams.has('code'))
    const others = stands.filter((stand) => !redeemable.includes(stand))
    expect(redeemable).toHaveLength(1)
    expect(others.map(({ status, left }) => [status, left])).toEqual(others.map(() => [400, null]))
  })

  it.each([
    ['neither exp nor iat', () => ({ exp: undefined })],
    ['an iat of more than ten minutes ago', (now: number) => ({ exp: undefined, iat: now - 720 })],
    ['an exp that is over', (now: number) => ({ exp: now - 60 })],
    ['an exp in more than an hour', (now: number) => ({ exp: now + 3900 })],
  ])('is refused with a request that has %s', async (_what, times) => {
    const now = Math.floor(Date.now() / 1000)
    const refused = await signIn(await okta.sign({ ...parameters('ada+match'), ...times(now) }))
    expect(errorOf(refused)).toBe('invalid_request_object')
    expect(await codes()).toEqual(['hint_not_valid'])
  })

  it('needs no exp in a request of the last ten minutes', async () => {
    const iat = Math.floor(running.clock.now() / 1000) - 500
    const back = await signIn(await okta.sign({ ...parameters('ada+match'), exp: undefined, iat }))
    expect(back.searchParams.get('code')).toBeTruthy()
  })

  it('begins one session with one request, which only the browser that began can open again', async () => {
    const address = addressOf(okta, await okta.sign(parameters('ada+match')))
    const first = okta.newBrowser()
    const { left } = await first.open(address)
    // Only the signed part counts, however the signature is written.
    const elsewhere = await okta.newBrowser().open(address.slice(0, -1))
    expect([elsewhere.status, elsewhere.left]).toEqual([400, null])
    expect((await first.open(address)).left!.href).toBe(left!.href)
    expect((await first.signIn(address)).searchParams.get('code')).toBeTruthy()
    const over = await first.open(address)
    expect([over.status, over.left]).toEqual([400, null])
    expect(await codes()).toEqual(['opened_elsewhere'])
  })

  it('begins one session although a request comes several times at once', async () => {
    const address = addressOf(okta, await okta.sign(parameters('ada+match')))
    const stands = await Promise.all(Array.from({ length: 5 }, () => okta.newBrowser().open(address)))
    expect(stands.filter(({ left }) => left?.pathname.startsWith('/capture/'))).toHaveLength(1)
  })

  it('gets no person whose name stands in the address next to the signed request', async () => {
    const { login_hint: _hint, ...unnamed } = parameters('')
    const back = await signIn(await okta.sign(unnamed), { login_hint: 'ada+match' })
    expect(errorOf(back)).toBe('access_denied')
    expect(await codes()).toEqual(['user_not_named'])
  })
})

describe('an application of another profile', () => {
  it('is refused with a signed request that it did not push', async () => {
    const generic = await OpenIdApplication.register(running, tenant)
    const request = await generic.sign({ ...generic.request(), login_hint: 'ada+match' })
    expect(errorOf(await generic.newBrowser().signIn(addressOf(generic, request)))).toBe('invalid_request')
  })
})
