"""The test vectors of docs/examples/vectors.json, or of the file that COUNTERSIGN_VECTORS names."""

import importlib.util
import json
import os
import unittest
from pathlib import Path

from countersign import (
    MemoryReplayStore,
    SignatureError,
    SigningSecret,
    VerdictError,
    action_hash,
    assert_response_signature,
    canonical_json,
    verify_verdict,
)

_PATH = os.environ.get("COUNTERSIGN_VECTORS") or (
    Path(__file__).resolve().parents[3] / "docs" / "examples" / "vectors.json"
)
with open(_PATH, encoding="utf-8") as _file:
    VECTORS = json.load(_file)


def held(vector):
    return [SigningSecret(**secret) for secret in vector["secrets"]]


class Vectors(unittest.TestCase):
    def test_responses(self):
        for vector in VECTORS["responses"]:
            with self.subTest(vector["title"]):
                try:
                    assert_response_signature(
                        vector["signature"],
                        held(vector),
                        environment=vector["environment"],
                        method=vector["method"],
                        target=vector["target"],
                        status=vector["status"],
                        request_id=vector["request_id"],
                        body=vector["body"].encode(),
                        now=vector["now"],
                        signature_tolerance_seconds=vector["tolerance_seconds"],
                    )
                    is_valid = True
                except SignatureError:
                    is_valid = False
                self.assertEqual(is_valid, vector["valid"])

    def test_actions(self):
        for vector in VECTORS["actions"]:
            with self.subTest(vector["title"]):
                action = json.loads(vector["json"])
                self.assertEqual(canonical_json(action), vector["canonical"])
                self.assertEqual(action_hash(action), vector["action_hash"])

    def test_actions_that_are_refused(self):
        for vector in VECTORS["refused_actions"]:
            with self.subTest(vector["title"]), self.assertRaises(ValueError):
                canonical_json(json.loads(vector["json"]))

    def test_verdicts(self):
        for vector in VECTORS["verdicts"]:
            with self.subTest(vector["title"]):
                try:
                    verify_verdict(
                        vector["jwt"],
                        **vector["expected"],
                        signing_secret=held(vector),
                        replay_store=MemoryReplayStore(),
                        now=lambda: vector["now"],  # noqa: B023
                    )
                    code = None
                except VerdictError as error:
                    code = error.code
                self.assertEqual(code, vector["error"])

    def test_public_verdicts(self):
        if importlib.util.find_spec("cryptography") is None:
            self.skipTest("the package cryptography is not installed")
        for vector in VECTORS["public_verdicts"]:
            with self.subTest(vector["title"]):
                try:
                    verify_verdict(
                        vector["jwt"],
                        **vector["expected"],
                        fetch_keys=lambda _url: json.dumps(vector["jwks"]).encode(),  # noqa: B023
                        replay_store=MemoryReplayStore(),
                        now=lambda: vector["now"],  # noqa: B023
                    )
                    code = None
                except VerdictError as error:
                    code = error.code
                self.assertEqual(code, vector["error"])


if __name__ == "__main__":
    unittest.main()
