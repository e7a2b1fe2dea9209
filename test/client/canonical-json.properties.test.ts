import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Action } from '../../clients/node/types.js'
import { actionHash } from '../../src/contract/action-hash.js'
import { canonicalJson } from '../../src/contract/canonical-json.js'
import { actionHash as hashOfService } from '../../src/crypto/verification-jwt.js'
import { check, checkAsync } from '../support/properties.js'

// The package's CommonJS typings hide the callable default from NodeNext resolution.
const reference = canonicalize as unknown as (value: unknown) => string

const action = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' }), {
    noNullPrototype: false,
  }),
) as fc.Arbitrary<Action>

/** Another object of the same members in another order. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, shuffled(member)]),
  )
}

describe('the canonical form', () => {
  it('is that of the `canonicalize` library, and so is its hash', async () => {
    await checkAsync(
      fc.asyncProperty(action, async (value) => {
        const sent = JSON.parse(JSON.stringify(value))
        expect(canonicalJson(value)).toBe(reference(sent))
        const hash = await actionHash(value).catch((error) => error)
        if (hash instanceof TypeError) expect(hash.message).toMatch(/^action[\s\S]* is an integer beyond/)
        else expect(hash).toBe(hashOfService(reference(sent)))
      }),
      1000,
    )
  })

  it('parses to the same value, does not depend on the order of members, and is its own canonical form', () => {
    check(
      fc.property(action, (value) => {
        const text = canonicalJson(value)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalJson(shuffled(value))).toBe(text)
        expect(canonicalJson(JSON.parse(text))).toBe(text)
      }),
      1000,
    )
  })

  it('equals that of the JSON that JSON.stringify sends, or throws a TypeError, for any value of JavaScript', () => {
    const anything = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
      withUnicodeString: true,
    })
    check(
      fc.property(anything, (value) => {
        let text: string
        try {
          text = canonicalJson(value)
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError)
          return
        }
        expect(text).toBe(reference(JSON.parse(JSON.stringify(value))))
      }),
      3000,
    )
  })

  it('refuses a lone surrogate', () => {
    const surrogate = fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit))
    check(
      fc.property(surrogate, fc.constantFrom('', 'a'), (lone, around) => {
        for (const value of [lone + around, { [around + lone]: 1 }, { a: [around + lone] }])
          expect(() => canonicalJson(value)).toThrow(TypeError)
      }),
    )
  })
})
