// Checks a public verdict with the SDK and the issuer's address: go run ./public <issuer> <tenant> <user> <token>
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"example.com/countersign"
)

func main() {
	issuer, tenant, user, token := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	claims, err := countersign.VerifyVerdict(context.Background(), countersign.Token(token), countersign.Expected{
		UserID: user,
		Action: map[string]any{"type": "wire_transfer", "amount": "1250.00", "currency": "EUR"},
		Issuer: issuer,
	}, countersign.Trust{Audience: tenant, Environment: os.Getenv("CS_ENVIRONMENT")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s may do it: %s\n", claims.Subject, claims.ID)
}
