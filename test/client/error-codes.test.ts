import { expect, it } from 'vitest'
import { UNVERIFIABLE_CODES } from '../../clients/node/unverifiable-codes.js'
import { ERRORS } from '../../src/contract/error-codes.js'

it('the codes that the SDK believes without a signature say nothing about a user', () => {
  for (const code of UNVERIFIABLE_CODES) {
    const { category } = ERRORS[code as keyof typeof ERRORS]
    // Wrong keys are counted by address, so this code of its category says nothing about a user either.
    if (code === 'too_many_wrong_keys') continue
    expect(category, code).not.toMatch(/biometric_rejected|conflict|rate_limited/)
  }
  expect(UNVERIFIABLE_CODES).not.toContain('reference_not_found')
})
