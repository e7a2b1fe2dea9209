// Enrolls a face, has an action countersigned, checks the verdict, erases the user: go run . ada.jpg … ada-today.jpg
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"example.com/countersign"
)

const user = "ada-go"

// transfer is what this application has countersigned.
type transfer struct {
	Type   string `json:"type"`
	Amount string `json:"amount"`
	To     string `json:"to"`
}

func main() {
	if len(os.Args) < 3 {
		fail(fmt.Errorf("usage: go run . <photos to enroll>… <photo of today>"))
	}
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func run(ctx context.Context, paths []string) (err error) {
	photos := make([][]byte, len(paths))
	for i, path := range paths {
		if photos[i], err = os.ReadFile(path); err != nil {
			return err
		}
	}
	enrolled, today := photos[:len(photos)-1], photos[len(photos)-1]

	client, err := countersign.New(countersign.Options{
		BaseURL:        os.Getenv("CS_BASE_URL"),
		APIKey:         os.Getenv("CS_API_KEY"),
		SigningSecrets: countersign.Secrets(os.Getenv("CS_SIGNING_SECRETS")),
		TenantID:       os.Getenv("CS_TENANT_ID"),
		// The demo's model pack is of evaluation grade, whose verdicts production refuses. Do not set the variable in production.
		AcceptEvaluationGrade: os.Getenv("CS_ACCEPT_EVALUATION") == "true",
	})
	if err != nil {
		return err
	}
	reference, err := client.Enroll(ctx, countersign.EnrollRequest{
		UserID: user, Photos: countersign.Photos{Images: enrolled}, Replace: true,
	})
	if err != nil {
		return err
	}
	fmt.Println("enroll", reference.Status)
	defer func() {
		erased, deleteErr := client.Delete(ctx, user)
		if deleteErr == nil {
			fmt.Println("delete", erased.Status)
		} else if err == nil {
			err = deleteErr
		}
	}()

	action := transfer{Type: "wire_transfer", Amount: "1250.00", To: "Zoë"}
	result, err := client.Verify(ctx, countersign.VerifyRequest{
		UserID: user, Photos: countersign.Photos{Image: today}, Action: action, Nonce: "session-1",
	})
	if err != nil {
		return err
	}
	fmt.Println("verify", result.Verdict)

	// Where the action runs: the user and the action come from your own session, never from the token.
	claims, err := client.VerifyVerdict(ctx, result.Token(), countersign.Expected{
		UserID: user, Action: action, Nonce: "session-1",
	})
	if err != nil {
		return err
	}
	var confirmed transfer
	if err := json.Unmarshal(claims.Action, &confirmed); err != nil {
		return err
	}
	fmt.Println("verdict", claims.Verdict, confirmed.Amount)
	return nil
}
