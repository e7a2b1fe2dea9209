package countersign

import (
	"errors"
	"regexp"
	"strings"
)

// SigningSecret is one secret of the tenant. With an ID, only signatures of that key id are tried with it.
type SigningSecret struct {
	// ID is the key id, sec_….
	ID string
	// Secret is svc-sec-…; its bytes are the HMAC key.
	Secret string
}

// String hides the secret from logs.
func (s SigningSecret) String() string { return "SigningSecret(" + s.ID + ")" }

// GoString hides the secret from logs.
func (s SigningSecret) GoString() string { return s.String() }

// SigningSecrets reads the secrets, the preferred one first; during a rotation both. It is called before every use, so that a
// rotation needs no restart.
type SigningSecrets func() ([]SigningSecret, error)

var secretForm = regexp.MustCompile(`(?s)^(?:(sec_\w+):)?(.*)$`)

// ParseSecrets reads sec_…:svc-sec-…, or several of them with commas between, as they are during a rotation.
func ParseSecrets(text string) []SigningSecret {
	var secrets []SigningSecret
	for _, part := range strings.Split(text, ",") {
		// A secret that was read from a file mostly ends in a line feed.
		match := secretForm.FindStringSubmatch(strings.TrimSpace(part))
		secrets = append(secrets, SigningSecret{ID: match[1], Secret: match[2]})
	}
	return secrets
}

// Secrets gives secrets that do not change while the program runs, each as ParseSecrets takes them.
func Secrets(texts ...string) SigningSecrets {
	var secrets []SigningSecret
	for _, text := range texts {
		secrets = append(secrets, ParseSecrets(text)...)
	}
	return func() ([]SigningSecret, error) { return secrets, nil }
}

func (source SigningSecrets) read() ([]SigningSecret, error) {
	if source == nil {
		return nil, errors.New("countersign: SigningSecrets is required (svc-sec-…)")
	}
	secrets, err := source()
	if err != nil {
		return nil, err
	}
	for _, secret := range secrets {
		if secret.Secret == "" {
			secrets = nil
			break
		}
	}
	if len(secrets) == 0 {
		return nil, errors.New("countersign: a signing secret is empty: anyone could make its signatures")
	}
	return secrets, nil
}

// candidates are the secrets that may have made a signature of this key id.
func candidates(secrets []SigningSecret, kid string) []SigningSecret {
	var found []SigningSecret
	for _, secret := range secrets {
		if secret.ID == "" || secret.ID == kid {
			found = append(found, secret)
		}
	}
	return found
}

// notSignedText says why a signature does not hold: its secret is not configured, or it is and what was signed is something else.
func notSignedText(kids []string, secrets []SigningSecret) string {
	for _, kid := range kids {
		for _, secret := range secrets {
			if secret.ID == kid {
				return "The secret " + kid + " is configured, but the body is not what it signed: pass the raw bytes, or compare the secret's text."
			}
		}
	}
	return "No configured secret made this signature (kid " + strings.Join(kids, ", ") + ")."
}
