package countersign

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// publicKeysMaxAge is what the service's Cache-Control says: a key that was removed is refused from then on.
	publicKeysMaxAge = 10 * time.Minute
	// publicKeysMaxOutage is how long known keys count while the keys cannot be read.
	publicKeysMaxOutage = 24 * time.Hour
	// publicKeysCoolDown limits how often known keys are read again, for invented key ids and in an outage alike.
	publicKeysCoolDown = 30 * time.Second
	publicKeysTimeout  = 5 * time.Second
	// maxPublicKeysBytes is far more than any set of keys needs.
	maxPublicKeysBytes = 1 << 20
	p256Bytes          = 32
)

// publicKeys are the keys that an issuer publishes, as this process has read them.
type publicKeys struct {
	url    string
	client *http.Client

	// mutex guards what follows, and is never held while the keys are read.
	mutex sync.Mutex
	byID  map[string]*ecdsa.PublicKey
	// readAt and triedAt are the ends of the last read and the last attempt, zero before the first.
	readAt, triedAt time.Time
	// failure is why the last attempt failed.
	failure error
	// reading is closed when the read that is under way has ended; nil where none is.
	reading chan struct{}
}

type publicKeysPlace struct {
	url    string
	client *http.Client
}

// knownPublicKeys has the keys of each address and client.
var knownPublicKeys sync.Map

var defaultKeysClient = &http.Client{
	Timeout: publicKeysTimeout,
	// The service never redirects, and keys come only from the address that was given.
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// publicKeysAt gives the keys of an address, which are kept. It fails for an address without TLS.
func publicKeysAt(address string, client *http.Client) (*publicKeys, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "https" && !(parsed.Scheme == "http" && isLoopback(parsed.Hostname())) {
		return nil, fmt.Errorf("countersign: JWKSURL must be https, since anyone on the way could replace the keys: %s", address)
	}
	if client == nil {
		client = defaultKeysClient
	}
	kept, _ := knownPublicKeys.LoadOrStore(publicKeysPlace{address, client}, &publicKeys{url: address, client: client})
	return kept.(*publicKeys), nil
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// key gives the key of an id. Old keys, and those that lack the id, are read again by one caller at a time; a caller with a known
// key waits only where it is that caller.
func (k *publicKeys) key(ctx context.Context, id string) (*ecdsa.PublicKey, error) {
	k.mutex.Lock()
	key, reading := k.find(id), k.reading
	coolDown := publicKeysTimeout
	if k.byID != nil {
		coolDown = publicKeysCoolDown
	}
	isDue := key == nil || time.Since(k.readAt) >= publicKeysMaxAge
	isReader := isDue && time.Since(k.triedAt) >= coolDown && reading == nil
	if isReader {
		reading = make(chan struct{})
		k.reading = reading
		go k.read()
	}
	k.mutex.Unlock()
	if isReader || key == nil && reading != nil {
		select {
		case <-reading:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if key := k.find(id); key != nil {
		return key, nil
	}
	if k.failure != nil {
		return nil, &VerdictError{Code: "keys_unavailable", Message: "The issuer's keys cannot be read: " + k.failure.Error()}
	}
	return nil, &VerdictError{Code: "signature_invalid", Message: "No key that the issuer publishes made this verdict."}
}

func (k *publicKeys) find(id string) *ecdsa.PublicKey {
	if time.Since(k.readAt) >= publicKeysMaxOutage {
		return nil
	}
	return k.byID[id]
}

// read serves every caller that waits, so it ends with none of them.
func (k *publicKeys) read() {
	byID, err := fetchPublicKeys(k.url, k.client)
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.failure, k.triedAt = err, time.Now()
	if err == nil {
		k.byID, k.readAt = byID, k.triedAt
	}
	close(k.reading)
	k.reading = nil
}

func fetchPublicKeys(address string, client *http.Client) (map[string]*ecdsa.PublicKey, error) {
	ctx, cancel := context.WithTimeout(context.Background(), publicKeysTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", response.StatusCode)
	}
	var set struct {
		Keys []struct{ Kid, Kty, Crv, Use, Alg, X, Y string }
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxPublicKeysBytes)).Decode(&set); err != nil {
		return nil, err
	}
	if set.Keys == nil {
		return nil, errors.New("the document is no JWK set")
	}
	byID := map[string]*ecdsa.PublicKey{}
	for _, jwk := range set.Keys {
		// Keys of other kinds are not for verdicts.
		if jwk.Kid == "" || jwk.Kty != "EC" || jwk.Crv != "P-256" || jwk.Alg != "" && jwk.Alg != "ES256" || jwk.Use != "" && jwk.Use != "sig" {
			continue
		}
		x, errX := base64.RawURLEncoding.DecodeString(jwk.X)
		y, errY := base64.RawURLEncoding.DecodeString(jwk.Y)
		key := &ecdsa.PublicKey{Curve: elliptic.P256(), X: new(big.Int).SetBytes(x), Y: new(big.Int).SetBytes(y)}
		if errX == nil && errY == nil && len(x) == p256Bytes && len(y) == p256Bytes && key.Curve.IsOnCurve(key.X, key.Y) {
			byID[jwk.Kid] = key
		}
	}
	return byID, nil
}

// openPublic gives the claims of a token that a key of the issuer made.
func openPublic(ctx context.Context, jwt string, keys *publicKeys) (*Claims, error) {
	parts, header, err := readHeader(jwt, "ES256")
	if err != nil {
		return nil, err
	}
	kid, _ := header["kid"].(string)
	if kid == "" {
		return nil, &VerdictError{Code: "malformed", Message: "The token names no key (kid)."}
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return nil, errMalformed
	}
	key, err := keys.key(ctx, kid)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	// r and s, 32 bytes each: a signature in DER has another length.
	if len(signature) != 2*p256Bytes ||
		!ecdsa.Verify(key, digest[:], new(big.Int).SetBytes(signature[:p256Bytes]), new(big.Int).SetBytes(signature[p256Bytes:])) {
		return nil, &VerdictError{Code: "signature_invalid", Message: "The key that the verdict names did not sign it."}
	}
	return requiredClaims(jwt)
}

// publicToken is the one of the tokens that the issuer's key signed.
func (t VerdictToken) publicToken() (string, error) {
	if t.Public != "" {
		return t.Public, nil
	}
	if t.Next != "" || t.session != nil {
		return "", &VerdictError{Code: "malformed", Message: "The answer has no public verdict (jwt_public)."}
	}
	return t.JWT, nil
}

func jwksURLOf(issuer string) string {
	return strings.TrimSuffix(issuer, "/") + "/.well-known/jwks.json"
}
