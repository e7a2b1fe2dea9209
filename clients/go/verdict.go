package countersign

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"
)

// VerdictToken is a verdict JWT; during a rotation overlap the same claims under either secret. Token, VerifyResult.Token and
// CaptureSession.Token make one.
type VerdictToken struct {
	JWT, Next string
	// Public holds the same claims under a key of the issuer, whose public half anyone may have.
	Public  string
	session *CaptureSession
}

// Token makes a VerdictToken of one JWT, such as one that a request brings. Where Trust has no secrets, it is a public one.
func Token(jwt string) VerdictToken { return VerdictToken{JWT: jwt} }

// Expected is what a verdict must be about. UserID and Action come from the application's own session and request, never from
// the token.
type Expected struct {
	UserID string
	Action Action
	// Nonce and Issuer (the base URL of the environment) are checked when given.
	Nonce, Issuer string
	// CaptureSessionID is the id of the capture session that this person was sent to, as you kept it: only that session's verdict is
	// taken. It is required with a CaptureSession's token, and replaces Nonce. For a typed action the verdict must also name the text
	// that the person was shown.
	CaptureSessionID string
	// CaptureBinding is same (the session gave its result only to the browser that captured; the default with CaptureSessionID) or
	// any (the session may have been made with Browser any, so that the person who began it may have passed the link
	// on).
	CaptureBinding string
	// ACR lists the accepted authentication contexts, such as ActiveACR; default: that of any approval.
	ACR []string
	// MaxAge is the greatest age of the check itself; default: as long as the JWT is valid.
	MaxAge time.Duration
	// AcceptReplays takes approvals whose photo was seen before within 24 hours.
	AcceptReplays bool
}

// Trust says who must have made a verdict.
type Trust struct {
	// SigningSecrets are the tenant's. Without them, the public token is checked with the issuer's published keys.
	SigningSecrets SigningSecrets
	// JWKSURL is the address of the issuer's keys, instead of SigningSecrets; default: .well-known/jwks.json below Expected.Issuer.
	JWKSURL string
	// HTTPClient reads the keys; default: one that waits 5 s and follows no redirect.
	HTTPClient *http.Client
	// Audience is the tenant id.
	Audience string
	// Environment is production by default, so that a sandbox verdict never passes by omission.
	Environment string
	// AcceptEvaluationGrade takes production verdicts of a model pack whose error rates were not measured on enough people
	// (evaluation) or in no group of people (ungrouped): for demos, and where those who answer for the service have signed that off.
	AcceptEvaluationGrade bool
	// ReplayStore is where used verdicts are remembered; default: one that all calls of this process share.
	ReplayStore ReplayStore
	// ClockTolerance is the greatest difference of the clocks, at most 300 s; default 60 s, and none when negative.
	ClockTolerance time.Duration
	// Now defaults to time.Now.
	Now func() time.Time
}

const tokenType = "stepup+jwt"

// sharedStore serves all calls without a store of their own, because a store for each call would remember nothing.
var sharedStore = &MemoryReplayStore{}

var errMalformed = &VerdictError{Code: "malformed", Message: "This is not a JWT."}

// VerifyVerdict gives the claims of an approval that was not used before, which is then marked as used. It fails with a
// VerdictError for a verdict that does not allow the action, which stays unused.
func VerifyVerdict(ctx context.Context, token VerdictToken, expected Expected, trust Trust) (*Claims, error) {
	if trust.Audience == "" && trust.SigningSecrets == nil {
		return nil, errors.New("countersign: Audience is required without SigningSecrets: the tenant's id, ten_…")
	}
	if err := checkSession(token.session, expected); err != nil {
		return nil, err
	}
	tolerance, err := clockTolerance(trust.ClockTolerance)
	if err != nil {
		return nil, err
	}
	hash, err := ActionHash(expected.Action)
	if err != nil {
		return nil, err
	}
	claims, err := trustedClaims(ctx, token, expected.Issuer, trust)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	if trust.Now != nil {
		now = trust.Now()
	}
	if trust.Environment == "" {
		trust.Environment = Production
	}
	if err := claims.checkTimes(now, tolerance); err != nil {
		return nil, err
	}
	if err := claims.check(hash, expected, trust, now, tolerance); err != nil {
		return nil, err
	}
	store := trust.ReplayStore
	if store == nil {
		store = sharedStore
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// Backends that share a store may have other tolerances: the verdict is remembered until none of them can take it.
	isFirst, err := store.Consume(ctx, claims.ID, fromUnix(*claims.Expires).Add(MaxClockTolerance))
	if err != nil {
		return nil, err
	}
	if !isFirst {
		return nil, &VerdictError{Code: "already_used", Message: "The verdict was used before."}
	}
	return claims, nil
}

// trustedClaims checks the signature, with the one algorithm that the kind of trust is for.
func trustedClaims(ctx context.Context, token VerdictToken, issuer string, trust Trust) (*Claims, error) {
	address := trust.JWKSURL
	if address == "" && issuer != "" {
		address = jwksURLOf(issuer)
	}
	if trust.SigningSecrets != nil || address == "" {
		secrets, err := trust.SigningSecrets.read()
		if err != nil {
			return nil, err
		}
		return signedClaims(token, secrets)
	}
	keys, err := publicKeysAt(address, trust.HTTPClient)
	if err != nil {
		return nil, err
	}
	jwt, err := token.publicToken()
	if err != nil {
		return nil, err
	}
	return openPublic(ctx, jwt, keys)
}

// checkSession refuses a session that is another one or has no verdict to check.
func checkSession(session *CaptureSession, expected Expected) error {
	if expected.CaptureSessionID != "" && expected.Nonce != "" {
		return errors.New("countersign: give one of Nonce and CaptureSessionID; the hosted page sends no nonce of yours")
	}
	switch {
	case session == nil:
		return nil
	case expected.CaptureSessionID == "":
		return errors.New("countersign: CaptureSessionID is required with a capture session: the id that you kept for this " +
			"person, not one from an address")
	case session.SessionID != expected.CaptureSessionID:
		return &VerdictError{Code: "wrong_capture_session", Message: "This is another capture session than the one that this person was sent to."}
	case session.ResultWithheld != "":
		return &VerdictError{Code: "proof_required", Message: "The capture session gives its result only with the proof of the browser that captured."}
	case session.Result == nil:
		return &VerdictError{Code: "no_verdict", Message: "The capture session has no verdict: it is " + session.Status + ", and no capture was judged."}
	case session.Result.Status != 200:
		return &VerdictError{Code: "no_verdict", Message: fmt.Sprintf("The capture session has no verdict: it is %s, and its last answer has status %d.",
			session.Status, session.Result.Status)}
	}
	return nil
}

func clockTolerance(asked time.Duration) (time.Duration, error) {
	switch {
	case asked == 0:
		return DefaultClockTolerance, nil
	case asked < 0:
		return 0, nil
	case asked > MaxClockTolerance:
		return 0, fmt.Errorf("countersign: ClockTolerance is %v; it must be at most %v", asked, MaxClockTolerance)
	}
	return asked, nil
}

func (c *Claims) checkTimes(now time.Time, tolerance time.Duration) error {
	start := *c.IssuedAt
	if c.NotBefore != nil {
		start = math.Max(start, *c.NotBefore)
	}
	if from := fromUnix(start); from.After(now.Add(tolerance)) {
		return &VerdictError{Code: "not_yet_valid", Message: notYetValidText(from, now, tolerance)}
	}
	if until := fromUnix(*c.Expires); !until.After(now.Add(-tolerance)) {
		return &VerdictError{Code: "expired", Message: expiredText(until, now, tolerance)}
	}
	return nil
}

func (c *Claims) check(hash string, expected Expected, trust Trust, now time.Time, tolerance time.Duration) error {
	age := now.Sub(fromUnix(*c.AuthTime))
	session, binding := expected.CaptureSessionID, expected.CaptureBinding
	if binding == "" && session != "" {
		binding = "same"
	}
	for _, rule := range []struct {
		holds         bool
		code, message string
	}{
		// A tenant's secret signs for that tenant only.
		{trust.Audience == "" || c.Audience == trust.Audience, "wrong_audience", fmt.Sprintf("The verdict's aud is %q; %s is expected.", c.Audience, trust.Audience)},
		{expected.Issuer == "" || c.Issuer == expected.Issuer, "wrong_issuer", fmt.Sprintf("The verdict's iss is %q; %s is expected.", c.Issuer, expected.Issuer)},
		{c.Environment == trust.Environment, "wrong_environment", fmt.Sprintf("The verdict's env is %s; %s is expected.", c.Environment, trust.Environment)},
		{c.Subject == expected.UserID, "wrong_user", "The verdict is about another user."},
		{c.ActionHash == hash, "wrong_action", "The verdict is for another action."},
		{expected.Nonce == "" || c.Nonce != nil && *c.Nonce == expected.Nonce, "wrong_nonce", "The verdict has another nonce."},
		{session == "" || c.CaptureSession == session, "wrong_capture_session",
			"The verdict is not of the capture session that this person was sent to."},
		{c.Verdict == "approved", "not_approved", fmt.Sprintf("The verdict is a rejection: %s.", c.Reason)},
		{binding == "" || binding == "any" || c.CaptureBinding == binding, "wrong_capture_binding",
			"The capture session gives its result to any browser."},
		{session == "" || !isTyped(expected.Action) || c.DisplayHash != "", "not_displayed",
			"The verdict does not name the text that the person was shown for this action."},
		{expected.ACR == nil || contains(expected.ACR, c.ACR), "wrong_context", fmt.Sprintf("The verdict's acr is %s; accepted are %s.", c.ACR, strings.Join(expected.ACR, ", "))},
		{expected.MaxAge == 0 || age <= expected.MaxAge+tolerance, "too_old",
			fmt.Sprintf("The check was made %s ago; %s are allowed.", inSeconds(age), inSeconds(expected.MaxAge))},
		{trust.Environment != Production || trust.AcceptEvaluationGrade || c.ModelGrade == "production", "evaluation_grade",
			fmt.Sprintf("The verdict's model_grade is %s, and production is expected: serve with a model pack of production grade, "+
				"or set AcceptEvaluationGrade, for a demo or where that was signed off.", c.ModelGrade)},
		{expected.AcceptReplays || c.Replay != nil && c.Replay.Suspected != nil && !*c.Replay.Suspected, "replay_suspected",
			"The photo was seen before within 24 hours."},
	} {
		if !rule.holds {
			return &VerdictError{Code: rule.code, Message: rule.message, Reason: c.Reason}
		}
	}
	return nil
}

func signedClaims(token VerdictToken, secrets []SigningSecret) (*Claims, error) {
	claims, err := open(token.JWT, secrets)
	if claims == nil && err == nil && token.Next != "" {
		claims, err = open(token.Next, secrets)
	}
	if claims != nil || err != nil {
		return claims, err
	}
	return nil, &VerdictError{Code: "signature_invalid", Message: "No configured secret made this verdict."}
}

// checkable is the token of an overlap that the configured secrets made, or the first where they made neither.
func checkable(token VerdictToken, secrets []SigningSecret) string {
	if claims, err := open(token.JWT, secrets); claims != nil || err != nil || token.Next == "" {
		return token.JWT
	}
	if claims, _ := open(token.Next, secrets); claims != nil {
		return token.Next
	}
	return token.JWT
}

// open gives the claims, or nil when no secret made the token.
func open(jwt string, secrets []SigningSecret) (*Claims, error) {
	parts, header, err := readHeader(jwt, "HS256")
	if err != nil {
		return nil, err
	}
	mac, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return nil, errMalformed
	}
	kid, _ := header["kid"].(string)
	if !isSigned([]byte(parts[0]+"."+parts[1]), []keyedMAC{{kid, mac}}, secrets) {
		return nil, nil
	}
	return requiredClaims(jwt)
}

// readHeader splits a token and reads its header. The algorithm is that of the trust: another one is never negotiated.
func readHeader(jwt, algorithm string) ([]string, map[string]any, error) {
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		return nil, nil, errMalformed
	}
	var header map[string]any
	if decodePart(parts[0], &header) != nil {
		return nil, nil, errMalformed
	}
	// Extensions (crit) are not known here.
	if _, hasCrit := header["crit"]; hasCrit || header["alg"] != algorithm || header["typ"] != tokenType {
		return nil, nil, &VerdictError{Code: "malformed", Message: "This is another kind of token than a verdict."}
	}
	return parts, header, nil
}

// requiredClaims gives the claims of a token whose signature was checked.
func requiredClaims(jwt string) (*Claims, error) {
	claims, err := uncheckedClaims(jwt)
	if err != nil {
		return nil, err
	}
	for _, text := range []string{claims.Issuer, claims.Audience, claims.Subject, claims.ID, claims.Environment, claims.Verdict, claims.ActionHash, claims.ACR} {
		if text == "" {
			return nil, &VerdictError{Code: "malformed", Message: "The verdict lacks a required claim."}
		}
	}
	if claims.IssuedAt == nil || claims.Expires == nil || claims.AuthTime == nil {
		return nil, &VerdictError{Code: "malformed", Message: "The verdict lacks one of its times."}
	}
	return claims, nil
}

func uncheckedClaims(jwt string) (*Claims, error) {
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		return nil, errMalformed
	}
	var claims Claims
	if decodePart(parts[1], &claims) != nil || decodePart(parts[1], &claims.Raw) != nil {
		return nil, errMalformed
	}
	return &claims, nil
}

func decodePart(part string, into any) error {
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func isTyped(action Action) bool {
	var named struct {
		Type string `json:"type"`
	}
	text, err := CanonicalJSON(action)
	return err == nil && json.Unmarshal([]byte(text), &named) == nil && contains(typedActionTypes, named.Type)
}

func contains(list []string, wanted string) bool {
	for _, one := range list {
		if one == wanted {
			return true
		}
	}
	return false
}
