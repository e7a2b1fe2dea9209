// Takes the webhooks of a Countersign: checks the signature over the raw body, answers at once, acts once.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"

	"example.com/countersign"
)

const largestBodyBytes = 64 << 10

func main() {
	secrets := countersign.Secrets(os.Getenv("CS_SIGNING_SECRETS"))
	// One secret signs for both environments, so events of the other environment are refused.
	options := countersign.WebhookOptions{Environment: countersign.Production}
	if os.Getenv("CS_ENVIRONMENT") == countersign.Sandbox {
		options.Environment = countersign.Sandbox
	}
	// Events that were seen: in your database, for a week, with a unique index on the id.
	var seen sync.Map

	http.HandleFunc("/countersign", func(w http.ResponseWriter, r *http.Request) {
		// The raw bytes: what has been parsed and written again is not what was signed.
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largestBodyBytes))
		if err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		event, err := countersign.VerifyWebhook(r.Header, body, secrets, options)
		var forged *countersign.SignatureError
		if errors.As(err, &forged) {
			fmt.Println(forged.Code)
			w.WriteHeader(http.StatusBadRequest)
			return
		} else if err != nil {
			log.Println(err)
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
		if _, isRepeat := seen.LoadOrStore(event.ID, true); !isRepeat {
			// After the answer: the work may take longer than the service waits.
			go act(event)
		}
	})

	port := os.Getenv("PORT")
	if port == "" {
		port = "3001"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s/countersign\n", listener.Addr())
	log.Fatal(http.Serve(listener, nil))
}

func act(event *countersign.WebhookEvent) {
	var data struct {
		UserID    string `json:"user_id"`
		EndsAt    string `json:"ends_at"`
		ErasureID string `json:"erasure_id"`
	}
	if err := json.Unmarshal(event.Data, &data); err != nil {
		log.Println(err)
		return
	}
	switch event.Type {
	case "user.locked_out":
		fmt.Printf("%s is locked out until %s\n", data.UserID, data.EndsAt)
	case "user.erased":
		fmt.Printf("%s is erased: %s\n", data.UserID, data.ErasureID)
	default:
		fmt.Println(event.Type)
	}
}
