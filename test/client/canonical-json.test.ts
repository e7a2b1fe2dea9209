import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../src/client/canonical-json.js'
import * as service from '../../src/crypto/verification-jwt.js'

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
  it('is the service’s, for values of every shape', () => {
    // A small congruential generator: the same values every run.
    let state = 1
    const next = (below: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state % below
    }
    const text = () =>
      ['', 'a', 'Ä', 'é', '€', '😀', '"\\\n\u0000', '\u2028', '__proto__', '10', '9'][next(11)]!
    const value = (depth: number): unknown => {
      const kind = next(depth > 3 ? 4 : 6)
      if (kind === 0) return [null, true, false][next(3)]
      if (kind === 1) return (next(2_000_000) - 1_000_000) / 10 ** next(12)
      if (kind === 2) return next(1_000_000) * 10 ** (next(60) - 30)
      if (kind === 3) return text()
      const items = Array.from({ length: next(5) }, () => value(depth + 1))
      return kind === 4 ? items : Object.fromEntries(items.map((item) => [text(), item]))
    }
    for (let round = 0; round < 500; round++) {
      const sample = value(0)
      expect(canonicalJson(sample)).toBe(service.canonicalJson(JSON.parse(JSON.stringify(sample))))
    }
  })

  it('holds values as they are sent: dates become text, undefined members are left out', () => {
    const value = { at: new Date(0), left: undefined, list: [undefined, 1] }
    expect(canonicalJson(value)).toBe('{"at":"1970-01-01T00:00:00.000Z","list":[null,1]}')
  })

  it.each([undefined, Symbol('s'), () => 1, 1n, '\udc00', { '\ud800': 1 }])('refuses %s', (value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError)
  })
})
