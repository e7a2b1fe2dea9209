package countersign

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

const knownKey = "vky_01a1fc301e9773feadea676a8f8270e5"

func codeOf(err error) string {
	if refusal := (*VerdictError)(nil); errors.As(err, &refusal) {
		return refusal.Code
	}
	return ""
}

func TestPublicKeysAreReadAgain(t *testing.T) {
	published, reads := read(t).PublicVerdicts[0].JWKS, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reads++
		_, _ = w.Write(published)
	}))
	defer server.Close()
	keys, err := publicKeysAt(server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	const id = knownKey
	ask := func(id, code string, expectedReads int) {
		t.Helper()
		if _, err := keys.key(context.Background(), id); codeOf(err) != code || reads != expectedReads {
			t.Errorf("%s: %v after %d reads", id, err, reads)
		}
	}
	ask(id, "", 1)
	ask(id, "", 1)
	// An unknown id has the keys read again only after the cool-down.
	ask("vky_unknown", "signature_invalid", 1)
	keys.triedAt = keys.triedAt.Add(-publicKeysCoolDown)
	ask("vky_unknown", "signature_invalid", 2)
	ask("vky_unknown", "signature_invalid", 2)
	// A key that was removed is refused once the keys are too old.
	published = []byte(`{"keys":[]}`)
	ask(id, "", 2)
	keys.readAt, keys.triedAt = keys.readAt.Add(-publicKeysMaxAge), keys.triedAt.Add(-publicKeysMaxAge)
	ask(id, "signature_invalid", 3)
}

// outage is an issuer whose keys are known and old, and whose address gives the answer from now on.
func outage(t *testing.T, answer func(http.ResponseWriter)) *publicKeys {
	t.Helper()
	published := read(t).PublicVerdicts[0].JWKS
	var reads atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if reads.Add(1) == 1 {
			_, _ = w.Write(published)
			return
		}
		answer(w)
	}))
	t.Cleanup(server.Close)
	keys, err := publicKeysAt(server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keys.key(context.Background(), knownKey); err != nil {
		t.Fatal(err)
	}
	keys.readAt, keys.triedAt = keys.readAt.Add(-publicKeysMaxAge), keys.triedAt.Add(-publicKeysMaxAge)
	return keys
}

func TestKnownPublicKeysCountThroughAnOutageOfADay(t *testing.T) {
	attempts := 0
	keys := outage(t, func(w http.ResponseWriter) {
		attempts++
		w.WriteHeader(503)
	})
	ask := func(id, code string, expectedAttempts int) {
		t.Helper()
		if _, err := keys.key(context.Background(), id); codeOf(err) != code || attempts != expectedAttempts {
			t.Errorf("%s: %v after %d attempts", id, err, attempts)
		}
	}
	// An attempt that failed is noted: the address is left alone until the cool-down has passed.
	ask(knownKey, "", 1)
	ask(knownKey, "", 1)
	ask("vky_unknown", "keys_unavailable", 1)
	keys.triedAt = keys.triedAt.Add(-publicKeysCoolDown)
	ask("vky_unknown", "keys_unavailable", 2)
	keys.readAt = keys.readAt.Add(-publicKeysMaxOutage)
	ask(knownKey, "keys_unavailable", 2)
}

func TestAKnownPublicKeyDoesNotWaitForAnotherReader(t *testing.T) {
	asked, release := make(chan struct{}), make(chan struct{})
	keys := outage(t, func(w http.ResponseWriter) {
		close(asked)
		<-release
		w.WriteHeader(503)
	})
	reader := make(chan error)
	go func() {
		_, err := keys.key(context.Background(), "vky_unknown")
		reader <- err
	}()
	<-asked
	if _, err := keys.key(context.Background(), knownKey); err != nil {
		t.Error(err)
	}
	close(release)
	if err := <-reader; codeOf(err) != "keys_unavailable" {
		t.Error(err)
	}
}

func TestPublicKeysNeedTLS(t *testing.T) {
	if _, err := publicKeysAt("http://countersign.example.com/v1/.well-known/jwks.json", nil); err == nil {
		t.Error("keys would be read without TLS")
	}
}
