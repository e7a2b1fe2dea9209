package countersign

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

var amountText = regexp.MustCompile(`^(0|[1-9][0-9]{0,14})(\.([0-9]{1,4}))?$`)

// PaymentBatch makes the action of type payment_batch, and its list as text for Payees of a CaptureSessionRequest. To check a
// verdict, make the batch again from the payments that are about to run, and expect its action. Reference may be empty. The
// service checks everything but the form of the amounts, which the sum needs.
func PaymentBatch(currency string, payees []BatchPayee, reference string) (map[string]any, string, error) {
	// All amounts are added up in units of 10^-digits, so that no sum is rounded.
	digits := 0
	for index, payee := range payees {
		parts := amountText.FindStringSubmatch(payee.Amount)
		if parts == nil {
			return nil, "", fmt.Errorf("countersign: payees.%d.amount must be a decimal number as text, such as 12.50", index)
		}
		if len(parts[3]) > digits {
			digits = len(parts[3])
		}
	}
	sum := new(big.Int)
	for _, payee := range payees {
		whole, fraction, _ := strings.Cut(payee.Amount, ".")
		units, _ := new(big.Int).SetString(whole+fraction+strings.Repeat("0", digits-len(fraction)), 10)
		sum.Add(sum, units)
	}
	total := sum.String()
	if digits > 0 {
		total = fmt.Sprintf("%0*s", digits+1, total)
		total = total[:len(total)-digits] + "." + total[len(total)-digits:]
	}
	text, err := CanonicalJSON(payees)
	if err != nil {
		return nil, "", err
	}
	hash := sha256.Sum256([]byte(text))
	action := map[string]any{
		"type":         "payment_batch",
		"total":        total,
		"currency":     currency,
		"payees_count": len(payees),
		"payees_hash":  hex.EncodeToString(hash[:]),
	}
	if reference != "" {
		action["reference"] = reference
	}
	return action, text, nil
}
