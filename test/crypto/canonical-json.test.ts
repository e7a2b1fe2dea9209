import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { actionHash, canonicalJson } from '../../src/crypto/verification-jwt.js'

interface Vectors {
  source: string
  documents: Array<{ title: string; input: string; canonical: string }>
  /** IEEE 754 bits in hex, and their canonical form. */
  numbers: Array<[string, string]>
  refused: string[]
}

const vectors = JSON.parse(
  readFileSync(new URL('./rfc8785-vectors.json', import.meta.url), 'utf8'),
) as Vectors

const double = (hex: string) => Buffer.from(hex, 'hex').readDoubleBE()

describe(vectors.source, () => {
  for (const { title, input, canonical } of vectors.documents)
    it(title, () => {
      expect(canonicalJson(JSON.parse(input))).toBe(canonical)
    })

  for (const [hex, canonical] of vectors.numbers)
    it(`writes the number ${hex} as ${canonical}`, () => {
      expect(canonicalJson(double(hex))).toBe(canonical)
    })

  for (const hex of vectors.refused)
    it(`refuses ${hex}, which is not a JSON number`, () => {
      expect(() => canonicalJson(double(hex))).toThrow()
    })

  it('refuses a value that JSON cannot represent', () => {
    expect(() => canonicalJson(undefined)).toThrow(TypeError)
  })

  it('the hash of an action does not depend on the order of its fields', () => {
    const one = canonicalJson({ amount: '1250.00', to: { name: 'Ada', iban: 'DE89' } })
    const other = canonicalJson({ to: { iban: 'DE89', name: 'Ada' }, amount: '1250.00' })
    expect(actionHash(one)).toBe(actionHash(other))
    expect(actionHash(one)).toBe(
      createHash('sha256').update('{"amount":"1250.00","to":{"iban":"DE89","name":"Ada"}}').digest('hex'),
    )
  })
})
