package countersigntest

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/countersign"
)

// command is COUNTERSIGN_COMMAND, such as "node dist/src/cli/main.js".
func command(t *testing.T) []string {
	words := strings.Fields(os.Getenv("COUNTERSIGN_COMMAND"))
	if len(words) == 0 {
		t.Skip("COUNTERSIGN_COMMAND is not set")
	}
	return words
}

func TestAnswersAsTheSandbox(t *testing.T) {
	fake := Start(t, Options{Command: command(t)})
	ctx, client := context.Background(), fake.Client()
	request := countersign.VerifyRequest{
		UserID: "ada+match", Photos: countersign.Photos{Image: []byte("photo")}, Action: "pay",
	}
	result, err := client.Verify(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	expected := countersign.Expected{UserID: "ada+match", Action: "pay"}
	if _, err := client.VerifyVerdict(ctx, result.Token(), expected); err != nil {
		t.Fatal(err)
	}
	request.UserID = "ada+no_match"
	if result, err := client.Verify(ctx, request); err != nil || result.Verdict != "rejected" {
		t.Error(result, err)
	}
	if got := fake.Requests(); len(got) != 2 || got[0].Path != "/verify" {
		t.Error(got)
	}
}

func TestMovesItsClock(t *testing.T) {
	fake := Start(t, Options{Command: command(t)})
	ctx, client := context.Background(), fake.Client()
	result, err := client.Verify(ctx, countersign.VerifyRequest{
		UserID: "ada+match", Photos: countersign.Photos{Image: []byte("photo")}, Action: "pay",
	})
	if err != nil {
		t.Fatal(err)
	}
	fake.Advance(time.Hour)
	_, err = client.VerifyVerdict(ctx, result.Token(), countersign.Expected{UserID: "ada+match", Action: "pay"})
	var refused *countersign.VerdictError
	if !errors.As(err, &refused) || refused.Code != "expired" {
		t.Error(err)
	}
	if _, err := client.Health(ctx); err != nil {
		t.Error(err)
	}
}

func TestEndsWithTheTest(t *testing.T) {
	words, address := command(t), ""
	t.Run("a test", func(t *testing.T) { address = Start(t, Options{Command: words}).BaseURL })
	if _, err := http.Get(address + "/health"); err == nil {
		t.Error("it still answers")
	}
}
