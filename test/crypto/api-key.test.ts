import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { generateApiKey, hashApiKey, parseApiKey } from '../../src/tenants/api-key.js'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_'

for (const [type, prefix] of [
  ['sandbox', 'svc-sbx-'],
  ['production', 'svc-prod-'],
] as const)
  describe(`a ${type} key`, () => {
    const key = generateApiKey(type)

    it('a key has its prefix, 43 random characters and a checksum of 6', () => {
      expect(key).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{49}$`))
      expect(parseApiKey(key)).toBe(type)
      expect(generateApiKey(type)).not.toBe(key)
    })

    it('refuses a key with one mistyped character', () => {
      for (let at = 0; at < key.length; at++)
        for (const character of ALPHABET)
          if (character !== key[at])
            expect(parseApiKey(key.slice(0, at) + character + key.slice(at + 1))).toBeNull()
    })

    it('refuses a key with two neighboring characters swapped', () => {
      for (let at = 0; at + 1 < key.length; at++)
        if (key[at] !== key[at + 1])
          expect(parseApiKey(key.slice(0, at) + key[at + 1] + key[at] + key.slice(at + 2))).toBeNull()
    })

    it('refuses a key that is cut short, extended or surrounded by other text', () => {
      for (let length = 0; length < key.length; length++) expect(parseApiKey(key.slice(0, length))).toBeNull()
      for (const around of [`${key}0`, ` ${key}`, `${key}\n`, `${key} `, key.toUpperCase()])
        expect(parseApiKey(around)).toBeNull()
    })

    it('refuses a key whose prefix was replaced by that of the other environment', () => {
      const other = prefix === 'svc-sbx-' ? 'svc-prod-' : 'svc-sbx-'
      expect(parseApiKey(key.replace(prefix, other))).toBeNull()
    })

    it('the stored form of a key is its SHA-256', () => {
      expect(hashApiKey(key)).toEqual(createHash('sha256').update(key).digest())
    })
  })
