/** Signatures and JWTs against code that shares nothing with the product: node:crypto, and openssl where it is installed. */
import { spawnSync } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type SignedParts, signResponse } from '../../src/crypto/response-signature.js'
import { signVerification } from '../../src/crypto/verification-jwt.js'
import { decodeJwt } from '../support/trust.js'

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

function opensslHmac(secret: string | Buffer, data: string | Buffer): Buffer {
  const { stdout, stderr, status } = spawnSync(
    'openssl',
    [
      'dgst',
      '-sha256',
      '-mac',
      'HMAC',
      '-macopt',
      `hexkey:${Buffer.from(secret).toString('hex')}`,
      '-binary',
    ],
    { input: data },
  )
  if (status !== 0) throw new Error(stderr.toString())
  return stdout
}

const parts: SignedParts = {
  environment: 'production',
  timestamp: 1_800_000_000,
  requestId: '0190a0b0-0000-7000-8000-000000000000',
  status: 200,
  method: 'POST',
  target: '/v1/verify?x=1',
  body: '{"grüße":"€"}',
}
const SIGNED = `v2:production:${parts.timestamp}:${parts.requestId}:200:POST:/v1/verify?x=1:${parts.body}`
const old = { id: 'sec_old', secret: 'svc-sec-old' }
const next = { id: 'sec_new', secret: 'svc-sec-new' }

describe('the response signature', () => {
  it('the response signature is the HMAC-SHA256 of the documented input, in hex', () => {
    const mac = createHmac('sha256', old.secret).update(SIGNED).digest('hex')
    expect(signResponse(parts, [old])).toBe(`t=${parts.timestamp},kid=sec_old,v2=${mac}`)
  })

  it.skipIf(!hasOpenssl)('is what openssl makes of it', () => {
    const mac = opensslHmac(old.secret, SIGNED).toString('hex')
    expect(signResponse(parts, [old])).toBe(`t=${parts.timestamp},kid=sec_old,v2=${mac}`)
  })

  it('the response signature has one valid pair for each secret', () => {
    const [stamp, ...pairs] = signResponse(parts, [old, next]).split(',kid=')
    expect(stamp).toBe(`t=${parts.timestamp}`)
    expect(pairs).toEqual(
      [old, next].map(
        ({ id, secret }) => `${id},v2=${createHmac('sha256', secret).update(SIGNED).digest('hex')}`,
      ),
    )
  })

  it('the response signature is the same for a body as text and as bytes', () => {
    const asBytes = signResponse({ ...parts, body: Buffer.from(parts.body) }, [old])
    expect(asBytes).toBe(signResponse(parts, [old]))
  })

  for (const [field, value] of Object.entries({
    environment: 'sandbox',
    timestamp: parts.timestamp + 1,
    requestId: '0190a0b0-0000-7000-8000-000000000001',
    status: 201,
    method: 'GET',
    target: '/v1/verify',
    body: '{"grüße":"€" }',
  }))
    it(`the response signature covers the ${field}`, () => {
      const hex = (header: string) => /v2=([0-9a-f]+)$/.exec(header)![1]
      const changed = signResponse({ ...parts, [field]: value }, [old])
      expect(hex(changed)).not.toBe(hex(signResponse(parts, [old])))
    })
})

describe('the verification JWT', () => {
  const claims = {
    iss: 'https://example.test/v1',
    aud: 'ten_1',
    sub: 'Zoë "quoted"',
    iat: 1_800_000_000,
    nbf: 1_800_000_000,
    exp: 1_800_000_300,
    jti: 'ver_1',
    txn: parts.requestId,
    env: 'production',
    verdict: 'approved',
    score: 0.812345,
    fmr: 1e-4,
    fmr_basis: 'measured',
    model_grade: 'production',
    action: { amount: '1250.00', note: 'grüße' },
    action_hash: 'ab'.repeat(32),
    amr: ['face'],
    acr: 'urn:countersign:acr:face',
    auth_time: 1_800_000_000,
    model: 'baseline@1',
    liveness: { checked: false, passed: null, methods: [], score: null },
    replay: { suspected: false },
  }

  it('the verification JWT is an HS256 JWS with its key id, its type and exactly the claims', async () => {
    const token = await signVerification(claims, old)
    const { header, claims: read, valid } = decodeJwt(token, old.secret)
    expect(header).toEqual({ alg: 'HS256', typ: 'stepup+jwt', kid: 'sec_old' })
    expect(read).toEqual(claims)
    expect(valid).toBe(true)
    expect(decodeJwt(token, next.secret).valid).toBe(false)
    expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]{43}$/)
  })

  it.skipIf(!hasOpenssl)('is what openssl makes of it', async () => {
    const [header, payload, signature] = (await signVerification(claims, old)).split('.')
    expect(opensslHmac(old.secret, `${header}.${payload}`).toString('base64url')).toBe(signature)
  })

  it('the verification JWT is signed with the UTF-8 bytes of the secret, given as text or as bytes', async () => {
    const secret = `svc-sec-${randomBytes(16).toString('hex')}`
    const asText = await signVerification(claims, { id: 'k', secret })
    const asBytes = await signVerification(claims, { id: 'k', secret: Buffer.from(secret) })
    expect(asText).toBe(asBytes)
  })
})
