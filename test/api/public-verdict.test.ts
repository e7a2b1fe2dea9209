/** Tests of the token under the issuer's key, and of the documents by which a verifier finds that key. */
import { createLocalJWKSet, createRemoteJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { ANNOUNCED_MS, RETIRED_KEPT_MS } from '../../src/features/public-verdicts/verdict-key-rotation.js'
import { HOUR_MS } from '../../src/lib/clock.js'
import { blank as image } from '../support/images.js'
import { serviceOfFile, type TestTenant } from '../support/service.js'
import { decodeJwt } from '../support/trust.js'
import { verdictKeysOfService } from '../support/verdict-keys.js'

let tenant: TestTenant

const running = await serviceOfFile()
beforeEach(async () => {
  tenant = await running.tenant()
})

type Environment = 'production' | 'sandbox'
const address = (environment: Environment, name: string) =>
  `${running.service.url(environment)}/.well-known/${name}`
const read = async (environment: Environment, name: string) =>
  (await (await fetch(address(environment, name))).json()) as JSONWebKeySet
const keysOf = async (environment: Environment) => (await read(environment, 'jwks.json')).keys
const kidsOf = async (environment: Environment) => (await keysOf(environment)).map(({ kid }) => kid)
const verify = async (headers: Record<string, string> = {}) =>
  (await tenant.sandbox.verify({ user_id: 'ada+match', image, action: 'x' }, { headers })).body
const signingKid = async () => decodeJwt((await verify()).jwt_public, '').header.kid
const rotate = async (environment: Environment, isEmergency = false) => {
  const { rotation, reload } = verdictKeysOfService(running.service)
  const [made] = await rotation.rotate([environment], COMMAND_LINE, { isEmergency })
  await reload()
  return made!
}

describe('a public verdict', () => {
  it('is checked with the issuer’s address and nothing else', async () => {
    const { jwt_public: token } = await verify()
    const { iss } = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString())
    const response = await fetch(`${iss}/.well-known/openid-configuration`)
    const metadata = (await response.json()) as {
      issuer: string
      jwks_uri: string
      id_token_signing_alg_values_supported: string[]
    }
    expect(metadata.issuer).toBe(iss)
    const keys = createRemoteJWKSet(new URL(metadata.jwks_uri))
    const { protectedHeader } = await jwtVerify(token, keys, {
      issuer: iss,
      algorithms: metadata.id_token_signing_alg_values_supported,
      currentDate: new Date(running.clock.now()),
    })
    expect(protectedHeader).toEqual({
      alg: 'ES256',
      typ: 'stepup+jwt',
      kid: expect.stringMatching(/^vky_[0-9a-f]{32}$/),
    })
  })

  it('has the same claims as `jwt`, to the byte', async () => {
    const { jwt, jwt_public: token } = await verify()
    expect(token.split('.')[1]).toBe(jwt.split('.')[1])
  })

  it('has a signature of 64 bytes, r and s without DER', async () => {
    for (let i = 0; i < 20; i++) {
      const { jwt_public: token } = await verify()
      expect(Buffer.from(token.split('.')[2], 'base64url')).toHaveLength(64)
    }
  })

  it('stays the same in a replay', async () => {
    const headers = { 'X-Svc-Idempotency-Key': 'once' }
    const first = await verify(headers)
    expect((await verify(headers)).jwt_public).toBe(first.jwt_public)
  })

  it('is refused with production’s keys when the sandbox signed it', async () => {
    const { jwt_public: token } = await verify()
    const production = createLocalJWKSet(await read('production', 'jwks.json'))
    await expect(jwtVerify(token, production)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' })
  })
})

describe('the published keys', () => {
  it('are answered without an API key, to be cached for ten minutes, and to pages of any origin', async () => {
    const response = await fetch(address('production', 'jwks.json'))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/jwk-set+json')
    expect(response.headers.get('cache-control')).toBe('public, max-age=600')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('x-svc-signature')).toContain('kid=instance')
  })

  it('hold no private half', async () => {
    const [key] = await keysOf('production')
    expect(Object.keys(key!).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
  })

  it('are not sent again to a caller who has them', async () => {
    const tag = (await fetch(address('production', 'jwks.json'))).headers.get('etag')!
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`]) {
      const response = await fetch(address('production', 'jwks.json'), {
        headers: { 'If-None-Match': known },
      })
      expect(response.status).toBe(304)
      expect(await response.text()).toBe('')
      expect(response.headers.get('etag')).toBe(tag)
    }
    const other = await fetch(address('production', 'jwks.json'), { headers: { 'If-None-Match': '"other"' } })
    expect(other.status).toBe(200)
  })

  it('are refused to every method but GET', async () => {
    const response = await fetch(address('production', 'jwks.json'), { method: 'POST' })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET')
  })

  it('survive a restart', async () => {
    const before = await kidsOf('sandbox')
    await running.restart()
    expect(await kidsOf('sandbox')).toEqual(before)
    tenant = await running.tenant()
  })
})

describe('a rotation of the keys', () => {
  it('publishes the next key at once, and signs with it two hours later', async () => {
    const old = await signingKid()
    const next = await rotate('sandbox')
    expect(await kidsOf('sandbox')).toEqual([old, next.id])
    running.clock.advance(ANNOUNCED_MS - 1)
    expect(await signingKid()).toBe(old)
    running.clock.advance(1)
    expect(await signingKid()).toBe(next.id)
  })

  it('keeps the old key published for 49 hours after its last signature', async () => {
    const old = await signingKid()
    const next = await rotate('sandbox')
    running.clock.advance(ANNOUNCED_MS + RETIRED_KEPT_MS - 1)
    expect(RETIRED_KEPT_MS).toBeGreaterThanOrEqual(48 * HOUR_MS)
    expect(await kidsOf('sandbox')).toEqual([old, next.id])
    running.clock.advance(1)
    expect(await kidsOf('sandbox')).toEqual([next.id])
    expect(await signingKid()).toBe(next.id)
  })

  it('is refused while the last one is in progress', async () => {
    await rotate('sandbox')
    await expect(rotate('sandbox')).rejects.toMatchObject({ code: 'verdict_key_waits' })
    running.clock.advance(ANNOUNCED_MS)
    await rotate('sandbox')
    running.clock.advance(ANNOUNCED_MS)
  })

  it('leaves the other environment’s keys as they are', async () => {
    const before = await kidsOf('production')
    await rotate('sandbox')
    running.clock.advance(ANNOUNCED_MS)
    expect(await kidsOf('production')).toEqual(before)
  })

  it('removes every key at once in an emergency, and signs with the new one', async () => {
    await rotate('sandbox')
    const { id } = await rotate('sandbox', true)
    expect(await kidsOf('sandbox')).toEqual([id])
    expect(await signingKid()).toBe(id)
    const stored = await verdictKeysOfService(running.service).stored()
    expect(stored.filter(({ environment }) => environment === 'sandbox').map((row) => row.id)).toEqual([id])
  })

  it('stands in the audit log of every tenant', async () => {
    const { id } = await rotate('production', true)
    expect(await tenant.audit('verdict_key_rotated')).toMatchObject([
      { environment: 'production', kid: id, emergency: true, actor: 'operator' },
    ])
  })
})
