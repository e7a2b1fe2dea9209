/** Error codes of calls that take the answer of an authenticator. */
import type { ErrorCode } from '../../contract/error-codes.js'

/** Refusals of a passkey that use its challenge up, like a capture that the engine refuses. */
export const PASSKEY_REFUSALS = [
  'passkey_not_found',
  'passkey_invalid',
  'passkey_challenge_mismatch',
  'passkey_origin_not_allowed',
  'passkey_rp_mismatch',
  'passkey_user_not_verified',
  'passkey_counter_reversed',
  'passkey_became_synced',
  'passkey_not_allowed',
] as const satisfies readonly ErrorCode[]

export const PASSKEY_ERRORS = ['passkeys_unavailable', ...PASSKEY_REFUSALS] as const
