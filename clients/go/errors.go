package countersign

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Error is any error of this package that has a stable code: APIError, ConnectionError, TimeoutError, SignatureError,
// VerdictError or UnexpectedResponseError. Find one with errors.As.
type Error interface {
	error
	// ErrorCode is stable; texts may change.
	ErrorCode() string
}

// APIError says that the service refused the request, or would have: body_too_large comes before anything is sent. Its text says
// what is wrong, which fields or photos are concerned, and what to do next.
type APIError struct {
	// Code is one of the constants Code…, or one that a newer service has.
	Code string `json:"code"`
	// Category is one of the constants Category…; it decides what an application does about the error.
	Category string `json:"error"`
	Message  string `json:"message"`
	// RequestID is empty where nothing was sent.
	RequestID string        `json:"request_id"`
	Details   []ErrorDetail `json:"details"`
	// Remedy says what to do next, for the developer or the operator.
	Remedy string `json:"remedy"`
	// DocURL is the address of the page that explains the code.
	DocURL string `json:"doc_url"`
	Status int    `json:"-"`
	// RetryAfter is that of the header Retry-After, and zero without one.
	RetryAfter time.Duration `json:"-"`
	// Verified is false when no tenant was known to sign the response, as for a wrong API key.
	Verified bool `json:"-"`
}

const detailsShown = 3

func (e *APIError) Error() string {
	remedy, origin := "", "not sent"
	if e.Remedy != "" {
		remedy = " " + e.Remedy
	}
	if e.RequestID != "" {
		origin = "request " + e.RequestID
	}
	return fmt.Sprintf("%s%s%s (%s, %s)", e.Message, e.detailText(), remedy, e.Code, origin)
}

func (e *APIError) detailText() string {
	// The one photo of the request need not be named.
	if len(e.Details) == 1 && e.Details[0].Path == "image" && e.Details[0].Issue == e.Message {
		return ""
	}
	var shown []string
	for i, detail := range e.Details {
		if i == detailsShown {
			shown = append(shown, fmt.Sprintf("and %d more", len(e.Details)-detailsShown))
			break
		}
		// A photo's issue repeats the message; then only the photo is named.
		if detail.Issue == e.Message {
			shown = append(shown, detail.Path)
		} else {
			shown = append(shown, detail.Path+": "+detail.Issue)
		}
	}
	if len(shown) == 0 {
		return ""
	}
	return " [" + strings.Join(shown, "; ") + "]"
}

// ErrorCode is the service's code.
func (e *APIError) ErrorCode() string { return e.Code }

// Guidance lists the codes of what the person can do better, the most urgent first.
func (e *APIError) Guidance() []string {
	var codes []string
	for _, detail := range e.Details {
		if detail.Guidance != "" {
			codes = append(codes, detail.Guidance)
		}
	}
	return codes
}

// Attempts says how often a call was tried, and for how long, waits between tries included.
type Attempts struct {
	Attempts int
	Elapsed  time.Duration
}

func (a Attempts) text() string {
	tries := fmt.Sprintf("%d attempts", a.Attempts)
	if a.Attempts == 1 {
		tries = "1 attempt"
	}
	return fmt.Sprintf("(%s, %d ms in all)", tries, a.Elapsed.Milliseconds())
}

// ConnectionError says that no answer came: the address, the network or TLS.
type ConnectionError struct {
	Attempts
	Method, Path string
	Err          error
}

func (e *ConnectionError) Error() string {
	return fmt.Sprintf("%s %s failed: %v %s", e.Method, e.Path, e.Err, e.text())
}

// Unwrap is the cause.
func (e *ConnectionError) Unwrap() error { return e.Err }

// ErrorCode is connection_failed.
func (e *ConnectionError) ErrorCode() string { return "connection_failed" }

// TimeoutError says that no complete answer came in time.
type TimeoutError struct {
	Attempts
	Timeout time.Duration
	Err     error
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("no complete answer within %v %s", e.Timeout, e.text())
}

// Unwrap is the cause.
func (e *TimeoutError) Unwrap() error { return e.Err }

// ErrorCode is timeout.
func (e *TimeoutError) ErrorCode() string { return "timeout" }

// UnexpectedResponseError says that the answer is not one of the service, such as a proxy's error page or a redirect.
type UnexpectedResponseError struct{ Status int }

func (e *UnexpectedResponseError) Error() string {
	return fmt.Sprintf("the answer (status %d) is not one of Countersign; is the base URL right?", e.Status)
}

// ErrorCode is unexpected_response.
func (e *UnexpectedResponseError) ErrorCode() string { return "unexpected_response" }

// SignatureError says that an answer or a webhook cannot be trusted: forged, changed, too old, or signed with a secret that is
// not configured. Codes: signature_missing, signature_malformed, signature_invalid, signature_expired, wrong_environment
// (signed with your secret, but in the other environment), response_mismatch (well signed, but about another request).
type SignatureError struct{ Code, Message string }

func (e *SignatureError) Error() string { return e.Message }

// ErrorCode is the code.
func (e *SignatureError) ErrorCode() string { return e.Code }

// VerdictError says that a verdict JWT does not allow the action. Codes: malformed, signature_invalid, expired, not_yet_valid,
// wrong_audience, wrong_issuer, wrong_environment, wrong_user, wrong_action, wrong_nonce, wrong_capture_session, wrong_capture_binding,
// not_displayed, wrong_context, too_old, not_approved, evaluation_grade, replay_suspected, already_used, keys_unavailable (the issuer's
// keys cannot be read), proof_required (a capture session that gives its result only with the proof), no_verdict (a capture session whose
// capture verify did not judge).
type VerdictError struct {
	Code, Message string
	// Reason says why a verdict that is not_approved was rejected, such as no_match.
	Reason string
}

func (e *VerdictError) Error() string {
	if remedy := e.Remedy(); remedy != "" {
		return e.Message + " " + remedy
	}
	return e.Message
}

// Remedy says what to do next. It is empty for a reason that this version does not know, and where Message says it.
func (e *VerdictError) Remedy() string {
	if e.Code == "not_approved" {
		return verdictRemedy(e.Reason)
	}
	return verdictRemedy(e.Code)
}

// ErrorCode is the code.
func (e *VerdictError) ErrorCode() string { return e.Code }

// parseAPIError gives nil for a body that is no refusal.
func parseAPIError(body []byte) *APIError {
	var refusal APIError
	if json.Unmarshal(body, &refusal) != nil || refusal.Code == "" || refusal.Category == "" || refusal.Message == "" {
		return nil
	}
	return &refusal
}
