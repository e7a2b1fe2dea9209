package countersign

import "testing"

var batch = []BatchPayee{
	{Name: "Grace Hopper", Account: "DE89370400440532013000", Amount: "12.50"},
	{Name: "Ada Lovelace", Account: "GB33BUKB20201555555555", Amount: "7.5", Reference: "Invoice 7"},
}

func TestTheSDKsMakeTheSameBatch(t *testing.T) {
	action, text, err := PaymentBatch("EUR", batch, "")
	if err != nil || action["total"] != "20.00" || action["payees_count"] != 2 ||
		action["payees_hash"] != "47c81be3f1841710914afc2fec303c622162de308b6a3eb4fa68213ba0d83c6d" {
		t.Fatal(action, text, err)
	}
}

func TestSumsOfBatchesAreExact(t *testing.T) {
	for amount, total := range map[string]string{"0.10": "100.00", "0.01": "10.00", "0.0001": "0.1000", "999999999999999.99": "999999999999999990.00", "0": "0"} {
		payees := make([]BatchPayee, 1000)
		for index := range payees {
			payees[index] = batch[0]
			payees[index].Amount = amount
		}
		if action, _, err := PaymentBatch("EUR", payees, ""); err != nil || action["total"] != total {
			t.Error(amount, action["total"], err)
		}
	}
}

func TestAnAmountOfABatchIsDecimalText(t *testing.T) {
	for _, amount := range []string{"", "1e3", "-1", "12,50", "1.00001"} {
		payee := batch[0]
		payee.Amount = amount
		if _, _, err := PaymentBatch("EUR", []BatchPayee{payee}, ""); err == nil {
			t.Error(amount)
		}
	}
}
