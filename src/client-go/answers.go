package countersign

import (
	"encoding/json"
	"time"
)

// ResponseInfo holds the facts about an answer apart from its body.
type ResponseInfo struct {
	Status int
	// RequestID is X-Request-Id, which the service's log and audit log name.
	RequestID string
	// Replayed is true of the kept response of an earlier request with this idempotency key.
	Replayed bool
	// RetryAfter says when to try again; of a user who is locked out.
	RetryAfter time.Duration
	Attempts
}

// Answer is what every answer has. Raw holds all that the service sent, members that this version does not name included.
type Answer struct {
	Raw      json.RawMessage `json:"-"`
	Response ResponseInfo    `json:"-"`
}

func (a *Answer) set(raw []byte, info ResponseInfo) { a.Raw, a.Response = raw, info }

// Quality is that of the photo that was compared. Verify also compares photos that an enrollment refuses.
type Quality struct {
	// Score is the overall quality, 0 to 1.
	Score float64 `json:"score"`
	// Passed says whether every component keeps to its bound for an enrollment photo.
	Passed bool `json:"passed"`
	// Issues is what failed.
	Issues []QualityIssue `json:"issues"`
	// Images has all measurements of the photos. Only of AssessPhotos, and where Include asks for quality.
	Images []ImageQuality `json:"images,omitempty"`
}

// EnrollmentQuality is that of all photos of the request. The score is that of the best one.
type EnrollmentQuality struct {
	Quality
	// Views is how many photos the reference holds.
	Views int `json:"views"`
}

// QualityIssue is a component that is beyond its bound for an enrollment photo.
type QualityIssue struct {
	// Path is the field of the request that holds the photo.
	Path      string  `json:"path"`
	Component string  `json:"component"`
	Value     float64 `json:"value"`
	// Bound has min, max or both.
	Bound map[string]float64 `json:"bound"`
	// Guidance is for the person, as a code and, in Hint, as a sentence.
	Guidance string `json:"guidance"`
	Hint     string `json:"hint"`
}

// ImageQuality has all measurements of one photo.
type ImageQuality struct {
	// Path is the field of the request that holds the photo.
	Path   string `json:"path"`
	Passed bool   `json:"passed"`
	// FaceWidthPx is the width of the face between its outer edges.
	FaceWidthPx int `json:"face_width_px"`
	// Detection is the confidence of the face detector, 0 to 1.
	Detection  float64          `json:"detection"`
	Components []QualityFinding `json:"components"`
}

// QualityFinding is one thing that was measured, as ISO/IEC 29794-5 names it.
type QualityFinding struct {
	Component string  `json:"component"`
	Value     float64 `json:"value"`
	// Bound has min, max or both; nil where every value will do.
	Bound  map[string]float64 `json:"bound"`
	Passed bool               `json:"passed"`
}

// Liveness is presentation attack detection. Checked false claims nothing.
type Liveness struct {
	Checked bool     `json:"checked"`
	Methods []string `json:"methods"`
	Score   *float64 `json:"score"`
	Passed  *bool    `json:"passed"`
	// Guidance is for the person, of a capture that failed; Findings are for the backend and never for the person.
	Guidance []string `json:"guidance"`
	Findings []string `json:"findings"`
}

// EnrollResult is the answer to an enrollment.
type EnrollResult struct {
	Answer
	ReferenceID string            `json:"reference_id"`
	UserID      string            `json:"user_id"`
	Status      string            `json:"status"`
	Quality     EnrollmentQuality `json:"quality"`
	Liveness    Liveness          `json:"liveness"`
	Model       string            `json:"model"`
	CreatedAt   time.Time         `json:"created_at"`
	// Passkey is the one that was registered together with the reference; nil for none.
	Passkey *Passkey `json:"passkey,omitempty"`
	// CaptureIntegrity has signs that pictures may not come from a camera; nil where the browser reported nothing.
	CaptureIntegrity *CaptureIntegrity `json:"capture_integrity,omitempty"`
}

// AssessResult says what photos are worth; nothing was stored.
type AssessResult struct {
	Answer
	UserID   string            `json:"user_id"`
	Status   string            `json:"status"`
	Quality  EnrollmentQuality `json:"quality"`
	Liveness Liveness          `json:"liveness"`
	Model    string            `json:"model"`
	// CaptureIntegrity has signs that pictures may not come from a camera; nil where the browser reported nothing.
	CaptureIntegrity *CaptureIntegrity `json:"capture_integrity,omitempty"`
}

// VerifyResult is the answer to a verify. Only a checked verdict, VerifyVerdict, allows the action.
type VerifyResult struct {
	Answer
	// VerificationID is the jti of the JWT.
	VerificationID string `json:"verification_id"`
	UserID         string `json:"user_id"`
	// Verdict is approved or rejected.
	Verdict string `json:"verdict"`
	// Reason of a rejection: no_match, liveness_failed, replayed_capture, locked_out, reference_disabled,
	// second_approval_required, same_person or review_required.
	Reason string `json:"reason"`
	// Score is the similarity; nil when the images were not compared.
	Score     *float64 `json:"score"`
	Threshold float64  `json:"threshold"`
	// FMR is the false match rate that the threshold has reached on calibration data.
	FMR      float64 `json:"fmr"`
	FMRBasis string  `json:"fmr_basis"`
	// ModelGrade is production, ungrouped or evaluation.
	ModelGrade string   `json:"model_grade"`
	Liveness   Liveness `json:"liveness"`
	Quality    *Quality `json:"quality"`
	Replay     struct {
		// Suspected says that the photo was seen before within 24 hours.
		Suspected bool `json:"suspected"`
	} `json:"replay"`
	Model      string    `json:"model"`
	VerifiedAt time.Time `json:"verified_at"`
	// JWT is the token that the configured secrets made.
	JWT string `json:"jwt"`
	// JWTNext is, during a rotation overlap, the same claims under the new secret.
	JWTNext string `json:"jwt_next"`
	// JWTPublic has the same claims under a key of the issuer (ES256).
	JWTPublic    string    `json:"jwt_public"`
	JWTExpiresAt time.Time `json:"jwt_expires_at"`
	// Display identifies the text that the hosted page showed for a typed action; nil for any other verify.
	Display *DisplayedText `json:"display"`
	// PolicyHash is the SHA-256 of the policy that was in force; empty where the tenant has none.
	PolicyHash string `json:"policy_hash"`
	// PolicyRule is the name of the rule of the policy that decided about the action.
	PolicyRule string `json:"policy_rule"`
	// ApprovalID is the other user's verdict that this approval has used up.
	ApprovalID string `json:"approval_id"`
	// ProductionKey is "issued" when this verify of the sandbox issued the production key.
	ProductionKey string `json:"production_key"`
	// Passkey is the one that signed for the action; nil for none.
	Passkey *ProvenPasskey `json:"passkey,omitempty"`
	// CaptureIntegrity has signs that pictures may not come from a camera; nil where the browser reported nothing.
	CaptureIntegrity *CaptureIntegrity `json:"capture_integrity,omitempty"`
}

// CaptureIntegrity lists signals of a capture: hints, never proof. They change no verdict.
type CaptureIntegrity struct {
	Signals []struct {
		Code string `json:"code"`
		// Source is client or server.
		Source string `json:"source"`
	} `json:"signals"`
}

// DisplayedText identifies the text that a person was shown.
type DisplayedText struct {
	// Hash is the SHA-256 of the text in RFC 8785 canonical form, in lower-case hex.
	Hash   string `json:"hash"`
	Locale string `json:"locale"`
	// Version of the template.
	Version string `json:"version"`
	// Source is challenge where your own page was given the text with the challenge, else empty.
	Source string `json:"source"`
}

// Token is what VerifyVerdict takes.
func (r *VerifyResult) Token() VerdictToken {
	return VerdictToken{JWT: r.JWT, Next: r.JWTNext, Public: r.JWTPublic}
}

// DeleteResult is the receipt of an erasure.
type DeleteResult struct {
	Answer
	UserID    string         `json:"user_id"`
	Status    string         `json:"status"`
	ErasureID string         `json:"erasure_id"`
	ErasedAt  time.Time      `json:"erased_at"`
	Erased    map[string]int `json:"erased"`
}

// Verification is a verdict of an earlier Verify. It proves and approves nothing.
type Verification struct {
	Answer
	VerificationID string `json:"verification_id"`
	// UserID is the user whom the call named, else empty: the service does not store user ids.
	UserID string `json:"user_id"`
	// Verdict is approved or rejected.
	Verdict string `json:"verdict"`
	// Reason is empty for an approval.
	Reason string `json:"reason"`
	// Score is nil when the images were not compared.
	Score      *float64 `json:"score"`
	Threshold  float64  `json:"threshold"`
	FMR        float64  `json:"fmr"`
	FMRBasis   string   `json:"fmr_basis"`
	ModelGrade string   `json:"model_grade"`
	Model      string   `json:"model"`
	// ACR is that of the JWT.
	ACR string `json:"acr"`
	// AMR is that of the JWT. Services of earlier versions do not say it.
	AMR    []string `json:"amr"`
	Replay struct {
		Suspected bool `json:"suspected"`
	} `json:"replay"`
	// ActionMatches says whether the user was verified for the action of the call; nil where it named none.
	ActionMatches *bool `json:"action_matches"`
	// DisplayLocale is the language of the text that the person was shown for a typed action.
	DisplayLocale  string `json:"display_locale"`
	DisplayVersion string `json:"display_version"`
	// DisplayMatches says whether the person was shown the text whose hash the call named; nil where it named none.
	DisplayMatches *bool `json:"display_matches"`
	// PolicyHash is the SHA-256 of the policy that was in force; empty where the tenant had none.
	PolicyHash string `json:"policy_hash"`
	PolicyRule string `json:"policy_rule"`
	// ApprovalID is the other user's verdict that this approval has used up.
	ApprovalID       string `json:"approval_id"`
	ChallengeID      string `json:"challenge_id"`
	CaptureSessionID string `json:"capture_session_id"`
	// RequestID is the request that verified, the txn of the JWT.
	RequestID  string    `json:"request_id"`
	VerifiedAt time.Time `json:"verified_at"`
}

// User is what is known of an enrolled user.
type User struct {
	Answer
	UserID     string    `json:"user_id"`
	Status     string    `json:"status"`
	EnrolledAt time.Time `json:"enrolled_at"`
	Reference  struct {
		ReferenceID string    `json:"reference_id"`
		CreatedAt   time.Time `json:"created_at"`
		Model       string    `json:"model"`
		// Comparable is false where the user must be enrolled again, because another model pack serves now.
		Comparable bool     `json:"comparable"`
		Views      int      `json:"views"`
		Consent    *Consent `json:"consent"`
	} `json:"reference"`
	Lockout struct {
		// Status is none, locked_out or reference_disabled; the last one ends by a new enrollment only.
		Status     string     `json:"status"`
		EndsAt     *time.Time `json:"ends_at"`
		Rejections int        `json:"rejections"`
	} `json:"lockout"`
	// Passkeys is how many passkeys the user has.
	Passkeys int `json:"passkeys"`
}

// Consent is what a person has agreed to.
type Consent struct {
	ID string `json:"id"`
	// AgreedAt is in RFC 3339.
	AgreedAt string `json:"agreed_at"`
}

// RecordedConsent is the consent that is recorded for a user now.
type RecordedConsent struct {
	Answer
	UserID string `json:"user_id"`
	// ReferenceID is the reference that the consent is for. It stays as it was.
	ReferenceID string  `json:"reference_id"`
	Consent     Consent `json:"consent"`
}

// Challenge is what the person is to do before the camera.
type Challenge struct {
	Answer
	ChallengeID string `json:"challenge_id"`
	// Nonce goes back with the frames. No other call returns it.
	Nonce   string `json:"nonce"`
	UserID  string `json:"user_id"`
	Purpose string `json:"purpose"`
	Method  string `json:"method"`
	// Steps are such as frontal, turn_left and nod_up; left and right are the person's own.
	Steps []string `json:"steps"`
	// Capture is what the frames must keep to.
	Capture struct {
		MinFrames     int `json:"min_frames"`
		MaxFrames     int `json:"max_frames"`
		MinIntervalMs int `json:"min_interval_ms"`
		MaxIntervalMs int `json:"max_interval_ms"`
		// MaxGapMs is how long one gap may be, where a camera stops for a moment.
		MaxGapMs      int `json:"max_gap_ms"`
		MinDurationMs int `json:"min_duration_ms"`
		MaxDurationMs int `json:"max_duration_ms"`
	} `json:"capture"`
	// ExpiresIn is in seconds.
	ExpiresIn int       `json:"expires_in"`
	ExpiresAt time.Time `json:"expires_at"`
	// Passkey has options for the browser, where the call asked for a passkey and the user has one.
	Passkey json.RawMessage `json:"passkey,omitempty"`
	// Display is the text of a typed action, for your page to show; nil unless the request named a Locale.
	Display *ChallengeDisplay `json:"display"`
}

// ChallengeDisplay is the text of a typed action, which the verdict names.
type ChallengeDisplay struct {
	// Hash is the display_hash of the verdict.
	Hash    string `json:"hash"`
	Version string `json:"version"`
	Locale  string `json:"locale"`
	Heading string `json:"heading"`
	Lines   []struct {
		Label string `json:"label"`
		Value string `json:"value"`
		// Note names letters that pass for others; empty for none.
		Note string `json:"note"`
	} `json:"lines"`
}

// Guidance is what a person before the camera can do better, the most urgent first; empty where nothing is left to be done.
type Guidance struct {
	Answer
	Step     string   `json:"step"`
	Guidance []string `json:"guidance"`
}

// CaptureSessionLink is a link to the hosted capture page.
type CaptureSessionLink struct {
	Answer
	SessionID string `json:"session_id"`
	// URL is where the person is sent. It opens in one browser, once.
	URL string `json:"url"`
	// ConfirmationCode is six digits for the person, by another channel than the link; empty where the page asks for no code.
	ConfirmationCode string `json:"confirmation_code"`
	UserID           string `json:"user_id"`
	Purpose          string `json:"purpose"`
	// Browser is same or any, as it was asked for.
	Browser   string    `json:"browser"`
	ExpiresAt time.Time `json:"expires_at"`
}

// CaptureSession is how far a session of the hosted capture page has come.
type CaptureSession struct {
	Answer
	SessionID string `json:"session_id"`
	// Status is open, in_progress, completed, cancelled or expired.
	Status   string `json:"status"`
	Attempts int    `json:"attempts"`
	// Consent is what the person agreed to; nil before.
	Consent *Consent `json:"consent"`
	// Browser is same where only the proof of the browser that captured gives the result, else any.
	Browser string `json:"browser"`
	// Disowned is true where the person said that somebody else had begun.
	Disowned bool `json:"disowned"`
	// Result is of the last capture that was judged; nil where none was, and where ResultWithheld says that it needs the proof. Only
	// its checked JWT stands for an approval.
	Result *struct {
		Status int             `json:"status"`
		Body   json.RawMessage `json:"body"`
	} `json:"result"`
	// ResultWithheld is proof_required where there is a result, and the proof was not given; else empty.
	ResultWithheld string    `json:"result_withheld"`
	CreatedAt      time.Time `json:"created_at"`
	ExpiresAt      time.Time `json:"expires_at"`
}

// Token is the verdict of the last capture, for VerifyVerdict with the CaptureSessionID that you kept.
func (s *CaptureSession) Token() VerdictToken {
	var body struct {
		JWT       string `json:"jwt"`
		JWTNext   string `json:"jwt_next"`
		JWTPublic string `json:"jwt_public"`
	}
	if s.Result != nil {
		// The body of a refusal has no token, which VerifyVerdict says.
		_ = json.Unmarshal(s.Result.Body, &body)
	}
	return VerdictToken{JWT: body.JWT, Next: body.JWTNext, Public: body.JWTPublic, session: s}
}

// AuditPage is a page of the tenant's audit log.
type AuditPage struct {
	Answer
	Data []AuditEntry `json:"data"`
	// HasMore says whether the log goes on; a page may be empty all the same.
	HasMore bool `json:"has_more"`
	// NextCursor is what to send as After for what follows, now or later.
	NextCursor string `json:"next_cursor"`
	// BrokenSequence is the first entry that does not fit, of a log that was changed in the service's database; 0 where none is known.
	BrokenSequence int `json:"broken_sequence"`
}

// AuditEntry is one entry of the audit log.
type AuditEntry struct {
	Sequence  int64     `json:"sequence"`
	CreatedAt time.Time `json:"created_at"`
	Event     string    `json:"event"`
	Actor     string    `json:"actor"`
	RequestID string    `json:"request_id"`
	Status    int       `json:"status"`
	Code      string    `json:"code"`
	// Subject is a pseudonym of the user.
	Subject string         `json:"subject"`
	Facts   map[string]any `json:"facts"`
	// Hash is the chain value in hex.
	Hash string `json:"hash"`
}

// Health is a report, degraded or not.
type Health struct {
	Answer
	// Status is ok or degraded.
	Status      string          `json:"status"`
	Environment string          `json:"environment"`
	Version     string          `json:"version"`
	Checks      json.RawMessage `json:"checks"`
}

// RotateSigningResult has the new secret: store it before anything else, it is shown once.
type RotateSigningResult struct {
	Answer
	SigningSecret struct {
		ID        string    `json:"id"`
		Secret    string    `json:"secret"`
		CreatedAt time.Time `json:"created_at"`
	} `json:"signing_secret"`
	Previous struct {
		ID         string    `json:"id"`
		ValidUntil time.Time `json:"valid_until"`
	} `json:"previous"`
	OverlapSeconds int `json:"overlap_seconds"`
}

// Passkey is a passkey of a user, without its key.
type Passkey struct {
	PasskeyID string `json:"passkey_id"`
	// Name is what the backend called it.
	Name string `json:"name"`
	// Synced says whether other devices may have a copy.
	Synced     bool      `json:"synced"`
	BackedUp   bool      `json:"backed_up"`
	AAGUID     string    `json:"aaguid"`
	Transports []string  `json:"transports"`
	CreatedAt  time.Time `json:"created_at"`
	// LastUsedAt is nil before the first signature.
	LastUsedAt *time.Time `json:"last_used_at"`
}

// ProvenPasskey is the passkey that signed for an action.
type ProvenPasskey struct {
	PasskeyID string `json:"passkey_id"`
	// AMR is hwk for a key in hardware, swk for one in software.
	AMR string `json:"amr"`
}

// PasskeyChallenge has options with which a browser makes a passkey, or lets one sign.
type PasskeyChallenge struct {
	Answer
	ChallengeID string `json:"challenge_id"`
	Nonce       string `json:"nonce"`
	// Options is for the browser. Pass it on unchanged.
	Options   json.RawMessage `json:"options"`
	ExpiresAt time.Time       `json:"expires_at"`
}

// RegisteredPasskey is a passkey that was registered.
type RegisteredPasskey struct {
	Answer
	UserID string `json:"user_id"`
	Passkey
}

// PasskeyList has the passkeys of a user, oldest first.
type PasskeyList struct {
	Answer
	UserID string    `json:"user_id"`
	Data   []Passkey `json:"data"`
	// HasMore is false: a user has at most ten.
	HasMore bool `json:"has_more"`
}

// CancelledPasskeyRecovery is a recovery that was cancelled before it allowed a registration.
type CancelledPasskeyRecovery struct {
	Answer
	UserID string `json:"user_id"`
	Status string `json:"status"`
}

// RevokedPasskey is a passkey that is not used any more.
type RevokedPasskey struct {
	Answer
	UserID    string `json:"user_id"`
	PasskeyID string `json:"passkey_id"`
	Status    string `json:"status"`
}
