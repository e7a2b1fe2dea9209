"""Rules of single parts that no call to a service shows."""

import builtins
import os
import sys
import tempfile
import threading
import unittest
import warnings
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest import mock

import countersign
from countersign import (
    ApiError,
    AsyncPostgresReplayStore,
    Countersign,
    MemoryReplayStore,
    PostgresReplayStore,
    SigningSecret,
    TimeoutError,
    canonical_json,
    read_secrets,
)
from countersign.photo import encode_photo
from countersign.replay_store import DefaultReplayStore
from countersign.retry import RetryPolicy, parse_retry_after, retry_delay_seconds

BODY = {"error": "rate_limited", "code": "rate_limited", "message": "Too many.", "request_id": "r"}


def refusal(status, retry_after=None, **members):
    return ApiError({**BODY, **members}, status=status, retry_after_seconds=retry_after, verified=True)


class Retries(unittest.TestCase):
    policy = RetryPolicy(max_retries=2, max_retry_after_seconds=30)

    def test_waits_as_long_as_the_service_asks_and_a_little_more(self):
        for retry in (0, 1):
            delay = retry_delay_seconds(refusal(429, 7.0), retry, self.policy)
            self.assertTrue(7 <= delay <= 7 + 0.5 * 2**retry, delay)

    def test_gives_up_after_its_retries_at_a_long_wait_and_at_what_will_not_change(self):
        self.assertIsNone(retry_delay_seconds(refusal(429, 7.0), 2, self.policy))
        self.assertIsNone(retry_delay_seconds(refusal(429, 31.0), 0, self.policy))
        self.assertIsNone(retry_delay_seconds(refusal(422), 0, self.policy))
        self.assertIsNone(retry_delay_seconds(refusal(429, 7.0, code="too_many_wrong_keys"), 0, self.policy))
        self.assertIsNotNone(retry_delay_seconds(refusal(409, code="idempotency_in_progress"), 0, self.policy))

    def test_reads_both_forms_of_retry_after(self):
        self.assertEqual(parse_retry_after("120", 0), 120)
        self.assertEqual(parse_retry_after("Thu, 01 Jan 1970 00:02:00 GMT", 60), 60)
        self.assertEqual(parse_retry_after("Thu, 01 Jan 1970 00:00:00 GMT", 60), 0)
        self.assertIsNone(parse_retry_after("soon", 0))
        self.assertIsNone(parse_retry_after(None, 0))


class Secrets(unittest.TestCase):
    def test_reads_every_form(self):
        one, two = SigningSecret("svc-sec-1", "sec_1"), SigningSecret("svc-sec-2", "sec_2")
        self.assertEqual(read_secrets("sec_1:svc-sec-1\n"), [one])
        self.assertEqual(read_secrets("sec_1:svc-sec-1,sec_2:svc-sec-2"), [one, two])
        self.assertEqual(read_secrets(["sec_1:svc-sec-1", two]), [one, two])
        self.assertEqual(read_secrets(lambda: "svc-sec-1"), [SigningSecret("svc-sec-1")])

    def test_refuses_an_empty_one(self):
        for empty in ("", "sec_1:", [], ["sec_1:svc-sec-1", ""]):
            with self.subTest(empty), self.assertRaises(ValueError):
                read_secrets(empty)

    def test_is_in_no_log(self):
        self.assertNotIn("svc-sec-1", repr(SigningSecret("svc-sec-1", "sec_1")))


class Options(unittest.TestCase):
    good = {"base_url": "https://c.example/v1", "api_key": "svc-sbx-1", "signing_secret": "svc-sec-1"}

    def test_refuses_what_cannot_work(self):
        for change in (
            {"base_url": ""},
            {"base_url": "https://c.example"},
            {"base_url": "https://c.example/v1?a=1"},
            {"base_url": "http://c.example/v1"},
            {"base_url": "https:///v1"},
            {"api_key": ""},
            {"api_key": "Bearer svc-sbx-1"},
            {"signing_secret": ""},
            {"clock_tolerance_seconds": 301},
            {"clock_tolerance_seconds": -1},
        ):
            with self.subTest(change), self.assertRaises(ValueError):
                Countersign(**{**self.good, **change})

    def test_allows_http_to_this_machine_and_where_it_is_told_to(self):
        Countersign(**{**self.good, "base_url": "http://127.0.0.1:8080/v1"})
        Countersign(**{**self.good, "base_url": "http://c.example/v1"}, allow_insecure_http=True)


class Actions(unittest.TestCase):
    def test_refuses_what_json_does_not_hold(self):
        circle = {}
        circle["self"] = circle
        for action in (float("nan"), float("inf"), {1: 2}, {"at": datetime(2026, 1, 1)}, {"s"}, "\ud800", circle):
            with self.subTest(repr(action)), self.assertRaises((TypeError, ValueError)):
                canonical_json(action)


class Photos(unittest.TestCase):
    def test_takes_every_form(self):
        with tempfile.NamedTemporaryFile(suffix=".jpg") as file:
            file.write(b"photo")
            file.flush()
            forms = (b"photo", bytearray(b"photo"), memoryview(b"photo"), Path(file.name), "cGhvdG8=", "data:image/jpeg;base64,cGhvdG8=")
            self.assertEqual({encode_photo(form, "image") for form in forms}, {"cGhvdG8="})

    def test_names_what_is_none(self):
        for form in (None, "", b"", "ada.jpg", 5):
            with self.subTest(form), self.assertRaises(ApiError) as raised:
                encode_photo(form, "image")
            self.assertEqual(
                (raised.exception.code, raised.exception.category, raised.exception.details[0].path),
                ("image_unreadable", "biometric_rejected", "image"),
            )


class Trickle(BaseHTTPRequestHandler):
    """Sends a byte at a time, each of them in time, and never ends."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        try:
            while not self.server.is_over.wait(0.02):
                self.wfile.write(b" ")
        except OSError:
            pass

    def log_message(self, *_args):
        pass


class Timeouts(unittest.TestCase):
    def test_an_answer_that_trickles_in_has_no_longer_than_others(self):
        server = ThreadingHTTPServer(("127.0.0.1", 0), Trickle)
        server.is_over = threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            client = Countersign(
                base_url=f"http://127.0.0.1:{server.server_port}/v1",
                api_key="svc-sbx-1",
                signing_secret="svc-sec-1",
                timeout_seconds=0.2,
                max_retries=0,
            )
            with self.assertRaises(TimeoutError):
                client.health()
        finally:
            server.is_over.set()
            server.shutdown()
            server.server_close()


class Names(unittest.TestCase):
    def test_keeps_the_deprecated_ones(self):
        self.assertIs(countersign.ApiConnectionError, countersign.ConnectionError)
        self.assertIs(countersign.ApiTimeoutError, countersign.TimeoutError)
        self.assertIs(countersign.Health, countersign.HealthResult)

    def test_hides_no_built_in_error_from_a_star_import(self):
        self.assertEqual([name for name in countersign.__all__ if hasattr(builtins, name)], [])


class ReplayStores(unittest.TestCase):
    def test_forgets_what_has_expired(self):
        now = [0.0]
        store = MemoryReplayStore(lambda: now[0])
        self.assertTrue(store.consume("a", 10))
        self.assertFalse(store.consume("a", 10))
        now[0] = 61
        self.assertTrue(store.consume("b", 100))
        self.assertEqual(len(store), 1)

    def test_warn_once_where_several_processes_have_a_memory_each(self):
        def warnings_of(environment, modules):
            DefaultReplayStore._has_looked = False
            with mock.patch.dict(os.environ, environment, clear=True), mock.patch.dict(sys.modules, modules):
                with warnings.catch_warnings(record=True) as given:
                    warnings.simplefilter("always")
                    DefaultReplayStore().consume("a", 10)
                    DefaultReplayStore().consume("a", 10)
                    MemoryReplayStore().consume("a", 10)
            return [str(one.message) for one in given]

        uwsgi = mock.Mock(numproc=4)
        self.assertEqual(len(warnings_of({"WEB_CONCURRENCY": "4"}, {})), 1)
        self.assertIn("RedisReplayStore", *warnings_of({}, {"uwsgi": uwsgi}))
        for quiet in ({}, {"WEB_CONCURRENCY": "1"}, {"WEB_CONCURRENCY": "auto"}):
            self.assertEqual(warnings_of(quiet, {}), [])

    def test_take_no_table_that_would_need_quotes(self):
        PostgresReplayStore(None, table="app.used")
        for make in (PostgresReplayStore, AsyncPostgresReplayStore):
            with self.assertRaises(ValueError):
                make(None, table="used; DROP TABLE users")


if __name__ == "__main__":
    unittest.main()
