import { describe, expect, it } from 'vitest'
import { UNVERIFIABLE_CODES } from '../../src/client/unverifiable-codes.js'
import { ERROR_CATEGORIES, ERROR_CODES } from '../../src/contract/error-codes.js'
import { ERRORS } from '../../src/lib/error-codes.js'

describe('the SDK’s error codes', () => {
  it('are exactly those of the service’s registry', () => {
    expect([...ERROR_CODES].sort()).toEqual(Object.keys(ERRORS).sort())
    const categories = new Set(Object.values(ERRORS).map(({ category }) => category))
    expect([...ERROR_CATEGORIES].sort()).toEqual([...categories].sort())
  })

  it('say nothing about a user where they are believed without a signature', () => {
    for (const code of UNVERIFIABLE_CODES) {
      const { category } = ERRORS[code as keyof typeof ERRORS]
      // Wrong keys are counted by address, so this code of its category says nothing about a user either.
      if (code === 'too_many_wrong_keys') continue
      expect(category, code).not.toMatch(/biometric_rejected|conflict|rate_limited/)
    }
    expect(UNVERIFIABLE_CODES).not.toContain('reference_not_found')
  })
})
