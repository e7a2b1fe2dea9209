/** The refusals that the service in memory knows, as the service words them; a test holds them to its registry. */
import type { ErrorCategory, ErrorCode } from './error-codes.js'
import type { ErrorDetail } from './errors.js'

export const FAKE_ERRORS = {
  invalid_request: [
    400,
    'invalid_request',
    'The request has missing, unknown or wrong fields.',
    'Read `details`: each entry names a field and what is wrong with it.',
  ],
  invalid_api_key: [
    401,
    'authentication_failed',
    'The API key is not known.',
    'Check that the key belongs to this installation.',
  ],
  insufficient_scope: [
    403,
    'permission_denied',
    'The API key does not have the scope that this call needs.',
    'Read `details`: it names the scope. Use a key that has it, or have one made: `countersign tenant keys create`.',
  ],
  unknown_endpoint: [
    404,
    'not_found',
    'There is no such endpoint. Every path begins with /v1.',
    'Compare the path with the API reference.',
  ],
  reference_not_found: [
    404,
    'not_found',
    'No reference is enrolled for this user.',
    'Enrol the user first; sandbox and production keep separate references.',
  ],
  already_enrolled: [
    409,
    'conflict',
    'The user is already enrolled.',
    'Send `"replace": true` to replace the reference.',
  ],
  locked_out: [
    409,
    'conflict',
    'The user is locked out after rejected verifications: no photo can be added now.',
    'Wait as `Retry-After` says; without it, enrol the user again with `"replace": true`.',
  ],
  rotation_in_progress: [
    409,
    'conflict',
    'A rotation is in progress: two signing secrets are valid.',
    'Wait for the overlap to end, or send `"force": true`, which ends the older secret at once.',
  ],
  secret_already_told: [
    409,
    'conflict',
    'This rotation was done before, and its new secret was told once: it is not kept.',
    'Use the secret of the first response. Where that was lost, rotate again with a new idempotency key and `"force": true`.',
  ],
  challenge_not_found: [
    404,
    'not_found',
    'There is no such challenge.',
    'Challenges belong to one tenant and environment, and are forgotten soon after they expire. Ask for a new one.',
  ],
  challenge_used: [
    409,
    'conflict',
    'The challenge has been used: each is good for one call, whatever came of it.',
    'Ask for a new challenge.',
  ],
  challenge_expired: [
    422,
    'invalid_request',
    'The challenge has expired.',
    'Ask for a new challenge, and send the frames as soon as they are captured.',
  ],
  challenge_mismatch: [
    422,
    'invalid_request',
    'The challenge was made for another user, purpose or action, or its nonce is wrong.',
    'Send the user, the action and the nonce of the challenge unchanged.',
  ],
  liveness_required: [
    422,
    'invalid_request',
    'This call needs a check of liveness that it does not carry.',
    'Ask for a challenge with `POST /v1/challenges` and send its frames in `challenge`, instead of photos.',
  ],
  liveness_unavailable: [
    422,
    'invalid_request',
    'The model pack of this installation cannot check liveness in this way.',
    'Ask for other `modes`, or have the operator install a pack that can: `countersign models list`.',
  ],
  return_url_not_allowed: [
    422,
    'invalid_request',
    'The capture page may not lead back to this address.',
    'Have the operator allow its origin: `countersign tenant capture-page <tenant> --return-origin <origin>`.',
  ],
  capture_session_not_found: [
    404,
    'not_found',
    'There is no such capture session.',
    'Sessions belong to one tenant and environment, and are forgotten an hour after they expire, and with the erasure of their user.',
  ],
  idempotency_key_reused: [
    422,
    'conflict',
    'This idempotency key was used with another payload.',
    'Use a new key for every new operation.',
  ],
  face_not_found: [
    422,
    'biometric_rejected',
    'No face was found in the image.',
    'Ask for a new photo in which the person faces the camera, in even light.',
  ],
  multiple_faces: [
    422,
    'biometric_rejected',
    'More than one face was found in the image.',
    'Ask for a photo that shows only one person.',
  ],
  low_quality: [
    422,
    'biometric_rejected',
    'The photo is not good enough: its light, its focus or the pose.',
    'Read `details`: each entry names a component, its value, its bound, and a `guidance` code and a `hint` that the person can be shown.',
  ],
  liveness_failed: [
    422,
    'biometric_rejected',
    'The capture does not look like a live person.',
    'Capture the person, not a picture or a screen.',
  ],
  different_people: [
    422,
    'biometric_rejected',
    'The images do not all show the same person.',
    'Read `details`: it names the odd image. Ask for photos that show only one person.',
  ],
  rate_limited: [
    429,
    'rate_limited',
    'The rate limit of this API key is exceeded.',
    'Retry after the time in `Retry-After`.',
  ],
  overloaded: [503, 'unavailable', 'The service is at capacity.', 'Retry after the time in `Retry-After`.'],
} as const satisfies Partial<Record<ErrorCode, readonly [number, ErrorCategory, string, string]>>

/** The service's page of error codes; nothing is there for the service in memory. */
const ERRORS_URL = 'https://countersign.test/errors'

export class FakeRefusal extends Error {
  readonly status: number
  readonly category: ErrorCategory
  readonly body: object

  constructor(
    readonly code: keyof typeof FAKE_ERRORS,
    requestId: string,
    details?: ErrorDetail[],
  ) {
    const [status, error, message, remedy] = FAKE_ERRORS[code]
    super(message)
    this.status = status
    this.category = error
    this.body = {
      ...{ error, code, message, remedy, doc_url: `${ERRORS_URL}#${code}`, request_id: requestId },
      ...(details ? { details } : {}),
    }
  }
}
