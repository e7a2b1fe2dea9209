/** The refusals that the service in memory knows, as the service words them; a test holds them to its registry. */
import type { ErrorCategory, ErrorCode } from './error-codes.js'
import type { ErrorDetail } from './errors.js'

export const FAKE_ERRORS = {
  invalid_request: [400, 'invalid_request', 'The request has missing, unknown or wrong fields.'],
  invalid_api_key: [401, 'authentication_failed', 'The API key is not known.'],
  insufficient_scope: [403, 'permission_denied', 'The API key does not have the scope that this call needs.'],
  unknown_endpoint: [404, 'not_found', 'There is no such endpoint. Every path begins with /v1.'],
  reference_not_found: [404, 'not_found', 'No reference is enrolled for this user.'],
  already_enrolled: [409, 'conflict', 'The user is already enrolled.'],
  locked_out: [
    409,
    'conflict',
    'The user is locked out after rejected verifications: no photo can be added now.',
  ],
  rotation_in_progress: [409, 'conflict', 'A rotation is in progress: two signing secrets are valid.'],
  secret_already_told: [
    409,
    'conflict',
    'This rotation was done before, and its new secret was told once: it is not kept.',
  ],
  challenge_not_found: [404, 'not_found', 'There is no such challenge.'],
  challenge_used: [
    409,
    'conflict',
    'The challenge has been used: each is good for one call, whatever came of it.',
  ],
  challenge_expired: [422, 'invalid_request', 'The challenge has expired.'],
  challenge_mismatch: [
    422,
    'invalid_request',
    'The challenge was made for another user, purpose or action, or its nonce is wrong.',
  ],
  liveness_required: [422, 'invalid_request', 'This call needs a check of liveness that it does not carry.'],
  liveness_unavailable: [
    422,
    'invalid_request',
    'The model pack of this installation cannot check liveness in this way.',
  ],
  idempotency_key_reused: [422, 'conflict', 'This idempotency key was used with another payload.'],
  face_not_found: [422, 'biometric_rejected', 'No face was found in the image.'],
  multiple_faces: [422, 'biometric_rejected', 'More than one face was found in the image.'],
  low_quality: [422, 'biometric_rejected', 'The photo is not good enough: its light, its focus or the pose.'],
  liveness_failed: [422, 'biometric_rejected', 'The capture does not look like a live person.'],
  different_people: [422, 'biometric_rejected', 'The images do not all show the same person.'],
  rate_limited: [429, 'rate_limited', 'The rate limit of this API key is exceeded.'],
  overloaded: [503, 'unavailable', 'The service is at capacity.'],
} as const satisfies Partial<Record<ErrorCode, readonly [number, ErrorCategory, string]>>

export class FakeRefusal extends Error {
  readonly status: number
  readonly category: ErrorCategory
  readonly body: object

  constructor(
    readonly code: keyof typeof FAKE_ERRORS,
    requestId: string,
    details?: ErrorDetail[],
  ) {
    const [status, error, message] = FAKE_ERRORS[code]
    super(message)
    this.status = status
    this.category = error
    this.body = { error, code, message, request_id: requestId, ...(details ? { details } : {}) }
  }
}
