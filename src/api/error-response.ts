/** How an error is answered over HTTP: its status, headers and body, all chosen by its code. */
import { SECOND_MS } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import type { ErrorCode } from '../lib/error-codes.js'

/** HTTP status of each error code. */
export const ERROR_STATUS = {
  malformed_json: 400,
  invalid_request: 400,
  invalid_idempotency_key: 400,
  malformed_request: 400,
  missing_api_key: 401,
  malformed_api_key: 401,
  invalid_api_key: 401,
  revoked_api_key: 401,
  wrong_environment: 403,
  tenant_suspended: 403,
  insufficient_scope: 403,
  network_not_allowed: 403,
  client_certificate_required: 403,
  replace_verdict_required: 403,
  capture_proof_invalid: 403,
  production_key_required: 403,
  sandbox_quota_reached: 403,
  insecure_channel: 403,
  unknown_endpoint: 404,
  reference_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  already_enrolled: 409,
  locked_out: 409,
  rotation_in_progress: 409,
  secret_already_told: 409,
  idempotency_in_progress: 409,
  reference_model_mismatch: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  challenge_not_found: 404,
  challenge_used: 409,
  challenge_expired: 422,
  challenge_mismatch: 422,
  liveness_required: 422,
  policy_not_met: 422,
  liveness_unavailable: 422,
  capture_page_unavailable: 422,
  return_url_not_allowed: 422,
  capture_session_not_found: 404,
  verification_not_found: 404,
  passkeys_unavailable: 422,
  passkey_required: 422,
  passkey_verdict_required: 403,
  passkey_proof_required: 403,
  passkey_recovery_pending: 409,
  passkey_recovery_not_found: 404,
  passkey_not_found: 404,
  passkey_already_registered: 409,
  passkey_limit_reached: 409,
  passkey_invalid: 422,
  passkey_challenge_mismatch: 422,
  passkey_origin_not_allowed: 422,
  passkey_rp_mismatch: 422,
  passkey_user_not_verified: 422,
  passkey_counter_reversed: 409,
  passkey_became_synced: 422,
  passkey_not_allowed: 422,
  image_unreadable: 422,
  image_too_large: 422,
  image_too_small: 422,
  face_not_found: 422,
  multiple_faces: 422,
  face_too_small: 422,
  face_not_upright: 422,
  low_quality: 422,
  liveness_failed: 422,
  different_people: 422,
  rate_limited: 429,
  sandbox_daily_quota_reached: 429,
  too_many_wrong_keys: 429,
  headers_too_large: 431,
  internal_error: 500,
  overloaded: 503,
  sandbox_storage_low: 503,
  engine_unavailable: 503,
  store_unavailable: 503,
  shutting_down: 503,
  deadline_exceeded: 504,
} as const satisfies Record<ErrorCode, number>

/** The address exists, and does not support the method of the request. */
export class MethodNotAllowedError extends DomainError {
  /** @param allowed methods that the address supports */
  constructor(readonly allowed: readonly string[]) {
    super('method_not_allowed')
  }
}

export function statusOf({ code }: DomainError): number {
  return ERROR_STATUS[code]
}

/** The error body of the contract and the OpenAPI document. */
export function errorBody(
  error: DomainError,
  {
    requestId,
    errorsUrl,
  }: {
    requestId: string
    /** Address of the page that explains the codes. */
    errorsUrl: string
  },
): Record<string, unknown> {
  return {
    error: error.category,
    code: error.code,
    message: error.message,
    remedy: error.remedy,
    doc_url: `${errorsUrl}#${error.code}`,
    request_id: requestId,
    ...(error.details ? { details: error.details } : {}),
  }
}

/** `Retry-After`, `Allow` and `WWW-Authenticate`, where the error calls for them. */
export function errorHeaders(error: DomainError): Record<string, string> {
  return {
    ...(error.retryAfterMs === undefined ? {} : retryAfter(error.retryAfterMs)),
    ...(error instanceof MethodNotAllowedError ? { Allow: error.allowed.join(', ') } : {}),
    ...challengeOf(error),
  }
}

/** `Retry-After` in whole seconds, at least 1. */
export function retryAfter(waitMs: number): Record<string, string> {
  return { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / SECOND_MS))) }
}

/** `WWW-Authenticate` (RFC 6750, section 3): which credential is missing, or which scopes it lacks. */
function challengeOf({ code, category, details = [] }: DomainError): Record<string, string> {
  if (category === 'authentication_failed') return { 'WWW-Authenticate': 'Bearer realm="countersign"' }
  if (code !== 'insufficient_scope') return {}
  const scopes = details.flatMap(({ scope }) => scope ?? [])
  return { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"` }
}
