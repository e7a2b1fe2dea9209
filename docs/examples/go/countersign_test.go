package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

type secret struct{ Secret string }

func held(list []secret) (secrets []string) {
	for _, s := range list {
		secrets = append(secrets, s.Secret)
	}
	return secrets
}

func parse(t *testing.T, text string) (value any) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestVectors(t *testing.T) {
	var vectors struct {
		Responses []struct {
			Title, Method, Target, Signature, Body string
			Environment                            string
			Valid                                  bool
			Now                                    int64
			Tolerance                              int64 `json:"tolerance_seconds"`
			Status                                 int
			RequestID                              string `json:"request_id"`
			Secrets                                []secret
		}
		Actions []struct {
			Title, JSON, Canonical string
			Hash                   string `json:"action_hash"`
		}
		Refused []struct {
			Title, JSON string
		} `json:"refused_actions"`
		Verdicts []struct {
			Title, JWT string
			Valid      bool
			Now        int64
			Secrets    []secret
			Expected   json.RawMessage
		}
	}
	text, err := os.ReadFile("../vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Responses) == 0 || len(vectors.Actions) == 0 || len(vectors.Verdicts) == 0 {
		t.Fatal("no vectors")
	}
	for _, v := range vectors.Responses {
		response := SignedResponse{
			Environment: v.Environment,
			Method: v.Method, Target: v.Target, Status: v.Status, RequestID: v.RequestID,
			Signature: v.Signature, Body: []byte(v.Body),
		}
		if err := response.Check(held(v.Secrets), v.Now, v.Tolerance); (err == nil) != v.Valid {
			t.Errorf("response, %s: %v", v.Title, err)
		}
	}
	for _, v := range vectors.Actions {
		action := parse(t, v.JSON)
		if canonical, err := Canonical(action); err != nil || canonical != v.Canonical {
			t.Errorf("canonical form, %s: %s, %v", v.Title, canonical, err)
		}
		if hash, err := ActionHash(action); err != nil || hash != v.Hash {
			t.Errorf("action hash, %s: %s, %v", v.Title, hash, err)
		}
	}
	for _, v := range vectors.Refused {
		if canonical, err := Canonical(parse(t, v.JSON)); err == nil {
			t.Errorf("refused action, %s: %s", v.Title, canonical)
		}
	}
	for _, v := range vectors.Verdicts {
		var expected Expected
		if err := json.Unmarshal(v.Expected, &expected); err != nil {
			t.Fatal(err)
		}
		expected.Action = parse(t, string(v.Expected)).(map[string]any)["action"]
		if _, err := VerifyVerdict(v.JWT, held(v.Secrets), expected, &Seen{}, v.Now); (err == nil) != v.Valid {
			t.Errorf("verdict, %s: %v", v.Title, err)
		}
	}
}
