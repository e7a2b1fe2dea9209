package countersign

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// Environments.
const (
	Production = "production"
	Sandbox    = "sandbox"
)

// DefaultSignatureTolerance is the greatest age of the signature of a response or a webhook.
const DefaultSignatureTolerance = 300 * time.Second

// The service signs with two secrets at most; a longer list would only make work.
const maxSignatures = 8

var (
	signatureForm = regexp.MustCompile(`^t=([0-9]{1,12})((?:,kid=[^,=]{1,255},v2=[0-9a-f]{64})+)$`)
	signaturePair = regexp.MustCompile(`kid=([^,]+),v2=([0-9a-f]{64})`)
)

// SignedResponse is a response with the request that it answers.
type SignedResponse struct {
	// Environment is the one that was called: that of the API key.
	Environment string
	// Signature is X-Svc-Signature, RequestID is X-Request-Id.
	Signature, RequestID string
	Status               int
	Method               string
	// Target is path and query, as the service sees it: it begins with /v1.
	Target string
	// Body holds the bytes as received.
	Body []byte
}

// Check fails with a SignatureError unless one of the secrets signed this answer to this request in this environment.
func (r SignedResponse) Check(secrets []SigningSecret, now time.Time, tolerance time.Duration) error {
	head := func(environment, timestamp string) string {
		return fmt.Sprintf("v2:%s:%s:%s:%d:%s:%s:", environment, timestamp, r.RequestID, r.Status, r.Method, r.Target)
	}
	return assertSigned(r.Signature, secrets, r.Environment, head, r.Body, now, tolerance)
}

type keyedMAC struct {
	kid string
	mac []byte
}

func assertSigned(signature string, secrets []SigningSecret, environment string, head func(environment, timestamp string) string, body []byte, now time.Time, tolerance time.Duration) error {
	timestamp, macs, err := parseSignature(signature)
	if err != nil {
		return err
	}
	isSignedFor := func(environment string) bool {
		return isSigned(append([]byte(head(environment, timestamp)), body...), macs, secrets)
	}
	if !isSignedFor(environment) {
		other := Production
		if environment == Production {
			other = Sandbox
		}
		if isSignedFor(other) {
			return &SignatureError{"wrong_environment", fmt.Sprintf("It was signed for the %s, and %s is expected: it must not be "+
				"used. Check the base URL, and what stands between you and the service.", other, environment)}
		}
		var kids []string
		for _, signed := range macs {
			kids = append(kids, signed.kid)
		}
		return &SignatureError{"signature_invalid", notSignedText(kids, secrets)}
	}
	// Only a checked signature proves that the time is the service's.
	seconds, _ := strconv.ParseInt(timestamp, 10, 64)
	at := time.Unix(seconds, 0)
	if age := now.Sub(at); age > tolerance || -age > tolerance {
		return &SignatureError{"signature_expired", signedText(at, now, tolerance)}
	}
	return nil
}

func isSigned(signed []byte, macs []keyedMAC, secrets []SigningSecret) bool {
	for _, one := range macs {
		for _, secret := range candidates(secrets, one.kid) {
			own := hmac.New(sha256.New, []byte(secret.Secret))
			own.Write(signed)
			if hmac.Equal(own.Sum(nil), one.mac) {
				return true
			}
		}
	}
	return false
}

// parseSignature reads t=<unix seconds>,kid=<id>,v2=<hex>, with a second kid,v2 pair in an overlap.
func parseSignature(header string) (timestamp string, macs []keyedMAC, err error) {
	if header == "" {
		return "", nil, &SignatureError{"signature_missing", "There is no X-Svc-Signature."}
	}
	match := signatureForm.FindStringSubmatch(header)
	if match != nil {
		for _, pair := range signaturePair.FindAllStringSubmatch(match[2], -1) {
			mac, _ := hex.DecodeString(pair[2])
			macs = append(macs, keyedMAC{pair[1], mac})
		}
	}
	if match == nil || len(macs) > maxSignatures {
		return "", nil, &SignatureError{"signature_malformed", "X-Svc-Signature is not of the documented form."}
	}
	return match[1], macs, nil
}
