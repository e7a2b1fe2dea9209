/** The errors of the API: each stable code with its category, its HTTP status, its sentence for a person and the next step. */

/** Every category of errors. */
export const ERROR_CATEGORIES = [
  'invalid_request',
  'authentication_failed',
  'permission_denied',
  'not_found',
  'conflict',
  'biometric_rejected',
  'rate_limited',
  'internal',
  'unavailable',
] as const

/** The kind of an error, which decides what an application does about it. */
export type ErrorCategory = (typeof ERROR_CATEGORIES)[number]

/** HTTP status of most errors of a category. */
const STATUSES: Record<ErrorCategory, number> = {
  invalid_request: 422,
  authentication_failed: 401,
  permission_denied: 403,
  not_found: 404,
  conflict: 409,
  biometric_rejected: 422,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
}

interface ErrorEntry {
  category: ErrorCategory
  /** HTTP status. */
  status: number
  /** Default sentence for a person; an occurrence may give a more exact one. */
  message: string
  /** Next step of the caller; an occurrence may give a more exact one. */
  remedy: string
}

/** @param status only where it is not the one of the category */
function entry(
  category: ErrorCategory,
  message: string,
  remedy: string,
  status = STATUSES[category],
): ErrorEntry {
  return { category, status, message, remedy }
}

const RETRY_LATER = 'Retry after the time in `Retry-After`.'

/** Error bodies, the page at `/errors`, `docs/errors.md`, the OpenAPI document and the SDK's service in memory are made from this table. */
export const ERRORS = {
  malformed_json: entry(
    'invalid_request',
    'The body is not valid JSON in UTF-8.',
    'Send one JSON object, encoded as UTF-8.',
    400,
  ),
  invalid_request: entry(
    'invalid_request',
    'The request has missing, unknown or wrong fields.',
    'Read `details`: each entry names a field and what is wrong with it.',
    400,
  ),
  invalid_idempotency_key: entry(
    'invalid_request',
    'X-Svc-Idempotency-Key must be 1 to 255 printable ASCII characters.',
    'Use a UUID.',
    400,
  ),
  malformed_request: entry(
    'invalid_request',
    'Malformed HTTP/1.1 request.',
    'Use an HTTP client library, and a proxy that passes requests on as HTTP/1.1.',
    400,
  ),
  missing_api_key: entry(
    'authentication_failed',
    'No API key was given.',
    'Send `Authorization: Bearer <API key>`.',
  ),
  malformed_api_key: entry(
    'authentication_failed',
    'The Authorization header does not hold a well-formed API key.',
    'Copy the whole key again: its last six characters are a checksum, which a truncated or mistyped key fails. Send it as `Authorization: Bearer <API key>`.',
  ),
  invalid_api_key: entry(
    'authentication_failed',
    'The API key is not known.',
    'Check that the key belongs to this installation.',
  ),
  revoked_api_key: entry(
    'authentication_failed',
    'The API key has been revoked or has expired.',
    'Use the key that replaced it, or have one reissued.',
  ),
  wrong_environment: entry(
    'permission_denied',
    'The API key belongs to the other environment.',
    'Use sandbox keys at the sandbox base URL and production keys at the production base URL.',
  ),
  tenant_suspended: entry(
    'permission_denied',
    'The tenant of this API key is suspended.',
    'Ask the operator of the service; references and keys are kept meanwhile.',
  ),
  insufficient_scope: entry(
    'permission_denied',
    'The API key does not have the scope that this call needs.',
    'Read `details`: it names the scope. Use a key that has it, or have one made: `countersign tenant keys create`.',
  ),
  network_not_allowed: entry(
    'permission_denied',
    'The API key may not be used from this address.',
    'Call from a network of the key; behind a proxy, have the operator set COUNTERSIGN_TRUSTED_PROXIES.',
  ),
  client_certificate_required: entry(
    'permission_denied',
    'The API key is bound to a client certificate, which this connection has not shown.',
    'Connect with the certificate of the key, straight to the service: a proxy that ends TLS shows none.',
  ),
  replace_verdict_required: entry(
    'permission_denied',
    'The contract of this tenant replaces a reference only after an approved verification of the user for it.',
    'Verify the user for an action of the type `replace_reference`, and send its `verification_id` with `replace` within the minutes of the contract. Who cannot be verified any more is unlocked by the operator, or erased and enrolled again.',
  ),
  production_key_required: entry(
    'permission_denied',
    'The sandbox key can no longer rotate the signing secret, because a production key exists.',
    'Call the production base URL with the production key, or rotate with `countersign tenant rotate-signing`.',
  ),
  sandbox_quota_reached: entry(
    'permission_denied',
    'The sandbox of this tenant holds as many users as it may.',
    'Erase users with `DELETE /v1/delete`. The operator can raise `COUNTERSIGN_SANDBOX_USERS`.',
  ),
  insecure_channel: entry(
    'permission_denied',
    'A signing secret is not sent over an unencrypted channel.',
    'Use TLS; if it ends at a proxy in front, set COUNTERSIGN_TLS_TERMINATED_UPSTREAM=true.',
  ),
  unknown_endpoint: entry(
    'not_found',
    'There is no such endpoint. Every path begins with /v1.',
    'Compare the path with the API reference.',
  ),
  reference_not_found: entry(
    'not_found',
    'No reference is enrolled for this user.',
    'Enroll the user first; sandbox and production keep separate references.',
  ),
  method_not_allowed: entry(
    'invalid_request',
    'The endpoint does not support this method.',
    'Use a method from the `Allow` header.',
    405,
  ),
  request_timeout: entry(
    'invalid_request',
    'The request did not arrive in time.',
    'Send head and body at once; upload smaller images over slow links.',
    408,
  ),
  already_enrolled: entry(
    'conflict',
    'The user is already enrolled.',
    'Send `"replace": true` to replace the reference.',
  ),
  locked_out: entry(
    'conflict',
    'The user is locked out after rejected verifications: no photo can be added now.',
    'Wait as `Retry-After` says, or have the operator unlock the user. Without `Retry-After`, enroll the user again with `"replace": true`.',
  ),
  rotation_in_progress: entry(
    'conflict',
    'A rotation is in progress: two signing secrets are valid.',
    'Wait for the overlap to end, or send `"force": true`, which ends the older secret at once.',
  ),
  secret_already_told: entry(
    'conflict',
    'This rotation was done before. Its new secret was sent once and is not kept.',
    'Use the secret of the first response. Where that was lost, rotate again with a new idempotency key and `"force": true`.',
  ),
  idempotency_in_progress: entry(
    'conflict',
    'The first request with this idempotency key is still running.',
    RETRY_LATER,
  ),
  reference_model_mismatch: entry(
    'conflict',
    'The reference was made with another model pack and cannot be compared with this one.',
    'Enroll the user again with `"replace": true`.',
  ),
  body_too_large: entry(
    'invalid_request',
    'The body is larger than the limit.',
    'Scale photos down before they are sent: 1280 pixels on the longer side are plenty. Endpoints without images take 16 KiB.',
    413,
  ),
  unsupported_media_type: entry(
    'invalid_request',
    'A body must be sent as Content-Type: application/json.',
    'Set the header; other charsets than UTF-8 are refused.',
    415,
  ),
  idempotency_key_reused: entry(
    'conflict',
    'This idempotency key was used with another payload.',
    'Use a new key for every new operation.',
    422,
  ),
  challenge_not_found: entry(
    'not_found',
    'There is no such challenge.',
    'Challenges belong to one tenant and environment, and are forgotten soon after they expire. Ask for a new one.',
  ),
  challenge_used: entry(
    'conflict',
    'The challenge has been used: each challenge is valid for one call only.',
    'Ask for a new challenge.',
  ),
  challenge_expired: entry(
    'invalid_request',
    'The challenge has expired.',
    'Ask for a new challenge, and send the frames as soon as they are captured.',
  ),
  challenge_mismatch: entry(
    'invalid_request',
    'The challenge was made for another user, purpose or action, or its nonce is wrong.',
    'Send the user, the action and the nonce of the challenge unchanged.',
  ),
  liveness_required: entry(
    'invalid_request',
    'This call requires a liveness check, and carries none.',
    'Ask for a challenge with `POST /v1/challenges` and send its frames in `challenge`, instead of photos.',
  ),
  policy_not_met: entry(
    'invalid_request',
    'The policy of this tenant gives no approval of this action under these conditions.',
    'Read `details`: each entry names a requirement and what is missing. `countersign policy check` shows the rule of an action; the operator changes the policy.',
  ),
  liveness_unavailable: entry(
    'invalid_request',
    'The model pack of this installation cannot check liveness in this way.',
    'Ask for other `modes`, or have the operator install a pack that can: `countersign models list`.',
  ),
  capture_page_unavailable: entry(
    'invalid_request',
    'This installation does not serve the capture page.',
    'Have the operator set COUNTERSIGN_CAPTURE_LISTEN, or show `<countersign-capture>` on a page of your own.',
  ),
  return_url_not_allowed: entry(
    'invalid_request',
    'The capture page is not allowed to lead back to this address.',
    'Have the operator allow its origin: `countersign tenant capture-page <tenant> --return-origin <origin>`.',
  ),
  capture_session_not_found: entry(
    'not_found',
    'There is no such capture session.',
    'Sessions belong to one tenant and environment, and are forgotten an hour after they expire, and with the erasure of their user.',
  ),
  capture_proof_invalid: entry(
    'permission_denied',
    'The proof is not that of the browser in which the person confirmed.',
    'Have the person go back in the browser in which they confirmed, and send `capture_proof` of that address as `proof`. Do not act for the browser that sent this one.',
  ),
  verification_not_found: entry(
    'not_found',
    'There is no such verification.',
    'Verifications belong to one tenant and environment, and are not shown after the erasure of their user. A `user_id` in the query must be that of the verified user; after a restore of the database, send it. The sandbox keeps the latest 1,000.',
  ),
  passkeys_unavailable: entry(
    'invalid_request',
    'The tenant uses no passkeys yet.',
    'Have the operator name the domain and its pages: `countersign tenant passkeys <tenant> --rp-id <domain> --origin <origins...>`.',
  ),
  passkey_required: entry(
    'invalid_request',
    'This call needs the assertion of a passkey, which it does not carry.',
    'Ask for options with `POST /v1/users/{user_id}/passkeys/assertion`, or for a challenge with `passkey`, and send the answer in `passkey_assertion`.',
  ),
  passkey_verdict_required: entry(
    'permission_denied',
    'The tenant registers a passkey only after an approved verification of the user for it, with a check of liveness.',
    'Verify the user for an action of the type `register_passkey`, with a challenge, and send its `verification_id` within ten minutes. It is good for one registration.',
  ),
  passkey_proof_required: entry(
    'permission_denied',
    'The user has, or had, a passkey: a further one needs a verdict in which a passkey at least as strong has signed.',
    'Verify the user for an action of the type `register_passkey` with `passkey_assertion`, and send its `verification_id`. For a lost passkey, begin a recovery: a verification for `recover_passkey`.',
  ),
  passkey_recovery_pending: entry(
    'conflict',
    'The recovery of the passkey has begun, and its waiting time is not over.',
    'Register the passkey later, with the same `verification_id`: the webhook `user.passkey_recovery_begun` names the time.',
  ),
  passkey_recovery_not_found: entry(
    'not_found',
    'No recovery of a passkey waits for this user.',
    'Nothing is left to be cancelled: the recovery was used, has expired, or was cancelled before.',
  ),
  passkey_not_found: entry(
    'not_found',
    'The user has no such passkey.',
    'List the passkeys of the user with `GET /v1/users/{user_id}/passkeys`. A revoked passkey, and one of another user, count as unknown.',
  ),
  passkey_already_registered: entry(
    'conflict',
    'This passkey is registered already, for this user or another one.',
    'Ask the device for a new passkey, with the options of a new registration.',
  ),
  passkey_limit_reached: entry(
    'conflict',
    'The user has as many passkeys as a user may have.',
    'Revoke one that is not used any more: `DELETE /v1/users/{user_id}/passkeys/{passkey_id}`.',
  ),
  passkey_invalid: entry(
    'invalid_request',
    'The answer of the authenticator is not a valid WebAuthn answer, or its signature is wrong.',
    'Send the answer as `PublicKeyCredential.toJSON()` makes it, without changes.',
  ),
  passkey_challenge_mismatch: entry(
    'invalid_request',
    'The passkey has signed another challenge than that of this call and this action.',
    'Ask for new options for this user and this action, and send the answer with the same action.',
  ),
  passkey_origin_not_allowed: entry(
    'invalid_request',
    'The passkey was used on a page whose origin is not allowed for the tenant.',
    'Have the operator allow the origin: `countersign tenant passkeys <tenant> --origin <origins...>`. If the page is not yours, somebody is phishing.',
  ),
  passkey_rp_mismatch: entry(
    'invalid_request',
    'The passkey belongs to another domain than the tenant’s.',
    'Pass the options of the service to the browser unchanged: `rpId` is the domain of the tenant.',
  ),
  passkey_user_not_verified: entry(
    'invalid_request',
    'The authenticator did not check the person by PIN, fingerprint or face.',
    'Pass the options of the service to the browser unchanged: they require user verification.',
  ),
  passkey_counter_reversed: entry(
    'conflict',
    'The signature counter of the passkey did not grow: a copy of the passkey may be in use.',
    'Revoke the passkey, and register another one after the user has proved who they are.',
  ),
  passkey_became_synced: entry(
    'invalid_request',
    'The provider of this passkey copies it to other devices now, and the tenant refuses such passkeys.',
    'Revoke the passkey, and register one that cannot leave its device.',
  ),
  passkey_not_allowed: entry(
    'invalid_request',
    'The tenant does not accept this kind of passkey.',
    'Use an authenticator that the tenant accepts: `countersign tenant passkeys <tenant>` shows its policy.',
  ),
  image_unreadable: entry(
    'biometric_rejected',
    'The image is not a readable JPEG, PNG or WebP.',
    'Send a complete JPEG, PNG or WebP, and convert HEIC, AVIF and others to JPEG first. A file that takes too much work to decode is refused as well: save it again as an ordinary JPEG.',
  ),
  image_too_large: entry(
    'biometric_rejected',
    'The image has too many pixels.',
    'Scale the photo down: 1280 pixels on the longer side are plenty.',
  ),
  image_too_small: entry(
    'biometric_rejected',
    'The image has too few pixels.',
    'Send an image of at least 64 pixels on the short side; 480 or more is better.',
  ),
  face_not_found: entry(
    'biometric_rejected',
    'No face was found in the image.',
    'Ask for a new photo in which the person faces the camera, in even light.',
  ),
  multiple_faces: entry(
    'biometric_rejected',
    'More than one face was found in the image.',
    'Ask for a photo that shows only one person.',
  ),
  face_too_small: entry(
    'biometric_rejected',
    'The face is too small in the image.',
    'Ask the person to come closer.',
  ),
  face_not_upright: entry(
    'biometric_rejected',
    'The face lies on its side or stands on its head in the image.',
    'Turn the picture before you send it: the forehead is at the top. Keep the orientation that a camera writes into its files (EXIF), or apply it.',
  ),
  low_quality: entry(
    'biometric_rejected',
    'The photo is not good enough: its light, its focus or the pose.',
    'Read `details`: each entry names a component, its value, its bound, and a `guidance` code and a `hint` that the person can be shown.',
  ),
  liveness_failed: entry(
    'biometric_rejected',
    'The capture does not look like a live person.',
    'Capture the person, not a picture or a screen.',
  ),
  different_people: entry(
    'biometric_rejected',
    'The images are not alike enough to be of one person.',
    'Read `details`: it names the odd image and how alike it is. Have all photos taken now, in the same light, with one person in each.',
  ),
  rate_limited: entry(
    'rate_limited',
    'The rate limit of the tenant in this environment is exceeded.',
    'Retry after the time in `Retry-After`. The operator can raise the limit in the contract of the tenant.',
  ),
  sandbox_daily_quota_reached: entry(
    'rate_limited',
    'The sandbox of this tenant has written as many records within a day as it may.',
    'Wait for the time in `Retry-After`. The operator can raise `COUNTERSIGN_SANDBOX_RECORDS_PER_DAY`.',
  ),
  too_many_wrong_keys: entry(
    'rate_limited',
    'Too many wrong API keys came from this address.',
    'Find the caller with a wrong key behind this address and correct its key: a valid key is accepted at once. A wrong key is answered again after the time in `Retry-After`.',
  ),
  headers_too_large: entry(
    'invalid_request',
    'URL and headers together are larger than 4096 bytes.',
    'Send fewer headers; a proxy in front may add some.',
    431,
  ),
  internal_error: entry(
    'internal',
    'The service failed to answer this request.',
    'Retry; if it persists, report the request id.',
  ),
  overloaded: entry('unavailable', 'The service is at capacity.', RETRY_LATER),
  sandbox_storage_low: entry(
    'unavailable',
    'The disk has so little free space that it is kept for production: the sandbox writes nothing.',
    'Retry after the time in `Retry-After`; the operator frees space, or lowers `COUNTERSIGN_SANDBOX_DISK_RESERVE_BYTES`.',
  ),
  engine_unavailable: entry('unavailable', 'The biometric engine cannot serve at the moment.', RETRY_LATER),
  store_unavailable: entry('unavailable', 'The database cannot serve at the moment.', RETRY_LATER),
  shutting_down: entry('unavailable', 'The service is shutting down.', RETRY_LATER),
  deadline_exceeded: entry(
    'unavailable',
    'The request could not be finished before its deadline.',
    'Retry with the same idempotency key.',
    504,
  ),
} as const satisfies Record<string, ErrorEntry>

/** The exact reason of an error. */
export type ErrorCode = keyof typeof ERRORS

/** Every `code` that an error of this version of the service can have. */
export const ERROR_CODES = Object.keys(ERRORS) as unknown as readonly [ErrorCode, ...ErrorCode[]]
