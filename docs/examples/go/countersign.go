// Countersign with Go's standard library alone: call the API, check its signature, check a verdict.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
)

// Client calls one environment. BaseURL ends in /v1; Secrets holds one signing secret, or both during a rotation; KeyID is
// the id of the preferred one.
type Client struct {
	BaseURL, APIKey, KeyID string
	Secrets                []string
}

// ParseSecrets reads `sec_…:svc-sec-…`, two of them with a comma between during a rotation, the preferred one first.
func ParseSecrets(text string) (keyID string, secrets []string) {
	for _, pair := range strings.Split(text, ",") {
		id, secret, _ := strings.Cut(pair, ":")
		if keyID == "" {
			keyID = id
		}
		secrets = append(secrets, secret)
	}
	return keyID, secrets
}

// APIError is a refusal by the service. Code is stable.
type APIError struct {
	Code, Message string
}

func (e APIError) Error() string { return e.Code + ": " + e.Message }

// Given before the service knows whose request it is, so no tenant's secret signs them. None says anything about a user.
var unverifiableCodes = map[string]bool{
	"malformed_request": true, "request_timeout": true, "headers_too_large": true, "missing_api_key": true,
	"malformed_api_key": true, "invalid_api_key": true, "revoked_api_key": true, "wrong_environment": true,
	"unknown_endpoint": true, "method_not_allowed": true, "shutting_down": true, "store_unavailable": true,
	"internal_error": true,
}

var httpClient = &http.Client{
	Timeout: 15 * time.Second,
	// The service never redirects, and a key must not follow whoever does.
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Call sends a request and checks the answer's signature before anybody reads it. A refusal is an APIError.
func (c Client) Call(method, path string, body map[string]any) (answer map[string]any, err error) {
	payload, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(method, c.BaseURL+path, bytes.NewReader(payload))
	if err != nil {
		return nil, err
	}
	key := make([]byte, 16)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.APIKey)
	request.Header.Set("Content-Type", "application/json")
	// During a rotation `jwt` is then signed with this one.
	request.Header.Set("X-Svc-Signing-Key-Id", c.KeyID)
	// The same key again makes a retry safe for 24 hours.
	request.Header.Set("X-Svc-Idempotency-Key", hex.EncodeToString(key))
	response, err := httpClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	signed := SignedResponse{
		Environment: environmentOf(c.APIKey),
		Method:      method, Target: "/v1" + path, Status: response.StatusCode,
		RequestID: response.Header.Get("X-Request-Id"), Signature: response.Header.Get("X-Svc-Signature"), Body: raw,
	}
	fault := signed.Check(c.Secrets, time.Now().Unix(), 300)
	var refusal APIError
	if json.Unmarshal(raw, &refusal) == nil && refusal.Code != "" && (fault == nil || unverifiableCodes[refusal.Code]) {
		return nil, refusal
	}
	if fault != nil {
		return nil, fault
	}
	return answer, json.Unmarshal(raw, &answer)
}

// One secret signs for both environments, so an answer of the other one is refused.
func environmentOf(apiKey string) string {
	if strings.HasPrefix(apiKey, "svc-sbx-") {
		return "sandbox"
	}
	return "production"
}

// SignedResponse is a response with the request that it answers. Environment is `production` or `sandbox`, as the API key
// is; Target is path and query.
type SignedResponse struct {
	Environment, Method, Target, RequestID, Signature string
	Status                                            int
	Body                                              []byte
}

var (
	signatureForm = regexp.MustCompile(`^t=([0-9]{1,12})((?:,kid=[^,=]+,v2=[0-9a-f]{64})+)$`)
	macForm       = regexp.MustCompile(`v2=([0-9a-f]{64})`)
)

// Check fails unless one of the secrets signed the response at most tolerance seconds from now.
func (r SignedResponse) Check(secrets []string, now, tolerance int64) error {
	match := signatureForm.FindStringSubmatch(r.Signature)
	if match == nil {
		return errors.New("malformed signature")
	}
	head := fmt.Sprintf("v2:%s:%s:%s:%d:%s:%s:", r.Environment, match[1], r.RequestID, r.Status, r.Method, r.Target)
	if !anySigned(append([]byte(head), r.Body...), macs(match[2]), secrets) {
		return errors.New("wrong signature")
	}
	if t, _ := strconv.ParseInt(match[1], 10, 64); now-t > tolerance || t-now > tolerance {
		return errors.New("signature too old or ahead")
	}
	return nil
}

func macs(pairs string) (found [][]byte) {
	for _, match := range macForm.FindAllStringSubmatch(pairs, -1) {
		mac, _ := hex.DecodeString(match[1])
		found = append(found, mac)
	}
	return found
}

func anySigned(data []byte, macs [][]byte, secrets []string) bool {
	for _, secret := range secrets {
		own := hmac.New(sha256.New, []byte(secret))
		own.Write(data)
		for _, mac := range macs {
			if hmac.Equal(own.Sum(nil), mac) {
				return true
			}
		}
	}
	return false
}

// Expected is what a verdict must be about. An empty Nonce or Issuer is not checked.
type Expected struct {
	Audience    string `json:"audience"`
	Issuer      string `json:"issuer"`
	Environment string `json:"environment"`
	UserID      string `json:"user_id"`
	Nonce       string `json:"nonce"`
	// AcceptEvaluationGrade takes production verdicts of a model pack of evaluation grade: for demos and trials only.
	AcceptEvaluationGrade bool `json:"accept_evaluation_grade"`
	// AcceptReplays takes approvals whose photo was seen before within 24 hours.
	AcceptReplays bool `json:"accept_replays"`
	// Action as decoded by json.Decoder.UseNumber, or of strings, maps, slices and float64.
	Action any `json:"-"`
}

// Claims are those of a verdict that an application looks at.
type Claims struct {
	Issuer      string `json:"iss"`
	Audience    string `json:"aud"`
	Subject     string `json:"sub"`
	NotBefore   int64  `json:"nbf"`
	Expires     *int64 `json:"exp"`
	ID          string `json:"jti"`
	Environment string `json:"env"`
	Verdict     string `json:"verdict"`
	Reason      string `json:"reason"`
	ActionHash  string `json:"action_hash"`
	Nonce       string `json:"nonce"`
	ModelGrade  string `json:"model_grade"`
	Replay      struct {
		Suspected *bool `json:"suspected"`
	} `json:"replay"`
}

// Seen remembers used verdicts. Several processes must share theirs: in a database, with a unique constraint.
type Seen struct{ ids sync.Map }

const clockToleranceSeconds = 60

// VerifyVerdict gives the claims of an approval that was not used before.
func VerifyVerdict(jwt string, secrets []string, expected Expected, seen *Seen, now int64) (claims Claims, err error) {
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		return claims, errors.New("malformed token")
	}
	var header struct {
		Alg, Typ string
		Crit     any
	}
	if decodePart(parts[0], &header) != nil || header.Alg != "HS256" || header.Typ != "stepup+jwt" || header.Crit != nil {
		return claims, errors.New("another kind of token")
	}
	mac, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !anySigned([]byte(parts[0]+"."+parts[1]), [][]byte{mac}, secrets) {
		return claims, errors.New("wrong signature")
	}
	if err := decodePart(parts[1], &claims); err != nil || claims.Expires == nil || claims.ID == "" {
		return claims, errors.New("malformed token")
	}
	hash, err := ActionHash(expected.Action)
	if err != nil {
		return claims, err
	}
	for _, check := range []struct {
		holds  bool
		reason string
	}{
		{now < *claims.Expires+clockToleranceSeconds && now >= claims.NotBefore-clockToleranceSeconds, "expired"},
		{claims.Audience == expected.Audience, "wrong audience"},
		{expected.Issuer == "" || claims.Issuer == expected.Issuer, "wrong issuer"},
		{claims.Environment == expected.Environment, "wrong environment"},
		{claims.Subject == expected.UserID, "wrong user"},
		{claims.ActionHash == hash, "wrong action"},
		{expected.Nonce == "" || claims.Nonce == expected.Nonce, "wrong nonce"},
		{claims.Verdict == "approved", "not approved: " + claims.Reason},
		{expected.Environment != "production" || expected.AcceptEvaluationGrade || claims.ModelGrade == "production", "evaluation grade"},
		{expected.AcceptReplays || claims.Replay.Suspected != nil && !*claims.Replay.Suspected, "photo seen before"},
	} {
		if !check.holds {
			return claims, errors.New(check.reason)
		}
	}
	if _, used := seen.ids.LoadOrStore(claims.ID, true); used {
		return claims, errors.New("already used")
	}
	return claims, nil
}

func decodePart(part string, into any) error {
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// ActionHash is SHA-256 of the canonical form, in hex.
func ActionHash(action any) (string, error) {
	text, err := Canonical(action)
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:]), err
}

// Canonical is RFC 8785.
func Canonical(value any) (string, error) {
	switch v := value.(type) {
	case nil, bool:
		text, err := json.Marshal(v)
		return string(text), err
	case string:
		return canonicalString(v), nil
	case json.Number:
		number, err := v.Float64()
		if err != nil {
			return "", err
		}
		return canonicalNumber(number)
	case float64:
		return canonicalNumber(v)
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			text, err := Canonical(item)
			if err != nil {
				return "", err
			}
			items[i] = text
		}
		return "[" + strings.Join(items, ",") + "]", nil
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		sort.Slice(names, func(i, j int) bool { return lessUTF16(names[i], names[j]) })
		for i, name := range names {
			text, err := Canonical(v[name])
			if err != nil {
				return "", err
			}
			names[i] = canonicalString(name) + ":" + text
		}
		return "{" + strings.Join(names, ",") + "}", nil
	}
	return "", fmt.Errorf("%T is not a JSON value", value)
}

// In the order of UTF-16 code units; Go itself would compare bytes of UTF-8.
func lessUTF16(a, b string) bool {
	x, y := utf16.Encode([]rune(a)), utf16.Encode([]rune(b))
	for i := 0; i < len(x) && i < len(y); i++ {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return len(x) < len(y)
}

var shortEscapes = map[rune]string{'\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`, '"': `\"`, '\\': `\\`}

// encoding/json escapes more than RFC 8785 does.
func canonicalString(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range text {
		if short, ok := shortEscapes[r]; ok {
			out.WriteString(short)
		} else if r < 0x20 {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// ECMAScript's form: plain digits from 1e-6 to below 1e21, an exponent beyond.
func canonicalNumber(number float64) (string, error) {
	if math.IsNaN(number) || math.IsInf(number, 0) {
		return "", errors.New("not a JSON number")
	}
	// Not every reader takes them for the same number, and the service refuses them.
	if number == math.Trunc(number) && math.Abs(number) > 1<<53-1 {
		return "", errors.New("an integer beyond 2^53 - 1: send it as a string")
	}
	if number == 0 {
		return "0", nil
	}
	if size := math.Abs(number); size >= 1e-6 && size < 1e21 {
		return strconv.FormatFloat(number, 'f', -1, 64), nil
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(number, 'e', -1, 64), "e")
	// Go writes two digits at least: e-07.
	return mantissa + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0"), nil
}
