package main

import (
	"encoding/base64"
	"fmt"
	"log"
	"os"
	"time"
)

// Enrols a face, has an action countersigned, checks the verdict, erases the user: go run . ada.jpg … ada-today.jpg
func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: go run . <photos to enrol>… <photo of today>")
	}
	var photos []string
	for _, path := range os.Args[1 : len(os.Args)-1] {
		photos = append(photos, photo(path))
	}
	today := photo(os.Args[len(os.Args)-1])
	client := Client{
		BaseURL: os.Getenv("CS_BASE_URL"),
		APIKey:  os.Getenv("CS_API_KEY"),
	}
	client.KeyID, client.Secrets = ParseSecrets(os.Getenv("CS_SIGNING_SECRETS"))
	call := func(method, path string, body map[string]any) map[string]any {
		answer, err := client.Call(method, path, body)
		if err != nil {
			log.Panicln(method, path, err)
		}
		return answer
	}
	enrolled := call("POST", "/enroll", map[string]any{"user_id": "ada-go", "images": photos, "replace": true})
	fmt.Println("enroll", enrolled["status"])
	// Whatever happens from here on, the user is erased; log.Panicln lets deferred calls run, log.Fatalln would not.
	defer func() {
		fmt.Println("delete", call("DELETE", "/delete", map[string]any{"user_id": "ada-go"})["status"])
	}()

	action := map[string]any{"type": "wire_transfer", "amount": "1250.00", "to": "Zoë"}
	verified := call("POST", "/verify", map[string]any{
		"user_id": "ada-go", "image": today, "action": action, "nonce": "session-1",
	})
	fmt.Println("verify", verified["verdict"])

	expected := Expected{
		Audience: os.Getenv("CS_TENANT_ID"), Environment: "production",
		UserID: "ada-go", Action: action, Nonce: "session-1",
		// The demo's model pack is of evaluation grade, whose verdicts production refuses. Do not set the variable in production.
		AcceptEvaluationGrade: os.Getenv("CS_ACCEPT_EVALUATION") == "true",
	}
	claims, err := VerifyVerdict(verified["jwt"].(string), client.Secrets, expected, &Seen{}, time.Now().Unix())
	if err != nil {
		log.Panicln("verdict", err)
	}
	fmt.Println("verdict", claims.Verdict)
}

func photo(path string) string {
	bytes, err := os.ReadFile(path)
	if err != nil {
		log.Panicln(err)
	}
	return base64.StdEncoding.EncodeToString(bytes)
}
