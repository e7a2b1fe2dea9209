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
	// publicKeysCoolDown limits how often an unknown key id has the keys read again.
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

	mutex sync.Mutex
	byID  map[string]*ecdsa.PublicKey
	// readAt is zero before the first read.
	readAt time.Time
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

// key gives the key of an id. For an unknown id the keys are read once more, but not more often than the cool-down allows.
func (k *publicKeys) key(ctx context.Context, id string) (*ecdsa.PublicKey, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.readAt.IsZero() || time.Since(k.readAt) >= publicKeysMaxAge {
		if err := k.read(ctx); err != nil {
			return nil, err
		}
	}
	if k.byID[id] == nil && time.Since(k.readAt) >= publicKeysCoolDown {
		if err := k.read(ctx); err != nil {
			return nil, err
		}
	}
	if k.byID[id] == nil {
		return nil, &VerdictError{Code: "signature_invalid", Message: "No key that the issuer publishes made this verdict."}
	}
	return k.byID[id], nil
}

func (k *publicKeys) read(ctx context.Context) error {
	byID, err := fetchPublicKeys(ctx, k.url, k.client)
	if err != nil {
		return &VerdictError{Code: "keys_unavailable", Message: "The issuer's keys cannot be read: " + err.Error()}
	}
	k.byID, k.readAt = byID, time.Now()
	return nil
}

func fetchPublicKeys(ctx context.Context, address string, client *http.Client) (map[string]*ecdsa.PublicKey, error) {
	ctx, cancel := context.WithTimeout(ctx, publicKeysTimeout)
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
