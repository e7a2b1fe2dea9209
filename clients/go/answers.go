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

// Token is what VerifyVerdict takes.
func (r *VerifyResult) Token() VerdictToken {
	return VerdictToken{JWT: r.JWT, Next: r.JWTNext, Public: r.JWTPublic}
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

// Health is HealthResult.
//
// Deprecated: Use HealthResult.
type Health = HealthResult
