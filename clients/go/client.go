package countersign

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Options of a Client. BaseURL, APIKey and SigningSecrets are required.
type Options struct {
	// BaseURL is that of the key's environment, such as https://countersign.example.com/v1.
	BaseURL string
	// APIKey is svc-prod-… or svc-sbx-….
	APIKey         string
	SigningSecrets SigningSecrets
	// TenantID is ten_…, which verdicts must name; default: the tenant whose signing secret made the verdict.
	TenantID string
	// SkipResponseSignatures leaves X-Svc-Signature unchecked.
	SkipResponseSignatures bool
	// ClockTolerance is the greatest difference of the clocks for the times of a verdict: at most 300 s, default 60 s, none when
	// negative. A verdict can be used for as long after its expiry.
	ClockTolerance time.Duration
	// SignatureTolerance is the greatest age of the signature of a response or a webhook; default 300 s.
	SignatureTolerance time.Duration
	// Timeout is of one try; default 15 s. The service gives up after 10 s.
	Timeout time.Duration
	// MaxRetries is how many tries follow the first; default 2, none when negative.
	MaxRetries int
	// MaxRetryAfter leaves a longer Retry-After to you; default 30 s.
	MaxRetryAfter time.Duration
	// ConnectRetry is how long a refused connection is tried again, however many tries that takes; default 10 s. Without retries it is
	// not. A service that starts again listens soon.
	ConnectRetry time.Duration
	// MaxBodyBytes refuses a larger request before it is sent; default 8 MiB, as the service's.
	MaxBodyBytes int
	// AcceptEvaluationGrade takes production verdicts of a model pack that is not of production grade (evaluation or ungrouped): for demos,
	// and where those who answer for the service have signed that off.
	AcceptEvaluationGrade bool
	// ReplayStore is where used verdicts are remembered; default: this client's memory.
	ReplayStore ReplayStore
	// AllowInsecureHTTP allows http to other hosts than this one, which sends key and photos unencrypted.
	AllowInsecureHTTP bool
	// Transport defaults to http.DefaultTransport.
	Transport http.RoundTripper
	// Now defaults to time.Now.
	Now func() time.Time
}

// Client calls one environment. It is safe for concurrent use. Its methods fail with an *APIError, *ConnectionError,
// *TimeoutError, *SignatureError or *UnexpectedResponseError, with the error of the context, or with a plain error for
// wrong arguments.
type Client struct {
	baseURL, apiKey, environment string
	skipResponseSignatures       bool
	signatureTolerance           time.Duration
	timeout, maxRetryAfter       time.Duration
	connectRetry                 time.Duration
	maxRetries, maxBodyBytes     int
	trust                        Trust
	http                         *http.Client
}

// New fails for options that cannot work.
func New(options Options) (*Client, error) {
	environment, err := environmentOf(options.APIKey)
	if err != nil {
		return nil, err
	}
	baseURL, err := checkedBaseURL(options.BaseURL, options.AllowInsecureHTTP)
	if err != nil {
		return nil, err
	}
	if _, err := options.SigningSecrets.read(); err != nil {
		return nil, err
	}
	if _, err := clockTolerance(options.ClockTolerance); err != nil {
		return nil, err
	}
	now := options.Now
	if now == nil {
		now = time.Now
	}
	store := options.ReplayStore
	if store == nil {
		store = &MemoryReplayStore{Now: now}
	}
	return &Client{
		baseURL: baseURL, apiKey: options.APIKey, environment: environment,
		skipResponseSignatures: options.SkipResponseSignatures,
		signatureTolerance:     orDefault(options.SignatureTolerance, DefaultSignatureTolerance),
		timeout:                orDefault(options.Timeout, 15*time.Second),
		maxRetryAfter:          orDefault(options.MaxRetryAfter, 30*time.Second),
		connectRetry:           orDefault(options.ConnectRetry, 10*time.Second),
		maxRetries:             orDefault(options.MaxRetries, 2),
		maxBodyBytes:           orDefault(options.MaxBodyBytes, DefaultMaxBodyBytes),
		trust: Trust{
			SigningSecrets: options.SigningSecrets, Audience: options.TenantID, Environment: environment,
			AcceptEvaluationGrade: options.AcceptEvaluationGrade, ReplayStore: store,
			ClockTolerance: options.ClockTolerance, Now: now,
		},
		http: &http.Client{
			Transport: options.Transport,
			// The service never redirects, and a key must not follow a redirect of anything else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Environment is production or sandbox, by the key's prefix.
func (c *Client) Environment() string { return c.environment }

// String hides the API key from logs.
func (c *Client) String() string {
	return "countersign.Client(" + c.environment + ", " + c.baseURL + ")"
}

// GoString hides the API key from logs.
func (c *Client) GoString() string { return c.String() }

type callOptions struct {
	idempotencyKey, requestID string
	timeout                   time.Duration
	maxRetries                *int
}

// CallOption is what one call does differently from its client.
type CallOption func(*callOptions)

// WithIdempotencyKey makes a repeat safe for 24 hours; default: a new key for every call, the same for its retries.
func WithIdempotencyKey(key string) CallOption {
	return func(o *callOptions) { o.idempotencyKey = key }
}

// WithRequestID sends your own id of the request, for the service's log.
func WithRequestID(id string) CallOption { return func(o *callOptions) { o.requestID = id } }

// WithTimeout limits one try.
func WithTimeout(timeout time.Duration) CallOption {
	return func(o *callOptions) { o.timeout = timeout }
}

// WithMaxRetries sets how many tries follow the first; 0 for none.
func WithMaxRetries(retries int) CallOption {
	return func(o *callOptions) { o.maxRetries = &retries }
}

// Enroll captures a user's biometric reference.
func (c *Client) Enroll(ctx context.Context, request EnrollRequest, options ...CallOption) (*EnrollResult, error) {
	return enroll(ctx, c, enrollment{EnrollRequest: request}, options, func(r *EnrollResult) string { return r.UserID })
}

// AddPhotos adds photos to the reference of an enrolled user. Each must match it.
func (c *Client) AddPhotos(ctx context.Context, userID string, photos Photos, options ...CallOption) (*EnrollResult, error) {
	body := enrollment{EnrollRequest: EnrollRequest{UserID: userID, Photos: photos}, Add: true}
	return enroll(ctx, c, body, options, func(r *EnrollResult) string { return r.UserID })
}

// AssessPhotos tells whether photos are good enough to enroll with, and stores nothing.
func (c *Client) AssessPhotos(ctx context.Context, userID string, photos Photos, options ...CallOption) (*AssessResult, error) {
	body := enrollment{EnrollRequest: EnrollRequest{UserID: userID, Photos: photos}, DryRun: true}
	return enroll(ctx, c, body, options, func(r *AssessResult) string { return r.UserID })
}

type enrollment struct {
	EnrollRequest
	Add    bool `json:"add,omitempty"`
	DryRun bool `json:"dry_run,omitempty"`
}

func enroll[T any, A answering[T]](ctx context.Context, c *Client, body enrollment, options []CallOption, userOf func(A) string) (A, error) {
	if err := body.Photos.check(); err != nil {
		return nil, err
	}
	return ask(ctx, c, post("/enroll"), body, options, func(r A) bool { return userOf(r) == body.UserID })
}

// Verify asks whether this is really that person, for this action. A rejection is an answer, not an error. Give the Token of the
// result to VerifyVerdict where the action runs.
func (c *Client) Verify(ctx context.Context, request VerifyRequest, options ...CallOption) (*VerifyResult, error) {
	if err := assertAction(request.Action); err != nil {
		return nil, err
	}
	if err := request.Photos.check(); err != nil {
		return nil, err
	}
	hash, err := ActionHash(request.Action)
	if err != nil {
		return nil, err
	}
	key := applied(options).idempotencyKey
	// A retry must be the same request to the byte. Without a key of the caller, so must a double click be; later it is another request,
	// so that an answer of before is none to it.
	if request.Nonce == "" {
		request.Nonce = key
	}
	if request.Nonce == "" {
		if request.Nonce, err = c.nonceOf(request); err != nil {
			return nil, err
		}
	}
	if key == "" {
		if key, err = newKey(); err != nil {
			return nil, err
		}
	}
	// The signature does not name the request, so a well-signed approval of another one could be put in its place.
	answers := func(r *VerifyResult) bool {
		claims, err := uncheckedClaims(r.JWT)
		return err == nil && r.UserID == request.UserID && claims.Subject == request.UserID && claims.ActionHash == hash &&
			claims.Nonce != nil && *claims.Nonce == request.Nonce && claims.Environment == c.environment && claims.Verdict == r.Verdict
	}
	result, err := ask(ctx, c, post("/verify"), request, with(options, WithIdempotencyKey(key)), answers)
	if err != nil {
		return nil, err
	}
	secrets, err := c.trust.SigningSecrets.read()
	if err != nil {
		return nil, err
	}
	result.JWT = checkable(result.Token(), secrets)
	return result, nil
}

// repeat is as long as the service gives the first answer to a request again.
const repeat = 30 * time.Second

// nonceOf is the same for the same request within repeat, and a secret to everybody without the API key.
func (c *Client) nonceOf(request VerifyRequest) (string, error) {
	content, err := json.Marshal(request)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, []byte(c.apiKey))
	mac.Write(content)
	mac.Write([]byte(strconv.FormatInt(c.trust.Now().Unix()/int64(repeat/time.Second), 10)))
	return hex.EncodeToString(mac.Sum(nil)), nil
}

// CreateChallenge asks what the person is to do before the camera, for one user and one action. The frames go to Verify or Enroll
// as Photos.Challenge.
func (c *Client) CreateChallenge(ctx context.Context, request ChallengeRequest, options ...CallOption) (*Challenge, error) {
	if request.Purpose != "enroll" {
		if err := assertAction(request.Action); err != nil {
			return nil, err
		}
	}
	return ask(ctx, c, post("/challenges"), request, options, func(r *Challenge) bool {
		return r.UserID == request.UserID && r.Purpose == orDefault(request.Purpose, "verify")
	})
}

// Guide tells what a person before the camera can do better, by one small frame. It is not tried again: go on without it where it
// fails.
func (c *Client) Guide(ctx context.Context, request GuidanceRequest, options ...CallOption) (*Guidance, error) {
	if len(request.Image) == 0 {
		return nil, unreadable("image", "is empty")
	}
	options = append([]CallOption{WithMaxRetries(0)}, options...)
	return ask(ctx, c, post(guidancePath), request, options, func(r *Guidance) bool {
		return r.Step == orDefault(request.Step, "frontal")
	})
}

// CreateCaptureSession makes a link to the hosted capture page, for one user and one action. Keep the SessionID with the person
// whom you send to the URL: the id that comes back in an address may be another person's.
func (c *Client) CreateCaptureSession(ctx context.Context, request CaptureSessionRequest, options ...CallOption) (*CaptureSessionLink, error) {
	if request.Purpose != "enroll" {
		if err := assertAction(request.Action); err != nil {
			return nil, err
		}
	}
	return ask(ctx, c, post("/capture-sessions"), request, options, func(r *CaptureSessionLink) bool {
		return r.UserID == request.UserID && r.Purpose == orDefault(request.Purpose, "verify")
	})
}

// idForm is the form of the ids that the service gives out.
var idForm = regexp.MustCompile(`^[\w-]{1,64}$`)

// GetCaptureSession reads how far a session has come. Give its Token to VerifyVerdict, with the CaptureSessionID that you kept. The
// proof is capture_proof from the address with which the person came back; without it (empty), only a session that was made with Browser
// any gives its result.
func (c *Client) GetCaptureSession(ctx context.Context, sessionID, proof string, options ...CallOption) (*CaptureSession, error) {
	if !idForm.MatchString(sessionID) {
		return nil, fmt.Errorf("countersign: the id of the session is %q: give the SessionID of CreateCaptureSession", sessionID)
	}
	out := get("/capture-sessions/"+sessionID, "/capture-sessions/{session_id}", map[string]string{"proof": proof})
	return ask(ctx, c, out, nil, options, func(r *CaptureSession) bool { return r.SessionID == sessionID })
}

// Delete erases everything that is kept of a user. A repeat within 24 hours gets the same receipt.
func (c *Client) Delete(ctx context.Context, userID string, options ...CallOption) (*DeleteResult, error) {
	out, body := outgoing{method: http.MethodDelete, path: "/delete", name: "/delete"}, map[string]string{"user_id": userID}
	return ask(ctx, c, out, body, options, func(r *DeleteResult) bool { return r.UserID == userID })
}

// GetUser tells what is known of an enrolled user, nothing biometric; reference_not_found for anyone else.
func (c *Client) GetUser(ctx context.Context, userID string, options ...CallOption) (*User, error) {
	part, err := pathPart(userID)
	if err != nil {
		return nil, err
	}
	out := get("/users/"+part, "/users/{user_id}", nil)
	return ask(ctx, c, out, nil, options, func(r *User) bool { return r.UserID == userID })
}

// RecordConsent records that an enrolled user has agreed again, or to another text, without a photo. Ask for the consent where
// the person is signed in.
func (c *Client) RecordConsent(ctx context.Context, userID string, consent Consent, options ...CallOption) (*RecordedConsent, error) {
	part, err := pathPart(userID)
	if err != nil {
		return nil, err
	}
	out := outgoing{method: http.MethodPost, path: "/users/" + part + "/consent", name: "/users/{user_id}/consent"}
	body := map[string]Consent{"consent": consent}
	return ask(ctx, c, out, body, options, func(r *RecordedConsent) bool { return r.UserID == userID })
}

// VerificationQuery is what the caller knows about a verification.
type VerificationQuery struct {
	// UserID is the user who was verified. A verification of another user is not found.
	UserID string
	// Action makes the answer say whether the user was verified for it. It needs UserID.
	Action Action
	// DisplayHash makes the answer say whether the person was shown the text with this hash. It needs UserID.
	DisplayHash string
}

// GetVerification looks an earlier verification up. The answer is no approval: only a checked JWT is.
func (c *Client) GetVerification(ctx context.Context, verificationID string, known VerificationQuery, options ...CallOption) (*Verification, error) {
	if !idForm.MatchString(verificationID) {
		return nil, fmt.Errorf("countersign: the id of the verification is %q: give the VerificationID of Verify", verificationID)
	}
	query := map[string]string{"user_id": known.UserID, "display_hash": known.DisplayHash}
	if known.Action != nil {
		if known.UserID == "" {
			return nil, errors.New("countersign: an action needs the user: give UserID")
		}
		var err error
		if query["action_hash"], err = ActionHash(known.Action); err != nil {
			return nil, err
		}
	}
	if known.DisplayHash != "" && known.UserID == "" {
		return nil, errors.New("countersign: a display hash needs the user: give UserID")
	}
	out := get("/verifications/"+verificationID, "/verifications/{verification_id}", query)
	return ask(ctx, c, out, nil, options, func(r *Verification) bool {
		return r.VerificationID == verificationID && r.UserID == known.UserID
	})
}

// AuditPage is a page of the tenant's audit log. The sandbox has none.
func (c *Client) AuditPage(ctx context.Context, request AuditListRequest, options ...CallOption) (*AuditPage, error) {
	query := map[string]string{"after": request.After, "event": request.Event, "order": request.Order}
	if request.Limit != 0 {
		query["limit"] = strconv.Itoa(request.Limit)
	}
	return ask[AuditPage](ctx, c, get("/audit", "/audit", query), nil, options, nil)
}

// AuditEntries calls visit for every entry of the tenant's audit log from request.After on, until visit fails.
// Pages are fetched as they are needed.
func (c *Client) AuditEntries(ctx context.Context, request AuditListRequest, visit func(AuditEntry) error, options ...CallOption) error {
	for {
		page, err := c.AuditPage(ctx, request, options...)
		if err != nil {
			return err
		}
		for _, entry := range page.Data {
			if err := visit(entry); err != nil {
				return err
			}
		}
		if !page.HasMore {
			return nil
		}
		request.After = page.NextCursor
	}
}

// Health gives the service's report; a degraded service is an answer, too.
func (c *Client) Health(ctx context.Context, options ...CallOption) (*HealthResult, error) {
	return ask[HealthResult](ctx, c, get("/health", "/health", nil), nil, options, nil)
}

// RotateSigning makes a new signing secret; the old one stays valid for 30 minutes. Store the new one before anything else: it is
// shown once. Where the answer is lost on the way, the retry fails with secret_already_told: call again with force, which makes
// another secret and ends the older one at once.
func (c *Client) RotateSigning(ctx context.Context, force bool, options ...CallOption) (*RotateSigningResult, error) {
	body := map[string]bool{}
	if force {
		body["force"] = true
	}
	return ask[RotateSigningResult](ctx, c, post("/keys/rotate-signing"), body, options, nil)
}

// VerifyVerdict gives the claims of an approval of this tenant and environment, once. See the function VerifyVerdict.
func (c *Client) VerifyVerdict(ctx context.Context, token VerdictToken, expected Expected) (*Claims, error) {
	return VerifyVerdict(ctx, token, expected, c.trust)
}

// VerifyWebhook gives the event of a webhook of this client's environment. See the function VerifyWebhook.
func (c *Client) VerifyWebhook(headers Headers, body []byte) (*WebhookEvent, error) {
	return VerifyWebhook(headers, body, c.trust.SigningSecrets, WebhookOptions{
		Environment: c.environment, SignatureTolerance: c.signatureTolerance, Now: c.trust.Now,
	})
}

func post(path string) outgoing { return outgoing{method: http.MethodPost, path: path, name: path} }

// get leaves empty parameters of the query out.
func get(path, name string, parameters map[string]string) outgoing {
	query := url.Values{}
	for parameter, value := range parameters {
		if value != "" {
			query.Set(parameter, value)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return outgoing{method: http.MethodGet, path: path, name: name}
}

func (c *Client) call(ctx context.Context, out outgoing, body any, result settable, options []CallOption) error {
	out.call = applied(options)
	// Advice changes nothing: its repeat needs no key.
	if out.method == http.MethodPost && out.path != guidancePath && out.call.idempotencyKey == "" {
		key, err := newKey()
		if err != nil {
			return err
		}
		out.call.idempotencyKey = key
	}
	if body != nil {
		var err error
		if out.body, err = json.Marshal(body); err != nil {
			return err
		}
		limit := c.maxBodyBytes
		if out.path == guidancePath && limit > guidanceBodyBytes {
			limit = guidanceBodyBytes
		}
		if err := assertBodyFits(body, len(out.body), limit); err != nil {
			return err
		}
	}
	return c.send(ctx, out, result)
}

// with copies, because the caller may use its slice for other calls at the same time.
func with(options []CallOption, more CallOption) []CallOption {
	return append(append([]CallOption{}, options...), more)
}

func applied(options []CallOption) (call callOptions) {
	for _, option := range options {
		option(&call)
	}
	return call
}

// newKey is a random UUID (RFC 9562, version 4).
func newKey() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}

// answering is a pointer to the type of an answer.
type answering[T any] interface {
	*T
	settable
}

// ask gives the answer to a call, and fails for one that answers another request.
func ask[T any, A answering[T]](ctx context.Context, c *Client, out outgoing, body any, options []CallOption, answers func(A) bool) (A, error) {
	result := A(new(T))
	if err := c.call(ctx, out, body, result, options); err != nil {
		return nil, err
	}
	if answers != nil && !answers(result) {
		return nil, &SignatureError{"response_mismatch", "The response answers another request."}
	}
	return result, nil
}

func orDefault[T comparable](given, fallback T) T {
	var none T
	if given == none {
		return fallback
	}
	return given
}

func pathPart(text string) (string, error) {
	// "." and ".." are steps of a path, so that no address names them.
	if text == "" || text == "." || text == ".." {
		return "", fmt.Errorf("countersign: the id is %q: no address names it", text)
	}
	// A query's escapes are those of encodeURIComponent but for the space.
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20"), nil
}

var keyForm = regexp.MustCompile(`^svc-(prod|sbx)-[0-9A-Za-z]+$`)

func environmentOf(apiKey string) (string, error) {
	match := keyForm.FindStringSubmatch(apiKey)
	switch {
	case apiKey == "":
		return "", errors.New("countersign: APIKey is required (svc-prod-… or svc-sbx-…)")
	case match == nil:
		return "", errors.New("countersign: APIKey must be svc-prod-… or svc-sbx-…, with nothing around it")
	case match[1] == "prod":
		return Production, nil
	}
	return Sandbox, nil
}

func checkedBaseURL(text string, allowInsecureHTTP bool) (string, error) {
	if text == "" {
		return "", errors.New("countersign: BaseURL is required, as in https://countersign.example.com/v1")
	}
	address, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("countersign: BaseURL: %w", err)
	}
	path := strings.TrimSuffix(address.Path, "/")
	if !strings.HasSuffix(path, "/v1") || address.RawQuery != "" || address.Fragment != "" || address.Hostname() == "" {
		return "", errors.New("countersign: BaseURL must end in /v1, as in https://countersign.example.com/v1")
	}
	host := address.Hostname()
	ip := net.ParseIP(host)
	isLocal := host == "localhost" || ip != nil && ip.IsLoopback()
	if address.Scheme != "https" && !(address.Scheme == "http" && (allowInsecureHTTP || isLocal)) {
		return "", errors.New("countersign: BaseURL must be https (AllowInsecureHTTP sends key and photos unencrypted)")
	}
	return strings.TrimSuffix(text, "/"), nil
}
