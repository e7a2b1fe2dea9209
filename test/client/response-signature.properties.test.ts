import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SignatureError } from '../../clients/node/errors.js'
import { assertResponseSignature, type SignedResponse } from '../../clients/node/response-signature.js'
import { type SignedParts, signResponse } from '../../src/crypto/response-signature.js'
import { checkAsync } from '../support/properties.js'

const visible = fc.string({ unit: 'grapheme-ascii', maxLength: 40 })
const secret = fc.record({
  id: fc.stringMatching(/^sec_[0-9a-f]{32}$/),
  secret: fc.stringMatching(/^svc-sec-[0-9A-Za-z]{43}$/),
})
const secrets = fc.uniqueArray(secret, { minLength: 1, maxLength: 2, selector: ({ id }) => id })
const parts: fc.Arbitrary<SignedParts & { body: Uint8Array }> = fc.record({
  environment: fc.constantFrom('production', 'sandbox'),
  timestamp: fc.integer({ min: 0, max: 4_000_000_000 }),
  requestId: fc.uuid({ version: 7 }),
  status: fc.integer({ min: 200, max: 599 }),
  method: fc.constantFrom('GET', 'POST', 'DELETE'),
  target: visible.map((query) => `/v1/delete?${query}`),
  body: fc.uint8Array({ maxLength: 500 }),
})

const responseOf = (signed: SignedParts & { body: Uint8Array }, signature: string): SignedResponse => ({
  ...signed,
  signature,
})
const verdict = (
  response: SignedResponse,
  known: Parameters<typeof assertResponseSignature>[1],
  now: number,
) =>
  assertResponseSignature(response, known, { now }).then(
    () => 'holds',
    (error: unknown) => {
      if (!(error instanceof SignatureError)) throw error
      return error.code
    },
  )

describe('a response signature of the service', () => {
  it('holds at the SDK under each of the secrets, with or without its id, within the tolerance', async () => {
    await checkAsync(
      fc.asyncProperty(parts, secrets, fc.integer({ min: -400, max: 400 }), async (signed, keys, offset) => {
        const response = responseOf(signed, signResponse(signed, keys))
        const expected = Math.abs(offset) <= 300 ? 'holds' : 'signature_expired'
        for (const key of keys)
          for (const known of [key, { secret: key.secret }])
            expect(await verdict(response, [known], signed.timestamp + offset)).toBe(expected)
      }),
      200,
    )
  })

  it('does not hold under another secret, nor for a response that differs in anything', async () => {
    const change = fc.oneof(
      fc.record({ timestamp: fc.nat() }),
      fc.record({ requestId: fc.uuid() }),
      fc.record({ status: fc.integer({ min: 100, max: 999 }) }),
      fc.record({ method: fc.constantFrom('GET', 'PUT', 'post') }),
      fc.record({ target: visible }),
      fc.record({ body: fc.uint8Array({ maxLength: 500 }) }),
    ) as fc.Arbitrary<Partial<SignedParts & { body: Uint8Array }>>
    await checkAsync(
      fc.asyncProperty(parts, secrets, secret, change, async (signed, keys, other, changes) => {
        const changed = { ...signed, ...changes }
        fc.pre(JSON.stringify(changed) !== JSON.stringify(signed))
        const header = signResponse(signed, keys).replace(/^t=\d+/, `t=${changed.timestamp}`)
        expect(await verdict(responseOf(changed, header), keys, changed.timestamp)).toBe('signature_invalid')
        expect(
          await verdict(
            responseOf(signed, signResponse(signed, keys)),
            [{ secret: other.secret }],
            signed.timestamp,
          ),
        ).toBe('signature_invalid')
      }),
      300,
    )
  })

  it('is refused in the other environment with the error wrong_environment', async () => {
    await checkAsync(
      fc.asyncProperty(parts, secrets, async (signed, keys) => {
        const response = responseOf(signed, signResponse(signed, keys))
        const environment = signed.environment === 'production' ? 'sandbox' : 'production'
        expect(await verdict({ ...response, environment }, keys, signed.timestamp)).toBe('wrong_environment')
      }),
      200,
    )
  })

  it('is refused when it is damaged or any other text, unless it still says the same', async () => {
    await checkAsync(
      fc.asyncProperty(
        parts,
        secrets,
        fc.array(fc.record({ at: fc.nat(), put: fc.string({ unit: 'binary-ascii', maxLength: 2 }) }), {
          minLength: 1,
          maxLength: 2,
        }),
        fc.option(fc.string({ unit: 'binary' }), { freq: 3 }),
        async (signed, keys, edits, instead) => {
          const header = signResponse(signed, keys)
          const broken =
            instead ??
            edits.reduce((text, { at, put }) => {
              const start = at % (text.length + 1)
              return text.slice(0, start) + put + text.slice(start + 1)
            }, header)
          if ((await verdict(responseOf(signed, broken), keys, signed.timestamp)) !== 'holds') return
          // One valid signature of two is enough; both cover the time.
          expect(Number(/^t=(\d+),/.exec(broken)![1])).toBe(signed.timestamp)
          expect(keys.some((key) => broken.includes(signResponse(signed, [key]).split(',v2=')[1]!))).toBe(
            true,
          )
        },
      ),
      1000,
    )
  })
})
