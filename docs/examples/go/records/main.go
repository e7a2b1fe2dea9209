// Shows what is known of a user, and the audit log of production: go run ./records ada
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"example.com/countersign"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if len(os.Args) != 2 {
		return errors.New("usage: go run ./records <user id>")
	}
	client, err := countersign.New(countersign.Options{
		BaseURL:        os.Getenv("CS_BASE_URL"),
		APIKey:         os.Getenv("CS_API_KEY"),
		SigningSecrets: countersign.Secrets(os.Getenv("CS_SIGNING_SECRETS")),
	})
	if err != nil {
		return err
	}
	user, err := client.GetUser(ctx, os.Args[1])
	var refusal *countersign.APIError
	switch {
	case err == nil:
		fmt.Println("user", user.UserID, user.Status, user.Lockout.Status, user.Reference.Views)
	case errors.As(err, &refusal) && refusal.Code == "reference_not_found":
		fmt.Println("user", os.Args[1], "is not enrolled")
	default:
		return err
	}
	// Pages are fetched as they are needed.
	return client.AuditEntries(ctx, countersign.AuditListRequest{}, func(entry countersign.AuditEntry) error {
		result := entry.Code
		if result == "" && entry.Status != 0 {
			result = fmt.Sprint(entry.Status)
		}
		fmt.Println(entry.Sequence, entry.CreatedAt.Format(time.RFC3339), entry.Event, result)
		return nil
	})
}
