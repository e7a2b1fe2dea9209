// Code generated from docs/openapi.json and the claims by npm run docs; DO NOT EDIT.

package countersign

import (
	"encoding/json"
	"time"
)

// QualityIssue: A component that is beyond its bound for an enrollment photo.
type QualityIssue struct {
	// The field of the request that holds the photo.
	Path string `json:"path"`
	// Quality component, by its name in ISO/IEC 29794-5.
	Component string `json:"component"`
	// Measured value of the component.
	Value float64 `json:"value"`
	// Range of good values, both ends included; an absent end is open.
	Bound map[string]float64 `json:"bound"`
	// Advice to the person.
	Guidance string `json:"guidance"`
	// The advice as a sentence to show to the person.
	Hint string `json:"hint"`
}

// QualityFinding: One measurement of a photo, held against its bound for an enrollment photo.
type QualityFinding struct {
	// Quality component, by its name in ISO/IEC 29794-5.
	Component string             `json:"component"`
	Value     float64            `json:"value"`
	Bound     map[string]float64 `json:"bound"`
	// True also where no bound is set: bound is then empty.
	Passed bool `json:"passed"`
}

// ImageQuality: All measurements of one photo.
type ImageQuality struct {
	// The field of the request that holds the photo.
	Path string `json:"path"`
	// Whether every component keeps to its bound.
	Passed bool `json:"passed"`
	// Width of the face between its outer edges, in pixels.
	FaceWidthPx int `json:"face_width_px"`
	// Confidence of the face detector, 0 to 1.
	Detection  float64          `json:"detection"`
	Components []QualityFinding `json:"components"`
}

// Quality: Quality of the photo that was compared. Verify also compares photos that an enrollment refuses.
type Quality struct {
	// Overall, 0 to 1, higher is better.
	Score float64 `json:"score"`
	// Whether every component keeps to its bound for an enrollment photo.
	Passed bool `json:"passed"`
	// The components that failed; empty where all passed.
	Issues []QualityIssue `json:"issues"`
	// The photo that was compared. Only where include asks for quality.
	Images []ImageQuality `json:"images,omitempty"`
}

// EnrollmentQuality: Quality of the photos. The score is that of the best one.
type EnrollmentQuality struct {
	Quality
	// Number of photos that the reference was made of: with three, far fewer people are missed than with one.
	Views int `json:"views"`
}

// Liveness: Presentation attack detection.
type Liveness struct {
	// False when nothing was checked: the statement then claims nothing.
	Checked bool `json:"checked"`
	// Checks that were made: passive:<pack> by the liveness network of that pack, active-geometry@1 by the movements of a
	// challenge.
	Methods []string `json:"methods"`
	// Probability of a live person, 0 to 1, by the liveness network; nil where it judged nothing, also for a face that is
	// too_close.
	Score *float64 `json:"score"`
	// Whether the capture passed every method.
	Passed *bool `json:"passed"`
	// Advice for the person after a capture that failed, the most urgent first; empty where there is none.
	Guidance []string `json:"guidance"`
	// Suspicions about a capture that failed; empty where there are none. For the backend, never for the person. One of
	// flat, face_changed, discontinuous, replayed, out_of_order and mirrored.
	Findings []string `json:"findings"`
}

// CaptureReport: The browser’s report about the integrity of the capture. With it the answer has capture_integrity. The
// hosted page sends it.
type CaptureReport struct {
	// Signals that the browser saw; an empty list where it saw none. One of virtual_camera, replaced_function,
	// synthetic_track, unlisted_camera, settings_mismatch and frame_timing.
	Signals []string `json:"signals"`
}

// CaptureSignal: A sign that the pictures may not come from a camera of the device.
type CaptureSignal struct {
	// Name of the signal. One of virtual_camera, replaced_function, synthetic_track, unlisted_camera, settings_mismatch,
	// frame_timing, repeated_picture and mixed_frames.
	Code string `json:"code"`
	// client: the browser reported it. server: the service found it in the pictures.
	Source string `json:"source"`
}

// CaptureIntegrity: Signs that pictures may not come from a camera of the device: hints, never proof. They change no
// verdict.
type CaptureIntegrity struct {
	// The signals; an empty list where nobody saw one.
	Signals []CaptureSignal `json:"signals"`
}

// ChallengeAnswer: The frames of a person who did what a challenge asked, instead of photos.
type ChallengeAnswer struct {
	ChallengeID string `json:"challenge_id"`
	Nonce       string `json:"nonce"`
	// The frames, in the order of their capture.
	Frames []Frame `json:"frames"`
}

// PasskeyAssertion: The signature of a passkey of the user for this action. With photos: also the challenge_id and
// nonce of POST /v1/users/{user_id}/passkeys/assertion. With challenge: the answer to the options in that challenge,
// and nothing else.
type PasskeyAssertion struct {
	// Id of the options.
	ChallengeID string `json:"challenge_id,omitempty"`
	// Secret of the options.
	Nonce string `json:"nonce,omitempty"`
	// Answer of navigator.credentials.get(), as toJSON() makes it.
	Credential json.RawMessage `json:"credential"`
}

// Passkey: A passkey of a user. Its key never leaves the service.
type Passkey struct {
	// Id of the passkey.
	PasskeyID string `json:"passkey_id"`
	// Name by which the person and the backend tell passkeys apart.
	Name string `json:"name"`
	// Whether other devices may have a copy.
	Synced bool `json:"synced"`
	// Whether a copy existed at the last use.
	BackedUp bool `json:"backed_up"`
	// Model of the authenticator, or zeros.
	AAGUID string `json:"aaguid"`
	// How a browser reaches it, such as usb.
	Transports []string `json:"transports"`
	// When it was registered.
	CreatedAt time.Time `json:"created_at"`
	// When it last signed.
	LastUsedAt *time.Time `json:"last_used_at"`
}

// PasskeyRegistrationRequest is the body of POST /v1/users/{user_id}/passkeys/registration.
type PasskeyRegistrationRequest struct {
	// Name that the device shows for the account. Default: the user id.
	UserName string `json:"user_name,omitempty"`
	// Id of an approved verification of this user for an action with the type register_passkey, with a check of liveness,
	// made in the last ten minutes. Required where the tenant’s settings ask for it, which is their default. For a user who
	// has a passkey, or had one, that verify needs the passkey_assertion of one at least as strong; or give the
	// verification that began a recovery.
	VerificationID string `json:"verification_id,omitempty"`
}

// PasskeyChallenge: Options with which a browser makes a passkey, or lets one sign.
type PasskeyChallenge struct {
	Answer
	// Id of the options.
	ChallengeID string `json:"challenge_id"`
	// Secret of the options.
	Nonce string `json:"nonce"`
	// For PublicKeyCredential.parseCreationOptionsFromJSON or parseRequestOptionsFromJSON. Pass them on unchanged.
	Options json.RawMessage `json:"options"`
	// When the options expire: the answer must have arrived by then.
	ExpiresAt time.Time `json:"expires_at"`
}

// PasskeyRegistration is the body of POST /v1/users/{user_id}/passkeys: what the browser answered.
type PasskeyRegistration struct {
	// Id of the options.
	ChallengeID string `json:"challenge_id"`
	// Secret of the options.
	Nonce string `json:"nonce"`
	// Answer of navigator.credentials.create(), as toJSON() makes it.
	Credential json.RawMessage `json:"credential"`
	// Name by which the person and the backend tell passkeys apart.
	Name string `json:"name,omitempty"`
	// Id of an approved verification of this user for an action with the type register_passkey, with a check of liveness,
	// made in the last ten minutes. Required where the tenant’s settings ask for it, which is their default. For a user who
	// has a passkey, or had one, that verify needs the passkey_assertion of one at least as strong; or give the
	// verification that began a recovery.
	VerificationID string `json:"verification_id,omitempty"`
}

// RegisteredPasskey is the answer of POST /v1/users/{user_id}/passkeys.
type RegisteredPasskey struct {
	Answer
	// The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
	// identifier that holds format, invisible, private-use or unassigned characters of Unicode.
	UserID string `json:"user_id"`
	Passkey
}

// PasskeyList is the answer of GET /v1/users/{user_id}/passkeys.
type PasskeyList struct {
	Answer
	// The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
	// identifier that holds format, invisible, private-use or unassigned characters of Unicode.
	UserID string `json:"user_id"`
	// Oldest first.
	Data []Passkey `json:"data"`
	// Whether more entries follow.
	HasMore bool `json:"has_more"`
}

// RevokedPasskey is the answer of DELETE /v1/users/{user_id}/passkeys/{passkey_id}.
type RevokedPasskey struct {
	Answer
	// The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
	// identifier that holds format, invisible, private-use or unassigned characters of Unicode.
	UserID string `json:"user_id"`
	// Id of the passkey.
	PasskeyID string `json:"passkey_id"`
	Status    string `json:"status"`
}

// CancelledPasskeyRecovery is the answer of DELETE /v1/users/{user_id}/passkeys/recovery.
type CancelledPasskeyRecovery struct {
	Answer
	// The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
	// identifier that holds format, invisible, private-use or unassigned characters of Unicode.
	UserID string `json:"user_id"`
	Status string `json:"status"`
}

// ProvenPasskey: The passkey that has signed for this action. Nil where no passkey_assertion was sent.
type ProvenPasskey struct {
	// Id of the passkey.
	PasskeyID string `json:"passkey_id"`
	// The name of the proof (RFC 8176): hwk for a key in hardware, swk for one in software. An approval has it in the amr
	// and at the end of the acr of its JWT.
	AMR string `json:"amr"`
}

// ChallengeRequest is the body of POST /v1/challenges.
type ChallengeRequest struct {
	// The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
	// identifier that holds format, invisible, private-use or unassigned characters of Unicode.
	UserID string `json:"user_id"`
	// The call in which the frames will be sent. Default verify. One of verify and enroll.
	Purpose string `json:"purpose,omitempty"`
	// The action to be countersigned, such as the transfer's amount and payee: an object or a string, at most 4096 bytes in
	// RFC 8785 canonical form. Integers beyond 2^53 - 1 and numbers with more digits than a double holds are refused,
	// because readers differ in the number that they read: send them as strings. An object whose type is payment,
	// payment_batch, account_change, login, consent, generic is a typed action: it must fit the schema of that type.
	Action Action `json:"action,omitempty"`
	// Movements of the head that the person can make; default both. With only one of them the liveness statement is weaker,
	// and its name says so. With none, [], the frames show no movement. One of turn and nod.
	Modes *[]string `json:"modes,omitempty"`
	// Only for a typed action: the language in which your page shows it. The answer then has the text in display, and the
	// verdict names it. One of en, de, fr, es and ja.
	Locale string `json:"locale,omitempty"`
	// Only with locale, for an action of type payment_batch, and required there: the list of payments as text, in RFC 8785
	// canonical form. The action holds the SHA-256 of this text, and number and sum of the payments.
	Payees string `json:"payees,omitempty"`
	// How the capture uses a passkey. For a verification: required for a passkey that signs for the action, preferred for
	// one where the user has any. For an enrollment: register for a passkey that is made together with the reference.
	// Default: no passkey.
	Passkey string `json:"passkey,omitempty"`
}

// Challenge is the answer of POST /v1/challenges.
type Challenge struct {
	Answer
	ChallengeID string `json:"challenge_id"`
	// Send it back with the frames. No other call returns it.
	Nonce string `json:"nonce"`
	// The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
	// identifier that holds format, invisible, private-use or unassigned characters of Unicode.
	UserID string `json:"user_id"`
	// The call in which the frames will be sent. Default verify. One of verify and enroll.
	Purpose string `json:"purpose"`
	// Name of the check in verdicts; empty where no movement is asked for.
	Method string `json:"method"`
	// Movements, in order. Left and right are the person’s own. One of frontal, turn_left, turn_right, nod_up and nod_down.
	Steps []string `json:"steps"`
	// Limits that the frames must keep to.
	Capture ChallengeCapture `json:"capture"`
	// Seconds until the challenge expires: the frames must have arrived by then.
	ExpiresIn int `json:"expires_in"`
	// When the challenge expires.
	ExpiresAt time.Time `json:"expires_at"`
	// The text of the action. Show all of it, and nothing else in its place. Only where locale was sent.
	Display *ChallengeDisplay `json:"display,omitempty"`
	// Options for the browser, whose answer is sent with the frames. Nil for a user without passkeys, where passkey was
	// preferred.
	Passkey json.RawMessage `json:"passkey,omitempty"`
}

// GuidanceRequest is the body of POST /v1/guidance: a small frame of a person before the camera.
type GuidanceRequest struct {
	// The frame, not mirrored: a file as for verify, of at most 307,200 pixels (640 x 480). A long side of 320 is enough.
	Image []byte `json:"image"`
	// Movement that the person is asked to make: the step of the challenge that is shown. Left and right are the person’s
	// own. Default frontal. One of frontal, turn_left, turn_right, nod_up and nod_down.
	Step string `json:"step,omitempty"`
	// An earlier frame in which the person looks ahead, from which a movement is measured. Without it there is no guidance
	// about a nod.
	Frontal []byte `json:"frontal,omitempty"`
	// Only for the sandbox, which chooses its answer by the end of the user id. Production ignores it.
	UserID string `json:"user_id,omitempty"`
}

// Guidance is the answer of POST /v1/guidance.
type Guidance struct {
	Answer
	// Movement that the person is asked to make: the step of the challenge that is shown. Left and right are the person’s
	// own. Default frontal. One of frontal, turn_left, turn_right, nod_up and nod_down.
	Step string `json:"step"`
	// Advice for the person, the most urgent first. Empty where nothing needs to change: the person holds still, or the
	// movement went far enough.
	Guidance []string `json:"guidance"`
}

// Consent: A person’s consent.
type Consent struct {
	// The customer’s own id of the consent: of its record, or of the text that was agreed to.
	ID string `json:"id"`
	// When the person agreed. RFC 3339.
	AgreedAt string `json:"agreed_at"`
}

// RecordedConsent is the answer of POST /v1/users/{user_id}/consent: the consent that is recorded now.
type RecordedConsent struct {
	Answer
	// The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
	// identifier that holds format, invisible, private-use or unassigned characters of Unicode.
	UserID string `json:"user_id"`
	// The reference that the consent is for. It stays as it was.
	ReferenceID string `json:"reference_id"`
	// A person’s consent.
	Consent Consent `json:"consent"`
}

// EnrollRequest is the body of POST /v1/enroll.
type EnrollRequest struct {
	// The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
	// identifier that holds format, invisible, private-use or unassigned characters of Unicode.
	UserID string `json:"user_id"`
	Photos
	// The browser’s report about the integrity of the capture. With it the answer has capture_integrity. The hosted page
	// sends it.
	CaptureIntegrity *CaptureReport `json:"capture_integrity,omitempty"`
	// Liveness checks that this capture must have passed through: passive by a network, active by a challenge. The
	// requirements of the installation and of the tenant’s contract apply as well. Default none. One of none, passive,
	// active and both.
	RequireLiveness string `json:"require_liveness,omitempty"`
	// Replace the reference of a user who is already enrolled. Default false.
	Replace bool `json:"replace,omitempty"`
	// Id, required with replace where the contract asks for a verdict or the user has a passkey, of an approved
	// verification of this user for an action with the type replace_reference, made in the last minutes. The enrollment
	// uses it up.
	VerificationID string `json:"verification_id,omitempty"`
	// A person’s consent.
	Consent *Consent `json:"consent,omitempty"`
	// A passkey to register together with the reference: the answer to the options in challenge, whose frames the request
	// holds.
	PasskeyRegistration *PasskeyCredential `json:"passkey_registration,omitempty"`
	// Parts of the answer that are left out otherwise. quality: quality.images, every measurement of every photo.
	Include []string `json:"include,omitempty"`
}

// EnrollResult is the answer of POST /v1/enroll.
type EnrollResult struct {
	Answer
	ReferenceID string `json:"reference_id"`
	// The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
	// identifier that holds format, invisible, private-use or unassigned characters of Unicode.
	UserID string `json:"user_id"`
	// Quality of the photos. The score is that of the best one.
	Quality EnrollmentQuality `json:"quality"`
	// Presentation attack detection.
	Liveness Liveness `json:"liveness"`
	// Nil where no report was sent.
	CaptureIntegrity *CaptureIntegrity `json:"capture_integrity"`
	// The model pack that made the reference.
	Model  string `json:"model"`
	Status string `json:"status"`
	// When the reference was captured.
	CreatedAt time.Time `json:"created_at"`
	// The passkey that was registered with the reference; nil for none.
	Passkey *Passkey `json:"passkey"`
}

// AssessResult is the answer of POST /v1/enroll with dry_run: the quality of the photos. Nothing is stored.
type AssessResult struct {
	Answer
	// The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
	// identifier that holds format, invisible, private-use or unassigned characters of Unicode.
	UserID string `json:"user_id"`
	// Quality of the photos. The score is that of the best one.
	Quality EnrollmentQuality `json:"quality"`
	// Presentation attack detection.
	Liveness Liveness `json:"liveness"`
	// Nil where no report was sent.
	CaptureIntegrity *CaptureIntegrity `json:"capture_integrity"`
	// The model pack that made the reference.
	Model  string `json:"model"`
	Status string `json:"status"`
}

// VerifyRequest is the body of POST /v1/verify.
type VerifyRequest struct {
	// The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
	// identifier that holds format, invisible, private-use or unassigned characters of Unicode.
	UserID string `json:"user_id"`
	Photos
	// The browser’s report about the integrity of the capture. With it the answer has capture_integrity. The hosted page
	// sends it.
	CaptureIntegrity *CaptureReport `json:"capture_integrity,omitempty"`
	// Liveness checks that this capture must have passed through: passive by a network, active by a challenge. The
	// requirements of the installation and of the tenant’s contract apply as well. Default none. One of none, passive,
	// active and both.
	RequireLiveness string `json:"require_liveness,omitempty"`
	// Where the policy of the tenant asks for a second person: the verification id of another user’s verdict on the same
	// action, whose reason is second_approval_required. The verdict uses it up.
	ApprovalID string `json:"approval_id,omitempty"`
	// Whether the call is refused without passkey_assertion. An assertion that is sent must be right in any case. Default
	// false.
	RequirePasskey bool `json:"require_passkey,omitempty"`
	// The signature of a passkey of the user for this action. With photos: also the challenge_id and nonce of POST
	// /v1/users/{user_id}/passkeys/assertion. With challenge: the answer to the options in that challenge, and nothing
	// else.
	PasskeyAssertion *PasskeyAssertion `json:"passkey_assertion,omitempty"`
	// The action to be countersigned, such as the transfer's amount and payee: an object or a string, at most 4096 bytes in
	// RFC 8785 canonical form. Integers beyond 2^53 - 1 and numbers with more digits than a double holds are refused,
	// because readers differ in the number that they read: send them as strings. An object whose type is payment,
	// payment_batch, account_change, login, consent, generic is a typed action: it must fit the schema of that type.
	Action Action `json:"action"`
	// Echoed in the JWT, so that the caller can tell its own verdict. It must not have the form of an id of this service,
	// such as cap_….
	Nonce string `json:"nonce,omitempty"`
	// Parts of the answer that are left out otherwise. quality: quality.images, every measurement of every photo.
	Include []string `json:"include,omitempty"`
}

// VerifyResult is the answer of POST /v1/verify.
type VerifyResult struct {
	Answer
	// The jti of the JWT.
	VerificationID string `json:"verification_id"`
	// The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
	// identifier that holds format, invisible, private-use or unassigned characters of Unicode.
	UserID string `json:"user_id"`
	// One of approved and rejected.
	Verdict string `json:"verdict"`
	// One of no_match, liveness_failed, replayed_capture, locked_out, reference_disabled, second_approval_required,
	// same_person and review_required.
	Reason string `json:"reason"`
	// Similarity; higher is more alike. Nil when the images were not compared.
	Score *float64 `json:"score"`
	// Lowest score that is approved.
	Threshold float64 `json:"threshold"`
	// False match rate that the threshold reached on calibration data. It may differ from the configured one.
	FMR float64 `json:"fmr"`
	// Basis of fmr: extrapolated where nobody has measured the rate and the operator accepted that.
	FMRBasis string `json:"fmr_basis"`
	// Grade of the model pack at this rate: production where the rate was measured on everybody and in each group of
	// people; ungrouped where the data name no groups; else evaluation.
	ModelGrade string `json:"model_grade"`
	// Presentation attack detection.
	Liveness Liveness `json:"liveness"`
	Quality  *Quality `json:"quality"`
	// Whether the capture was seen before within 24 hours.
	Replay Replay `json:"replay"`
	// Nil where no report was sent.
	CaptureIntegrity *CaptureIntegrity `json:"capture_integrity"`
	Model            string            `json:"model"`
	// The text that the hosted page showed the person for a typed action, or that your own page was given with the
	// challenge. Nil where there is none.
	Display *DisplayedText `json:"display"`
	// When the verdict was reached.
	VerifiedAt time.Time `json:"verified_at"`
	// The verdict, signed with the signing secret that the caller holds.
	JWT string `json:"jwt"`
	// During a rotation overlap: the same claims under the new secret. Empty otherwise.
	JWTNext string `json:"jwt_next"`
	// The same claims under a key of the issuer (ES256). Anyone can check it with the keys at /v1/.well-known/jwks.json,
	// and nobody else can make it.
	JWTPublic string `json:"jwt_public"`
	// When the JWT expires.
	JWTExpiresAt time.Time `json:"jwt_expires_at"`
	// SHA-256 of the policy that was in force. Empty where the tenant has none.
	PolicyHash string `json:"policy_hash"`
	// Name of the rule of the policy that decided about this action. Empty where the tenant has none.
	PolicyRule string `json:"policy_rule"`
	// Other user’s verdict that it has used up.
	ApprovalID string `json:"approval_id"`
	// Sandbox only: this verification cleared and issued the production key. Empty otherwise.
	ProductionKey string `json:"production_key"`
	// The passkey that has signed; nil where no passkey_assertion was sent.
	Passkey *ProvenPasskey `json:"passkey"`
}

// Verification is the answer of GET /v1/verifications/{verification_id}: the verdict of an earlier verification. It
// proves and approves nothing.
type Verification struct {
	Answer
	// The jti of the JWT.
	VerificationID string `json:"verification_id"`
	// The user, where the query named the user. Empty otherwise: the service does not store user ids.
	UserID string `json:"user_id"`
	// One of approved and rejected.
	Verdict string `json:"verdict"`
	// One of no_match, liveness_failed, replayed_capture, locked_out, reference_disabled, second_approval_required,
	// same_person and review_required.
	Reason string `json:"reason"`
	// Similarity; higher is more alike. Nil when the images were not compared.
	Score *float64 `json:"score"`
	// Lowest score that was approved.
	Threshold float64 `json:"threshold"`
	// False match rate that the threshold reached on calibration data.
	FMR float64 `json:"fmr"`
	// Basis of fmr. Empty for a verification by a version that did not record it. One of measured and extrapolated.
	FMRBasis string `json:"fmr_basis"`
	// Grade of the model pack at this rate. Empty for a verification by a version that did not record it. One of
	// production, ungrouped and evaluation.
	ModelGrade string `json:"model_grade"`
	// The model pack that compared.
	Model string `json:"model"`
	// The acr of the JWT. Empty for a verification by a version that did not record it.
	ACR string `json:"acr"`
	// The amr of the JWT.
	AMR []string `json:"amr"`
	// Whether the capture had been seen before within 24 hours.
	Replay Replay `json:"replay"`
	// Whether the user was verified for the action with this action_hash. Nil where the query held none.
	ActionMatches *bool `json:"action_matches"`
	// The display_locale of the JWT: language of the text that the person was shown for a typed action. Empty where the JWT
	// has none.
	DisplayLocale string `json:"display_locale"`
	// The display_version of the JWT. Empty where the JWT has none.
	DisplayVersion string `json:"display_version"`
	// Whether the JWT has this display_hash: whether the person was shown this text. Nil where the query held none. The
	// service keeps the hash only under the key of the user.
	DisplayMatches *bool `json:"display_matches"`
	// The policy_hash of the JWT. Empty where the tenant had no policy.
	PolicyHash string `json:"policy_hash"`
	// The policy_rule of the JWT. Empty where the tenant had no policy.
	PolicyRule string `json:"policy_rule"`
	// The other user’s verdict that this approval has used up; empty for none.
	ApprovalID string `json:"approval_id"`
	// The challenge whose frames were judged; empty for photos.
	ChallengeID string `json:"challenge_id"`
	// The session of the hosted page that took the capture; empty for any other caller.
	CaptureSessionID string `json:"capture_session_id"`
	// The request that verified, the txn of the JWT.
	RequestID string `json:"request_id"`
	// When the verdict was reached.
	VerifiedAt time.Time `json:"verified_at"`
}

// DeleteResult is the answer of DELETE /v1/delete: the receipt of an erasure.
type DeleteResult struct {
	Answer
	// The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
	// identifier that holds format, invisible, private-use or unassigned characters of Unicode.
	UserID    string `json:"user_id"`
	Status    string `json:"status"`
	ErasureID string `json:"erasure_id"`
	// When the user was erased.
	ErasedAt time.Time      `json:"erased_at"`
	Erased   map[string]int `json:"erased"`
}

// User is the answer of GET /v1/users/{user_id}: an enrolled user.
type User struct {
	Answer
	// The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
	// identifier that holds format, invisible, private-use or unassigned characters of Unicode.
	UserID string `json:"user_id"`
	Status string `json:"status"`
	// When the user was first enrolled.
	EnrolledAt time.Time     `json:"enrolled_at"`
	Reference  UserReference `json:"reference"`
	Lockout    UserLockout   `json:"lockout"`
	// Number of passkeys of the user.
	Passkeys int `json:"passkeys"`
}

// AuditEntry: One entry of the audit log.
type AuditEntry struct {
	// 1, 2, 3, … without a gap.
	Sequence int64 `json:"sequence"`
	// When it happened.
	CreatedAt time.Time `json:"created_at"`
	// Name of the event: enroll, verify, delete, erasure_scheduled, rotate_signing, key_revealed, key_created, key_revoked,
	// key_reissued, tenant_created, contract_changed, policy_changed, models_changed, drift_restarted,
	// capture_page_changed, capture_consented, capture_code_failed, capture_number_failed, capture_disowned,
	// consent_recorded, user_unlocked, ageing_undone, user_exported, users_compared, passkey_settings_changed,
	// passkey_registered, passkey_revoked, passkey_recovery_cancelled, openid_client_added, openid_client_removed,
	// openid_refused, openid_key_rotated, webhook_added, webhook_removed, webhook_redelivered, database_restored,
	// working_keys_changed, verdict_key_rotated, audit_break_found, operator_password_reset, operator_added,
	// operator_changed, operator_removed, operator_password_chosen, person_added, person_changed, person_password_reset,
	// person_password_chosen, person_removed, signed_in, sign_in_failed, login_link_made, operator_link_made,
	// second_factor_added, second_factor_removed, identity_confirmed, sessions_ended, tenant_suspended, tenant_resumed,
	// tenant_deleted.
	Event string `json:"event"`
	// The actor: the id of an API key, operator for the command line, or an operator of the dashboard.
	Actor string `json:"actor"`
	// The request that caused the event.
	RequestID string `json:"request_id"`
	// HTTP status of the answer to a call of the API.
	Status int `json:"status"`
	// Error code of a call that failed.
	Code string `json:"code"`
	// Pseudonym of the user. Nobody can link it to a user who is erased.
	Subject string `json:"subject"`
	// Further facts that were recorded about the event.
	Facts map[string]any `json:"facts"`
	// Chain value, in hex: it covers every entry up to this one.
	Hash string `json:"hash"`
}

// AuditPage is the answer of GET /v1/audit: a page of the audit log.
type AuditPage struct {
	Answer
	// The entries, in the requested order.
	Data []AuditEntry `json:"data"`
	// Whether more entries follow.
	HasMore bool `json:"has_more"`
	// Send it as after to read the entries that follow, now or when more have been written.
	NextCursor string `json:"next_cursor"`
	// The sequence of the first entry that does not fit the chain, found by the daily verification: the log was changed in
	// the database. Zero where the verification found none.
	BrokenSequence int `json:"broken_sequence"`
}

// HealthResult is the answer of GET /v1/health.
type HealthResult struct {
	Answer
	// One of ok and degraded.
	Status string `json:"status"`
	// One of production and sandbox.
	Environment string          `json:"environment"`
	Version     string          `json:"version"`
	Checks      json.RawMessage `json:"checks"`
}

// RotateSigningResult is the answer of POST /v1/keys/rotate-signing.
type RotateSigningResult struct {
	Answer
	SigningSecret  NewSigningSecret      `json:"signing_secret"`
	Previous       PreviousSigningSecret `json:"previous"`
	OverlapSeconds int                   `json:"overlap_seconds"`
}

// ConsentText: The text that the person agrees to before the camera starts, instead of the tenant’s.
type ConsentText struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// BatchPayee: One payment of a batch.
type BatchPayee struct {
	// Name of the payee.
	Name string `json:"name"`
	// IBAN or other account number, in printable ASCII.
	Account string `json:"account"`
	// Decimal number as text, with at most as many digits after the point as the currency has: 1250.00.
	Amount string `json:"amount"`
	// Reference of the payment, shown to the person.
	Reference string `json:"reference,omitempty"`
}

// DisplayedText: Identifies the text that a person was shown.
type DisplayedText struct {
	// SHA-256 of the text in RFC 8785 canonical form, in lower-case hex.
	Hash string `json:"hash"`
	// Language of the text. One of en, de, fr, es and ja.
	Locale string `json:"locale"`
	// Version of the template.
	Version string `json:"version"`
	// Your own page was given the text with the challenge. Empty where the hosted page showed it.
	Source string `json:"source"`
}

// CaptureSessionRequest is the body of POST /v1/capture-sessions.
type CaptureSessionRequest struct {
	// The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
	// identifier that holds format, invisible, private-use or unassigned characters of Unicode.
	UserID string `json:"user_id"`
	// The call in which the frames will be sent. Default verify. One of verify and enroll.
	Purpose string `json:"purpose,omitempty"`
	// The action to be countersigned, such as the transfer's amount and payee: an object or a string, at most 4096 bytes in
	// RFC 8785 canonical form. Integers beyond 2^53 - 1 and numbers with more digits than a double holds are refused,
	// because readers differ in the number that they read: send them as strings. An object whose type is payment,
	// payment_batch, account_change, login, consent, generic is a typed action: it must fit the schema of that type.
	Action Action `json:"action,omitempty"`
	// Only for a verification, for an action of type payment_batch, and required there: the list of payments as text, in
	// RFC 8785 canonical form. The action holds the SHA-256 of this text, and number and sum of the payments.
	Payees string `json:"payees,omitempty"`
	// Movements of the head that the person can make; default both. With only one of them the liveness statement is weaker,
	// and its name says so. With none, [], the frames show no movement. One of turn and nod.
	Modes *[]string `json:"modes,omitempty"`
	// Liveness checks that this capture must have passed through: passive by a network, active by a challenge. The
	// requirements of the installation and of the tenant’s contract apply as well. Default none. One of none, passive,
	// active and both.
	RequireLiveness string `json:"require_liveness,omitempty"`
	// How the capture uses a passkey. For a verification: required for a passkey that signs for the action, preferred for
	// one where the user has any. For an enrollment: register for a passkey that is made together with the reference.
	// Default: no passkey.
	Passkey string `json:"passkey,omitempty"`
	// Only for an enrollment: the field replace of enroll. Default false.
	Replace bool `json:"replace,omitempty"`
	// code: the page first asks for confirmation_code. Send it to the person by another channel than the link. none: the
	// link is enough for the first person who opens it. Default: code for an enrollment, none for a verification.
	Confirmation string `json:"confirmation,omitempty"`
	// Only for an enrollment that replaces: the field verification_id of enroll.
	VerificationID string `json:"verification_id,omitempty"`
	// Address to which the page leads the person at the end, with capture_session=<id> and capture_proof=<proof> added to
	// the query. Its origin must be allowed for the tenant.
	ReturnURL string `json:"return_url"`
	// same (default): the result is given out only with the proof that the browser which captured brings back. any: also
	// without, for links that are opened on another device than the one that goes on. A person who passes such a link on
	// gets the result of the one who opens it, and the JWT says capture_binding: "any".
	Browser string `json:"browser,omitempty"`
	// Language of the page. Default: what the browser asks for. One of en, de, fr, es and ja.
	Locale string `json:"locale,omitempty"`
	// The action in words, shown on the page to the person who confirms it. It holds no invisible characters and none that
	// change the direction of writing.
	Description string `json:"description,omitempty"`
	// The text that the person agrees to before the camera starts, instead of the tenant’s.
	Consent *ConsentText `json:"consent,omitempty"`
	// Facts about the visitor who began what is to be confirmed. The page then says when and where that was, and has a
	// button “No, that was not me”. {} shows only the time.
	Began *SessionBegan `json:"began,omitempty"`
}

// CaptureSessionLink is the answer of POST /v1/capture-sessions: the link for the person.
type CaptureSessionLink struct {
	Answer
	SessionID string `json:"session_id"`
	// Link to send to the person. It opens in one browser, once. No other call returns it.
	URL string `json:"url"`
	// Six digits, returned only here. Send them to the person by another channel than the link. After five wrong codes the
	// session ends. Empty where the page asks for no code.
	ConfirmationCode string `json:"confirmation_code"`
	// The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
	// identifier that holds format, invisible, private-use or unassigned characters of Unicode.
	UserID string `json:"user_id"`
	// The call in which the frames will be sent. Default verify. One of verify and enroll.
	Purpose string `json:"purpose"`
	// browser of the request. One of same and any.
	Browser string `json:"browser"`
	// When the session expires.
	ExpiresAt time.Time `json:"expires_at"`
}

// CaptureSession is the answer of GET /v1/capture-sessions/{session_id}.
type CaptureSession struct {
	Answer
	SessionID string `json:"session_id"`
	// open: nobody has opened the link. in_progress: somebody has opened it. completed: result is final. cancelled: the
	// person gave up. expired: the session expired before it was completed.
	Status string `json:"status"`
	// Captures that were judged or are being judged.
	Attempts int      `json:"attempts"`
	Consent  *Consent `json:"consent"`
	// browser of the request. One of same and any.
	Browser string `json:"browser"`
	// Whether the person said that somebody else had begun. The session is then cancelled.
	Disowned bool `json:"disowned"`
	// The result of the last capture that was judged; nil where none was. With browser: "same" it is there once the session
	// is completed, and only with the proof. The JWT’s capture_session is the id of the session. Only the checked JWT
	// proves an approval: the status completed does not.
	Result *CaptureResult `json:"result"`
	// There is a result, which is given out only with the proof of the browser that captured.
	ResultWithheld string `json:"result_withheld"`
	// When the session was made.
	CreatedAt time.Time `json:"created_at"`
	// When it expires.
	ExpiresAt time.Time `json:"expires_at"`
}

// Claims: The claims of a verdict JWT. Times are in unix seconds.
type Claims struct {
	// Base URL of the environment that signed.
	Issuer string `json:"iss"`
	// Id of the tenant.
	Audience string `json:"aud"`
	// The user_id of the call.
	Subject string `json:"sub"`
	// When the verdict was signed, in unix seconds.
	IssuedAt *float64 `json:"iat"`
	// When the verdict begins to be valid, in unix seconds.
	NotBefore *float64 `json:"nbf"`
	// When the verdict expires, in unix seconds.
	Expires *float64 `json:"exp"`
	// The verification_id.
	ID string `json:"jti"`
	// Id of the request, also in the service’s log.
	RequestID string `json:"txn"`
	// Environment that signed. One of production and sandbox.
	Environment string `json:"env"`
	// One of approved and rejected.
	Verdict string `json:"verdict"`
	// Why it is a rejection. Absent in an approval. One of no_match, liveness_failed, replayed_capture, locked_out,
	// reference_disabled, second_approval_required, same_person and review_required.
	Reason string `json:"reason"`
	// Similarity of the faces; higher is more alike. Absent in a rejection.
	Score *float64 `json:"score"`
	// False match rate that the threshold reached on calibration data. It may differ from the configured one.
	FMR float64 `json:"fmr"`
	// Basis of fmr: extrapolated where nobody has measured the rate and the operator accepted that.
	FMRBasis string `json:"fmr_basis"`
	// The action as the caller sent it. Never run it from here.
	Action json.RawMessage `json:"action"`
	// SHA-256 of the action in RFC 8785 canonical form, in lower-case hex.
	ActionHash string `json:"action_hash"`
	// SHA-256 of the text that the person was shown. Absent where the service wrote none.
	DisplayHash string `json:"display_hash"`
	// Language of that text. Absent as display_hash. One of en, de, fr, es and ja.
	DisplayLocale string `json:"display_locale"`
	// Version of its template. Absent as display_hash.
	DisplayVersion string `json:"display_version"`
	// Your own page was given the text. Absent where the hosted page showed it.
	DisplaySource string `json:"display_source"`
	// The nonce of the call. Absent where it sent none.
	Nonce *string `json:"nonce"`
	// Session of the hosted page; only the service writes it. Absent for others.
	CaptureSession string `json:"capture_session"`
	// same: only the browser that captured got the result. Absent for others. One of same and any.
	CaptureBinding string `json:"capture_binding"`
	// Methods of RFC 8176: face, and in an approval with a passkey also hwk or swk.
	AMR []string `json:"amr"`
	// Which checks an approval rests on; 0 in a rejection.
	ACR string `json:"acr"`
	// How liveness was checked. The verdict claims nothing beyond it. A rejection has no score.
	Liveness *Liveness `json:"liveness"`
	// Challenge whose frames were judged. Absent for photos.
	ChallengeID string `json:"challenge_id"`
	// Passkey that signed for this action. Absent where none was asked.
	PasskeyID string `json:"passkey_id"`
	// When the capture was judged, in unix seconds.
	AuthTime *float64 `json:"auth_time"`
	// Model pack.
	Model string `json:"model"`
	// Grade of the model pack at this rate: production where the rate was measured on everybody and in each group of
	// people; ungrouped where the data name no groups; else evaluation.
	ModelGrade string `json:"model_grade"`
	// Whether the capture was seen before within 24 hours.
	Replay *struct {
		Suspected *bool `json:"suspected"`
	} `json:"replay"`
	// SHA-256 of the policy that was in force. Absent where the tenant has none.
	PolicyHash string `json:"policy_hash"`
	// Rule of that policy that decided. Absent where the tenant has none.
	PolicyRule string `json:"policy_rule"`
	// Verdict of the other user that this approval used up. Absent where none was needed.
	ApprovalID string `json:"approval_id"`
	// Every claim of the token.
	Raw json.RawMessage `json:"-"`
}

// WebhookEvent is the body of a webhook.
type WebhookEvent struct {
	// The same at every try and every redelivery.
	ID string `json:"id"`
	// The event, such as user.enrolled. Later versions of the service may send others.
	Type      string    `json:"type"`
	CreatedAt time.Time `json:"created_at"`
	// One of production and sandbox.
	Environment string          `json:"environment"`
	TenantID    string          `json:"tenant_id"`
	Data        json.RawMessage `json:"data"`
}

// ErrorDetail: One detail of an error of this version of the service.
type ErrorDetail struct {
	// The field.
	Path string `json:"path"`
	// The fault of the field.
	Issue string `json:"issue"`
	// Quality component that is beyond its bound; only with low_quality.
	Component string `json:"component,omitempty"`
	// Measured value of the component.
	Value *float64 `json:"value,omitempty"`
	// Bound that the value had to keep to.
	Bound *map[string]float64 `json:"bound,omitempty"`
	// Advice to the person about a photo. Each detail of a biometric_rejected has one; the capture component has a text for
	// it in five languages.
	Guidance string `json:"guidance,omitempty"`
	// The advice as a sentence to show to the person.
	Hint string `json:"hint,omitempty"`
	// Missing scope; only with insufficient_scope. One of verify, enroll, replace, recover, erase, read, audit and rotate.
	Scope string `json:"scope,omitempty"`
	// Requirement of the policy that is not met; only with policy_not_met.
	Requirement string `json:"requirement,omitempty"`
}

// Replay: Whether the capture was seen before within 24 hours.
type Replay struct {
	Suspected bool `json:"suspected"`
}

// UserReference: The reference of a user.
type UserReference struct {
	ReferenceID string `json:"reference_id"`
	// When the reference was captured, or photos were last added to it.
	CreatedAt time.Time `json:"created_at"`
	// The model pack that made the reference.
	Model string `json:"model"`
	// Whether the user has a template of the model pack that decides. If not, verify answers reference_model_mismatch until
	// the user is enrolled again.
	Comparable bool `json:"comparable"`
	// Number of photos that the reference was made of.
	Views   int      `json:"views"`
	Consent *Consent `json:"consent"`
}

// UserLockout: The lockout of a user.
type UserLockout struct {
	// Lockout that a verification would report now. Only a new enrollment ends reference_disabled. One of none, locked_out
	// and reference_disabled.
	Status string `json:"status"`
	// When locked_out ends; nil for any other status.
	EndsAt *time.Time `json:"ends_at"`
	// Consecutive rejections so far.
	Rejections int `json:"rejections"`
}

// ChallengeCapture: Limits that the frames must keep to.
type ChallengeCapture struct {
	MinFrames     int `json:"min_frames"`
	MaxFrames     int `json:"max_frames"`
	MinIntervalMs int `json:"min_interval_ms"`
	MaxIntervalMs int `json:"max_interval_ms"`
	// One gap between two frames may be as long as this, where a camera stops for a moment.
	MaxGapMs      int `json:"max_gap_ms"`
	MinDurationMs int `json:"min_duration_ms"`
	MaxDurationMs int `json:"max_duration_ms"`
}

// ChallengeDisplayLine: One line of the text.
type ChallengeDisplayLine struct {
	// Name of the fact.
	Label string `json:"label"`
	// The fact.
	Value string `json:"value"`
	// Names letters that pass for others.
	Note string `json:"note,omitempty"`
}

// ChallengeDisplay: The text of the action. Show all of it, and nothing else in its place. Only where locale was sent.
type ChallengeDisplay struct {
	// The display_hash of the verdict.
	Hash string `json:"hash"`
	// Version of the template.
	Version string `json:"version"`
	// Language of the text. One of en, de, fr, es and ja.
	Locale string `json:"locale"`
	// Kind of action.
	Heading string `json:"heading"`
	// The lines, in the order in which to show them.
	Lines []ChallengeDisplayLine `json:"lines"`
}

// Frame: One picture of a challenge.
type Frame struct {
	// Index of the step that the person was shown. 0 to 4.
	Step int `json:"step"`
	// Milliseconds since the capture began. 0 to 120000.
	TMs int `json:"t_ms"`
	// The frame, not mirrored: a file as in image.
	Image []byte `json:"image"`
}

// PasskeyCredential: A passkey to register together with the reference: the answer to the options in challenge, whose
// frames the request holds.
type PasskeyCredential struct {
	// Answer of navigator.credentials.create(), as toJSON() makes it.
	Credential json.RawMessage `json:"credential"`
	// Name by which the person and the backend tell passkeys apart.
	Name string `json:"name,omitempty"`
}

// CaptureResult: The answer to the last capture of a session. Only its checked JWT stands for an approval.
type CaptureResult struct {
	// HTTP status of the call of verify or enroll.
	Status int `json:"status"`
	// Body of the answer of verify or enroll: the verdict with its JWT, or an error.
	Body json.RawMessage `json:"body"`
}

// SessionBegan: Facts about the visitor who began what is to be confirmed. The page then says when and where that was,
// and has a button “No, that was not me”. {} shows only the time.
type SessionBegan struct {
	// Address of the visitor.
	IP string `json:"ip,omitempty"`
	// Header User-Agent of the visitor. The page shows browser and system in words.
	UserAgent string `json:"user_agent,omitempty"`
}

// NewSigningSecret: A signing secret that was made. Store it before anything else: it is shown once.
type NewSigningSecret struct {
	// The kid of signatures and JWTs.
	ID string `json:"id"`
	// The new signing secret. No replay and no other call returns it again.
	Secret string `json:"secret"`
	// When the secret was made.
	CreatedAt time.Time `json:"created_at"`
}

// PreviousSigningSecret: The signing secret that was replaced.
type PreviousSigningSecret struct {
	ID string `json:"id"`
	// End of the overlap.
	ValidUntil time.Time `json:"valid_until"`
}

// CaptureOutcome: What came of the last capture. It proves nothing: get the session, and check the JWT of its verdict.
type CaptureOutcome struct {
	// HTTP status of the call of verify or enroll.
	Status int `json:"status"`
	// One of approved and rejected.
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	// Code of the error; empty where the capture was not refused with one.
	Code string `json:"code"`
}

// UserEnrolledData: A reference was made, replaced, or got further photos.
type UserEnrolledData struct {
	UserID      string `json:"user_id"`
	ReferenceID string `json:"reference_id"`
	Model       string `json:"model"`
	Views       int    `json:"views"`
	// Whether the enrollment replaced another one.
	Replaced bool `json:"replaced"`
	// Number of photos that were added to the reference; 0 for one that is new.
	Added int `json:"added"`
}

// UserLockedOutData: A user has to wait after too many rejections.
type UserLockedOutData struct {
	UserID     string    `json:"user_id"`
	Rejections int       `json:"rejections"`
	EndsAt     time.Time `json:"ends_at"`
}

// UserDisabledData: A reference was disabled: only a new enrollment helps.
type UserDisabledData struct {
	UserID     string `json:"user_id"`
	Rejections int    `json:"rejections"`
}

// UserUnlockedData: The operator ended the wait of a user.
type UserUnlockedData struct {
	UserID string `json:"user_id"`
}

// UserPasskeyRegisteredData: A passkey was registered for a user. Somebody else than the person may have done it.
type UserPasskeyRegisteredData struct {
	UserID    string `json:"user_id"`
	PasskeyID string `json:"passkey_id"`
	Name      string `json:"name"`
	Synced    bool   `json:"synced"`
	// Whether a recovery took the place of an earlier passkey.
	Recovered bool `json:"recovered"`
}

// UserPasskeyRevokedData: A passkey of a user was revoked.
type UserPasskeyRevokedData struct {
	UserID    string `json:"user_id"`
	PasskeyID string `json:"passkey_id"`
}

// UserPasskeyRecoveryBegunData: The recovery of a lost passkey has begun: another one can be registered from ready_at
// on. Tell the person, who may know nothing of it.
type UserPasskeyRecoveryBegunData struct {
	UserID         string    `json:"user_id"`
	VerificationID string    `json:"verification_id"`
	ReadyAt        time.Time `json:"ready_at"`
	ExpiresAt      time.Time `json:"expires_at"`
}

// UserPasskeyRecoveryCancelledData: The recovery of a passkey was cancelled, by the backend or by an approved
// verification with a passkey.
type UserPasskeyRecoveryCancelledData struct {
	UserID         string `json:"user_id"`
	VerificationID string `json:"verification_id"`
}

// UserPasskeyCounterReversedData: A passkey of a user signed with a counter that did not grow, and was refused. A copy
// of the passkey may exist.
type UserPasskeyCounterReversedData struct {
	UserID    string `json:"user_id"`
	PasskeyID string `json:"passkey_id"`
}

// UserErasureScheduledData: A user is going to be erased by the policy of the tenant, unless the user is approved
// before.
type UserErasureScheduledData struct {
	UserID  string    `json:"user_id"`
	EraseAt time.Time `json:"erase_at"`
}

// UserErasedData: A user was erased.
type UserErasedData struct {
	UserID    string         `json:"user_id"`
	Status    string         `json:"status"`
	ErasureID string         `json:"erasure_id"`
	ErasedAt  time.Time      `json:"erased_at"`
	Erased    map[string]int `json:"erased"`
}

// CaptureSessionCompletedData: A session of the hosted capture page has its final result.
type CaptureSessionCompletedData struct {
	SessionID string `json:"session_id"`
	// One of verify and enroll.
	Purpose string `json:"purpose"`
	// Number of captures that were judged, 0 to 3.
	Attempts int `json:"attempts"`
	// Nil where no capture was judged.
	Result *CaptureOutcome `json:"result"`
}

// CaptureSessionCancelledData: The person left the hosted capture page by its button.
type CaptureSessionCancelledData struct {
	SessionID string `json:"session_id"`
	// One of verify and enroll.
	Purpose string `json:"purpose"`
	// Number of captures that were judged, 0 to 3.
	Attempts int `json:"attempts"`
	// Whether the person said that somebody else had begun.
	Disowned bool `json:"disowned"`
}

// CaptureSessionExpiredData: The time of a session of the hosted capture page was over first.
type CaptureSessionExpiredData struct {
	SessionID string `json:"session_id"`
	// One of verify and enroll.
	Purpose string `json:"purpose"`
	// Number of captures that were judged, 0 to 3.
	Attempts int `json:"attempts"`
}

// OpenIDLinkReadyData: An identity provider asks for a person: send the link to that person. It is useless after
// expires_at.
type OpenIDLinkReadyData struct {
	UserID    string `json:"user_id"`
	SessionID string `json:"session_id"`
	// Link to send to the person. It opens in one browser, once.
	URL string `json:"url"`
	// Name of the application of the OpenID provider.
	Application string `json:"application"`
	// Client of the identity provider that asks.
	RequestedBy string `json:"requested_by"`
	// Text that the person also sees where they began; empty for none.
	Message   string    `json:"message"`
	ExpiresAt time.Time `json:"expires_at"`
}

// OpenIDRequestDisownedData: A person said that a request of an identity provider was begun by somebody else.
type OpenIDRequestDisownedData struct {
	UserID      string `json:"user_id"`
	SessionID   string `json:"session_id"`
	Application string `json:"application"`
	RequestedBy string `json:"requested_by"`
}

// WebhookTestData: Somebody asked for an event, to see whether it arrives.
type WebhookTestData struct {
}
