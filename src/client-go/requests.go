package countersign

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// Photos is one photo, or 1 to 5 of the same person, or the frames of a challenge: exactly one of the three. Photos are JPEG, PNG
// or WebP files.
type Photos struct {
	Image     []byte           `json:"image,omitempty"`
	Images    [][]byte         `json:"images,omitempty"`
	Challenge *ChallengeAnswer `json:"challenge,omitempty"`
}

// ChallengeAnswer holds the frames of a person who did what a challenge asked.
type ChallengeAnswer struct {
	ChallengeID string `json:"challenge_id"`
	Nonce       string `json:"nonce"`
	// Frames in the order of their capture, not mirrored.
	Frames []Frame `json:"frames"`
}

// Frame is one picture of a challenge.
type Frame struct {
	// Step is the index of the step that the person was shown, TMs milliseconds since the capture began.
	Step  int    `json:"step"`
	TMs   int    `json:"t_ms"`
	Image []byte `json:"image"`
}

// EnrollRequest captures a reference. Three photos of one person become a better reference than one.
type EnrollRequest struct {
	UserID string `json:"user_id"`
	Photos
	// Replace takes the place of an earlier reference.
	Replace bool `json:"replace,omitempty"`
	// VerificationID names the approved verify of an action with type replace_reference, where the contract asks for one.
	VerificationID string `json:"verification_id,omitempty"`
	// RequireLiveness is none, passive, active or both.
	RequireLiveness string   `json:"require_liveness,omitempty"`
	Consent         *Consent `json:"consent,omitempty"`
	// PasskeyRegistration is the browser's answer to the options of the challenge, whose frames the request holds.
	PasskeyRegistration *PasskeyCredential `json:"passkey_registration,omitempty"`
	// CaptureIntegrity is the report of the capture component, unchanged; nil for none.
	CaptureIntegrity *CaptureReport `json:"capture_integrity,omitempty"`
	// Include asks for parts of the answer that are left out otherwise: quality for Quality.Images.
	Include []string `json:"include,omitempty"`
}

// VerifyRequest asks whether this is really that person, for this action.
type VerifyRequest struct {
	UserID string `json:"user_id"`
	Photos
	Action Action `json:"action"`
	// Nonce is echoed in the JWT; default: the idempotency key.
	Nonce string `json:"nonce,omitempty"`
	// ApprovalID is the verification id of another user's verdict on the same action, where the policy asks for a second person.
	ApprovalID string `json:"approval_id,omitempty"`
	// RequireLiveness is none, passive, active or both.
	RequireLiveness string `json:"require_liveness,omitempty"`
	// RequirePasskey refuses the call without PasskeyAssertion.
	RequirePasskey bool `json:"require_passkey,omitempty"`
	// PasskeyAssertion is what a passkey of the user signed for this action.
	PasskeyAssertion *PasskeyAssertion `json:"passkey_assertion,omitempty"`
	// CaptureIntegrity is the report of the capture component, unchanged; nil for none.
	CaptureIntegrity *CaptureReport `json:"capture_integrity,omitempty"`
	// Include asks for parts of the answer that are left out otherwise: quality for Quality.Images.
	Include []string `json:"include,omitempty"`
}

// CaptureReport has the signals of a capture that the browser reported. Empty Signals report that there were none.
type CaptureReport struct {
	Signals []string `json:"signals"`
}

// PasskeyAssertion is the browser's answer to the options of a challenge, or of BeginPasskeyAssertion with its id and nonce.
type PasskeyAssertion struct {
	ChallengeID string          `json:"challenge_id,omitempty"`
	Nonce       string          `json:"nonce,omitempty"`
	Credential  json.RawMessage `json:"credential"`
}

// PasskeyCredential is a passkey that the browser made.
type PasskeyCredential struct {
	Credential json.RawMessage `json:"credential"`
	Name       string          `json:"name,omitempty"`
}

// PasskeyRegistrationRequest begins a registration. VerificationID names the approved verify that allows it.
type PasskeyRegistrationRequest struct {
	UserName       string `json:"user_name,omitempty"`
	VerificationID string `json:"verification_id,omitempty"`
}

// PasskeyRegistration ends a registration with the browser's answer.
type PasskeyRegistration struct {
	ChallengeID    string          `json:"challenge_id"`
	Nonce          string          `json:"nonce"`
	Credential     json.RawMessage `json:"credential"`
	Name           string          `json:"name,omitempty"`
	VerificationID string          `json:"verification_id,omitempty"`
}

// ChallengeRequest asks what the person is to do before the camera.
type ChallengeRequest struct {
	UserID string `json:"user_id"`
	// Purpose is verify, the default, or enroll.
	Purpose string `json:"purpose,omitempty"`
	// Action as Verify will be sent it; required unless the purpose is to enroll.
	Action Action `json:"action,omitempty"`
	// Modes is how the person can move the head: turn and nod by default. A pointer to an empty slice asks for no movement.
	Modes *[]string `json:"modes,omitempty"`
	// Passkey is required, preferred or, to enroll, register; default: no passkey.
	Passkey string `json:"passkey,omitempty"`
	// Locale is the language in which your page shows a typed action. The answer then has the text in Display.
	Locale string `json:"locale,omitempty"`
	// Payees is the list of a payment_batch, as PaymentBatch makes it. It needs Locale.
	Payees string `json:"payees,omitempty"`
}

// GuidanceRequest asks what a person before the camera can do better.
type GuidanceRequest struct {
	// Image is a small frame, not mirrored; a long side of 320 pixels is enough.
	Image []byte `json:"image"`
	// Step of a challenge that is shown; default frontal.
	Step string `json:"step,omitempty"`
	// Frontal is an earlier frame in which the person looks ahead, from which a movement is measured.
	Frontal []byte `json:"frontal,omitempty"`
	// UserID is for the sandbox, whose answers go by its end.
	UserID string `json:"user_id,omitempty"`
}

// CaptureSessionRequest asks for a link to the hosted capture page.
type CaptureSessionRequest struct {
	UserID string `json:"user_id"`
	// ReturnURL is where the page leads when it is done. Its origin must be allowed for the tenant.
	ReturnURL string `json:"return_url"`
	// Browser is same, the default: the result needs the proof that the page gives only to the browser that captured; or any, for links
	// that are opened on another device: a person who passes such a link on gets the result.
	Browser string `json:"browser,omitempty"`
	// Purpose is verify, the default, or enroll.
	Purpose string `json:"purpose,omitempty"`
	// Action is required unless the purpose is to enroll.
	Action Action `json:"action,omitempty"`
	// Payees is the list of an action of type payment_batch, as text in RFC 8785 canonical form.
	Payees string `json:"payees,omitempty"`
	// Description says in words what the person confirms.
	Description     string    `json:"description,omitempty"`
	Modes           *[]string `json:"modes,omitempty"`
	RequireLiveness string    `json:"require_liveness,omitempty"`
	Replace         bool      `json:"replace,omitempty"`
	VerificationID  string    `json:"verification_id,omitempty"`
	// Confirmation is code or none.
	Confirmation string `json:"confirmation,omitempty"`
	// Locale is the language of the page; default: what the browser asks for.
	Locale  string       `json:"locale,omitempty"`
	Consent *ConsentText `json:"consent,omitempty"`
	// Passkey is required, preferred or, to enroll, register; default: no passkey.
	Passkey string `json:"passkey,omitempty"`
	// Began is what you know of the visitor who began. The page then says when and where that was; an empty one says only when.
	Began *SessionBegan `json:"began,omitempty"`
}

// SessionBegan is the visitor who began what is to be confirmed.
type SessionBegan struct {
	IP        string `json:"ip,omitempty"`
	UserAgent string `json:"user_agent,omitempty"`
}

// ConsentText is what the person agrees to before the camera starts.
type ConsentText struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// AuditListRequest narrows the audit log.
type AuditListRequest struct {
	// After is a NextCursor; default: the start of the log, or its end with the order desc.
	After string
	// Limit is at most how many entries a page has; 1 to 200, default 50.
	Limit int
	// Event asks for entries of this event only.
	Event string
	// Order is asc, oldest first, by default, or desc, newest first.
	Order string
}

// unreadable is as the service would answer: what a browser sent instead of a photo is the person's to mend.
func unreadable(path, issue string) error {
	return &APIError{
		Code: "image_unreadable", Category: "biometric_rejected", Status: http.StatusUnprocessableEntity,
		Message: "The image could not be read.", Remedy: "Ask for a new photo, and pass its bytes.",
		Details: []ErrorDetail{{
			Path: path, Issue: issue, Guidance: "file_unreadable",
			Hint: "This file cannot be read as a photo. Please choose another one.",
		}},
	}
}

// check fails with an APIError image_unreadable for a photo that is missing or empty, and with a plain error where more than one form of
// photos is given.
func (p Photos) check() error {
	given := 0
	for _, is := range []bool{p.Image != nil, p.Images != nil, p.Challenge != nil} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return errors.New("countersign: give one of Image, Images and Challenge")
	case p.Images != nil:
		if len(p.Images) == 0 {
			return unreadable("images", "is empty")
		}
		for i, image := range p.Images {
			if len(image) == 0 {
				return unreadable(fmt.Sprintf("images.%d", i), "is empty")
			}
		}
	case p.Challenge != nil:
		for i, frame := range p.Challenge.Frames {
			if len(frame.Image) == 0 {
				return unreadable(fmt.Sprintf("challenge.frames.%d.image", i), "is empty")
			}
		}
	case len(p.Image) == 0:
		return unreadable("image", "is empty")
	}
	return nil
}
