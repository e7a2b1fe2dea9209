/** The check of a verdict beyond the vectors (vectors.test.ts) and the scenarios of every SDK (behaviour/). */
import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  MemoryReplayStore,
  type VerdictExpectations,
  type VerdictTrust,
  verifyVerdict,
} from '../../clients/node/index.js'
import { base64 } from '../support/faces.js'
import { plain } from '../support/images.js'
import { outcomeOf } from '../support/outcome.js'
import { serviceOfFile } from '../support/service.js'

const running = await serviceOfFile()
const tenant = await running.tenant()
const photo = base64(await plain())
const ACTION = { type: 'wire_transfer', amount: '1250.00' }

/** A verdict of the real service. */
async function verdictJwt(fields: Record<string, unknown> = {}): Promise<string> {
  const asked = { user_id: 'ada+match', image: photo, action: ACTION, nonce: 'n-1', ...fields }
  return (await tenant.sandbox.verify(asked)).body.jwt
}

function check(
  jwt: string,
  options: Partial<VerdictExpectations & VerdictTrust> = {},
): ReturnType<typeof verifyVerdict> {
  return verifyVerdict(jwt, {
    signingSecret: tenant.secret.secret,
    audience: tenant.id,
    environment: 'sandbox',
    userId: 'ada+match',
    action: ACTION,
    now: () => running.clock.now() / 1000,
    ...options,
  })
}

/** A clock that differs from the service's. */
const at = (seconds: number) => ({ now: () => Math.floor(running.clock.now() / 1000) + seconds })
const code = (promise: Promise<unknown>) => outcomeOf(promise, 'approved')

/** A JWT with a header and claims of the tester's choice. */
function forge(
  jwt: string,
  header: Record<string, unknown>,
  claims: Record<string, unknown>,
  secret: string,
): string {
  const [oldHeader, oldClaims] = jwt.split('.').map((part) => Buffer.from(part, 'base64url').toString())
  const part = (text: string, change: object) =>
    Buffer.from(JSON.stringify({ ...JSON.parse(text), ...change })).toString('base64url')
  const input = `${part(oldHeader!, header)}.${part(oldClaims!, claims)}`
  const hash = header.alg === 'HS512' ? 'sha512' : 'sha256'
  return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`
}

describe('a verdict', () => {
  it('is used by one of many that try it at the same time', async () => {
    const jwt = await verdictJwt()
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => code(check(jwt))))
    expect(outcomes.filter((outcome) => outcome === 'approved')).toHaveLength(1)
  })

  it('can be too old for the action', async () => {
    const jwt = await verdictJwt()
    expect(await code(check(jwt, { ...at(122), maxAgeSeconds: 60 }))).toBe('too_old')
    expect(await code(check(jwt, { ...at(119), maxAgeSeconds: 60 }))).toBe('approved')
  })

  it('is checked only with secrets of the key id that it names, or without an id', async () => {
    const { id, secret } = tenant.secret
    const jwt = await verdictJwt()
    expect(await code(check(jwt, { signingSecret: { id: 'sec_other', secret } }))).toBe('signature_invalid')
    const both = [
      { id: 'sec_other', secret: 'svc-sec-other' },
      { id, secret },
    ]
    expect(await code(check(jwt, { signingSecret: both }))).toBe('approved')
  })

  it('is accepted within the configured difference, which is at most 300 s', async () => {
    const jwt = await verdictJwt()
    expect(await code(check(jwt, { ...at(-7), clockToleranceSeconds: 5 }))).toBe('not_yet_valid')
    expect(await code(check(jwt, { ...at(306), clockToleranceSeconds: 5 }))).toBe('expired')
    expect(await code(check(jwt, { ...at(-200), clockToleranceSeconds: 250 }))).toBe('approved')
    for (const clockToleranceSeconds of [-1, 301, Number.NaN, Number.POSITIVE_INFINITY])
      await expect(check(jwt, { clockToleranceSeconds })).rejects.toThrow(
        /clockToleranceSeconds is .*0 to 300/,
      )
  })

  it('has an error that states by how much it comes too early or too late, and asks whether the clock is right', async () => {
    const issued = Math.floor(running.clock.now() / 1000)
    const iso = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
    const jwt = await verdictJwt()
    await expect(check(jwt, { now: () => issued - 119 })).rejects.toThrow(
      `The verdict is valid from ${iso(issued)}, which is 119 s ahead of this machine's clock; 60 s of difference are allowed. Is this machine's clock right?`,
    )
    await expect(check(jwt, { now: () => issued + 400 })).rejects.toThrow(
      `The verdict expired at ${iso(issued + 300)}, which is 100 s ago by this machine's clock; 60 s of difference are allowed.`,
    )
    await expect(check(jwt, { now: () => issued + 200, maxAgeSeconds: 30 })).rejects.toThrow(
      'The check was made 200 s ago; 30 s are allowed.',
    )
  })

  it('is not yet valid when it was issued in the future, even where its nbf has passed', async () => {
    const iat = Math.floor(running.clock.now() / 1000) + 62
    const jwt = forge(await verdictJwt(), {}, { iat, nbf: undefined }, tenant.secret.secret)
    expect(await code(check(jwt))).toBe('not_yet_valid')
  })

  it('stays used for a backend with a greater tolerance that shares the store', async () => {
    const jwt = await verdictJwt()
    let now = running.clock.now() / 1000
    const shared = { replayStore: new MemoryReplayStore(() => now), now: () => now }
    expect(await code(check(jwt, { ...shared, clockToleranceSeconds: 0 }))).toBe('approved')
    now += 300 + 295
    // Another verdict has the store forget what it may.
    shared.replayStore.consume('other', now + 300)
    expect(await code(check(jwt, { ...shared, clockToleranceSeconds: 300 }))).toBe('already_used')
  })

  it('is refused when anything about it was forged', async () => {
    const jwt = await verdictJwt({ user_id: 'ada+no_match' })
    const { secret } = tenant.secret
    const approval = { verdict: 'approved', sub: 'ada+match' }
    const forgeries = {
      'the empty secret': [forge(jwt, {}, approval, ''), 'signature_invalid'],
      'another algorithm': [forge(jwt, { alg: 'HS512' }, approval, secret), 'malformed'],
      'no id': [forge(jwt, {}, { ...approval, jti: undefined }, secret), 'malformed'],
      'no verdict': [forge(jwt, {}, { sub: 'ada+match', verdict: undefined }, secret), 'malformed'],
      'another verdict': [forge(jwt, {}, { sub: 'ada+match', verdict: 'yes' }, secret), 'not_approved'],
      nothing: ['', 'malformed'],
    }
    for (const [title, [token, expected]] of Object.entries(forgeries))
      expect(await code(check(token!)), title).toBe(expected)
  })

  it('is refused when the action was changed in the claims and not in its hash', async () => {
    const other = { ...ACTION, amount: '9999.00' }
    const jwt = forge(await verdictJwt(), {}, { action: other }, tenant.secret.secret)
    expect(await code(check(jwt, { action: other }))).toBe('wrong_action')
    const hash = createHash('sha256').update('{"amount":"1250.00","type":"wire_transfer"}').digest('hex')
    expect(await check(jwt)).toMatchObject({ action_hash: hash })
  })

  it('is not used up by a store that fails', async () => {
    const jwt = await verdictJwt()
    const broken = { consume: () => Promise.reject(new Error('store down')) }
    await expect(check(jwt, { replayStore: broken })).rejects.toThrow('store down')
    expect(await code(check(jwt))).toBe('approved')
  })
})
