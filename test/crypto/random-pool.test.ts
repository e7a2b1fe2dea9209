import { describe, expect, it } from 'vitest'
import { pooledRandomBytes } from '../../src/crypto/random-pool.js'

describe('bytes of the pool', () => {
  it('pooled random bytes have the requested length and are never returned twice', () => {
    const given = Array.from({ length: 2000 }, () => pooledRandomBytes(12))
    expect(given.every(({ length }) => length === 12)).toBe(true)
    expect(new Set(given.map((bytes) => bytes.toString('hex'))).size).toBe(2000)
  })

  it('pooled random bytes do not change when others are requested', () => {
    const first = pooledRandomBytes(16)
    const before = first.toString('hex')
    for (let i = 0; i < 2000; i++) pooledRandomBytes(16)
    expect(first.toString('hex')).toBe(before)
  })
})
