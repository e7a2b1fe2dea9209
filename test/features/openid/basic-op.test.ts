/** Rules that the plans Basic OP, Config OP and Form Post OP of the OpenID conformance suite check; conformance-modules.ts maps them. */
import { createHash } from 'node:crypto'
import {
  createRemoteJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  type JWTPayload,
  jwtVerify,
  UnsecuredJWT,
} from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { OpenIdApplication, REDIRECT } from '../../support/openid-application.js'
import { serviceOfFile, WITH_OPENID } from '../../support/service.js'

let application: OpenIdApplication

const running = await serviceOfFile(WITH_OPENID)
const tenant = await running.tenant()
beforeEach(async () => {
  application = await OpenIdApplication.register(running, tenant)
})

type Fields = Record<string, string | undefined>

const newBrowser = () => application.newBrowser()
// biome-ignore lint/suspicious/noExplicitAny: tests look into documents freely
const published = async (path: string): Promise<any> => (await fetch(application.issuer + path)).json()

interface Tokens {
  id: JWTPayload & { auth_time?: number }
  header: Record<string, unknown>
  body: Record<string, unknown>
  code: string
  /** The address at which the browser came back. */
  back: URL
}

/** A whole sign-in, whose ID token is checked with the published keys. */
async function signIn(more: Fields = {}, browser = newBrowser()): Promise<Tokens> {
  const back = await application.signIn('basic+match', more, browser)
  const code = back.searchParams.get('code')!
  return { ...(await redeem(code)), code, back }
}

async function redeem(code: string) {
  const { body } = await application.redeem(code)
  const token = body.id_token as string
  const keys = createRemoteJWKSet(new URL(`${application.issuer}/jwks`))
  const { payload } = await jwtVerify(token, keys, {
    ...{ issuer: application.issuer, audience: application.client.record.id, algorithms: ['RS256'] },
    requiredClaims: ['sub', 'iat', 'exp', 'auth_time', 'acr'],
  })
  return { id: payload as Tokens['id'], header: { ...decodeProtectedHeader(token) }, body }
}

const userInfo = (init: RequestInit) => fetch(`${application.issuer}/me`, init)

describe('the metadata', () => {
  it('names every endpoint under the issuer, and what is supported', async () => {
    const found = await published('/.well-known/openid-configuration')
    const endpoints = ['authorization', 'token', 'userinfo', 'pushed_authorization_request']
    for (const name of endpoints) expect(found[`${name}_endpoint`]).toMatch(`${application.issuer}/`)
    expect(found).toMatchObject({
      issuer: application.issuer,
      jwks_uri: `${application.issuer}/jwks`,
      response_types_supported: ['code'],
      response_modes_supported: expect.arrayContaining(['query', 'form_post']),
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      scopes_supported: ['openid', 'profile'],
      code_challenge_methods_supported: ['S256'],
      claims_parameter_supported: true,
      request_uri_parameter_supported: false,
      authorization_response_iss_parameter_supported: true,
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    })
  })

  it('leads to keys with an id, a use and no private part', async () => {
    const { keys } = await published('/jwks')
    expect(keys.length).toBeGreaterThan(0)
    for (const key of keys) {
      expect(key).toMatchObject({ kty: 'RSA', use: 'sig', alg: 'RS256', kid: expect.stringMatching(/./) })
      expect(['d', 'p', 'q', 'dp', 'dq', 'qi'].filter((part) => part in key)).toEqual([])
    }
  })
})

describe('an ID token', () => {
  it('is signed by RS256 with a published key that its header names', async () => {
    const { header, id, body } = await signIn()
    expect(header).toMatchObject({ alg: 'RS256', kid: expect.stringMatching(/^oik_/) })
    expect(id).toMatchObject({ sub: 'basic+match', nonce: 'nonce' })
    expect(body).toMatchObject({ token_type: 'Bearer', scope: 'openid' })
  })

  it('has a verdict, which is about a sign-in at the application where the request names no action', async () => {
    expect(decodeJwt(String((await signIn()).id.verdict))).toMatchObject({
      ...{ sub: 'basic+match', verdict: 'approved' },
      action: { type: 'login', application: application.client.name },
    })
  })

  it('has no nonce when the request had none', async () => {
    expect((await signIn({ nonce: undefined })).id).not.toHaveProperty('nonce')
  })

  it.each([
    ['display=page', { display: 'page' }],
    ['display=popup', { display: 'popup' }],
    ['prompt=login', { prompt: 'login' }],
    ['max_age=1', { max_age: '1' }],
    ['max_age=10000', { max_age: '10000' }],
    ['claims_locales', { claims_locales: 'se' }],
    ['ui_locales of an unknown language', { ui_locales: 'se' }],
    ['acr_values', { acr_values: 'urn:countersign:acr:face-active' }],
    ['acr_values that it cannot get', { acr_values: 'urn:example:acr:phr' }],
    ['an unknown parameter', { extra: 'foobar' }],
    ['scopes in another order, of which most are not supported', { scope: 'phone openid email address' }],
    ['essential claims that are not supported', { claims: '{"userinfo":{"name":{"essential":true}}}' }],
  ])('comes after a request with %s', async (_what, more) => {
    const { id, body } = await signIn(more)
    const acr = 'urn:countersign:acr:face-active'
    expect(id).toMatchObject({ sub: 'basic+match', auth_time: expect.any(Number), acr, amr: ['face'] })
    expect([String(body.scope).split(' ')[0], Object.keys(id).includes('name')]).toEqual(['openid', false])
  })

  it('comes with no refresh token', async () => {
    const { body } = await signIn()
    expect(body).not.toHaveProperty('refresh_token')
  })
})

describe('a request', () => {
  it('is refused without response_type, or with another one than code', async () => {
    const errors = []
    for (const type of [undefined, 'id_token', 'code id_token', 'token'])
      errors.push((await application.push({ response_type: type })).body.error)
    const unsupported = 'unsupported_response_type'
    expect(errors).toEqual(['invalid_request', unsupported, unsupported, unsupported])
  })

  it('brings a name of the person only for the scope profile', async () => {
    const names = []
    for (const scope of ['openid', 'openid profile'])
      names.push((await signIn({ scope })).id.preferred_username)
    expect(names).toEqual([undefined, 'basic+match'])
  })

  it('may come to the authorization endpoint as a form', async () => {
    const { searchParams } = new URL(await application.ask('basic+match'))
    const response = await fetch(`${application.issuer}/auth`, {
      ...{ method: 'POST', redirect: 'manual', body: searchParams },
    })
    expect(response.status).toBe(303)
    const { href } = new URL(response.headers.get('location')!, application.issuer)
    expect((await newBrowser().open(href)).left!.pathname).toMatch(/^\/capture\//)
  })

  it('is refused as an unsigned request object, and by an address of the application', async () => {
    const { client_id, ...parameters } = application.request()
    const request = new UnsecuredJWT({ ...parameters, client_id, login_hint: 'basic+match' })
      .setIssuer(client_id!)
      .setAudience(application.issuer)
      .setIssuedAt()
      .setExpirationTime('1m')
      .encode()
    const only = Object.fromEntries(Object.keys(parameters).map((name) => [name, undefined]))
    expect((await application.push({ ...only, request })).body.error).toBe('invalid_request_object')
    const elsewhere = { ...only, request_uri: 'https://app.bank.example/request.jwt' }
    expect((await application.push(elsewhere)).body.error).toBe('request_uri_not_supported')
  })

  it('needs the person again, although the browser has just signed in, so that prompt=none is refused', async () => {
    const browser = newBrowser()
    await signIn({}, browser)
    const { left } = await browser.open(await application.ask('basic+match', { prompt: 'none' }))
    expect(left!.searchParams.get('error')).toBe('login_required')
  })

  it('gives a later auth_time than the one before', async () => {
    const browser = newBrowser()
    const first = await signIn({ max_age: '1' }, browser)
    running.clock.advance(2000)
    const second = await signIn({ max_age: '1' }, browser)
    expect(second.id.auth_time! - first.id.auth_time!).toBeGreaterThanOrEqual(2)
  })
})

describe('the UserInfo endpoint', () => {
  it('names the same person by GET, by POST with a header, and by POST with a form', async () => {
    const { body } = await signIn()
    const token = String(body.access_token)
    const headers = { authorization: `Bearer ${token}` }
    const form = { method: 'POST', body: new URLSearchParams({ access_token: token }) }
    for (const init of [{ headers }, { method: 'POST', headers }, form]) {
      const response = await userInfo(init)
      expect([response.status, await response.json()]).toEqual([
        200,
        expect.objectContaining({ sub: 'basic+match' }),
      ])
    }
  })

  it('takes no token of a code that was redeemed twice', async () => {
    const { body, code } = await signIn()
    const headers = { authorization: `Bearer ${body.access_token}` }
    expect((await userInfo({ headers })).status).toBe(200)
    expect((await application.redeem(code)).body.error).toBe('invalid_grant')
    expect((await userInfo({ headers })).status).toBe(401)
  })
})

describe('the response mode form_post', () => {
  it('brings a code, the state and the issuer by form to the redirect address', async () => {
    const browser = newBrowser()
    const asked = { response_mode: 'form_post', state: 'of-the-form' }
    const { status, post } = await browser.open(
      await browser.confirm(await application.ask('basic+match', asked)),
    )
    const fields = { code: expect.stringMatching(/./), state: 'of-the-form', iss: application.issuer }
    expect([status, post]).toEqual([200, { action: REDIRECT, fields }])
    expect((await redeem(post!.fields.code!)).id.sub).toBe('basic+match')
  })

  it('brings an error by form as well', async () => {
    const { post } = await newBrowser().open(
      await application.ask('basic+match', { response_mode: 'form_post', prompt: 'none' }),
    )
    const fields = { error: 'login_required', state: 'state', iss: application.issuer }
    expect(post).toMatchObject({ action: REDIRECT, fields })
  })
})

describe('a challenge of PKCE', () => {
  it('is the digest of the verifier, and nothing else redeems the code', async () => {
    const verifier = 'v'.repeat(43)
    const code_challenge = createHash('sha256').update(verifier).digest('base64url')
    const codeOf = async () =>
      (await application.signIn('basic+match', { code_challenge })).searchParams.get('code')
    const code = await codeOf()
    expect((await application.redeem(code)).body.error).toBe('invalid_grant')
    expect((await application.redeem(code, { code_verifier: undefined })).body.error).toBe('invalid_grant')
    const redeemed = await application.redeem(await codeOf(), { code_verifier: verifier })
    expect(redeemed.status).toBe(200)
  })
})
