/** The consequence of each answer of the API on the hosted page. */
import { describe, expect, it } from 'vitest'
import { ERRORS, type ErrorCode } from '../../../src/contract/error-codes.js'
import { outcomeOf } from '../../../src/features/capture-sessions/page/capture-outcome.js'
import { descriptionOf } from '../../support/descriptions.js'

const refusal = (code: ErrorCode) =>
  outcomeOf({ status: ERRORS[code].status, body: { error: ERRORS[code].category, code } })
const ofBoth = [...new Set([...descriptionOf('verify').errors, ...descriptionOf('enroll').errors])]

describe('an answer', () => {
  it.each([
    [{ verdict: 'approved', reason: null }, true],
    [{ verdict: 'rejected', reason: 'locked_out' }, true],
    [{ verdict: 'rejected', reason: 'reference_disabled' }, true],
    [{ verdict: 'rejected', reason: 'second_approval_required' }, true],
    [{ verdict: 'rejected', reason: 'no_match' }, false],
    [{ verdict: 'rejected', reason: 'liveness_failed' }, false],
    [{ verdict: 'rejected', reason: 'replayed_capture' }, false],
  ])('counts a verify that answers %j as a try (final: %s)', (body, isFinal) => {
    expect(outcomeOf({ status: 200, body })).toMatchObject({ isJudged: true, isFinal })
  })

  it('names the ending for the person when it is final and no approval', () => {
    const ended = (body: Record<string, unknown>, status = 200) => outcomeOf({ status, body }).ending
    expect(ended({ verdict: 'approved', reason: null })).toBeUndefined()
    expect(ended({ verdict: 'rejected', reason: 'locked_out' })).toBe('locked_out')
    expect(ended({ error: 'conflict', code: 'locked_out' }, 409)).toBe('locked_out')
    expect(ended({ error: 'not_found', code: 'reference_not_found' }, 404)).toBe('refused')
    expect(ended({}, 201)).toBeUndefined()
  })

  it('says that a second person has to act where the policy asks for one, and names no failure', () => {
    const waiting = { verdict: 'rejected', reason: 'second_approval_required' }
    expect(outcomeOf({ status: 200, body: waiting })).toMatchObject({
      isJudged: true,
      isFinal: true,
      waitsFor: 'second_person',
    })
    expect(outcomeOf({ status: 200, body: waiting }).ending).toBeUndefined()
    for (const reason of ['no_match', 'locked_out', null])
      expect(outcomeOf({ status: 200, body: { verdict: 'rejected', reason } }).waitsFor).toBeUndefined()
  })

  it('ends the session without a word about it where a person is to look at the signals', () => {
    const outcome = outcomeOf({ status: 200, body: { verdict: 'rejected', reason: 'review_required' } })
    expect(outcome).toEqual({ isJudged: true, isFinal: true, advice: 'try_again' })
  })

  it('ends the session after an enrolment with status 201', () => {
    expect(outcomeOf({ status: 201, body: {} })).toMatchObject({ isJudged: true, isFinal: true })
  })

  it('passes on only guidance that is meant for the person', () => {
    const said = (guidance: string) =>
      outcomeOf({ status: 200, body: { liveness: { guidance: [guidance] } } }).advice
    expect(said('turn_more')).toBe('turn_more')
    expect(said('flat')).toBe('try_again')
    expect(said('<b>')).toBe('try_again')
  })

  it('costs no try when it says nothing about the person', () => {
    for (const code of ['overloaded', 'engine_unavailable', 'deadline_exceeded', 'rate_limited'] as const)
      expect(refusal(code)).toEqual({ isJudged: false, isFinal: false, advice: 'busy' })
    for (const code of [
      'invalid_request',
      'body_too_large',
      'idempotency_in_progress',
      'request_timeout',
    ] as const)
      expect(refusal(code)).toMatchObject({ isJudged: false, isFinal: false })
    expect(outcomeOf({ status: 499, body: {} })).toMatchObject({ isJudged: false, isFinal: false })
  })

  it('ends the session, costs a try or asks for a new challenge, for every documented code', () => {
    const kinds: Record<string, ErrorCode[]> = { final: [], none: [], try: [] }
    for (const code of ofBoth) {
      const { isJudged, isFinal } = refusal(code)
      kinds[isFinal ? 'final' : isJudged ? 'try' : 'none']!.push(code)
    }
    expect(kinds).toEqual({
      final: [
        'reference_not_found',
        'reference_model_mismatch',
        'policy_not_met',
        'passkey_required',
        'passkeys_unavailable',
        'passkey_not_found',
        'passkey_invalid',
        'passkey_challenge_mismatch',
        'passkey_origin_not_allowed',
        'passkey_rp_mismatch',
        'passkey_user_not_verified',
        'passkey_counter_reversed',
        'passkey_became_synced',
        'passkey_not_allowed',
        'liveness_required',
        'liveness_unavailable',
        'replace_verdict_required',
        'already_enrolled',
        'locked_out',
        'passkey_already_registered',
        'passkey_proof_required',
      ],
      none: ['challenge_not_found', 'challenge_used', 'challenge_expired', 'challenge_mismatch'],
      try: expect.arrayContaining(['face_not_found', 'low_quality', 'liveness_failed', 'different_people']),
    })
  })
})
