// Package countersigntest has the service in memory for tests: it starts "countersign fake", a process that needs no model, and stops it.
package countersigntest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/countersign"
)

// Options say how the service is started.
type Options struct {
	// Command is how countersign is called; default: npx countersign.
	Command []string
	// Dir is where; for npx, the folder of the clone.
	Dir string
	// Environment is sandbox, the default, or production.
	Environment string
	// Timeout is how long the start may take; default 30 s.
	Timeout time.Duration
}

// Fake is a service of its own for one test. The end of a user id chooses the outcome, such as ada+no_match.
type Fake struct {
	BaseURL, APIKey, SigningSecrets, TenantID string

	t     testing.TB
	ahead int64
}

// Request is one that the service got.
type Request struct {
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body"`
}

// Start returns when the service answers, and fails the test where it does not start. The service ends with the test.
func Start(t testing.TB, options Options) *Fake {
	t.Helper()
	command := append([]string{}, options.Command...)
	if len(command) == 0 {
		command = []string{"npx", "countersign"}
	}
	environment, timeout := options.Environment, options.Timeout
	if environment == "" {
		environment = "sandbox"
	}
	if timeout == 0 {
		timeout = 30 * time.Second
	}
	command = append(command, "fake", "--environment", environment)
	process := exec.Command(command[0], command[1:]...)
	process.Dir = options.Dir
	ownGroup(process)
	var complaints bytes.Buffer
	process.Stderr = &complaints
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatalf("countersign fake did not start: %v", err)
	}
	stop := func() {
		end(process)
		_ = process.Wait()
	}
	said := make(chan map[string]string, 1)
	go func() { said <- readSettings(out) }()
	var settings map[string]string
	select {
	case settings = <-said:
	case <-time.After(timeout):
	}
	if len(settings) < len(variables) {
		stop()
		t.Fatalf("countersign fake did not start: %s", strings.TrimSpace(complaints.String()))
	}
	t.Cleanup(stop)
	return &Fake{
		BaseURL: settings["CS_BASE_URL"], APIKey: settings["CS_API_KEY"],
		SigningSecrets: settings["CS_SIGNING_SECRETS"], TenantID: settings["CS_TENANT_ID"], t: t,
	}
}

var variables = [...]string{"CS_BASE_URL", "CS_API_KEY", "CS_SIGNING_SECRETS", "CS_TENANT_ID"}

func readSettings(out io.Reader) map[string]string {
	settings := map[string]string{}
	lines := bufio.NewScanner(out)
	for len(settings) < len(variables) && lines.Scan() {
		name, value, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "=")
		for _, variable := range variables {
			if name == variable {
				settings[name] = value
			}
		}
	}
	return settings
}

// Options are those of a client of this service. Its clock follows Advance.
func (f *Fake) Options() countersign.Options {
	return countersign.Options{
		BaseURL: f.BaseURL, APIKey: f.APIKey, SigningSecrets: countersign.Secrets(f.SigningSecrets), TenantID: f.TenantID, Now: f.Now,
	}
}

// Client is one with these options.
func (f *Fake) Client() *countersign.Client {
	f.t.Helper()
	client, err := countersign.New(f.Options())
	if err != nil {
		f.t.Fatal(err)
	}
	return client
}

// Now is the time of the service.
func (f *Fake) Now() time.Time {
	return time.Now().Add(time.Duration(atomic.LoadInt64(&f.ahead)))
}

// Advance moves the clock of the service and of its clients forward.
func (f *Fake) Advance(by time.Duration) {
	f.t.Helper()
	f.ask(http.MethodPost, "/fake/clock", map[string]int64{"advance_ms": by.Milliseconds()}, nil)
	atomic.AddInt64(&f.ahead, int64(by))
}

// Requests are those so far.
func (f *Fake) Requests() []Request {
	f.t.Helper()
	var answer struct{ Data []Request }
	f.ask(http.MethodGet, "/fake/requests", nil, &answer)
	return answer.Data
}

// Play plays the person on the hosted page: open, capture or cancel. It returns the address to which the browser then goes back.
func (f *Fake) Play(sessionID, step string) string {
	f.t.Helper()
	var answer struct {
		ReturnURL string `json:"return_url"`
	}
	f.ask(http.MethodPost, "/fake/capture-sessions/"+sessionID+"/"+step, nil, &answer)
	return answer.ReturnURL
}

func (f *Fake) ask(method, path string, body, answer interface{}) {
	f.t.Helper()
	if err := f.tryToAsk(method, path, body, answer); err != nil {
		f.t.Fatal(err)
	}
}

func (f *Fake) tryToAsk(method, path string, body, answer interface{}) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(method, strings.TrimSuffix(f.BaseURL, "/v1")+path, bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	received, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, received)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(received, answer)
}
