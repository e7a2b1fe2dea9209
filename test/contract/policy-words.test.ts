/** A policy in words. */
import { describe, expect, it } from 'vitest'
import type { PolicyRequirements } from '../../src/contract/action-policy.js'
import {
  checksInWords,
  conditionInWords,
  requirementsInWords,
  retentionInWords,
} from '../../src/contract/policy-words.js'

describe('a policy in words', () => {
  it('names every requirement of a rule', () => {
    const all: Required<PolicyRequirements> = {
      acr: 'urn:countersign:acr:face-active',
      max_fmr: 0.00001,
      max_reference_age_days: 730,
      min_reference_photos: 3,
      min_photos: 2,
      consent_id: 'terms-2026',
      integrity: 'review',
      capture_binding: 'same',
      second_approver: { within_minutes: 1 },
    }
    const words = requirementsInWords(all)
    expect(words).toHaveLength(Object.keys(all).length)
    expect(Object.fromEntries(words)).toMatchObject({
      'Least acr': 'urn:countersign:acr:face-active',
      Reference: 'younger than 730 days',
      Consent: 'terms-2026',
      'Second person': 'within 1 minute',
    })
    expect(requirementsInWords({})).toEqual([])
  })

  it('names the checks of an acr', () => {
    expect(checksInWords('urn:countersign:acr:face')).toBe('the face')
    expect(checksInWords('urn:countersign:acr:face-active-pad-hwk')).toBe(
      'the face, the frames of a challenge, a turn of the head, a nod, the liveness network and a passkey that counts as a key in hardware',
    )
    expect(checksInWords('urn:countersign:acr:face-swk')).toBe('the face and a passkey')
  })

  it('says that an amount which cannot be compared falls under the rule', () => {
    expect(conditionInWords()).toBe('every action')
    expect(conditionInWords({ types: ['payment', 'login'] })).toBe('payment or login')
    expect(conditionInWords({ min_amount: { EUR: '30', USD: '33' } })).toBe(
      'every action, of at least 30 EUR or 33 USD, or of an amount that cannot be compared',
    )
  })

  it('says when users are erased', () => {
    const rules = [{ name: 'all', require: {} }]
    expect(retentionInWords({ rules })).toBeNull()
    expect(retentionInWords({ rules, retention: { inactive_days: 1095, notice_days: 30 } })).toContain(
      'after 1095 days without an enrollment or approval, with a notice 30 days before',
    )
  })
})
