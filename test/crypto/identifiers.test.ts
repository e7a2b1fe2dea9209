import { describe, expect, it } from 'vitest'
import { base62, prefixedId, randomBase62, requestId } from '../../src/crypto/identifiers.js'

const NOW = Date.UTC(2026, 0, 31, 12, 0, 0, 123)

describe('request ids', () => {
  it('request ids are UUIDs of version 7 that contain the time', () => {
    const id = requestId(NOW)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(NOW)
  })

  it('request ids sort by time and are unique', () => {
    const ids = [NOW, NOW + 1, NOW + 1000, NOW + 86_400_000].map(requestId)
    expect(ids.toSorted()).toEqual(ids)
    const ofOneMillisecond = Array.from({ length: 10_000 }, () => requestId(NOW))
    expect(ofOneMillisecond.toSorted()).toEqual(ofOneMillisecond)
    expect(new Set(ofOneMillisecond).size).toBe(10_000)
  })
})

describe('prefixed ids', () => {
  it('a prefixed id is its kind and a UUIDv7 without dashes', () => {
    expect(prefixedId('ten', NOW)).toMatch(/^ten_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
  })
})

describe('base62', () => {
  it('base62 has a fixed width, most significant digit first', () => {
    expect(base62(Buffer.of(0), 3)).toBe('000')
    expect(base62(Buffer.of(61), 2)).toBe('0z')
    expect(base62(Buffer.of(62), 2)).toBe('10')
    expect(base62(Buffer.from('ffffffff', 'hex'), 6)).toBe('4gfFC3')
    expect(base62(Buffer.of(0, 0, 1), 4)).toBe(base62(Buffer.of(1), 4))
  })

  it('base62 represents the largest 32 bytes in 43 characters', () => {
    const largest = base62(Buffer.alloc(32, 0xff), 43)
    const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    const value = [...largest].reduce((sum, digit) => sum * 62n + BigInt(alphabet.indexOf(digit)), 0n)
    expect(value).toBe(2n ** 256n - 1n)
  })

  it('random base62 strings have 43 characters and are unique', () => {
    const values = Array.from({ length: 1000 }, randomBase62)
    expect(new Set(values).size).toBe(1000)
    for (const value of values) expect(value).toMatch(/^[0-9A-Za-z]{43}$/)
  })
})
