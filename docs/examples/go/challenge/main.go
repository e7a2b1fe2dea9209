// Has a challenge answered in the sandbox, which takes any photo for a frame: go run ./challenge photo.jpg
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"example.com/countersign"
)

const user = "ada-go+match"

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if len(os.Args) != 2 {
		return errors.New("usage: go run ./challenge <photo>")
	}
	photo, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	client, err := countersign.New(countersign.Options{
		BaseURL:        os.Getenv("CS_BASE_URL"),
		APIKey:         os.Getenv("CS_API_KEY"),
		SigningSecrets: countersign.Secrets(os.Getenv("CS_SIGNING_SECRETS")),
		TenantID:       os.Getenv("CS_TENANT_ID"),
	})
	if err != nil {
		return err
	}
	action := map[string]string{"type": "wire_transfer", "amount": "1250.00"}
	asked, err := client.CreateChallenge(ctx, countersign.ChallengeRequest{UserID: user, Action: action})
	if err != nil {
		return err
	}
	fmt.Println("challenge", strings.Join(asked.Steps, " "))

	// In a browser, <countersign-capture> shows the steps and takes these frames from the camera.
	frames := make([]countersign.Frame, asked.Capture.MinFrames+4)
	for i := range frames {
		frames[i] = countersign.Frame{Step: i * len(asked.Steps) / len(frames), TMs: i * 200, Image: photo}
	}
	result, err := client.Verify(ctx, countersign.VerifyRequest{
		UserID: user, Action: action, Photos: countersign.Photos{
			Challenge: &countersign.ChallengeAnswer{ChallengeID: asked.ChallengeID, Nonce: asked.Nonce, Frames: frames},
		},
	})
	if err != nil {
		return err
	}
	fmt.Println("verify", result.Verdict)

	// Where money moves, accept only an approval of a person who moved the head as asked.
	claims, err := client.VerifyVerdict(ctx, result.Token(), countersign.Expected{
		UserID: user, Action: action, ACR: countersign.ActiveACR,
	})
	if err != nil {
		return err
	}
	fmt.Println("verdict", claims.Verdict, claims.ACR)
	return nil
}
