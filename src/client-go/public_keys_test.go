package countersign

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func codeOf(err error) string {
	if refusal := (*VerdictError)(nil); errors.As(err, &refusal) {
		return refusal.Code
	}
	return ""
}

func TestPublicKeysAreReadAgain(t *testing.T) {
	published, reads, status := read(t).PublicVerdicts[0].JWKS, 0, 200
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reads++
		w.WriteHeader(status)
		_, _ = w.Write(published)
	}))
	defer server.Close()
	keys, err := publicKeysAt(server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	const id = "vky_01a1fc301e9773feadea676a8f8270e5"
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
	keys.readAt = keys.readAt.Add(-publicKeysCoolDown)
	ask("vky_unknown", "signature_invalid", 2)
	ask("vky_unknown", "signature_invalid", 2)
	// A key that was removed is refused once the keys are too old.
	published = []byte(`{"keys":[]}`)
	ask(id, "", 2)
	keys.readAt = keys.readAt.Add(-publicKeysMaxAge)
	ask(id, "signature_invalid", 3)
	status = 503
	keys.readAt = time.Time{}
	ask(id, "keys_unavailable", 4)
}

func TestPublicKeysNeedTLS(t *testing.T) {
	if _, err := publicKeysAt("http://countersign.example.com/v1/.well-known/jwks.json", nil); err == nil {
		t.Error("keys would be read without TLS")
	}
}
