/** The consequence of each answer of the API on the hosted page. */
import { describe, expect, it } from 'vitest'
import { ERRORS, type ErrorCode } from '../../../src/contract/error-codes.js'
import { outcomeOf } from '../../../src/features/capture-sessions/page/capture-outcome.js'
import { descriptionOf } from '../../support/descriptions.js'

const refusal = (code: ErrorCode) =>
  outcomeOf({ status: ERRORS[code].status, body: { error: ERRORS[code].category, code } })
const ofBoth = [...new Set([...descriptionOf('verify').errors, ...descriptionOf('enroll').errors])]

describe('an answer', () => {
  const REJECTED = { isJudged: true, isFinal: false, advice: 'try_again' }
  const OVER = { ...REJECTED, isFinal: true }
  const rejected = (reason: string) => ({ status: 200, body: { verdict: 'rejected', reason } })

  it.each([
    [{ status: 200, body: { verdict: 'approved', reason: null } }, OVER],
    [rejected('no_match'), REJECTED],
    [rejected('liveness_failed'), REJECTED],
    [rejected('replayed_capture'), REJECTED],
    [rejected('locked_out'), { ...OVER, ending: 'locked_out' }],
    [rejected('reference_disabled'), { ...OVER, ending: 'locked_out' }],
    // The person has done everything that was asked: the page names no failure.
    [rejected('second_approval_required'), { ...OVER, waitsFor: 'second_person' }],
    // Nor does it tell an attacker that the capture was noticed.
    [rejected('review_required'), OVER],
    [
      { status: 409, body: { error: 'conflict', code: 'locked_out' } },
      { ...OVER, ending: 'locked_out' },
    ],
    [
      { status: 404, body: { error: 'not_found', code: 'reference_not_found' } },
      { ...OVER, ending: 'refused' },
    ],
    [{ status: 201, body: {} }, OVER],
  ])('counts %j as a try, and ends the session where another would change nothing', (answer, outcome) => {
    expect(outcomeOf(answer)).toEqual(outcome)
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
