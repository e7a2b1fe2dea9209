/** Tests of the inputs that the SDK trusts: configured signing secrets, and headers and tokens as they arrive. */
import { CompactSign } from 'jose'
import { describe, expect, it } from 'vitest'
import { verifyVerdict } from '../../clients/node/index.js'
import { assertSignature } from '../../clients/node/response-signature.js'
import { candidates, readSecrets } from '../../clients/node/signing-secret.js'
import { findSigned } from '../../clients/node/verdict-token.js'

describe('a configured signing secret', () => {
  it.each([
    ['an empty text', ''],
    ['blanks', ' \n'],
    ['an id without a secret', 'sec_a1:'],
    ['an empty list', []],
    ['a list with one empty secret', ['svc-sec-x', '']],
    ['an object with an empty secret', { id: 'sec_a1', secret: ' ' }],
  ])('is refused as %s, because everybody knows the empty key', async (_, secrets) => {
    await expect(readSecrets(secrets)).rejects.toThrow('signingSecret is empty')
    await expect(readSecrets(() => secrets)).rejects.toThrow('signingSecret is empty')
  })

  it('is read with its id, without the line feed of a file', async () => {
    expect(await readSecrets('sec_a1:svc-sec-x\n')).toEqual([{ id: 'sec_a1', secret: 'svc-sec-x' }])
    expect(await readSecrets('svc-sec-x')).toEqual([{ secret: 'svc-sec-x' }])
    expect(await readSecrets({ id: 'sec_b', secret: 'svc-sec-y\n' })).toEqual([
      { id: 'sec_b', secret: 'svc-sec-y' },
    ])
    // Only a prefix of the documented form is an id: any other text is part of the secret.
    expect(await readSecrets('x-sec_a1:y')).toEqual([{ secret: 'x-sec_a1:y' }])
  })

  it('is tried only for signatures of its id where it has one', async () => {
    const secrets = await readSecrets(['sec_a:one', 'two'])
    expect(candidates(secrets, 'sec_a').map(({ secret }) => secret)).toEqual(['one', 'two'])
    expect(candidates(secrets, 'sec_b').map(({ secret }) => secret)).toEqual(['two'])
  })
})

const mac = 'a'.repeat(64)
const check = (signature: string, secret: { id?: string; secret: string } = { secret: 'svc-sec-x' }) =>
  assertSignature(
    { signature, environment: 'production', headAt: () => '', body: new Uint8Array() },
    [secret],
    { now: 1 },
  )

describe('a signature header', () => {
  it.each([
    ['text before it', `x=1,t=1,kid=a,v2=${mac}`],
    ['text behind it', `t=1,kid=a,v2=${mac},v3=b`],
    ['a MAC that is too long', `t=1,kid=a,v2=${mac}0`],
    ['nine signatures', `t=1${`,kid=a,v2=${mac}`.repeat(9)}`],
  ])('is malformed with %s', async (_, header) => {
    await expect(check(header)).rejects.toMatchObject({ code: 'signature_malformed' })
  })

  it('names the key ids for which no secret fits', async () => {
    await expect(check(`t=1,kid=sec_a,v2=${mac},kid=sec_b,v2=${mac}`)).rejects.toMatchObject({
      code: 'signature_invalid',
      message: 'No configured secret made this signature (kid sec_a, sec_b).',
    })
  })
})

it('distinguishes a signature whose key id is configured from one of another secret', async () => {
  const refused = (secret: { id?: string; secret: string }) => check(`t=1,kid=sec_a,v2=${mac}`, secret)
  await expect(refused({ id: 'sec_a', secret: 'svc-sec-x' })).rejects.toThrow(
    "The secret sec_a is configured, but the body is not what it signed: pass the raw bytes, or compare the secret's text.",
  )
  for (const other of [{ id: 'sec_b', secret: 'svc-sec-x' }, { secret: 'svc-sec-x' }])
    await expect(refused(other)).rejects.toThrow('No configured secret made this signature (kid sec_a).')
})

describe('a token', () => {
  const secrets = [{ secret: 'svc-sec-of-more-than-sixty-four-bytes-so-that-every-hmac-accepts-it-as-a-key' }]
  const key = new TextEncoder().encode(secrets[0]!.secret)
  const sign = (alg: string) =>
    new CompactSign(new TextEncoder().encode('{}')).setProtectedHeader({ alg }).sign(key)

  it('is accepted by HS256 only, though another algorithm had the same secret', async () => {
    expect(await findSigned(await sign('HS256'), secrets)).not.toBeNull()
    await expect(findSigned(await sign('HS512'), secrets)).rejects.toThrow()
  })

  it('is found during an overlap where only the second one fits the secret', async () => {
    const [foreign, own] = [`${await sign('HS256')}`, await sign('HS256')]
    const broken = `${foreign.slice(0, foreign.lastIndexOf('.'))}.${'A'.repeat(43)}`
    expect((await findSigned({ jwt: broken, jwt_next: own }, secrets))?.jwt).toBe(own)
    expect(await findSigned({ jwt: broken }, secrets)).toBeNull()
  })

  it('is not checked with an empty audience, nor without one where no secret belongs to the tenant', async () => {
    const jwt = await sign('HS256')
    const expected = { userId: 'ada', action: 'x' }
    for (const trust of [{ signingSecret: secrets, audience: '' }, { issuer: 'https://verify.example/v1' }])
      await expect(verifyVerdict(jwt, { ...trust, ...expected })).rejects.toThrow(
        new TypeError('audience is required, except with a signing secret: the tenant’s id, ten_…'),
      )
  })
})
