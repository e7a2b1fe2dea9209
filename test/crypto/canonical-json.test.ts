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
    it(`the number ${hex} is ${canonical}`, () => {
      expect(canonicalJson(double(hex))).toBe(canonical)
    })

  for (const hex of vectors.refused)
    it(`${hex} is no JSON number`, () => {
      expect(() => canonicalJson(double(hex))).toThrow()
    })

  it('what is not JSON has no canonical form', () => {
    expect(() => canonicalJson(undefined)).toThrow(TypeError)
  })

  it('one action has one hash, however its fields are ordered', () => {
    const one = canonicalJson({ amount: '1250.00', to: { name: 'Ada', iban: 'DE89' } })
    const other = canonicalJson({ to: { iban: 'DE89', name: 'Ada' }, amount: '1250.00' })
    expect(actionHash(one)).toBe(actionHash(other))
    expect(actionHash(one)).toBe(
      createHash('sha256').update('{"amount":"1250.00","to":{"iban":"DE89","name":"Ada"}}').digest('hex'),
    )
  })
})
