package countersign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// WebhookOptions is how a webhook is checked.
type WebhookOptions struct {
	// Environment whose events are expected; default production, so that an event of the sandbox never passes by omission.
	Environment string
	// SignatureTolerance is the greatest age of the signature; default 300 s.
	SignatureTolerance time.Duration
	// Now defaults to time.Now.
	Now func() time.Time
}

// base64Object is how an object of JSON begins in base64. No JSON begins in this way.
var base64Object = []byte("eyJ")

// VerifyWebhook gives the event once its signature holds, and else fails with a SignatureError. The body is the raw one, because
// the signature covers its bytes. An event may come more than once, with the same ID.
func VerifyWebhook(headers Headers, body []byte, secrets SigningSecrets, options WebhookOptions) (*WebhookEvent, error) {
	if options.Environment == "" {
		options.Environment = Production
	}
	if options.SignatureTolerance == 0 {
		options.SignatureTolerance = DefaultSignatureTolerance
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	held, err := secrets.read()
	if err != nil {
		return nil, err
	}
	id, err := headerOf(headers, "X-Svc-Webhook-Id")
	if err != nil {
		return nil, err
	}
	signature, err := headerOf(headers, "X-Svc-Signature")
	if err != nil {
		return nil, err
	}
	if signature != "" && bytes.HasPrefix(body, base64Object) {
		return nil, &SignatureError{"signature_invalid", "The body is base64, and not the JSON that was signed: " +
			"decode it first, as a serverless host asks for with isBase64Encoded."}
	}
	head := func(environment, timestamp string) string {
		return fmt.Sprintf("webhook:v2:%s:%s:%s:", environment, timestamp, id)
	}
	if err := assertSigned(signature, held, options.Environment, head, body, options.Now(), options.SignatureTolerance); err != nil {
		return nil, err
	}
	var event WebhookEvent
	if err := json.Unmarshal(body, &event); err != nil {
		return nil, err
	}
	if event.ID != id {
		return nil, &SignatureError{"response_mismatch", "The body is of another event than its header says."}
	}
	return &event, nil
}
