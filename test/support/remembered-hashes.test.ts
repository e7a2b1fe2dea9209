import { createHash, webcrypto } from 'node:crypto'
import { expect, it } from 'vitest'

/** SHA-256 by the other interface, which remembers nothing. */
const sha256 = async (bytes: Uint8Array<ArrayBuffer>) =>
  Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex')

const large = new Uint8Array(1_000_000).fill(1)
const hashOf = (...parts: Uint8Array[]) => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}

it('a large content has its own hash, the first time, again, and with one byte changed', async () => {
  const expected = await sha256(large)
  expect([hashOf(large), hashOf(large)]).toEqual([expected, expected])
  const changed = large.slice()
  changed[999_999] = 2
  expect(hashOf(changed)).toBe(await sha256(changed))
  // The bytes of a hash belong to the caller, who may overwrite them.
  createHash('sha256').update(large).digest().fill(0)
  expect(hashOf(large)).toBe(expected)
})

it('a large content may have others before and behind it', async () => {
  const small = new Uint8Array(10)
  for (const parts of [
    [large, small],
    [small, large],
    [large, large],
  ])
    expect(hashOf(...parts)).toBe(await sha256(new Uint8Array(Buffer.concat(parts))))
})
