"""Rules of the fake. COUNTERSIGN_COMMAND says how the command is called, such as `node dist/src/cli/main.js`."""

import asyncio
import os
import sys
import unittest

from countersign import ConnectionError, VerdictError
from countersign.testing import FakeCountersign

COMMAND = os.environ.get("COUNTERSIGN_COMMAND", "").split()


@unittest.skipUnless(COMMAND, "COUNTERSIGN_COMMAND is not set")
class Fakes(unittest.TestCase):
    def test_answer_as_the_sandbox_until_they_are_stopped(self):
        with FakeCountersign(command=COMMAND) as fake:
            client = fake.client(max_retries=0)
            result = client.verify("ada+match", image=b"photo", action="pay")
            self.assertEqual(client.verify_verdict(result, user_id="ada+match", action="pay").verdict, "approved")
            self.assertEqual(client.verify("ada+no_match", image=b"photo", action="pay").reason, "no_match")
            self.assertEqual([one["path"] for one in fake.requests()], ["/verify", "/verify"])
        with self.assertRaises(ConnectionError):
            client.health()

    def test_move_their_clock(self):
        with FakeCountersign(command=COMMAND) as fake:
            client = fake.client()
            result = client.verify("ada+match", image=b"photo", action="pay")
            fake.advance(3600)
            with self.assertRaises(VerdictError) as raised:
                client.verify_verdict(result, user_id="ada+match", action="pay")
            self.assertEqual(raised.exception.code, "expired")
            self.assertEqual(client.health().response.status, 200)

    def test_play_the_person_on_the_hosted_page(self):
        async def ask(fake):
            async with fake.async_client() as client:
                link = await client.create_capture_session(
                    "ada+match", action="pay", return_url="https://bank.example/done"
                )
                back = fake.play(link.session_id, "capture")
                proof = back.partition("capture_proof=")[2].partition("&")[0]
                session = await client.get_capture_session(link.session_id, proof=proof)
                claims = await client.verify_verdict(
                    session, user_id="ada+match", action="pay", capture_session_id=link.session_id
                )
                return claims.verdict

        with FakeCountersign(command=COMMAND) as fake:
            self.assertEqual(asyncio.run(ask(fake)), "approved")


class Starts(unittest.TestCase):
    def test_that_fail_say_why(self):
        with self.assertRaises(RuntimeError) as raised:
            FakeCountersign(command=[sys.executable, "-c", "import sys; sys.exit('no such thing')"])
        self.assertIn("no such thing", str(raised.exception))

    def test_that_say_nothing_in_time_are_given_up(self):
        with self.assertRaises(RuntimeError):
            FakeCountersign(command=[sys.executable, "-c", "import time; time.sleep(60)"], timeout_seconds=0.3)


if __name__ == "__main__":
    unittest.main()
