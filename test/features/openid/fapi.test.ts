/** Rules of the FAPI 2.0 Security Profile that hold here; docs/internals/openid-conformance.md says which do not. */
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { SECOND_MS } from '../../../src/lib/clock.js'
import { OpenIdApplication, REDIRECT } from '../../support/openid-application.js'
import { serviceOfFile, WITH_OPENID } from '../../support/service.js'

const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const KID = 'bank-1'

type Fields = Record<string, string | undefined>
type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>

let application: OpenIdApplication

const running = await serviceOfFile(WITH_OPENID)
const tenant = await running.tenant()
const pair = await generateKeyPair('ES256')
beforeEach(async () => {
  application = await signedApplication()
})

async function signedApplication(): Promise<OpenIdApplication> {
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: KID }
  return OpenIdApplication.register(running, tenant, { jwks: { keys: [{ ...jwk }] } })
}

interface Assertion {
  subject?: string | null
  issuer?: string
  audience?: string | string[]
  expiresIn?: number
  key?: KeyPair['privateKey']
}

let assertions = 0

function assertion(of: OpenIdApplication, asked: Assertion = {}): Promise<string> {
  const { id } = of.client.record
  const { subject = id, issuer = id, audience = of.issuer, expiresIn = 60, key = pair.privateKey } = asked
  const jwt = new SignJWT({ jti: `assertion-${++assertions}`, ...(subject === null ? {} : { sub: subject }) })
  return jwt
    .setProtectedHeader({ alg: 'ES256', kid: KID })
    .setIssuer(issuer)
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime(Math.floor(Date.now() / 1000) + expiresIn)
    .sign(key)
}

async function post(path: string, fields: Fields, from = application, proof: Assertion | null = {}) {
  const proven = proof && { client_assertion_type: TYPE, client_assertion: await assertion(from, proof) }
  const given = Object.entries({ ...fields, ...proven }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  const response = await fetch(from.issuer + path, { method: 'POST', body: new URLSearchParams(given) })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const push = (more: Fields = {}, from = application, proof?: Assertion | null) =>
  post('/request', { ...from.request(), login_hint: 'fapi+match', ...more }, from, proof)

const redeem = (code: string | null, more: Fields = {}, from = application, proof?: Assertion | null) =>
  post(
    '/token',
    {
      ...{ grant_type: 'authorization_code', redirect_uri: REDIRECT, code: code ?? '' },
      ...{ code_verifier: from.verifier, client_id: from.client.record.id },
      ...more,
    },
    from,
    proof,
  )

const newBrowser = () => application.newBrowser()

async function ask(more: Fields = {}): Promise<string> {
  const { body } = await push(more)
  return application.authorize({
    client_id: application.client.record.id,
    request_uri: String(body.request_uri),
  })
}

const signIn = async (more: Fields = {}) => newBrowser().signIn(await ask(more))
const codeOf = async (more: Fields = {}) => (await signIn(more)).searchParams.get('code')
const errorOf = ({ left }: { left: URL | null }) => left?.searchParams.get('error')

describe('a pushed request', () => {
  it.each([
    ['without a state', { state: undefined }],
    ['without a nonce', { nonce: undefined }],
    ['with a nonce of 64 characters', { nonce: 'n'.repeat(64) }],
    ['with a nonce and a state of 384 characters', { nonce: 'n'.repeat(384), state: 's'.repeat(384) }],
  ])('leads to a code, %s, and to the issuer', async (_what, more: Fields) => {
    const { searchParams } = await signIn(more)
    expect((await redeem(searchParams.get('code'))).status).toBe(200)
    const state = 'state' in more ? more.state : 'state'
    expect([searchParams.get('state'), searchParams.get('iss')]).toEqual([state ?? null, application.issuer])
  })

  it('may be opened again until the sign-in is over, and never after it', async () => {
    const address = await ask()
    const browser = newBrowser()
    await browser.open(address)
    expect((await browser.signIn(address)).searchParams.get('code')).toBeTruthy()
    expect(errorOf(await newBrowser().open(address))).toBe('invalid_request_uri')
  })

  it('is over after a minute', async () => {
    expect((await push()).body.expires_in).toBe(60)
    const address = await ask()
    running.clock.advance(61 * SECOND_MS)
    const { left } = await newBrowser().open(address)
    expect(errorOf({ left })).toBe('invalid_request_uri')
    expect(left!.searchParams.has('state')).toBe(false)
  })

  it('names no other request, and comes by POST only', async () => {
    const { body } = await push()
    expect((await push({ request_uri: String(body.request_uri) })).status).toBe(400)
    for (const method of ['GET', 'PUT'])
      expect((await fetch(`${application.issuer}/request`, { method })).status).toBeGreaterThanOrEqual(400)
  })
})

describe('a code', () => {
  it('is redeemed once, within a minute', async () => {
    const code = await codeOf()
    expect((await redeem(code)).status).toBe(200)
    expect((await redeem(code)).body.error).toBe('invalid_grant')
    const late = await codeOf()
    running.clock.advance(61 * SECOND_MS)
    expect((await redeem(late)).body.error).toBe('invalid_grant')
  })
})

describe('an assertion of the application', () => {
  it.each([
    ['is missing', null],
    ['is over for five minutes', { expiresIn: -300 }],
    ['is for somebody else', { audience: 'https://id.attacker.example' }],
    ['names no subject', { subject: null }],
    ['names another subject than issuer', { issuer: 'oic_other' }],
  ] as Array<[string, Assertion | null]>)('is refused when it %s', async (_what, proof) => {
    const code = await codeOf()
    for (const { status, body } of [
      await push({}, application, proof),
      await redeem(code, {}, application, proof),
    ]) {
      expect(status).toBeGreaterThanOrEqual(400)
      expect(['invalid_client', 'invalid_request']).toContain(body.error)
    }
    expect((await redeem(code)).status).toBe(200)
  })

  it('is refused under a key that is not registered', async () => {
    const { privateKey: key } = await generateKeyPair('ES256')
    expect((await push({}, application, { key })).body.error).toBe('invalid_client')
  })
})

describe('an access token', () => {
  it('is taken under `Bearer` in any case', async () => {
    const { body } = await redeem(await codeOf())
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const headers = { authorization: `${scheme} ${body.access_token}` }
      expect((await fetch(`${application.issuer}/me`, { headers })).status).toBe(200)
    }
  })
})
