/** The codes and categories of the service's errors; a test holds them to the service's own registry. */

export const ERROR_CODES = [
  'malformed_json',
  'invalid_request',
  'invalid_idempotency_key',
  'malformed_request',
  'missing_api_key',
  'malformed_api_key',
  'invalid_api_key',
  'revoked_api_key',
  'wrong_environment',
  'tenant_suspended',
  'insufficient_scope',
  'network_not_allowed',
  'production_key_required',
  'insecure_channel',
  'unknown_endpoint',
  'reference_not_found',
  'method_not_allowed',
  'request_timeout',
  'already_enrolled',
  'locked_out',
  'rotation_in_progress',
  'secret_already_told',
  'idempotency_in_progress',
  'reference_model_mismatch',
  'body_too_large',
  'unsupported_media_type',
  'idempotency_key_reused',
  'challenge_not_found',
  'challenge_used',
  'challenge_expired',
  'challenge_mismatch',
  'liveness_required',
  'liveness_unavailable',
  'capture_page_unavailable',
  'return_url_not_allowed',
  'capture_session_not_found',
  'image_unreadable',
  'image_too_large',
  'image_too_small',
  'face_not_found',
  'multiple_faces',
  'face_too_small',
  'low_quality',
  'liveness_failed',
  'different_people',
  'rate_limited',
  'headers_too_large',
  'internal_error',
  'overloaded',
  'engine_unavailable',
  'store_unavailable',
  'shutting_down',
  'deadline_exceeded',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

export const ERROR_CATEGORIES = [
  'invalid_request',
  'authentication_failed',
  'permission_denied',
  'not_found',
  'conflict',
  'biometric_rejected',
  'rate_limited',
  'unavailable',
  'internal',
] as const

export type ErrorCategory = (typeof ERROR_CATEGORIES)[number]

/**
 * Given before the service knows whose request it is, so signed with the instance's secret, which tenants do not hold.
 * None of them says anything about a user.
 */
export const UNVERIFIABLE_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  'malformed_request',
  'request_timeout',
  'headers_too_large',
  'missing_api_key',
  'malformed_api_key',
  'invalid_api_key',
  'revoked_api_key',
  'wrong_environment',
  'tenant_suspended',
  'unknown_endpoint',
  'method_not_allowed',
  'shutting_down',
  'store_unavailable',
  'internal_error',
])
