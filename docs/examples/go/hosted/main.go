// A bank that has transfers confirmed on the hosted capture page: it sends the person there and acts when they are back.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"

	"example.com/countersign"
)

type transfer struct {
	Type   string `json:"type"`
	Amount string `json:"amount"`
	To     string `json:"to"`
}

type waiting struct {
	user   string
	action transfer
}

type bank struct {
	client *countersign.Client
	// address is where browsers reach this bank. Its origin must be allowed:
	// countersign tenant capture-page <tenant> --return-origin …
	address string
	// transfers wait for a face, by the id of their session. They stand for your database.
	transfers sync.Map
}

func (b *bank) ask(w http.ResponseWriter, r *http.Request) error {
	user := kept(r, "user")
	var order struct{ Amount, To string }
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
		return answer(w, http.StatusBadRequest, map[string]string{"message": "Give amount and to."})
	}
	action := transfer{Type: "transfer", Amount: order.Amount, To: order.To}
	link, err := b.client.CreateCaptureSession(r.Context(), countersign.CaptureSessionRequest{
		UserID: user, Action: action, RequireLiveness: "active",
		Description: fmt.Sprintf("Transfer of %s EUR to %s", action.Amount, action.To),
		ReturnURL:   b.address + "/confirmed",
	})
	if err != nil {
		return err
	}
	b.transfers.Store(link.SessionID, waiting{user, action})
	http.SetCookie(w, &http.Cookie{Name: "began", Value: link.SessionID, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	return answer(w, http.StatusCreated, map[string]string{"url": link.URL})
}

func (b *bank) confirmed(w http.ResponseWriter, r *http.Request) error {
	user, id := kept(r, "user"), r.URL.Query().Get("capture_session")
	nothing := map[string]string{"message": "Nothing waits to be confirmed."}
	// Anybody may have sent the address: it has to be that of the transfer which this very sign-in began.
	found, _ := b.transfers.Load(id)
	asked, ok := found.(waiting)
	if !ok || asked.user != user || kept(r, "began") != id {
		return answer(w, http.StatusNotFound, nothing)
	}
	// Only the browser that captured brings the proof. Another one may be that of a person who passed the link on.
	session, err := b.client.GetCaptureSession(r.Context(), id, r.URL.Query().Get("capture_proof"))
	if err != nil {
		return err
	}
	if session.Status == "open" || session.Status == "in_progress" {
		return answer(w, http.StatusConflict, map[string]string{"message": "This is not confirmed yet."})
	}
	if session.ResultWithheld != "" {
		return answer(w, http.StatusForbidden, map[string]string{"message": "Please go back to the browser in which you confirmed."})
	}
	// The transfer no longer waits, whether it is carried out or not.
	if _, stillWaits := b.transfers.LoadAndDelete(id); !stillWaits {
		return answer(w, http.StatusNotFound, nothing)
	}
	claims, err := b.client.VerifyVerdict(r.Context(), session.Token(), countersign.Expected{
		UserID: user, Action: asked.action, CaptureSessionID: id, ACR: countersign.ActiveACR,
	})
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, map[string]any{"done": asked.action, "countersigned": claims.ID})
}

// kept stands for your own session: the user who is signed in, and the capture session that this sign-in began.
func kept(r *http.Request, name string) string {
	cookie, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	value, _ := url.PathUnescape(cookie.Value)
	return value
}

func answer(w http.ResponseWriter, status int, body any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	return json.NewEncoder(w).Encode(body)
}

func handler(method string, act func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != method {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		err := act(w, r)
		if err == nil {
			return
		}
		log.Println(err)
		var refused *countersign.VerdictError
		var failed *countersign.APIError
		switch {
		case errors.As(err, &refused):
			// Rejected, cancelled, expired, or not of this person: the log says which.
			_ = answer(w, http.StatusForbidden, map[string]string{"message": "Not confirmed."})
		case errors.As(err, &failed) && failed.Code == "reference_not_found":
			_ = answer(w, http.StatusConflict, map[string]string{"message": "Please set up your face first."})
		case errors.As(err, &failed) && failed.Code == "locked_out":
			// Too many rejections: trying again now would be refused again.
			_ = answer(w, http.StatusForbidden, map[string]string{"message": "No more tries for now. Please ask for another way."})
		default:
			_ = answer(w, http.StatusServiceUnavailable, map[string]string{"message": "Please try again later."})
		}
	}
}

func main() {
	client, err := countersign.New(countersign.Options{
		BaseURL:        os.Getenv("CS_BASE_URL"),
		APIKey:         os.Getenv("CS_API_KEY"),
		SigningSecrets: countersign.Secrets(os.Getenv("CS_SIGNING_SECRETS")),
		TenantID:       os.Getenv("CS_TENANT_ID"),
		// The demo's model pack is of evaluation grade, whose verdicts production refuses. Do not set the variable in production.
		AcceptEvaluationGrade: os.Getenv("CS_ACCEPT_EVALUATION") == "true",
	})
	if err != nil {
		log.Fatal(err)
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	b := &bank{client: client, address: os.Getenv("BANK_URL")}
	if b.address == "" {
		b.address = "http://" + listener.Addr().String()
	}
	http.HandleFunc("/transfers", handler(http.MethodPost, b.ask))
	http.HandleFunc("/confirmed", handler(http.MethodGet, b.confirmed))
	fmt.Println(b.address)
	log.Fatal(http.Serve(listener, nil))
}
