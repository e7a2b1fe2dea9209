// Code generated from the service's registries by npm run docs; DO NOT EDIT.

package countersign

// Codes of an APIError, each with the message that says what is wrong.
const (
	// The body is not valid JSON in UTF-8.
	CodeMalformedJSON = "malformed_json"
	// The request has missing, unknown or wrong fields.
	CodeInvalidRequest = "invalid_request"
	// X-Svc-Idempotency-Key must be 1 to 255 printable ASCII characters.
	CodeInvalidIdempotencyKey = "invalid_idempotency_key"
	// Malformed HTTP/1.1 request.
	CodeMalformedRequest = "malformed_request"
	// No API key was given.
	CodeMissingAPIKey = "missing_api_key"
	// The Authorization header does not hold a well-formed API key.
	CodeMalformedAPIKey = "malformed_api_key"
	// The API key is not known.
	CodeInvalidAPIKey = "invalid_api_key"
	// The API key has been revoked or has expired.
	CodeRevokedAPIKey = "revoked_api_key"
	// The API key belongs to the other environment.
	CodeWrongEnvironment = "wrong_environment"
	// The tenant of this API key is suspended.
	CodeTenantSuspended = "tenant_suspended"
	// The API key does not have the scope that this call needs.
	CodeInsufficientScope = "insufficient_scope"
	// The API key may not be used from this address.
	CodeNetworkNotAllowed = "network_not_allowed"
	// The API key is bound to a client certificate, which this connection has not shown.
	CodeClientCertificateRequired = "client_certificate_required"
	// The contract of this tenant replaces a reference only after an approved verification of the user for it.
	CodeReplaceVerdictRequired = "replace_verdict_required"
	// The sandbox key can no longer rotate the signing secret, because a production key exists.
	CodeProductionKeyRequired = "production_key_required"
	// The sandbox of this tenant holds as many users as it may.
	CodeSandboxQuotaReached = "sandbox_quota_reached"
	// A signing secret is not sent over an unencrypted channel.
	CodeInsecureChannel = "insecure_channel"
	// There is no such endpoint. Every path begins with /v1.
	CodeUnknownEndpoint = "unknown_endpoint"
	// No reference is enrolled for this user.
	CodeReferenceNotFound = "reference_not_found"
	// The endpoint does not support this method.
	CodeMethodNotAllowed = "method_not_allowed"
	// The request did not arrive in time.
	CodeRequestTimeout = "request_timeout"
	// The user is already enrolled.
	CodeAlreadyEnrolled = "already_enrolled"
	// The user is locked out after rejected verifications: no photo can be added now.
	CodeLockedOut = "locked_out"
	// A rotation is in progress: two signing secrets are valid.
	CodeRotationInProgress = "rotation_in_progress"
	// This rotation was done before. Its new secret was sent once and is not kept.
	CodeSecretAlreadyTold = "secret_already_told"
	// The first request with this idempotency key is still running.
	CodeIdempotencyInProgress = "idempotency_in_progress"
	// The reference was made with another model pack and cannot be compared with this one.
	CodeReferenceModelMismatch = "reference_model_mismatch"
	// The body is larger than the limit.
	CodeBodyTooLarge = "body_too_large"
	// A body must be sent as Content-Type: application/json.
	CodeUnsupportedMediaType = "unsupported_media_type"
	// This idempotency key was used with another payload.
	CodeIdempotencyKeyReused = "idempotency_key_reused"
	// There is no such challenge.
	CodeChallengeNotFound = "challenge_not_found"
	// The challenge has been used: each challenge is valid for one call only.
	CodeChallengeUsed = "challenge_used"
	// The challenge has expired.
	CodeChallengeExpired = "challenge_expired"
	// The challenge was made for another user, purpose or action, or its nonce is wrong.
	CodeChallengeMismatch = "challenge_mismatch"
	// This call requires a liveness check, and carries none.
	CodeLivenessRequired = "liveness_required"
	// The policy of this tenant gives no approval of this action under these conditions.
	CodePolicyNotMet = "policy_not_met"
	// The model pack of this installation cannot check liveness in this way.
	CodeLivenessUnavailable = "liveness_unavailable"
	// This installation does not serve the capture page.
	CodeCapturePageUnavailable = "capture_page_unavailable"
	// The capture page is not allowed to lead back to this address.
	CodeReturnURLNotAllowed = "return_url_not_allowed"
	// There is no such capture session.
	CodeCaptureSessionNotFound = "capture_session_not_found"
	// The proof is not that of the browser in which the person confirmed.
	CodeCaptureProofInvalid = "capture_proof_invalid"
	// There is no such verification.
	CodeVerificationNotFound = "verification_not_found"
	// The tenant uses no passkeys yet.
	CodePasskeysUnavailable = "passkeys_unavailable"
	// This call needs the assertion of a passkey, which it does not carry.
	CodePasskeyRequired = "passkey_required"
	// The tenant registers a passkey only after an approved verification of the user for it, with a check of liveness.
	CodePasskeyVerdictRequired = "passkey_verdict_required"
	// The user has, or had, a passkey: a further one needs a verdict in which a passkey at least as strong has signed.
	CodePasskeyProofRequired = "passkey_proof_required"
	// The recovery of the passkey has begun, and its waiting time is not over.
	CodePasskeyRecoveryPending = "passkey_recovery_pending"
	// No recovery of a passkey waits for this user.
	CodePasskeyRecoveryNotFound = "passkey_recovery_not_found"
	// The user has no such passkey.
	CodePasskeyNotFound = "passkey_not_found"
	// This passkey is registered already, for this user or another one.
	CodePasskeyAlreadyRegistered = "passkey_already_registered"
	// The user has as many passkeys as a user may have.
	CodePasskeyLimitReached = "passkey_limit_reached"
	// The answer of the authenticator is not a valid WebAuthn answer, or its signature is wrong.
	CodePasskeyInvalid = "passkey_invalid"
	// The passkey has signed another challenge than that of this call and this action.
	CodePasskeyChallengeMismatch = "passkey_challenge_mismatch"
	// The passkey was used on a page whose origin is not allowed for the tenant.
	CodePasskeyOriginNotAllowed = "passkey_origin_not_allowed"
	// The passkey belongs to another domain than the tenant’s.
	CodePasskeyRPMismatch = "passkey_rp_mismatch"
	// The authenticator did not check the person by PIN, fingerprint or face.
	CodePasskeyUserNotVerified = "passkey_user_not_verified"
	// The signature counter of the passkey did not grow: a copy of the passkey may be in use.
	CodePasskeyCounterReversed = "passkey_counter_reversed"
	// The provider of this passkey copies it to other devices now, and the tenant refuses such passkeys.
	CodePasskeyBecameSynced = "passkey_became_synced"
	// The tenant does not accept this kind of passkey.
	CodePasskeyNotAllowed = "passkey_not_allowed"
	// The image is not a readable JPEG, PNG or WebP.
	CodeImageUnreadable = "image_unreadable"
	// The image has too many pixels.
	CodeImageTooLarge = "image_too_large"
	// The image has too few pixels.
	CodeImageTooSmall = "image_too_small"
	// No face was found in the image.
	CodeFaceNotFound = "face_not_found"
	// More than one face was found in the image.
	CodeMultipleFaces = "multiple_faces"
	// The face is too small in the image.
	CodeFaceTooSmall = "face_too_small"
	// The face lies on its side or stands on its head in the image.
	CodeFaceNotUpright = "face_not_upright"
	// The photo is not good enough: its light, its focus or the pose.
	CodeLowQuality = "low_quality"
	// The capture does not look like a live person.
	CodeLivenessFailed = "liveness_failed"
	// The images are not alike enough to be of one person.
	CodeDifferentPeople = "different_people"
	// The rate limit of the tenant in this environment is exceeded.
	CodeRateLimited = "rate_limited"
	// The sandbox of this tenant has written as many records within a day as it may.
	CodeSandboxDailyQuotaReached = "sandbox_daily_quota_reached"
	// Too many wrong API keys came from this address.
	CodeTooManyWrongKeys = "too_many_wrong_keys"
	// URL and headers together are larger than 4096 bytes.
	CodeHeadersTooLarge = "headers_too_large"
	// The service failed to answer this request.
	CodeInternalError = "internal_error"
	// The service is at capacity.
	CodeOverloaded = "overloaded"
	// The disk has so little free space that it is kept for production: the sandbox writes nothing.
	CodeSandboxStorageLow = "sandbox_storage_low"
	// The biometric engine cannot serve at the moment.
	CodeEngineUnavailable = "engine_unavailable"
	// The database cannot serve at the moment.
	CodeStoreUnavailable = "store_unavailable"
	// The service is shutting down.
	CodeShuttingDown = "shutting_down"
	// The request could not be finished before its deadline.
	CodeDeadlineExceeded = "deadline_exceeded"
)

// Categories of an APIError, which decide what an application does about it.
const (
	CategoryInvalidRequest       = "invalid_request"
	CategoryAuthenticationFailed = "authentication_failed"
	CategoryPermissionDenied     = "permission_denied"
	CategoryNotFound             = "not_found"
	CategoryConflict             = "conflict"
	CategoryBiometricRejected    = "biometric_rejected"
	CategoryRateLimited          = "rate_limited"
	CategoryInternal             = "internal"
	CategoryUnavailable          = "unavailable"
)

// unverifiableCodes: Codes of errors that come before the service knows whose request it is, so that no secret of a
// tenant signs them. None says anything about a user.
var unverifiableCodes = []string{
	"malformed_request",
	"request_timeout",
	"headers_too_large",
	"missing_api_key",
	"malformed_api_key",
	"invalid_api_key",
	"revoked_api_key",
	"wrong_environment",
	"too_many_wrong_keys",
	"tenant_suspended",
	"unknown_endpoint",
	"method_not_allowed",
	"shutting_down",
	"store_unavailable",
	"internal_error",
}

// ACRValues: Every acr of an approval, which says what was checked of the capture besides whose face it shows: first
// those in which a passkey signed, with a key in hardware (hwk) or in software (swk); within each group from the
// strongest check of liveness to the weakest.
var ACRValues = []string{
	"urn:countersign:acr:face-active-pad-hwk",
	"urn:countersign:acr:face-active-hwk",
	"urn:countersign:acr:face-active-turn-pad-hwk",
	"urn:countersign:acr:face-active-turn-hwk",
	"urn:countersign:acr:face-active-nod-pad-hwk",
	"urn:countersign:acr:face-active-nod-hwk",
	"urn:countersign:acr:face-no-motion-pad-hwk",
	"urn:countersign:acr:face-pad-hwk",
	"urn:countersign:acr:face-no-motion-hwk",
	"urn:countersign:acr:face-hwk",
	"urn:countersign:acr:face-active-pad-swk",
	"urn:countersign:acr:face-active-swk",
	"urn:countersign:acr:face-active-turn-pad-swk",
	"urn:countersign:acr:face-active-turn-swk",
	"urn:countersign:acr:face-active-nod-pad-swk",
	"urn:countersign:acr:face-active-nod-swk",
	"urn:countersign:acr:face-no-motion-pad-swk",
	"urn:countersign:acr:face-pad-swk",
	"urn:countersign:acr:face-no-motion-swk",
	"urn:countersign:acr:face-swk",
	"urn:countersign:acr:face-active-pad",
	"urn:countersign:acr:face-active",
	"urn:countersign:acr:face-active-turn-pad",
	"urn:countersign:acr:face-active-turn",
	"urn:countersign:acr:face-active-nod-pad",
	"urn:countersign:acr:face-active-nod",
	"urn:countersign:acr:face-no-motion-pad",
	"urn:countersign:acr:face-pad",
	"urn:countersign:acr:face-no-motion",
	"urn:countersign:acr:face",
}

// ActiveACR: For an action with a high risk: the person turned and nodded the head as a challenge asked.
var ActiveACR = []string{
	"urn:countersign:acr:face-active-pad",
	"urn:countersign:acr:face-active",
}

// PasskeyACR: For two factors: the person turned and nodded the head, and a passkey of theirs signed for the action.
var PasskeyACR = []string{
	"urn:countersign:acr:face-active-pad-hwk",
	"urn:countersign:acr:face-active-hwk",
	"urn:countersign:acr:face-active-pad-swk",
	"urn:countersign:acr:face-active-swk",
}

// typedActionTypes: Types of actions that have a published schema, whose text the hosted page shows.
var typedActionTypes = []string{
	"payment",
	"payment_batch",
	"account_change",
	"login",
	"consent",
	"generic",
}

// verdictRemedy: The next step for a verdict that is refused, by the code of the error; for a rejection by its reason.
func verdictRemedy(codeOrReason string) string {
	switch codeOrReason {
	case "malformed":
		return "Pass the token of an answer of verify, unchanged."
	case "no_verdict":
		return "Let the person begin again."
	case "proof_required":
		return "Pass the capture_proof of the address with which the person came back."
	case "signature_invalid":
		return "Compare the signing secrets: a rotation may not have reached this backend."
	case "keys_unavailable":
		return "Try again: without the issuer's keys no public verdict can be checked."
	case "wrong_audience":
		return "Compare the tenant's id."
	case "wrong_issuer":
		return "Compare the base URL of the environment."
	case "wrong_environment":
		return "Compare the API key and the base URL."
	case "wrong_user":
		return "Take the user from your own session; if you do, look for an attack."
	case "wrong_action":
		return "Derive the action here as you did for the check: every member counts."
	case "wrong_nonce":
		return "Send the nonce that you gave to this session."
	case "wrong_capture_session":
		return "Compare the id that you kept for this person."
	case "wrong_capture_binding":
		return "Make the session for the same browser, or accept any where links are opened on another device."
	case "not_displayed":
		return "Have the action countersigned on a page that shows its text."
	case "wrong_context":
		return "Have a stronger capture made, such as the frames of a challenge."
	case "too_old":
		return "Have the action countersigned again."
	case "replay_suspected":
		return "Have a new photo taken, or accept replays where the same photo may be sent twice."
	case "already_used":
		return "Each verdict is good for one action: have it countersigned again."
	case "no_match":
		return "Offer another try, and from the third on the way without the face."
	case "liveness_failed":
		return "Show the guidance of the answer, and ask for a new challenge."
	case "replayed_capture":
		return "Have a new capture taken: the same file is refused for 24 hours."
	case "locked_out":
		return "Lead to the way without the face until the lockout ends."
	case "reference_disabled":
		return "Lead to the way without the face, and enroll the user again."
	case "review_required":
		return "Have somebody look at the case, and lead to the way without the face."
	case "same_person":
		return "Have somebody else verify the action with the same approval_id."
	case "second_approval_required":
		return "Have another user verify the same action, with approval_id."
	}
	return ""
}
