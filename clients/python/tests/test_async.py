"""Rules of the client for asyncio: its connections, its time limit and its cancellation. Answers are not signed here."""

import asyncio
import contextlib
import gc
import json
import logging
import os
import shutil
import ssl
import subprocess
import tempfile
import unittest
import warnings
from unittest import mock

from countersign import (
    AsyncCountersign,
    CallOptions,
    ConnectionError,
    TimeoutError,
    UnexpectedResponseError,
    read_secrets,
)
from countersign.signing_secret import read_secrets_async

BODY = json.dumps({"status": "ok", "version": "1", "checks": {}}).encode()
OK = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;x=1\r\n%s\r\n%x\r\n%s\r\n0\r\nT: 1\r\n\r\n" % (
    BODY[:4],
    len(BODY) - 4,
    BODY[4:],
)


def setUpModule():
    # Here servers meet clients that leave in the middle of something, which asyncio logs.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)


class Server:
    """Answers each request on each connection as its test says; None: not at all."""

    def __init__(self, *answers, closes_after=None, tls=None):
        self.answers, self.closes_after, self.tls = list(answers), closes_after, tls
        self.connections, self.closed, self.requests = 0, 0, []

    async def __aenter__(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0, ssl=self.tls)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_error):
        self.server.close()

    async def serve(self, reader, writer):
        self.connections += 1
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while True:
                self.requests.append((await reader.readuntil(b"\r\n\r\n")).decode())
                answer = self.answers.pop(0) if self.answers else OK
                if answer is not None:
                    writer.write(answer)
                if self.closes_after == len(self.requests):
                    break
        self.closed += 1
        writer.close()

    def client(self, **options):
        return client_of(f"http://127.0.0.1:{self.port}/v1", **options)


def client_of(base_url, **options):
    given = {"api_key": "svc-sbx-1", "signing_secret": "svc-sec-1", "verify_responses": False, "max_retries": 0}
    return AsyncCountersign(base_url=base_url, **{**given, **options})


async def until(holds):
    for _ in range(500):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come")


class Connections(unittest.IsolatedAsyncioTestCase):
    async def test_are_used_again_and_closed_at_the_end(self):
        async with Server(OK, CHUNKED) as server:
            async with server.client() as client:
                for _ in range(5):
                    self.assertEqual((await client.health()).status, "ok")
                self.assertEqual(server.connections, 1)
                await asyncio.gather(*(client.health() for _ in range(3)))
                self.assertLessEqual(server.connections, 3)
            await until(lambda: server.closed == server.connections)
            with self.assertRaises(RuntimeError):
                await client.health()

    async def test_are_opened_again_where_the_server_closed_them(self):
        async with Server(closes_after=1) as server, server.client() as client:
            await client.health()
            await client.health()
            self.assertEqual(server.connections, 2)

    async def test_are_given_up_after_bytes_that_nobody_asked_for(self):
        async with Server(OK + b"HTTP/1.1 408 Request Timeout\r\n\r\n") as server, server.client() as client:
            await client.health()
            await client.health()
            self.assertEqual(server.connections, 2)

    async def test_end_with_the_answer_that_says_so_or_has_no_length(self):
        closing = OK.replace(b"200 OK\r\n", b"200 OK\r\nConnection: close\r\n")
        endless = b"HTTP/1.0 200 OK\r\n\r\n" + BODY
        async with Server(closing, endless, closes_after=2) as server, server.client() as client:
            for _ in range(3):
                await client.health()
            self.assertEqual(server.connections, 3)

    async def test_that_break_off_within_an_answer_are_an_error(self):
        for part in (OK[:10], OK[:-1], CHUNKED[:-20], b"nothing of HTTP\r\n\r\n"):
            async with Server(part, closes_after=1) as server, server.client() as client:
                with self.subTest(part), self.assertRaises(ConnectionError) as raised:
                    await client.health()
                self.assertEqual((raised.exception.code, raised.exception.attempts), ("connection_failed", 1))

    async def test_skip_what_announces_an_answer(self):
        early = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK
        async with Server(early) as server, server.client() as client:
            self.assertEqual((await client.health()).status, "ok")

    async def test_send_no_header_of_two_lines(self):
        async with Server() as server, server.client() as client:
            with self.assertRaises(ValueError):
                await client.health(options=CallOptions(request_id="a\r\nX-Other: b"))

    async def test_say_when_nothing_listens(self):
        async with Server() as server:
            port = server.port
        async with client_of(f"http://127.0.0.1:{port}/v1") as client:
            with self.assertRaises(ConnectionError) as raised:
                await client.health()
            self.assertTrue(raised.exception.is_refused)


class TimeLimits(unittest.IsolatedAsyncioTestCase):
    async def test_hold_for_one_try_and_close_its_connection(self):
        async with Server(None) as server, server.client(timeout_seconds=0.5) as client:
            with self.assertRaises(TimeoutError) as raised:
                await client.health()
            self.assertEqual(str(raised.exception)[:34], "No complete answer within 0.5 s. (")
            await until(lambda: server.closed == 1)
            await client.health()

    async def test_count_tries(self):
        async with Server(None, None) as server, server.client(timeout_seconds=0.5, max_retries=2) as client:
            self.assertEqual((await client.health()).response.attempts, 3)
            self.assertEqual(server.connections, 3)


class Cancellation(unittest.IsolatedAsyncioTestCase):
    async def test_ends_a_call_at_once_and_closes_its_connection(self):
        async with Server(OK, None) as server, server.client() as client:
            await client.health()
            call = asyncio.ensure_future(client.health())
            await until(lambda: len(server.requests) == 2)
            call.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await call
            await until(lambda: server.closed == 1)
            self.assertEqual((await client.health()).status, "ok")
            self.assertEqual(server.connections, 2)

    async def test_ends_the_wait_between_tries(self):
        busy = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
        async with Server(*[busy] * 9) as server, server.client(max_retries=9) as client:
            call = asyncio.ensure_future(client.health())
            await until(lambda: server.requests)
            call.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await call


class Proxies(unittest.IsolatedAsyncioTestCase):
    async def test_are_asked_for_the_whole_address(self):
        async with Server() as proxy:
            address = f"http://me:p%40ss@127.0.0.1:{proxy.port}"
            with mock.patch.dict(os.environ, {"http_proxy": address, "no_proxy": ""}):
                client = client_of("http://service.example/v1", allow_insecure_http=True)
            async with client:
                await client.health()
            self.assertRegex(proxy.requests[0], r"^GET http://service\.example/v1/health HTTP/1\.1\r\n")
            self.assertIn("Proxy-Authorization: Basic bWU6cEBzcw==\r\n", proxy.requests[0])

    async def test_are_asked_for_a_tunnel_to_https(self):
        async with Server(b"HTTP/1.1 403 Forbidden\r\n\r\n") as proxy:
            with mock.patch.dict(os.environ, {"https_proxy": f"127.0.0.1:{proxy.port}", "no_proxy": ""}):
                client = client_of("https://service.example/v1")
            async with client:
                with self.assertRaises(ConnectionError) as raised:
                    await client.health()
            self.assertIn("Tunnel connection failed: HTTP/1.1 403 Forbidden", str(raised.exception))
            self.assertTrue(proxy.requests[0].startswith("CONNECT service.example:443 HTTP/1.1\r\n"))

    async def test_count_only_where_they_are_meant(self):
        async with Server() as server:
            given = {"http_proxy": "http://127.0.0.1:9", "no_proxy": "127.0.0.1"}
            with mock.patch.dict(os.environ, given):
                async with server.client() as client:
                    await client.health()
        with mock.patch.dict(os.environ, {"https_proxy": "socks5://127.0.0.1:9", "no_proxy": ""}):
            with self.assertRaises(ValueError):
                client_of("https://service.example/v1")


@unittest.skipUnless(shutil.which("openssl"), "needs the command openssl, for a certificate")
class Tls(unittest.IsolatedAsyncioTestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            key, certificate = os.path.join(folder, "key.pem"), os.path.join(folder, "cert.pem")
            subject = ["-subj", "/CN=service.example", "-addext", "subjectAltName=DNS:service.example,DNS:localhost"]
            make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate]
            subprocess.run([*make, *subject], check=True, capture_output=True)
            cls.of_server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            cls.of_server.load_cert_chain(certificate, key)
            cls.trusted = ssl.create_default_context(cafile=certificate)

    async def test_is_checked_and_kept(self):
        async with Server(tls=self.of_server) as server:
            async with client_of(f"https://localhost:{server.port}/v1", ssl_context=self.trusted) as client:
                await client.health()
                await client.health()
            self.assertEqual(server.connections, 1)
            for trust, name in ((None, "localhost"), (self.trusted, "127.0.0.1")):
                async with client_of(f"https://{name}:{server.port}/v1", ssl_context=trust) as client:
                    with self.subTest(name), self.assertRaises(ConnectionError) as raised:
                        await client.health()
                    self.assertIn("CERTIFICATE_VERIFY_FAILED", str(raised.exception))

    async def test_goes_through_the_tunnel_of_a_proxy(self):
        async with Server(tls=self.of_server) as server:
            asked = []

            async def tunnel(reader, writer):
                asked.append((await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[0])
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
                to_server = await asyncio.open_connection("127.0.0.1", server.port)
                await asyncio.gather(copy(reader, to_server[1]), copy(to_server[0], writer))

            async def copy(reader, writer):
                while data := await reader.read(65536):
                    writer.write(data)
                writer.close()

            proxy = await asyncio.start_server(tunnel, "127.0.0.1", 0)
            address = f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
            with mock.patch.dict(os.environ, {"https_proxy": address, "no_proxy": ""}):
                client = client_of("https://service.example/v1", ssl_context=self.trusted)
            async with client:
                self.assertEqual((await client.health()).status, "ok")
            self.assertEqual(asked, [b"CONNECT service.example:443 HTTP/1.1"])
            proxy.close()

    async def test_that_does_not_begin_ends_with_the_time_limit(self):
        async with Server() as server:
            base_url = f"https://localhost:{server.port}/v1"
            async with client_of(base_url, ssl_context=self.trusted, timeout_seconds=0.2) as client:
                # The server waits for a line of HTTP, and answers no handshake.
                with self.assertRaises(TimeoutError):
                    await client.health()
            await until(lambda: server.closed == server.connections)


class Answers(unittest.IsolatedAsyncioTestCase):
    async def test_of_something_else_on_the_way_are_unexpected(self):
        async with Server(b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n") as server:
            async with server.client() as client:
                with self.assertRaises(UnexpectedResponseError):
                    await client.health()

    async def test_come_in_another_event_loop_too(self):
        def ask():
            return asyncio.run(client.health()).status

        async with Server() as server:
            client = server.client()
            with warnings.catch_warnings():
                # The connections of a loop that has ended cannot be closed any more.
                warnings.simplefilter("ignore", ResourceWarning)
                self.assertEqual([await asyncio.to_thread(ask), await asyncio.to_thread(ask)], ["ok", "ok"])
                self.assertEqual(server.connections, 2)
                await client.aclose()
                gc.collect()


class Functions(unittest.IsolatedAsyncioTestCase):
    async def test_that_read_secrets_may_be_awaited(self):
        async def stored():
            return "sec_1:svc-sec-1"

        for source in (stored, lambda: "sec_1:svc-sec-1", "sec_1:svc-sec-1"):
            self.assertEqual(await read_secrets_async(source), read_secrets("sec_1:svc-sec-1"))


if __name__ == "__main__":
    unittest.main()
