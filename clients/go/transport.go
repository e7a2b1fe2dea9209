package countersign

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
	"unicode/utf8"
)

type outgoing struct {
	method string
	// path follows /v1 and has the query; name is the path as errors show it, which names no user.
	path, name string
	body       []byte
	call       callOptions
}

type settable interface {
	set(raw []byte, info ResponseInfo)
}

// send gives the body of an answer that is no refusal. A degraded health report is one, too.
func (c *Client) send(ctx context.Context, out outgoing, answer settable) error {
	started := time.Now()
	maxRetries := c.maxRetries
	if out.call.maxRetries != nil {
		maxRetries = *out.call.maxRetries
	}
	retries := 0
	for attempt := 1; ; attempt++ {
		soFar := func() Attempts { return Attempts{attempt, time.Since(started)} }
		err := c.attempt(ctx, out, answer, soFar)
		if err == nil {
			return nil
		}
		var delay time.Duration
		var again bool
		if isRefused(err) && maxRetries > 0 {
			delay, again = refusedDelay(time.Since(started), c.connectRetry)
		} else {
			delay, again = retryDelay(err, retries, maxRetries, c.maxRetryAfter)
			retries++
		}
		if !again || ctx.Err() != nil {
			return err
		}
		if err := sleep(ctx, delay); err != nil {
			return err
		}
	}
}

func (c *Client) attempt(ctx context.Context, out outgoing, answer settable, soFar func() Attempts) error {
	var secrets []SigningSecret
	if !c.skipResponseSignatures {
		var err error
		// Read again for every try: a rotation may have come between.
		if secrets, err = c.trust.SigningSecrets.read(); err != nil {
			return err
		}
	}
	response, body, err := c.exchange(ctx, out, secrets, soFar)
	if err != nil {
		return err
	}
	var fault error
	if secrets != nil {
		fault = SignedResponse{
			Environment: c.environment, Method: out.method, Status: response.StatusCode, Body: body,
			// A proxy may add a prefix to the path; the service signs the path from /v1 on.
			Target:    "/v1" + out.path,
			Signature: response.Header.Get("X-Svc-Signature"), RequestID: response.Header.Get("X-Request-Id"),
		}.Check(secrets, c.trust.Now(), c.signatureTolerance)
	}
	retryAfter := parseRetryAfter(response.Header.Get("Retry-After"), c.trust.Now())
	isObject := utf8.Valid(body) && json.Unmarshal(body, &map[string]json.RawMessage{}) == nil && !bytes.Equal(bytes.TrimSpace(body), []byte("null"))
	if refusal := parseAPIError(body); isObject && refusal != nil {
		if fault != nil && !contains(unverifiableCodes, refusal.Code) {
			return fault
		}
		refusal.Status, refusal.RetryAfter, refusal.Verified = response.StatusCode, retryAfter, fault == nil
		return refusal
	}
	isSuccess := response.StatusCode >= 200 && response.StatusCode < 300
	// A page of something else on the way has no signature: its status says more than that.
	if !isObject || fault != nil && !isSuccess {
		return &UnexpectedResponseError{response.StatusCode}
	}
	if fault != nil {
		return fault
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return err
	}
	answer.set(body, ResponseInfo{
		Status:    response.StatusCode,
		RequestID: response.Header.Get("X-Request-Id"),
		Replayed:  response.Header.Get("X-Svc-Idempotent-Replay") == "true",
		// The header of an approval has none, so that zero is nothing to wait for.
		RetryAfter: retryAfter,
		Attempts:   soFar(),
	})
	return nil
}

func (c *Client) exchange(ctx context.Context, out outgoing, secrets []SigningSecret, soFar func() Attempts) (*http.Response, []byte, error) {
	timeout := c.timeout
	if out.call.timeout != 0 {
		timeout = out.call.timeout
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(limited, out.method, c.baseURL+out.path, bytes.NewReader(out.body))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.apiKey)
	request.Header.Set("Content-Type", "application/json")
	if len(secrets) > 0 && secrets[0].ID != "" {
		// During a rotation jwt is then signed with this secret.
		request.Header.Set("X-Svc-Signing-Key-Id", secrets[0].ID)
	}
	if out.call.idempotencyKey != "" {
		request.Header.Set("X-Svc-Idempotency-Key", out.call.idempotencyKey)
	}
	if out.call.requestID != "" {
		request.Header.Set("X-Request-Id", out.call.requestID)
	}
	response, err := c.http.Do(request)
	var body []byte
	if err == nil {
		defer response.Body.Close()
		body, err = io.ReadAll(response.Body)
	}
	switch {
	case err == nil:
		return response, body, nil
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded) || limited.Err() != nil:
		return nil, nil, &TimeoutError{Attempts: soFar(), Timeout: timeout, Err: err}
	}
	return nil, nil, &ConnectionError{Attempts: soFar(), Method: out.method, Path: out.name, Err: plainCause(err)}
}

// plainCause leaves out the address that net/http writes into its errors, since a path may name a user.
func plainCause(err error) error {
	var wrapped interface {
		error
		Unwrap() error
		Timeout() bool
	}
	if errors.As(err, &wrapped) {
		if cause := wrapped.Unwrap(); cause != nil {
			return cause
		}
	}
	return err
}
