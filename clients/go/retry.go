package countersign

import (
	"context"
	"errors"
	"math/rand"
	"net/http"
	"regexp"
	"strconv"
	"syscall"
	"time"
)

const (
	firstDelay = 500 * time.Millisecond
	maxDelay   = 8 * time.Second
)

// refusedDelay is how long to wait after a refused connection, and false when the time for that is over. The request has not reached
// anybody, and a service that starts again listens soon: so time bounds these tries, and not their number.
func refusedDelay(elapsed, most time.Duration) (time.Duration, bool) {
	delay := time.Duration(rand.Float64() * float64(firstDelay))
	return delay, elapsed+delay < most
}

func isRefused(err error) bool {
	var failed *ConnectionError
	return errors.As(err, &failed) && errors.Is(failed.Err, syscall.ECONNREFUSED)
}

// retryDelay is how long to wait before the next try, and false when trying again is no use. Every call may be repeated: POST
// carries an idempotency key, and a repeated DELETE gets the same receipt.
func retryDelay(err error, retry, maxRetries int, maxRetryAfter time.Duration) (time.Duration, bool) {
	if retry >= maxRetries || !isTransient(err) {
		return 0, false
	}
	var asked time.Duration
	if refusal := (*APIError)(nil); errors.As(err, &refusal) {
		asked = refusal.RetryAfter
	}
	if asked > maxRetryAfter {
		return 0, false
	}
	most := maxDelay
	if retry < 4 {
		most = firstDelay << retry
	}
	// Full jitter, on top of what the service asks for: callers that were refused together must not return together.
	return asked + time.Duration(rand.Float64()*float64(most)), true
}

func isTransient(err error) bool {
	var refusal *APIError
	var unexpected *UnexpectedResponseError
	var failed *ConnectionError
	var late *TimeoutError
	switch {
	case errors.As(err, &refusal):
		// A wrong API key stays wrong.
		if refusal.Code == "too_many_wrong_keys" {
			return false
		}
		// No other conflict passes within the time of a call.
		return refusal.Status == http.StatusTooManyRequests || refusal.Status >= 500 || refusal.Code == "idempotency_in_progress"
	case errors.As(err, &unexpected):
		// A proxy in front of the service answers 502 to 504 when the service cannot.
		return unexpected.Status >= 502 && unexpected.Status <= 504
	}
	return errors.As(err, &failed) || errors.As(err, &late)
}

var onlyDigits = regexp.MustCompile(`^[0-9]{1,9}$`)

// parseRetryAfter takes either form of RFC 9110, section 10.2.3.
func parseRetryAfter(header string, now time.Time) time.Duration {
	if onlyDigits.MatchString(header) {
		seconds, _ := strconv.Atoi(header)
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(header)
	if err != nil || at.Before(now) {
		return 0
	}
	return at.Sub(now)
}

func sleep(ctx context.Context, delay time.Duration) error {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
