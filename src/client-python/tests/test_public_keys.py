"""When the issuer's keys are read, kept and refused."""

import json
import unittest

from countersign import VerdictError, public_keys

URL = "https://countersign.example.com/v1/.well-known/jwks.json"
KEY = {"kty": "EC", "crv": "P-256", "kid": "vky_a", "use": "sig", "alg": "ES256", "x": "", "y": ""}


class PublicKeys(unittest.TestCase):
    def setUp(self):
        self.published = [KEY]
        self.reads = 0
        self.seconds = 1000.0
        self.keys = public_keys.PublicKeys(URL, self.fetch, lambda: self.seconds)

    def fetch(self, _url):
        self.reads += 1
        return json.dumps({"keys": self.published}).encode()

    def code(self, kid):
        try:
            self.keys._key(kid)
            return None
        except VerdictError as error:
            return error.code

    def test_known_keys_are_read_once(self):
        self.assertEqual([self.code("vky_a"), self.code("vky_a"), self.reads], [None, None, 1])

    def test_an_unknown_key_has_them_read_again_after_the_cool_down(self):
        self.code("vky_a")
        self.assertEqual([self.code("vky_b"), self.reads], ["signature_invalid", 1])
        self.seconds += public_keys.COOL_DOWN_SECONDS
        self.published = [KEY, {**KEY, "kid": "vky_b"}]
        self.assertEqual([self.code("vky_b"), self.reads], [None, 2])
        self.assertEqual([self.code("vky_c"), self.reads], ["signature_invalid", 2])

    def test_a_removed_key_is_refused_once_the_keys_are_too_old(self):
        self.code("vky_a")
        self.published = []
        self.seconds += public_keys.MAX_AGE_SECONDS - 1
        self.assertIsNone(self.code("vky_a"))
        self.seconds += 1
        self.assertEqual(self.code("vky_a"), "signature_invalid")

    def test_keys_that_cannot_be_read_are_no_malformed_verdict(self):
        def fail(_url):
            raise OSError("no route")

        keys = public_keys.PublicKeys(URL, fail)
        with self.assertRaises(VerdictError) as raised:
            keys._key("vky_a")
        self.assertEqual(raised.exception.code, "keys_unavailable")

    def test_keys_need_tls(self):
        with self.assertRaises(ValueError):
            public_keys.PublicKeys("http://countersign.example.com/v1/.well-known/jwks.json", self.fetch)


if __name__ == "__main__":
    unittest.main()
