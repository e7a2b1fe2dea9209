import { createDecipheriv, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { open, seal } from '../../src/crypto/sealed-box.js'

const key = randomBytes(32)
const plaintext = Buffer.from('a reference, sealed')
const context = 'ref_1'

/** From the layout that the module documents: version (1), nonce (12), tag (16), ciphertext. */
const REGIONS = {
  version: [0, 1],
  nonce: [1, 13],
  tag: [13, 29],
  ciphertext: [29, 29 + plaintext.length],
} as const

describe('a sealed box', () => {
  it('opens with the key and the context it was sealed with', () => {
    for (const text of [plaintext, Buffer.alloc(0), randomBytes(100_000)])
      expect(open(key, seal(key, text, context), context)).toEqual(text)
  })

  it('is AES-256-GCM in the documented layout', () => {
    const box = seal(key, plaintext, context)
    expect(box[0]).toBe(1)
    const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(1, 13))
      .setAAD(Buffer.from(context))
      .setAuthTag(box.subarray(13, 29))
    expect(Buffer.concat([decipher.update(box.subarray(29)), decipher.final()])).toEqual(plaintext)
  })

  for (const [region, [from, to]] of Object.entries(REGIONS))
    it(`does not open when any bit of its ${region} was changed`, () => {
      const box = seal(key, plaintext, context)
      expect(box.length).toBe(REGIONS.ciphertext[1])
      for (let at = from; at < to; at++)
        for (let bit = 0; bit < 8; bit++) {
          const tampered = Buffer.from(box)
          tampered[at]! ^= 1 << bit
          expect(() => open(key, tampered, context)).toThrow()
        }
    })

  it('does not open cut short or made longer', () => {
    const box = seal(key, plaintext, context)
    for (let length = 0; length < box.length; length++)
      expect(() => open(key, box.subarray(0, length), context)).toThrow()
    expect(() => open(key, Buffer.concat([box, Buffer.of(0)]), context)).toThrow()
  })

  it('does not open in another place, nor with another key', () => {
    const box = seal(key, plaintext, context)
    for (const other of ['', 'ref_2', 'ref_1 ', 'REF_1']) expect(() => open(key, box, other)).toThrow()
    const near = Buffer.from(key)
    near[31]! ^= 1
    for (const other of [near, randomBytes(32)]) expect(() => open(other, box, context)).toThrow()
  })

  it('never uses a nonce twice', () => {
    const nonces = new Set(
      Array.from({ length: 2000 }, () => seal(key, plaintext, context).toString('hex', 1, 13)),
    )
    expect(nonces.size).toBe(2000)
  })

  it('takes no key of a wrong length', () => {
    for (const length of [0, 16, 31, 33])
      expect(() => seal(Buffer.alloc(length), plaintext, context)).toThrow()
  })
})
