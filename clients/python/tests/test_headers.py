"""Headers of a webhook and of a response in every form in which hosting adapters give them."""

import base64
import hashlib
import hmac
import unittest

from countersign import SignatureError, assert_response_signature, read_secrets, verify_webhook

NOW = 1_800_000_000
SECRET = "sec_1:svc-sec-1"
BODY = (
    b'{"id":"evt_1","type":"webhook.test","created_at":"2026-01-31T12:00:00Z",'
    b'"environment":"production","tenant_id":"ten_1","data":{}}'
)


def sign(head):
    mac = hmac.new(b"svc-sec-1", head.encode() + BODY, hashlib.sha256).hexdigest()
    return f"t={NOW},kid=sec_1,v2={mac}"


SIGNATURE = sign(f"webhook:v2:production:{NOW}:evt_1:")


class Asked:
    """A framework's own type of headers, which can only be asked."""

    def __init__(self, held):
        self._held = held

    def get(self, name):
        return self._held.get(name)


class WebhookHeaders(unittest.TestCase):
    def verify(self, headers, body=BODY):
        return verify_webhook(headers, body, SECRET, now=NOW)

    def test_are_read_in_every_form(self):
        for headers in (
            {"X-Svc-Webhook-Id": "evt_1", "X-Svc-Signature": SIGNATURE},
            {"x-svc-webhook-id": ["evt_1"], "X-SVC-SIGNATURE": (SIGNATURE,)},
            [("x-svc-webhook-id", "evt_1"), ("x-svc-signature", SIGNATURE)],
            [(b"x-svc-webhook-id", b"evt_1"), (b"x-svc-signature", SIGNATURE.encode())],
            Asked({"x-svc-webhook-id": "evt_1", "x-svc-signature": [SIGNATURE]}),
        ):
            with self.subTest(headers=headers):
                self.assertEqual(self.verify(headers).id, "evt_1")

    def test_are_refused_where_there_are_several_or_none(self):
        for code, headers in (
            ("signature_malformed", {"x-svc-webhook-id": "evt_1", "x-svc-signature": [SIGNATURE, SIGNATURE]}),
            ("signature_malformed", [("x-svc-webhook-id", "evt_1")] + 2 * [("x-svc-signature", SIGNATURE)]),
            ("signature_missing", {"x-svc-webhook-id": "evt_1", "x-svc-signature": []}),
            ("signature_missing", {}),
        ):
            with self.subTest(headers=headers), self.assertRaises(SignatureError) as refused:
                self.verify(headers)
            self.assertEqual(refused.exception.code, code)
        for headers in (None, "x-svc-signature", 7):
            with self.subTest(headers=headers), self.assertRaisesRegex(TypeError, "headers must be"):
                self.verify(headers)

    def test_names_base64_as_the_cause(self):
        headers = {"x-svc-webhook-id": "evt_1", "x-svc-signature": SIGNATURE}
        with self.assertRaisesRegex(SignatureError, "isBase64Encoded"):
            self.verify(headers, base64.b64encode(BODY))
        with self.assertRaisesRegex(TypeError, "isBase64Encoded"):
            self.verify(headers, base64.b64encode(BODY).decode())


class ResponseHeaders(unittest.TestCase):
    def check(self, signature, request_id):
        assert_response_signature(
            signature,
            read_secrets(SECRET),
            environment="production",
            method="GET",
            target="/v1/health",
            status=200,
            request_id=request_id,
            body=BODY,
            now=NOW,
        )

    def test_are_read_as_lists_of_one(self):
        signature = sign(f"v2:production:{NOW}:r-1:200:GET:/v1/health:")
        self.check(signature, "r-1")
        self.check([signature], ["r-1"])
        with self.assertRaises(SignatureError):
            self.check([signature, signature], "r-1")


if __name__ == "__main__":
    unittest.main()
