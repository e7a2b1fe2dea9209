package countersign

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

const webhookBody = `{"id":"evt_1","type":"webhook.test","created_at":"2026-01-31T12:00:00Z","data":{}}`

var webhookTime = time.Unix(1_800_000_000, 0)

func webhookSignature() string {
	mac := hmac.New(sha256.New, []byte("svc-sec-1"))
	fmt.Fprintf(mac, "webhook:v2:production:%d:evt_1:%s", webhookTime.Unix(), webhookBody)
	return fmt.Sprintf("t=%d,kid=sec_1,v2=%s", webhookTime.Unix(), hex.EncodeToString(mac.Sum(nil)))
}

func verifyTestWebhook(headers Headers, body string) error {
	secrets := Secrets("sec_1:svc-sec-1")
	_, err := VerifyWebhook(headers, []byte(body), secrets, WebhookOptions{Now: func() time.Time { return webhookTime }})
	return err
}

// asked is a framework's own type of headers.
type asked struct{ held HeaderMap }

func (a asked) Get(name string) string { return a.held.Get(name) }

func TestWebhookHeadersOfEveryForm(t *testing.T) {
	signature := webhookSignature()
	for form, headers := range map[string]Headers{
		"canonical": http.Header{"X-Svc-Webhook-Id": {"evt_1"}, "X-Svc-Signature": {signature}},
		"as sent":   http.Header{"x-svc-webhook-id": {"evt_1"}, "X-SVC-SIGNATURE": {signature}},
		"map":       HeaderMap{"x-svc-webhook-id": "evt_1", "X-Svc-Signature": signature},
		"asked":     asked{HeaderMap{"x-svc-webhook-id": "evt_1", "x-svc-signature": signature}},
	} {
		if err := verifyTestWebhook(headers, webhookBody); err != nil {
			t.Errorf("%s: %v", form, err)
		}
	}
}

func TestWebhookHeadersThatAreRefused(t *testing.T) {
	signature := webhookSignature()
	for _, refused := range []struct {
		code    string
		headers Headers
	}{
		{"signature_malformed", http.Header{"x-svc-webhook-id": {"evt_1"}, "x-svc-signature": {signature, signature}}},
		{"signature_malformed", http.Header{"x-svc-webhook-id": {"evt_1"}, "x-svc-signature": {signature}, "X-Svc-Signature": {signature}}},
		{"signature_missing", http.Header{}},
		{"signature_missing", HeaderMap(nil)},
		{"signature_missing", nil},
	} {
		var fault *SignatureError
		if err := verifyTestWebhook(refused.headers, webhookBody); !errors.As(err, &fault) || fault.Code != refused.code {
			t.Errorf("%v is expected: %v", refused.code, err)
		}
	}
}

func TestWebhookBodyInBase64(t *testing.T) {
	headers := HeaderMap{"x-svc-webhook-id": "evt_1", "x-svc-signature": webhookSignature()}
	err := verifyTestWebhook(headers, base64.StdEncoding.EncodeToString([]byte(webhookBody)))
	if err == nil || !strings.Contains(err.Error(), "isBase64Encoded") {
		t.Errorf("the cause is not named: %v", err)
	}
}
