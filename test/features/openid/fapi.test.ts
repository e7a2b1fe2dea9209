/** Rules of the FAPI 2.0 Security Profile that hold here; docs/internals/openid-conformance.md says which do not. */
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { SECOND_MS } from '../../../src/lib/clock.js'
import { OpenIdApplication } from '../../support/openid-application.js'
import { serviceOfFile, WITH_OPENID } from '../../support/service.js'

const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const KID = 'bank-1'

type Fields = Record<string, string | undefined>
type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>

let application: SignedApplication

const running = await serviceOfFile(WITH_OPENID)
const tenant = await running.tenant()
const pair = await generateKeyPair('ES256')
beforeEach(async () => {
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: KID }
  const { issuer, client } = await OpenIdApplication.register(running, tenant, {
    jwks: { keys: [{ ...jwk }] },
  })
  application = new SignedApplication(issuer, client)
})

interface Assertion {
  subject?: string | null
  issuer?: string
  audience?: string | string[]
  expiresIn?: number
  key?: KeyPair['privateKey']
}

let assertions = 0

/** An application that proves itself by an assertion instead of a secret. */
class SignedApplication extends OpenIdApplication<Assertion | null> {
  private assertion(asked: Assertion): Promise<string> {
    const { id } = this.client.record
    const { subject = id, issuer = id, audience = this.issuer, expiresIn = 60, key = pair.privateKey } = asked
    const jwt = new SignJWT({
      jti: `assertion-${++assertions}`,
      ...(subject === null ? {} : { sub: subject }),
    })
    return jwt
      .setProtectedHeader({ alg: 'ES256', kid: KID })
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime(Math.floor(Date.now() / 1000) + expiresIn)
      .sign(key)
  }

  protected override async post(path: string, fields: Fields, proof: Assertion | null = {}) {
    const proven = proof && { client_assertion_type: TYPE, client_assertion: await this.assertion(proof) }
    return this.send(path, { client_id: this.client.record.id, ...fields, ...proven })
  }
}

const newBrowser = () => application.newBrowser()
const ask = (more: Fields = {}) => application.ask('fapi+match', more)
const codeOf = async () => (await application.signIn('fapi+match')).searchParams.get('code')
const errorOf = ({ left }: { left: URL | null }) => left?.searchParams.get('error')

describe('a pushed request', () => {
  it.each([
    ['without a state', { state: undefined }],
    ['without a nonce', { nonce: undefined }],
    ['with a nonce of 64 characters', { nonce: 'n'.repeat(64) }],
    ['with a nonce and a state of 384 characters', { nonce: 'n'.repeat(384), state: 's'.repeat(384) }],
  ])('leads to a code, %s, and to the issuer', async (_what, more: Fields) => {
    const { searchParams } = await application.signIn('fapi+match', more)
    expect((await application.redeem(searchParams.get('code'))).status).toBe(200)
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
    expect((await application.push()).body.expires_in).toBe(60)
    const address = await ask()
    running.clock.advance(61 * SECOND_MS)
    const { left } = await newBrowser().open(address)
    expect(errorOf({ left })).toBe('invalid_request_uri')
    expect(left!.searchParams.has('state')).toBe(false)
  })

  it('names no other request, and comes by POST only', async () => {
    const { body } = await application.push()
    expect((await application.push({ request_uri: String(body.request_uri) })).status).toBe(400)
    for (const method of ['GET', 'PUT'])
      expect((await fetch(`${application.issuer}/request`, { method })).status).toBeGreaterThanOrEqual(400)
  })
})

describe('a code', () => {
  it('is redeemed once, within a minute', async () => {
    const code = await codeOf()
    expect((await application.redeem(code)).status).toBe(200)
    expect((await application.redeem(code)).body.error).toBe('invalid_grant')
    const late = await codeOf()
    running.clock.advance(61 * SECOND_MS)
    expect((await application.redeem(late)).body.error).toBe('invalid_grant')
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
      await application.push({}, proof),
      await application.redeem(code, {}, proof),
    ]) {
      expect(status).toBeGreaterThanOrEqual(400)
      expect(['invalid_client', 'invalid_request']).toContain(body.error)
    }
    expect((await application.redeem(code)).status).toBe(200)
  })

  it('is refused under a key that is not registered', async () => {
    const { privateKey: key } = await generateKeyPair('ES256')
    expect((await application.push({}, { key })).body.error).toBe('invalid_client')
  })
})

describe('an access token', () => {
  it('is taken under `Bearer` in any case', async () => {
    const { body } = await application.redeem(await codeOf())
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const headers = { authorization: `${scheme} ${body.access_token}` }
      expect((await fetch(`${application.issuer}/me`, { headers })).status).toBe(200)
    }
  })
})
