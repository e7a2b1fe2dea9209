import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../src/contract/canonical-json.js'

const vectors = JSON.parse(
  readFileSync(new URL('../crypto/rfc8785-vectors.json', import.meta.url), 'utf8'),
) as {
  source: string
  documents: Array<{ title: string; input: string; canonical: string }>
  numbers: Array<[string, string]>
  refused: string[]
}
const double = (hex: string) => Buffer.from(hex, 'hex').readDoubleBE()

describe(vectors.source, () => {
  for (const { title, input, canonical } of vectors.documents)
    it(title, () => {
      expect(canonicalJson(JSON.parse(input))).toBe(canonical)
    })

  it.each(vectors.numbers)('writes the number %s as %s', (hex, canonical) => {
    expect(canonicalJson(double(hex))).toBe(canonical)
  })

  it.each(vectors.refused)('refuses the number %s, which JSON does not have', (hex) => {
    expect(() => canonicalJson(double(hex))).toThrow(TypeError)
  })
})

describe('the SDK’s canonical form', () => {
  it('holds values as they are sent: dates become text, undefined members are left out', () => {
    const value = { at: new Date(0), left: undefined, list: [undefined, 1] }
    expect(canonicalJson(value)).toBe('{"at":"1970-01-01T00:00:00.000Z","list":[null,1]}')
  })

  it.each([undefined, Symbol('s'), () => 1, 1n, '\udc00', { '\ud800': 1 }])('refuses %s', (value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError)
  })
})
