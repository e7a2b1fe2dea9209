"""When the issuer's keys are read, kept and refused."""

import json
import threading
import unittest

from countersign import VerdictError, public_keys

URL = "https://countersign.example.com/v1/.well-known/jwks.json"
KEY = {"kty": "EC", "crv": "P-256", "kid": "vky_a", "use": "sig", "alg": "ES256", "x": "", "y": ""}


class PublicKeys(unittest.TestCase):
    def setUp(self):
        self.published = [KEY]
        self.reads = 0
        self.failure = None
        self.seconds = 1000.0
        self.keys = public_keys.PublicKeys(URL, self.fetch, lambda: self.seconds)

    def fetch(self, _url):
        self.reads += 1
        if self.failure:
            raise self.failure
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
        self.failure = OSError("no route")
        self.assertEqual([self.code("vky_a"), self.code("vky_a"), self.reads], ["keys_unavailable"] * 2 + [1])
        self.failure = None
        self.seconds += 5
        self.assertEqual([self.code("vky_a"), self.reads], [None, 2])

    def test_known_keys_count_through_an_outage_of_a_day(self):
        self.code("vky_a")
        self.failure = OSError("no route")
        self.seconds += public_keys.MAX_AGE_SECONDS
        # An attempt that failed is noted: the address is left alone until the cool-down has passed.
        self.assertEqual([self.code("vky_a"), self.code("vky_a"), self.reads], [None, None, 2])
        self.assertEqual([self.code("vky_b"), self.reads], ["keys_unavailable", 2])
        self.seconds += public_keys.MAX_OUTAGE_SECONDS
        self.assertEqual(self.code("vky_a"), "keys_unavailable")

    def test_a_known_key_does_not_wait_for_another_reader(self):
        self.code("vky_a")
        self.seconds += public_keys.MAX_AGE_SECONDS
        asked, release, codes = threading.Event(), threading.Event(), []

        def hang(_url):
            asked.set()
            release.wait()
            raise OSError("no route")

        self.keys._fetch = hang
        reader = threading.Thread(target=lambda: codes.append(self.code("vky_b")))
        reader.start()
        asked.wait()
        self.assertIsNone(self.code("vky_a"))
        release.set()
        reader.join()
        self.assertEqual(codes, ["keys_unavailable"])

    def test_keys_need_tls(self):
        with self.assertRaises(ValueError):
            public_keys.PublicKeys("http://countersign.example.com/v1/.well-known/jwks.json", self.fetch)


if __name__ == "__main__":
    unittest.main()
