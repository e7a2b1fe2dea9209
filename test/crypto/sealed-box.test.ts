import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { open, seal, sealFor, sealWithin } from '../../src/crypto/sealed-box.js'

const key = randomBytes(32)
const plaintext = Buffer.from('a reference, sealed')
const context = 'ref_1'

/** From the layout that the module documents: version (1), salt (16), nonce (12), tag (16), ciphertext. */
const REGIONS = {
  version: [0, 1],
  salt: [1, 17],
  nonce: [17, 29],
  tag: [29, 45],
  ciphertext: [45, 45 + plaintext.length],
} as const

/** HKDF-Expand of RFC 5869: with HMAC-SHA256, one block long. */
const expand = (salt: Buffer) =>
  createHmac('sha256', key)
    .update(Buffer.concat([Buffer.from('countersign/v1/sealed-box\0'), salt, Buffer.of(1)]))
    .digest()

/** A box as releases up to 0.1.0 made them: version 1, nonce, tag, ciphertext, under the key itself. */
function boxOfBefore(text: Buffer): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  const ciphertext = Buffer.concat([cipher.update(text), cipher.final()])
  return Buffer.concat([Buffer.of(1), nonce, cipher.getAuthTag(), ciphertext])
}

describe('a sealed box', () => {
  it('a box opens with the key and the context that sealed it', () => {
    for (const text of [plaintext, Buffer.alloc(0), randomBytes(100_000)])
      expect(open(key, seal(key, text, context), context)).toEqual(text)
  })

  it('a box is AES-256-GCM under a derived key, in the documented layout', () => {
    const box = seal(key, plaintext, context)
    expect(box[0]).toBe(2)
    const decipher = createDecipheriv('aes-256-gcm', expand(box.subarray(1, 17)), box.subarray(17, 29))
      .setAAD(Buffer.from(context))
      .setAuthTag(box.subarray(29, 45))
    expect(Buffer.concat([decipher.update(box.subarray(45)), decipher.final()])).toEqual(plaintext)
  })

  it('a box of one user is encrypted by the user’s key itself, each with a nonce of its own', () => {
    const boxes = Array.from({ length: 2000 }, () => sealWithin(key, plaintext, context))
    expect(boxes[0]).toHaveLength(boxOfBefore(plaintext).length)
    for (const box of boxes.slice(0, 3)) expect(open(key, box, context)).toEqual(plaintext)
    expect(new Set(boxes.map((box) => box.toString('hex', 1, 13))).size).toBe(2000)
    expect(() => open(key, boxes[0]!, 'ref_2')).toThrow()
    expect(() => sealWithin(key.subarray(1), plaintext, context)).toThrow(TypeError)
  })

  it('a box of a user opens with the user’s key, and one of nobody with the key of the service', () => {
    const serviceKey = Buffer.alloc(32, 7)
    const [ofUser, ofNobody] = [key, null].map((one) => sealFor(one, serviceKey, plaintext, context)) as [
      Buffer,
      Buffer,
    ]
    expect(open(key, ofUser, context)).toEqual(plaintext)
    expect(() => open(serviceKey, ofUser, context)).toThrow()
    expect(open(serviceKey, ofNobody, context)).toEqual(plaintext)
    // Only the key of the service may seal more boxes than nonces are safe for.
    expect([ofUser[0], ofNobody[0]]).toEqual([1, 2])
  })

  it('no two boxes share an encryption key or a nonce', () => {
    const boxes = Array.from({ length: 2000 }, () => seal(key, plaintext, context))
    expect(new Set(boxes.map((box) => expand(box.subarray(1, 17)).toString('hex'))).size).toBe(2000)
    expect(new Set(boxes.map((box) => box.toString('hex', 17, 29))).size).toBe(2000)
    const direct = createDecipheriv('aes-256-gcm', key, boxes[0]!.subarray(17, 29))
      .setAAD(Buffer.from(context))
      .setAuthTag(boxes[0]!.subarray(29, 45))
    direct.update(boxes[0]!.subarray(45))
    expect(() => direct.final()).toThrow()
  })

  it('a box of an earlier release opens, and only unchanged', () => {
    const box = boxOfBefore(plaintext)
    expect(open(key, box, context)).toEqual(plaintext)
    for (let length = 0; length < box.length; length++)
      expect(() => open(key, box.subarray(0, length), context)).toThrow()
    for (let at = 0; at < box.length; at++) {
      const tampered = Buffer.from(box)
      tampered[at]! ^= 1
      expect(() => open(key, tampered, context)).toThrow()
    }
    expect(() => open(randomBytes(32), box, context)).toThrow()
  })

  for (const [region, [from, to]] of Object.entries(REGIONS))
    it(`a box does not open when a bit of its ${region} was changed`, () => {
      const box = seal(key, plaintext, context)
      expect(box.length).toBe(REGIONS.ciphertext[1])
      for (let at = from; at < to; at++)
        for (let bit = 0; bit < 8; bit++) {
          const tampered = Buffer.from(box)
          tampered[at]! ^= 1 << bit
          expect(() => open(key, tampered, context)).toThrow()
        }
    })

  it('a box does not open when it is cut short or extended', () => {
    const box = seal(key, plaintext, context)
    for (let length = 0; length < box.length; length++)
      expect(() => open(key, box.subarray(0, length), context)).toThrow()
    expect(() => open(key, Buffer.concat([box, Buffer.of(0)]), context)).toThrow()
  })

  it('a box does not open with another context or another key', () => {
    const box = seal(key, plaintext, context)
    for (const other of ['', 'ref_2', 'ref_1 ', 'REF_1']) expect(() => open(key, box, other)).toThrow()
    const near = Buffer.from(key)
    near[31]! ^= 1
    for (const other of [near, randomBytes(32)]) expect(() => open(other, box, context)).toThrow()
  })

  it('refuses a key of a wrong length', () => {
    for (const length of [0, 16, 31, 33])
      expect(() => seal(Buffer.alloc(length), plaintext, context)).toThrow(TypeError)
  })
})
