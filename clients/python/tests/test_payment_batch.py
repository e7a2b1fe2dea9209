"""A batch is bound by its exact total, its number and the hash of its list."""

import unittest

from countersign import payment_batch

PAYEES = [
    {"name": "Grace Hopper", "account": "DE89370400440532013000", "amount": "12.50"},
    {"name": "Ada Lovelace", "account": "GB33BUKB20201555555555", "amount": "7.5", "reference": "Invoice 7"},
]


class PaymentBatch(unittest.TestCase):
    def test_the_sdks_make_the_same_batch(self):
        action, text = payment_batch("EUR", PAYEES)
        self.assertEqual(action["total"], "20.00")
        self.assertEqual(action["payees_count"], 2)
        self.assertEqual(action["payees_hash"], "47c81be3f1841710914afc2fec303c622162de308b6a3eb4fa68213ba0d83c6d")
        self.assertTrue(text.startswith('[{"account":"DE89370400440532013000","amount":"12.50","name":"Grace Hopper"},'))

    def test_sums_are_exact(self):
        action, _ = payment_batch("EUR", [{**PAYEES[0], "amount": "0.10"}] * 1000)
        self.assertEqual(action["total"], "100.00")
        action, _ = payment_batch("EUR", [{**PAYEES[0], "amount": "999999999999999.99"}] * 3)
        self.assertEqual(action["total"], "2999999999999999.97")

    def test_an_amount_is_decimal_text(self):
        for amount in (12, "1e3", "-1", "12,50", "", "\u0661"):
            with self.assertRaises(ValueError):
                payment_batch("EUR", [{**PAYEES[0], "amount": amount}])
