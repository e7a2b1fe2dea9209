package countersign

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"
)

type vectors struct {
	Responses []struct {
		Title, Method, Target, Signature, Body, Environment string
		Valid                                               bool
		Now                                                 int64
		Tolerance                                           int64 `json:"tolerance_seconds"`
		Status                                              int
		RequestID                                           string `json:"request_id"`
		Secrets                                             []SigningSecret
	}
	Actions []struct {
		Title, JSON, Canonical string
		Hash                   string `json:"action_hash"`
	}
	Refused []struct{ Title, JSON string } `json:"refused_actions"`
	// Verdicts name codes, and null for a verdict that holds.
	Verdicts []struct {
		Title, JWT string
		Error      string
		Now        int64
		Secrets    []SigningSecret
		Expected   struct {
			Audience, Issuer, Environment, Nonce string
			UserID                               string `json:"user_id"`
			AcceptEvaluationGrade                bool   `json:"accept_evaluation_grade"`
			AcceptReplays                        bool   `json:"accept_replays"`
			CaptureSessionID                     string `json:"capture_session_id"`
			CaptureBinding                       string `json:"capture_binding"`
			Action                               json.RawMessage
		}
	}
	PublicVerdicts []struct {
		Title, JWT string
		Error      string
		Now        int64
		JWKS       json.RawMessage
		Expected   struct {
			Audience, Issuer, Environment, Nonce string
			UserID                               string `json:"user_id"`
			Action                               json.RawMessage
		}
	} `json:"public_verdicts"`
}

// read takes the documents' vectors, or those that COUNTERSIGN_VECTORS names.
func read(t *testing.T) (v vectors) {
	path := os.Getenv("COUNTERSIGN_VECTORS")
	if path == "" {
		path = "../../docs/examples/vectors.json"
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Responses) == 0 || len(v.Actions) == 0 || len(v.Refused) == 0 || len(v.Verdicts) == 0 || len(v.PublicVerdicts) == 0 {
		t.Fatal("a list of vectors is empty")
	}
	return v
}

func TestResponses(t *testing.T) {
	for _, v := range read(t).Responses {
		response := SignedResponse{
			Environment: v.Environment, Method: v.Method, Target: v.Target, Status: v.Status, RequestID: v.RequestID,
			Signature: v.Signature, Body: []byte(v.Body),
		}
		err := response.Check(v.Secrets, time.Unix(v.Now, 0), time.Duration(v.Tolerance)*time.Second)
		if (err == nil) != v.Valid {
			t.Errorf("%s: %v", v.Title, err)
		}
	}
}

func TestActions(t *testing.T) {
	all := read(t)
	for _, v := range all.Actions {
		canonical, err := CanonicalJSON(json.RawMessage(v.JSON))
		if err != nil || canonical != v.Canonical {
			t.Errorf("%s: %s, %v", v.Title, canonical, err)
		}
		if hash, err := ActionHash(json.RawMessage(v.JSON)); err != nil || hash != v.Hash {
			t.Errorf("%s: %s, %v", v.Title, hash, err)
		}
	}
	for _, v := range all.Refused {
		if canonical, err := CanonicalJSON(json.RawMessage(v.JSON)); err == nil {
			t.Errorf("%s: %s", v.Title, canonical)
		}
	}
}

func TestVerdicts(t *testing.T) {
	for _, v := range read(t).Verdicts {
		secrets, now := v.Secrets, time.Unix(v.Now, 0)
		_, err := VerifyVerdict(context.Background(), Token(v.JWT), Expected{
			UserID: v.Expected.UserID, Action: v.Expected.Action, Nonce: v.Expected.Nonce, Issuer: v.Expected.Issuer,
			AcceptReplays: v.Expected.AcceptReplays, CaptureSessionID: v.Expected.CaptureSessionID, CaptureBinding: v.Expected.CaptureBinding,
		}, Trust{
			SigningSecrets: func() ([]SigningSecret, error) { return secrets, nil },
			Audience:       v.Expected.Audience, Environment: v.Expected.Environment,
			AcceptEvaluationGrade: v.Expected.AcceptEvaluationGrade,
			ReplayStore:           &MemoryReplayStore{}, Now: func() time.Time { return now },
		})
		code := ""
		if refusal := (*VerdictError)(nil); errors.As(err, &refusal) {
			code = refusal.Code
		} else if err != nil {
			code = err.Error()
		}
		if code != v.Error {
			t.Errorf("%s: %q instead of %q", v.Title, code, v.Error)
		}
	}
}

func TestPublicVerdicts(t *testing.T) {
	for _, v := range read(t).PublicVerdicts {
		published, now := v.JWKS, time.Unix(v.Now, 0)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(published) }))
		_, err := VerifyVerdict(context.Background(), Token(v.JWT), Expected{
			UserID: v.Expected.UserID, Action: v.Expected.Action, Nonce: v.Expected.Nonce, Issuer: v.Expected.Issuer,
		}, Trust{
			JWKSURL: server.URL, Audience: v.Expected.Audience, Environment: v.Expected.Environment,
			ReplayStore: &MemoryReplayStore{}, Now: func() time.Time { return now },
		})
		server.Close()
		code := ""
		if refusal := (*VerdictError)(nil); errors.As(err, &refusal) {
			code = refusal.Code
		} else if err != nil {
			code = err.Error()
		}
		if code != v.Error {
			t.Errorf("%s: %q instead of %q", v.Title, code, v.Error)
		}
	}
}

func TestActionsThatAreRefused(t *testing.T) {
	for name, action := range map[string]any{
		"a text that is not UTF-8": map[string]any{"to": "\xff"},
		"a channel":                make(chan int),
		"a list":                   []any{1},
		"nothing":                  nil,
	} {
		if err := assertAction(action); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
