package countersign

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestRetryDelay(t *testing.T) {
	limited := &APIError{Code: "rate_limited", Status: 429, RetryAfter: 7 * time.Second}
	for retry := 0; retry < 2; retry++ {
		delay, again := retryDelay(limited, retry, 2, 30*time.Second)
		if !again || delay < 7*time.Second || delay > 7*time.Second+firstDelay<<retry {
			t.Errorf("try %d: %v, %v", retry, delay, again)
		}
	}
	if _, again := retryDelay(limited, 2, 2, 30*time.Second); again {
		t.Error("a retry too many")
	}
	if _, again := retryDelay(limited, 0, 2, 6*time.Second); again {
		t.Error("a Retry-After that is too long is waited for")
	}
	if _, again := retryDelay(&APIError{Code: "low_quality", Status: 422}, 0, 2, time.Second); again {
		t.Error("what will not change is tried again")
	}
	if _, again := retryDelay(&APIError{Code: "too_many_wrong_keys", Status: 429}, 0, 2, time.Second); again {
		t.Error("a wrong API key is tried again")
	}
	if _, again := retryDelay(&APIError{Code: "idempotency_in_progress", Status: 409}, 0, 2, time.Second); !again {
		t.Error("what passes is not tried again")
	}
}

func TestParseRetryAfter(t *testing.T) {
	now := time.Unix(60, 0)
	for header, want := range map[string]time.Duration{
		"120": 2 * time.Minute, "Thu, 01 Jan 1970 00:02:00 GMT": time.Minute, "Thu, 01 Jan 1970 00:00:00 GMT": 0, "soon": 0, "": 0,
	} {
		if got := parseRetryAfter(header, now); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
}

func TestOptionsThatCannotWork(t *testing.T) {
	good := Options{BaseURL: "https://c.example/v1", APIKey: "svc-sbx-1", SigningSecrets: Secrets("svc-sec-1")}
	if _, err := New(good); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Options){
		"no address":         func(o *Options) { o.BaseURL = "" },
		"no version":         func(o *Options) { o.BaseURL = "https://c.example" },
		"a query":            func(o *Options) { o.BaseURL = "https://c.example/v1?a=1" },
		"in clear":           func(o *Options) { o.BaseURL = "http://c.example/v1" },
		"no host":            func(o *Options) { o.BaseURL = "https:///v1" },
		"no key":             func(o *Options) { o.APIKey = "" },
		"a key with more":    func(o *Options) { o.APIKey = "Bearer svc-sbx-1" },
		"no secrets":         func(o *Options) { o.SigningSecrets = nil },
		"an empty secret":    func(o *Options) { o.SigningSecrets = Secrets("sec_1:") },
		"too much tolerance": func(o *Options) { o.ClockTolerance = 301 * time.Second },
	} {
		options := good
		change(&options)
		if _, err := New(options); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	good.BaseURL = "http://127.0.0.1:8080/v1"
	if _, err := New(good); err != nil {
		t.Error(err)
	}
}

func TestSecretsAreInNoLog(t *testing.T) {
	client, err := New(Options{BaseURL: "https://c.example/v1", APIKey: "svc-sbx-hidden", SigningSecrets: Secrets("svc-sec-1")})
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(form, client); strings.Contains(text, "hidden") {
			t.Errorf("%s: %s", form, text)
		}
	}
	for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(form, ParseSecrets("sec_1:svc-sec-1")); strings.Contains(text, "svc-sec-1") {
			t.Errorf("%s: %s", form, text)
		}
	}
}

func TestMemoryReplayStoreForgets(t *testing.T) {
	now := time.Unix(0, 0)
	store := &MemoryReplayStore{Now: func() time.Time { return now }}
	consume := func(jti string, until int64) bool {
		first, _ := store.Consume(context.Background(), jti, time.Unix(until, 0))
		return first
	}
	if !consume("a", 10) || consume("a", 10) {
		t.Error("a verdict is used twice")
	}
	now = time.Unix(61, 0)
	if !consume("b", 100) || len(store.used) != 1 {
		t.Error("what has expired is remembered")
	}
}
