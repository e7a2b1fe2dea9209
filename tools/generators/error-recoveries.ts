/** Lists how a program recovers from each code of the API, for docs/errors.md. */
import { ERRORS, type ErrorCode } from '../../src/contract/error-codes.js'

export interface Recovery {
  /** The next step of a program. */
  step: string
  codes: readonly ErrorCode[]
}

const images = (Object.keys(ERRORS) as ErrorCode[]).filter(
  (code) => ERRORS[code].category === 'biometric_rejected',
)

/** A code is in one of these lists at most. */
const NAMED: readonly Recovery[] = [
  {
    step: 'Retry with the same idempotency key, after `Retry-After` (the SDKs do so twice, except for `request_timeout`).',
    codes: [
      ...(['rate_limited', 'overloaded', 'engine_unavailable', 'store_unavailable'] as const),
      ...(['shutting_down', 'deadline_exceeded', 'internal_error', 'idempotency_in_progress'] as const),
      ...(['sandbox_daily_quota_reached', 'sandbox_storage_low', 'request_timeout'] as const),
    ],
  },
  { step: 'Show the person the `hint`, and take a new photo or new frames.', codes: images },
  {
    step: 'Ask for a new challenge, or for new passkey options, and repeat the step.',
    codes: [
      ...(['challenge_expired', 'challenge_used', 'challenge_not_found', 'challenge_mismatch'] as const),
      'passkey_challenge_mismatch',
    ],
  },
  {
    step: 'Send the signed-in person through a new capture session.',
    codes: ['capture_session_not_found', 'capture_proof_invalid'],
  },
  {
    step: 'Enroll the user: for the first time, or again with `"replace": true`.',
    codes: ['reference_not_found', 'reference_model_mismatch', 'already_enrolled'],
  },
  {
    step: 'Verify the user in the way that the remedy names, and send what it asks for.',
    codes: [
      ...(['liveness_required', 'passkey_required', 'policy_not_met', 'replace_verdict_required'] as const),
      ...(['passkey_verdict_required', 'passkey_proof_required'] as const),
    ],
  },
  {
    step: 'Offer the person another passkey, or another way.',
    codes: [
      ...(['passkey_not_allowed', 'passkey_became_synced', 'passkey_counter_reversed'] as const),
      ...(['passkey_already_registered', 'passkey_limit_reached'] as const),
    ],
  },
  {
    step: 'Wait for the time that the answer names, or let an operator unlock the user.',
    codes: ['locked_out', 'passkey_recovery_pending'],
  },
  {
    step: 'Carry on: what you asked for is done, gone or not there.',
    codes: ['passkey_not_found', 'passkey_recovery_not_found', 'verification_not_found'],
  },
  {
    step: 'Finish the rotation that has begun, or force another.',
    codes: ['rotation_in_progress', 'secret_already_told'],
  },
  {
    step: 'Give the key, the address or the setting to an operator, and do not retry.',
    codes: [
      ...(['missing_api_key', 'malformed_api_key', 'invalid_api_key', 'revoked_api_key'] as const),
      ...(['too_many_wrong_keys', 'wrong_environment', 'tenant_suspended', 'insufficient_scope'] as const),
      ...(['network_not_allowed', 'client_certificate_required', 'production_key_required'] as const),
      ...(['insecure_channel', 'sandbox_quota_reached', 'liveness_unavailable'] as const),
      ...(['capture_page_unavailable', 'return_url_not_allowed', 'passkeys_unavailable'] as const),
      'passkey_origin_not_allowed',
    ],
  },
  {
    step: 'Correct your program, and do not retry.',
    codes: [
      ...(['malformed_json', 'invalid_request', 'invalid_idempotency_key', 'malformed_request'] as const),
      ...(['method_not_allowed', 'body_too_large', 'unsupported_media_type'] as const),
      ...(['headers_too_large', 'unknown_endpoint', 'idempotency_key_reused'] as const),
      ...(['passkey_invalid', 'passkey_rp_mismatch', 'passkey_user_not_verified'] as const),
    ],
  },
]

const named = NAMED.flatMap(({ codes }) => codes)
const others = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => !named.includes(code))

/** Every code of the API is in exactly one of these lists. */
export const RECOVERIES: readonly Recovery[] = [
  ...NAMED,
  ...(others.length > 0 ? [{ step: 'Do what the remedy says.', codes: others }] : []),
]
