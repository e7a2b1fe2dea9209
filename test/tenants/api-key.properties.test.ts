import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DomainError } from '../../src/lib/domain-error.js'
import { generateApiKey, parseApiKey } from '../../src/tenants/api-key.js'
import { check, checkAsync, damaged } from '../support/properties.js'
import { serviceOfFile } from '../support/service.js'

const running = await serviceOfFile()
const tenant = await running.tenant()
const key = fc.constantFrom('sandbox', 'production').map((type) => generateApiKey(type))

it('a damaged API key is refused without a query of the database', () => {
  check(
    fc.property(key, damaged(key), fc.string({ unit: 'binary' }), (good, bad, other) => {
      expect(parseApiKey(good)).toBe(good.startsWith('svc-sbx-') ? 'sandbox' : 'production')
      // Four billion to one that a damaged key has a checksum that fits; a key is then a key.
      for (const text of [bad, other, `${good}${other}`, `${other}${good}`])
        if (parseApiKey(text) !== null) expect(text).toMatch(/^svc-(sbx|prod)-[0-9A-Za-z]{49}$/)
    }),
  )
})

describe('the Authorization header', () => {
  it('the Authorization header authenticates `Bearer` and a key, and anything else gets an error code', async () => {
    const whole = fc
      .tuple(fc.constantFrom('Bearer', 'bearer', 'BEARER', 'Basic', ''), fc.integer({ min: 0, max: 3 }))
      .map(([scheme, spaces]) => scheme + ' '.repeat(spaces))
    const header = fc.oneof(
      whole.map((prefix) => prefix + tenant.sandboxKey),
      damaged(whole.map((prefix) => prefix + tenant.sandboxKey)),
      fc.tuple(whole, key).map(([prefix, unknown]) => prefix + unknown),
      fc.string({ unit: 'binary' }),
      fc.constant(undefined),
    )
    await checkAsync(
      fc.asyncProperty(header, async (authorization) => {
        const isRight = new RegExp(`^bearer +${tenant.sandboxKey}$`, 'i').test(authorization ?? '')
        // The scheme's case is free, the key's is not.
        const expected = isRight && authorization!.endsWith(tenant.sandboxKey)
        try {
          const caller = await running.service.core.tenancy.authenticate(authorization, 'sandbox')
          expect(expected && caller.tenant.id).toBe(tenant.id)
        } catch (error) {
          expect(error).toBeInstanceOf(DomainError)
          expect(['missing_api_key', 'malformed_api_key', 'invalid_api_key']).toContain(
            (error as DomainError).code,
          )
          expect(expected).toBe(false)
        }
      }),
      1000,
    )
  })
})
