package countersign

import (
	"net/http"
	"strings"
)

// Headers of a request, asked by name without case: an http.Header, a HeaderMap, or those of another framework.
type Headers interface {
	Get(name string) string
}

// HeaderMap holds headers with one value each, as serverless hosts give them. Names are compared without case. Convert lists, such as
// multiValueHeaders, to an http.Header.
type HeaderMap map[string]string

// Get gives the value of a header, or "" where there is none.
func (h HeaderMap) Get(name string) string {
	for key, value := range h {
		if strings.EqualFold(key, name) {
			return value
		}
	}
	return ""
}

// headerOf gives "" where there is no such header, and a SignatureError where there are several. Adapters make an http.Header with names
// as they came, and its own Get finds only canonical ones.
func headerOf(headers Headers, name string) (string, error) {
	if headers == nil {
		return "", nil
	}
	listed, isListed := headers.(http.Header)
	if !isListed {
		return headers.Get(name), nil
	}
	var values []string
	for key, given := range listed {
		if strings.EqualFold(key, name) {
			values = append(values, given...)
		}
	}
	if len(values) > 1 {
		return "", &SignatureError{"signature_malformed", "There are several headers " + strings.ToLower(name) + "."}
	}
	return strings.Join(values, ""), nil
}
