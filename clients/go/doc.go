// Package countersign is the SDK of Countersign, a self-hosted service for biometric step-up verification. It needs nothing
// but Go's standard library.
//
//	client, err := countersign.New(countersign.Options{
//		BaseURL:        "https://countersign.example.com/v1",
//		APIKey:         "svc-prod-…",
//		SigningSecrets: countersign.Secrets("sec_…:svc-sec-…"),
//		TenantID:       "ten_…",
//	})
//	result, err := client.Verify(ctx, countersign.VerifyRequest{UserID: "ada", Photos: countersign.Photos{Image: photo}, Action: action})
//	claims, err := client.VerifyVerdict(ctx, result.Token(), countersign.Expected{UserID: "ada", Action: action})
package countersign
