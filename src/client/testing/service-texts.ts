/** Sentences and fields of the service for the service in memory. Generated from the service: `npm run docs` writes this file. */
import type { ErrorCategory } from '../../contract/error-codes.js'
import type { PhotoGuidance } from '../types.js'

interface FakeError {
  /** HTTP status. */
  status: number
  category: ErrorCategory
  message: string
  remedy: string
}

/** The errors that the service in memory answers with. */
export const FAKE_ERRORS: Readonly<
  Record<
    | 'invalid_request'
    | 'invalid_api_key'
    | 'insufficient_scope'
    | 'unknown_endpoint'
    | 'reference_not_found'
    | 'already_enrolled'
    | 'locked_out'
    | 'rotation_in_progress'
    | 'secret_already_told'
    | 'challenge_not_found'
    | 'challenge_used'
    | 'challenge_expired'
    | 'challenge_mismatch'
    | 'liveness_required'
    | 'liveness_unavailable'
    | 'return_url_not_allowed'
    | 'capture_session_not_found'
    | 'capture_proof_invalid'
    | 'verification_not_found'
    | 'idempotency_key_reused'
    | 'face_not_found'
    | 'passkeys_unavailable'
    | 'passkey_verdict_required'
    | 'passkey_proof_required'
    | 'passkey_recovery_pending'
    | 'passkey_recovery_not_found'
    | 'replace_verdict_required'
    | 'passkey_already_registered'
    | 'passkey_limit_reached'
    | 'passkey_required'
    | 'passkey_not_found'
    | 'passkey_invalid'
    | 'passkey_challenge_mismatch'
    | 'passkey_origin_not_allowed'
    | 'passkey_rp_mismatch'
    | 'passkey_user_not_verified'
    | 'passkey_counter_reversed'
    | 'passkey_not_allowed'
    | 'policy_not_met'
    | 'multiple_faces'
    | 'low_quality'
    | 'liveness_failed'
    | 'different_people'
    | 'rate_limited'
    | 'overloaded',
    FakeError
  >
> = {
  invalid_request: {
    status: 400,
    category: 'invalid_request',
    message: 'The request has missing, unknown or wrong fields.',
    remedy: 'Read `details`: each entry names a field and what is wrong with it.',
  },
  invalid_api_key: {
    status: 401,
    category: 'authentication_failed',
    message: 'The API key is not known.',
    remedy: 'Check that the key belongs to this installation.',
  },
  insufficient_scope: {
    status: 403,
    category: 'permission_denied',
    message: 'The API key does not have the scope that this call needs.',
    remedy:
      'Read `details`: it names the scope. Use a key that has it, or have one made: `countersign tenant keys create`.',
  },
  unknown_endpoint: {
    status: 404,
    category: 'not_found',
    message: 'There is no such endpoint. Every path begins with /v1.',
    remedy: 'Compare the path with the API reference.',
  },
  reference_not_found: {
    status: 404,
    category: 'not_found',
    message: 'No reference is enrolled for this user.',
    remedy: 'Enroll the user first; sandbox and production keep separate references.',
  },
  already_enrolled: {
    status: 409,
    category: 'conflict',
    message: 'The user is already enrolled.',
    remedy: 'Send `"replace": true` to replace the reference.',
  },
  locked_out: {
    status: 409,
    category: 'conflict',
    message: 'The user is locked out after rejected verifications: no photo can be added now.',
    remedy:
      'Wait as `Retry-After` says, or have the operator unlock the user. Without `Retry-After`, enroll the user again with `"replace": true`.',
  },
  rotation_in_progress: {
    status: 409,
    category: 'conflict',
    message: 'A rotation is in progress: two signing secrets are valid.',
    remedy: 'Wait for the overlap to end, or send `"force": true`, which ends the older secret at once.',
  },
  secret_already_told: {
    status: 409,
    category: 'conflict',
    message: 'This rotation was done before. Its new secret was sent once and is not kept.',
    remedy:
      'Use the secret of the first response. Where that was lost, rotate again with a new idempotency key and `"force": true`.',
  },
  challenge_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such challenge.',
    remedy:
      'Challenges belong to one tenant and environment, and are forgotten soon after they expire. Ask for a new one.',
  },
  challenge_used: {
    status: 409,
    category: 'conflict',
    message: 'The challenge has been used: each challenge is valid for one call only.',
    remedy: 'Ask for a new challenge.',
  },
  challenge_expired: {
    status: 422,
    category: 'invalid_request',
    message: 'The challenge has expired.',
    remedy: 'Ask for a new challenge, and send the frames as soon as they are captured.',
  },
  challenge_mismatch: {
    status: 422,
    category: 'invalid_request',
    message: 'The challenge was made for another user, purpose or action, or its nonce is wrong.',
    remedy: 'Send the user, the action and the nonce of the challenge unchanged.',
  },
  liveness_required: {
    status: 422,
    category: 'invalid_request',
    message: 'This call requires a liveness check, and carries none.',
    remedy:
      'Ask for a challenge with `POST /v1/challenges` and send its frames in `challenge`, instead of photos.',
  },
  liveness_unavailable: {
    status: 422,
    category: 'invalid_request',
    message: 'The model pack of this installation cannot check liveness in this way.',
    remedy: 'Ask for other `modes`, or have the operator install a pack that can: `countersign models list`.',
  },
  return_url_not_allowed: {
    status: 422,
    category: 'invalid_request',
    message: 'The capture page is not allowed to lead back to this address.',
    remedy:
      'Have the operator allow its origin: `countersign tenant capture-page <tenant> --return-origin <origin>`.',
  },
  capture_session_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such capture session.',
    remedy:
      'Sessions belong to one tenant and environment, and are forgotten an hour after they expire, and with the erasure of their user.',
  },
  capture_proof_invalid: {
    status: 403,
    category: 'permission_denied',
    message: 'The proof is not that of the browser in which the person confirmed.',
    remedy:
      'Have the person go back in the browser in which they confirmed, and send `capture_proof` of that address as `proof`. Do not act for the browser that sent this one.',
  },
  verification_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such verification.',
    remedy:
      'Verifications belong to one tenant and environment, and are not shown after the erasure of their user. A `user_id` in the query must be that of the verified user; after a restore of the database, send it. The sandbox keeps the latest 1,000.',
  },
  idempotency_key_reused: {
    status: 422,
    category: 'conflict',
    message: 'This idempotency key was used with another payload.',
    remedy: 'Use a new key for every new operation.',
  },
  face_not_found: {
    status: 422,
    category: 'biometric_rejected',
    message: 'No face was found in the image.',
    remedy: 'Ask for a new photo in which the person faces the camera, in even light.',
  },
  passkeys_unavailable: {
    status: 422,
    category: 'invalid_request',
    message: 'The tenant uses no passkeys yet.',
    remedy:
      'Have the operator name the domain and its pages: `countersign tenant passkeys <tenant> --rp-id <domain> --origin <origins...>`.',
  },
  passkey_verdict_required: {
    status: 403,
    category: 'permission_denied',
    message:
      'The tenant registers a passkey only after an approved verify of the user for it, with a check of liveness.',
    remedy:
      'Verify the user for an action of the type `register_passkey`, with a challenge, and send its `verification_id` within ten minutes. It is good for one registration.',
  },
  passkey_proof_required: {
    status: 403,
    category: 'permission_denied',
    message:
      'The user has, or had, a passkey: a further one needs a verdict in which a passkey at least as strong has signed.',
    remedy:
      'Verify the user for an action of the type `register_passkey` with `passkey_assertion`, and send its `verification_id`. For a lost passkey, begin a recovery: a verify for `recover_passkey`.',
  },
  passkey_recovery_pending: {
    status: 409,
    category: 'conflict',
    message: 'The recovery of the passkey has begun, and its waiting time is not over.',
    remedy:
      'Register the passkey later, with the same `verification_id`: the webhook `user.passkey_recovery_begun` names the time.',
  },
  passkey_recovery_not_found: {
    status: 404,
    category: 'not_found',
    message: 'No recovery of a passkey waits for this user.',
    remedy: 'Nothing is left to be cancelled: the recovery was used, has expired, or was cancelled before.',
  },
  replace_verdict_required: {
    status: 403,
    category: 'permission_denied',
    message:
      'The contract of this tenant replaces a reference only after an approved verify of the user for it.',
    remedy:
      'Verify the user for an action of the type `replace_reference`, and send its `verification_id` with `replace` within the minutes of the contract. Who cannot be verified any more is unlocked by the operator, or erased and enrolled again.',
  },
  passkey_already_registered: {
    status: 409,
    category: 'conflict',
    message: 'This passkey is registered already, for this user or another one.',
    remedy: 'Ask the device for a new passkey, with the options of a new registration.',
  },
  passkey_limit_reached: {
    status: 409,
    category: 'conflict',
    message: 'The user has as many passkeys as a user may have.',
    remedy: 'Revoke one that is not used any more: `DELETE /v1/users/{user_id}/passkeys/{passkey_id}`.',
  },
  passkey_required: {
    status: 422,
    category: 'invalid_request',
    message: 'This call needs the assertion of a passkey, which it does not carry.',
    remedy:
      'Ask for options with `POST /v1/users/{user_id}/passkeys/assertion`, or for a challenge with `passkey`, and send the answer in `passkey_assertion`.',
  },
  passkey_not_found: {
    status: 404,
    category: 'not_found',
    message: 'The user has no such passkey.',
    remedy:
      'List the passkeys of the user with `GET /v1/users/{user_id}/passkeys`. A revoked passkey, and one of another user, count as unknown.',
  },
  passkey_invalid: {
    status: 422,
    category: 'invalid_request',
    message: 'The answer of the authenticator is not a valid WebAuthn answer, or its signature is wrong.',
    remedy: 'Send the answer as `PublicKeyCredential.toJSON()` makes it, without changes.',
  },
  passkey_challenge_mismatch: {
    status: 422,
    category: 'invalid_request',
    message: 'The passkey has signed another challenge than that of this call and this action.',
    remedy: 'Ask for new options for this user and this action, and send the answer with the same action.',
  },
  passkey_origin_not_allowed: {
    status: 422,
    category: 'invalid_request',
    message: 'The passkey was used on a page whose origin is not allowed for the tenant.',
    remedy:
      'Have the operator allow the origin: `countersign tenant passkeys <tenant> --origin <origins...>`. If the page is not yours, somebody is phishing.',
  },
  passkey_rp_mismatch: {
    status: 422,
    category: 'invalid_request',
    message: 'The passkey belongs to another domain than the tenant’s.',
    remedy: 'Pass the options of the service to the browser unchanged: `rpId` is the domain of the tenant.',
  },
  passkey_user_not_verified: {
    status: 422,
    category: 'invalid_request',
    message: 'The authenticator did not check the person by PIN, fingerprint or face.',
    remedy: 'Pass the options of the service to the browser unchanged: they require user verification.',
  },
  passkey_counter_reversed: {
    status: 409,
    category: 'conflict',
    message: 'The signature counter of the passkey did not grow: a copy of the passkey may be in use.',
    remedy: 'Revoke the passkey, and register another one after the user has proved who they are.',
  },
  passkey_not_allowed: {
    status: 422,
    category: 'invalid_request',
    message: 'The tenant does not accept this kind of passkey.',
    remedy:
      'Use an authenticator that the tenant accepts: `countersign tenant passkeys <tenant>` shows its policy.',
  },
  policy_not_met: {
    status: 422,
    category: 'invalid_request',
    message: 'The policy of this tenant gives no approval of this action under these conditions.',
    remedy:
      'Read `details`: each entry names a requirement and what is missing. `countersign policy check` shows the rule of an action; the operator changes the policy.',
  },
  multiple_faces: {
    status: 422,
    category: 'biometric_rejected',
    message: 'More than one face was found in the image.',
    remedy: 'Ask for a photo that shows only one person.',
  },
  low_quality: {
    status: 422,
    category: 'biometric_rejected',
    message: 'The photo is not good enough: its light, its focus or the pose.',
    remedy:
      'Read `details`: each entry names a component, its value, its bound, and a `guidance` code and a `hint` that the person can be shown.',
  },
  liveness_failed: {
    status: 422,
    category: 'biometric_rejected',
    message: 'The capture does not look like a live person.',
    remedy: 'Capture the person, not a picture or a screen.',
  },
  different_people: {
    status: 422,
    category: 'biometric_rejected',
    message: 'The images are not alike enough to be of one person.',
    remedy:
      'Read `details`: it names the odd image and how alike it is. Have all photos taken now, in the same light, with one person in each.',
  },
  rate_limited: {
    status: 429,
    category: 'rate_limited',
    message: 'The rate limit of the tenant in this environment is exceeded.',
    remedy:
      'Retry after the time in `Retry-After`. The operator can raise the limit in the contract of the tenant.',
  },
  overloaded: {
    status: 503,
    category: 'unavailable',
    message: 'The service is at capacity.',
    remedy: 'Retry after the time in `Retry-After`.',
  },
}

/** Sentences that a person can be shown about a refused photo. */
export const FAKE_HINTS: Readonly<Record<PhotoGuidance, string>> = {
  no_face: 'Show your face to the camera.',
  not_upright:
    'The picture lies on its side or stands on its head. Hold the camera upright, or turn the photo.',
  several_faces: 'Only you should be in the picture.',
  too_far: 'Come closer.',
  too_close: 'Move back a little.',
  cut_off: 'Show your whole face.',
  too_dark: 'It is too dark. Turn to the light.',
  too_bright: 'It is too bright. Turn away from the light.',
  blurred: 'The picture is blurred. Hold still, or wipe the lens.',
  not_frontal: 'Look straight into the camera.',
  wrong_direction: 'Wrong direction. Please follow the instructions.',
  turn_more: 'Turn your head a little further.',
  nod_more: 'Raise or lower your chin a little further.',
  mirrored: 'Your camera exchanges left and right. Switch that off in its settings.',
  slower: 'Move a little more slowly.',
  try_again: 'Please try again.',
  eyes_closed: 'Please open your eyes.',
  file_unreadable: 'This file cannot be read as a photo. Please choose another one.',
  wrong_format:
    'This kind of file cannot be used. Please choose a JPEG photo. On an iPhone, set Settings > Camera > Formats to “Most Compatible” and take the photo again.',
  image_too_large: 'The photo is too large. Please choose a smaller one.',
  image_too_small: 'The photo is too small. Please choose a larger one.',
  different_people: 'Every photo must show the same person. Please take them again.',
  not_live: 'Please take a new photo of your own face, not of a picture or a screen.',
}

/** The fields of the body of each call, by method and path. */
export const FAKE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  'POST /enroll': [
    'user_id',
    'image',
    'capture_integrity',
    'require_liveness',
    'replace',
    'verification_id',
    'add',
    'dry_run',
    'consent',
    'passkey_registration',
    'include',
    'images',
    'challenge',
  ],
  'POST /verify': [
    'user_id',
    'image',
    'capture_integrity',
    'require_liveness',
    'require_passkey',
    'passkey_assertion',
    'action',
    'approval_id',
    'nonce',
    'include',
    'images',
    'challenge',
  ],
  'DELETE /delete': ['user_id'],
  'POST /keys/rotate-signing': ['force'],
  'POST /challenges': ['user_id', 'purpose', 'action', 'modes', 'passkey', 'locale', 'payees'],
  'POST /guidance': ['image', 'step', 'frontal', 'user_id'],
  'POST /capture-sessions': [
    'user_id',
    'purpose',
    'action',
    'payees',
    'modes',
    'require_liveness',
    'passkey',
    'replace',
    'confirmation',
    'verification_id',
    'return_url',
    'browser',
    'locale',
    'description',
    'consent',
    'began',
  ],
  'POST /users/{user_id}/passkeys/registration': ['user_name', 'verification_id'],
  'POST /users/{user_id}/passkeys': ['challenge_id', 'nonce', 'credential', 'name', 'verification_id'],
  'POST /users/{user_id}/passkeys/assertion': ['action'],
  'POST /users/{user_id}/consent': ['consent'],
}

/** Languages of the capture page. */
export const FAKE_LOCALES: readonly string[] = ['en', 'de', 'fr', 'es', 'ja']
