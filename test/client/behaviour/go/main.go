// Drives the Go SDK by the line protocol of ../README.md.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	sdk "example.com/countersign"
)

type command struct {
	Do, Name string
	Now      float64
	Request  json.RawMessage
	Options  struct {
		BaseURL               string   `json:"base_url"`
		APIKey                string   `json:"api_key"`
		TenantID              string   `json:"tenant_id"`
		SigningSecret         []string `json:"signing_secret"`
		TimeoutSeconds        float64  `json:"timeout_seconds"`
		MaxRetries            *int     `json:"max_retries"`
		MaxRetryAfterSeconds  float64  `json:"max_retry_after_seconds"`
		ConnectRetrySeconds   float64  `json:"connect_retry_seconds"`
		ClockToleranceSeconds float64  `json:"clock_tolerance_seconds"`
		AcceptEvaluationGrade bool     `json:"accept_evaluation_grade"`
		IdempotencyKey        string   `json:"idempotency_key"`
		RequestID             string   `json:"request_id"`
	}
}

var (
	clients = map[string]*sdk.Client{}
	secrets = map[string][]string{}
	clock   atomic.Value
)

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func newClient(c command) error {
	o := c.Options
	secrets[c.Name] = o.SigningSecret
	retries := 0
	if o.MaxRetries != nil {
		// Zero would mean the default.
		if retries = *o.MaxRetries; retries == 0 {
			retries = -1
		}
	}
	client, err := sdk.New(sdk.Options{
		BaseURL: o.BaseURL, APIKey: o.APIKey, TenantID: o.TenantID,
		SigningSecrets: func() ([]sdk.SigningSecret, error) { return sdk.ParseSecrets(strings.Join(secrets[c.Name], ",")), nil },
		Timeout:        seconds(o.TimeoutSeconds), MaxRetries: retries, MaxRetryAfter: seconds(o.MaxRetryAfterSeconds),
		ConnectRetry:   seconds(o.ConnectRetrySeconds),
		ClockTolerance: seconds(o.ClockToleranceSeconds), AcceptEvaluationGrade: o.AcceptEvaluationGrade,
		Now: func() time.Time { return clock.Load().(time.Time) },
	})
	clients[c.Name] = client
	return err
}

func callOptions(c command) (options []sdk.CallOption) {
	o := c.Options
	if o.IdempotencyKey != "" {
		options = append(options, sdk.WithIdempotencyKey(o.IdempotencyKey))
	}
	if o.RequestID != "" {
		options = append(options, sdk.WithRequestID(o.RequestID))
	}
	if o.TimeoutSeconds != 0 {
		options = append(options, sdk.WithTimeout(seconds(o.TimeoutSeconds)))
	}
	if o.MaxRetries != nil {
		options = append(options, sdk.WithMaxRetries(*o.MaxRetries))
	}
	return options
}

// request is a request of any call: its members do not clash.
type request struct {
	sdk.VerifyRequest
	Action         any                    `json:"action"`
	Replace        bool                   `json:"replace"`
	Consent        json.RawMessage        `json:"consent"`
	Purpose        string                 `json:"purpose"`
	Modes          *[]string              `json:"modes"`
	ReturnURL      string                 `json:"return_url"`
	Description    string                 `json:"description"`
	Confirmation   string                 `json:"confirmation"`
	SessionID      string                 `json:"session_id"`
	VerificationID string                 `json:"verification_id"`
	Step           string                 `json:"step"`
	After          string                 `json:"after"`
	Limit          int                    `json:"limit"`
	Event          string                 `json:"event"`
	Order          string                 `json:"order"`
	Force          bool                   `json:"force"`
	Token          json.RawMessage        `json:"token"`
	Issuer         string                 `json:"issuer"`
	ACR            []string               `json:"acr"`
	MaxAgeSeconds  float64                `json:"max_age_seconds"`
	AcceptReplays  bool                   `json:"accept_replays"`
	CaptureSession string                 `json:"capture_session_id"`
	CaptureBinding string                 `json:"capture_binding"`
	Proof          string                 `json:"proof"`
	Browser        string                 `json:"browser"`
	UserName       string                 `json:"user_name"`
	ChallengeID    string                 `json:"challenge_id"`
	Credential     json.RawMessage        `json:"credential"`
	Name           string                 `json:"name"`
	PasskeyID      string                 `json:"passkey_id"`
	Passkey        string                 `json:"passkey"`
	Registration   *sdk.PasskeyCredential `json:"passkey_registration"`
	Headers        map[string]string      `json:"headers"`
	Body           string                 `json:"body"`
}

func run(c command) (any, error) {
	ctx := context.Background()
	switch c.Do {
	case "client":
		return nil, newClient(c)
	case "secrets":
		var list []string
		err := json.Unmarshal(c.Request, &list)
		secrets[c.Name] = list
		return nil, err
	}
	client, options := clients[c.Name], callOptions(c)
	var r request
	if len(c.Request) > 0 {
		if err := json.Unmarshal(c.Request, &r); err != nil {
			return nil, err
		}
	}
	switch c.Do {
	case "enroll":
		e := sdk.EnrollRequest{UserID: r.UserID, Photos: r.Photos, Replace: r.Replace, RequireLiveness: r.RequireLiveness,
			PasskeyRegistration: r.Registration, CaptureIntegrity: r.CaptureIntegrity}
		if len(r.Consent) > 0 {
			if err := json.Unmarshal(r.Consent, &e.Consent); err != nil {
				return nil, err
			}
		}
		return client.Enroll(ctx, e, options...)
	case "add_photos":
		return client.AddPhotos(ctx, r.UserID, r.Photos, options...)
	case "assess_photos":
		return client.AssessPhotos(ctx, r.UserID, r.Photos, options...)
	case "verify":
		v := r.VerifyRequest
		v.Action = r.Action
		return client.Verify(ctx, v, options...)
	case "delete":
		return client.Delete(ctx, r.UserID, options...)
	case "get_user":
		return client.GetUser(ctx, r.UserID, options...)
	case "get_verification":
		return client.GetVerification(ctx, r.VerificationID, sdk.VerificationQuery{UserID: r.UserID, Action: r.Action}, options...)
	case "guide":
		return client.Guide(ctx, sdk.GuidanceRequest{UserID: r.UserID, Image: r.Image, Step: r.Step}, options...)
	case "create_challenge":
		return client.CreateChallenge(ctx, sdk.ChallengeRequest{UserID: r.UserID, Purpose: r.Purpose, Action: r.Action, Modes: r.Modes, Passkey: r.Passkey}, options...)
	case "begin_passkey_registration":
		return client.BeginPasskeyRegistration(ctx, r.UserID, sdk.PasskeyRegistrationRequest{
			UserName: r.UserName, VerificationID: r.VerificationID,
		}, options...)
	case "register_passkey":
		return client.RegisterPasskey(ctx, r.UserID, sdk.PasskeyRegistration{
			ChallengeID: r.ChallengeID, Nonce: r.Nonce, Credential: r.Credential, Name: r.Name, VerificationID: r.VerificationID,
		}, options...)
	case "list_passkeys":
		return client.ListPasskeys(ctx, r.UserID, options...)
	case "revoke_passkey":
		return client.RevokePasskey(ctx, r.UserID, r.PasskeyID, options...)
	case "cancel_passkey_recovery":
		return client.CancelPasskeyRecovery(ctx, r.UserID, options...)
	case "begin_passkey_assertion":
		return client.BeginPasskeyAssertion(ctx, r.UserID, r.Action, options...)
	case "create_capture_session":
		return client.CreateCaptureSession(ctx, sdk.CaptureSessionRequest{
			UserID: r.UserID, ReturnURL: r.ReturnURL, Purpose: r.Purpose, Action: r.Action, Description: r.Description,
			Confirmation: r.Confirmation, Browser: r.Browser,
		}, options...)
	case "get_capture_session":
		return client.GetCaptureSession(ctx, r.SessionID, r.Proof, options...)
	case "audit_page":
		return client.AuditPage(ctx, sdk.AuditListRequest{After: r.After, Limit: r.Limit, Event: r.Event, Order: r.Order}, options...)
	case "audit_entries":
		entries := []sdk.AuditEntry{}
		err := client.AuditEntries(ctx, sdk.AuditListRequest{After: r.After, Limit: r.Limit, Event: r.Event, Order: r.Order}, func(e sdk.AuditEntry) error {
			entries = append(entries, e)
			return nil
		}, options...)
		return entries, err
	case "health":
		return client.Health(ctx, options...)
	case "rotate_signing":
		return client.RotateSigning(ctx, r.Force, options...)
	case "verify_verdict":
		token, err := tokenOf(ctx, client, r)
		if err != nil {
			return nil, err
		}
		return client.VerifyVerdict(ctx, token, sdk.Expected{
			UserID: r.UserID, Action: r.Action, Nonce: r.Nonce, Issuer: r.Issuer, ACR: r.ACR,
			MaxAge: seconds(r.MaxAgeSeconds), AcceptReplays: r.AcceptReplays, CaptureSessionID: r.CaptureSession, CaptureBinding: r.CaptureBinding,
		})
	case "verify_webhook":
		headers := http.Header{}
		for name, value := range r.Headers {
			headers.Set(name, value)
		}
		return client.VerifyWebhook(headers, []byte(r.Body))
	}
	return nil, fmt.Errorf("there is no command %s", c.Do)
}

func tokenOf(ctx context.Context, client *sdk.Client, r request) (sdk.VerdictToken, error) {
	if r.SessionID != "" {
		session, err := client.GetCaptureSession(ctx, r.SessionID, r.Proof)
		if err != nil {
			return sdk.VerdictToken{}, err
		}
		return session.Token(), nil
	}
	var jwt string
	if json.Unmarshal(r.Token, &jwt) == nil {
		return sdk.Token(jwt), nil
	}
	var result sdk.VerifyResult
	err := json.Unmarshal(r.Token, &result)
	return result.Token(), err
}

func errorOf(err error) map[string]any {
	said := map[string]any{"kind": "argument", "message": err.Error()}
	if coded := sdk.Error(nil); errors.As(err, &coded) {
		said["code"] = coded.ErrorCode()
	}
	switch e := err.(type) {
	case *sdk.APIError:
		said["kind"], said["status"], said["request_id"], said["details"] = "api", e.Status, e.RequestID, e.Details
		said["remedy"], said["category"], said["verified"] = e.Remedy, e.Category, e.Verified
		said["retry_after_seconds"] = e.RetryAfter.Seconds()
	case *sdk.ConnectionError:
		said["kind"], said["attempts"] = "connection", e.Attempts.Attempts
	case *sdk.TimeoutError:
		said["kind"], said["attempts"] = "timeout", e.Attempts.Attempts
	case *sdk.UnexpectedResponseError:
		said["kind"], said["status"] = "unexpected", e.Status
	case *sdk.SignatureError:
		said["kind"] = "signature"
	case *sdk.VerdictError:
		said["kind"], said["reason"] = "verdict", e.Reason
	}
	return said
}

// responseOf finds what every answer embeds.
func responseOf(value any) any {
	switch v := value.(type) {
	case *sdk.EnrollResult:
		return info(v.Response)
	case *sdk.AssessResult:
		return info(v.Response)
	case *sdk.VerifyResult:
		return info(v.Response)
	case *sdk.DeleteResult:
		return info(v.Response)
	case *sdk.User:
		return info(v.Response)
	case *sdk.HealthResult:
		return info(v.Response)
	}
	return nil
}

func info(r sdk.ResponseInfo) any {
	return map[string]any{
		"status": r.Status, "attempts": r.Attempts.Attempts, "replayed": r.Replayed, "request_id": r.RequestID,
		"retry_after_seconds": r.RetryAfter.Seconds(),
	}
}

func main() {
	in := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var c command
		if err := json.Unmarshal(line, &c); err != nil {
			panic(err)
		}
		clock.Store(time.UnixMilli(int64(c.Now * 1000)))
		value, err := run(c)
		if err != nil {
			_ = out.Encode(map[string]any{"error": errorOf(err)})
			continue
		}
		said := map[string]any{"value": value}
		if response := responseOf(value); response != nil {
			said["response"] = response
		}
		_ = out.Encode(said)
	}
}
