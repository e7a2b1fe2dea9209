"""HTTP/1.1 over the streams of asyncio, with connections that are kept for the next request."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import http.client
import io
import re
import socket
import ssl
import urllib.request
from typing import Dict, List, Mapping, Optional, Tuple, cast
from urllib.parse import SplitResult, unquote, urlsplit

from .call import Received

#: More idle connections than this are closed: they only help while as many calls are under way.
_MAX_IDLE = 20
#: As many bytes of headers as `asyncio.StreamReader` and most proxies take.
_MAX_HEAD_BYTES = 65_536
_STATUS = re.compile(rb"HTTP/1\.([01]) ([0-9]{3})(?: [^\r\n]*)?\r\n")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r\n")


class _Wire(asyncio.Protocol):
    """Bytes of one connection, as they come."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.buffer = bytearray()
        self.is_ended = False
        #: Whether anything has come since `send`.
        self.has_answered = False
        self._failure: Optional[Exception] = None
        self._waiting: Optional[asyncio.Future[None]] = None
        self._transport: Optional[asyncio.Transport] = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        self.has_answered = True
        self._wake()

    def eof_received(self) -> None:
        self.is_ended = True
        self._wake()

    def connection_lost(self, exc: Optional[Exception]) -> None:
        self.is_ended, self._failure = True, exc
        self._wake()

    def send(self, data: bytes) -> None:
        assert self._transport is not None
        self.has_answered = False
        self._transport.write(data)

    def abort(self) -> None:
        # A loop that has ended has closed the transport's socket with it.
        with contextlib.suppress(RuntimeError):
            if self._transport is not None:
                self._transport.abort()

    async def until(self, mark: bytes) -> bytes:
        while (found := self.buffer.find(mark)) < 0:
            if len(self.buffer) > _MAX_HEAD_BYTES:
                raise http.client.LineTooLong("header")
            await self._more()
        return self._take(found + len(mark))

    async def exactly(self, size: int) -> bytes:
        while len(self.buffer) < size:
            await self._more()
        return self._take(size)

    async def rest(self) -> bytes:
        while not self.is_ended:
            await self._more()
        if self._failure is not None:
            raise self._failure
        return self._take(len(self.buffer))

    def _take(self, size: int) -> bytes:
        taken = bytes(self.buffer[:size])
        del self.buffer[:size]
        return taken

    async def _more(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self.is_ended and not self.has_answered:
            raise http.client.RemoteDisconnected("Remote end closed connection without response")
        if self.is_ended:
            raise http.client.IncompleteRead(bytes(self.buffer))
        self._waiting = self.loop.create_future()
        try:
            await self._waiting
        finally:
            self._waiting = None

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


class Connections:
    """The connections to one address. The variables of proxies count as for `urllib.request`."""

    def __init__(self, base_url: str, ssl_context: Optional[ssl.SSLContext]) -> None:
        url = urlsplit(base_url)
        assert url.hostname is not None
        self._host, self._port = url.hostname, url.port or (443 if url.scheme == "https" else 80)
        self._authority = url.netloc.rpartition("@")[2]
        self._prefix = url.path
        self._ssl_context = _default_context() if url.scheme == "https" and ssl_context is None else ssl_context
        if url.scheme != "https":
            self._ssl_context = None
        self._proxy = _proxy_of(url)
        self._headers: Dict[str, str] = {}
        if self._proxy is not None and self._ssl_context is None:
            self._prefix = f"http://{self._authority}{url.path}"
            self._headers = _proxy_headers(self._proxy)
        self._idle: List[_Wire] = []
        self._is_closed = False

    async def exchange(
        self, method: str, path: str, headers: Mapping[str, str], body: Optional[bytes]
    ) -> Received:
        """Raises OSError and HTTPException, as `http.client` does. A connection whose exchange is cancelled is closed."""
        request = self._encode(method, path, headers, body)
        while True:
            wire = self._idle_wire()
            is_reused = wire is not None
            if wire is None:
                wire = await self._open()
            try:
                wire.send(request)
                received, is_reusable = await _read(wire)
            except BaseException as error:
                wire.abort()
                # The server closed it just when it was used again; it has not read the request.
                is_stale = is_reused and not wire.has_answered
                if is_stale and isinstance(error, (OSError, http.client.HTTPException)):
                    continue
                raise
            if is_reusable and len(self._idle) < _MAX_IDLE and not self._is_closed:
                self._idle.append(wire)
            else:
                wire.abort()
            return received

    async def aclose(self) -> None:
        self._is_closed = True
        idle, self._idle = self._idle, []
        for wire in idle:
            wire.abort()
        # The event loop closes the sockets in its next round.
        await asyncio.sleep(0)

    def _idle_wire(self) -> Optional[_Wire]:
        if self._is_closed:
            raise RuntimeError("the client is closed")
        loop = asyncio.get_running_loop()
        kept, found = [], None
        for wire in self._idle:
            # Bytes that nobody asked for answer no request.
            if wire.loop.is_closed() or wire.is_ended or wire.buffer:
                wire.abort()
            elif found is None and wire.loop is loop:
                found = wire
            else:
                kept.append(wire)
        self._idle = kept
        return found

    async def _open(self) -> _Wire:
        loop = asyncio.get_running_loop()
        via = self._proxy
        if via is None:
            connected = await _connect(self._host, self._port)
        else:
            assert via.hostname is not None
            connected = await _connect(via.hostname, via.port or 80)
        if via is not None and self._ssl_context is not None:
            try:
                await _tunnel(connected, self._authority_with_port(), _proxy_headers(via))
            except BaseException:
                connected.close()
                raise
        name = None if self._ssl_context is None else self._host
        wire = _Wire(loop)
        # From here on the event loop closes the socket, in the case of a cancellation too.
        await loop.create_connection(lambda: wire, sock=connected, ssl=self._ssl_context, server_hostname=name)
        return wire

    def _authority_with_port(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{host}:{self._port}"

    def _encode(self, method: str, path: str, headers: Mapping[str, str], body: Optional[bytes]) -> bytes:
        lines = [f"{method} {self._prefix}{path} HTTP/1.1", f"Host: {self._authority}", "Accept-Encoding: identity"]
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        for name, value in {**self._headers, **headers}.items():
            if re.search(r"[\r\n\0]", value):
                raise ValueError(f"{name} must be one line")
            lines.append(f"{name}: {value}")
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b"")


async def _read(wire: _Wire) -> Tuple[Received, bool]:
    """The answer, and whether the connection can be used again."""
    status, minor, headers = 100, 0, {"": ""}
    # 100 and 103 announce the answer.
    while 100 <= status < 200:
        head = await wire.until(b"\r\n\r\n")
        match = _STATUS.match(head)
        if match is None:
            raise http.client.BadStatusLine(repr(head[:80]))
        minor, status = int(match[1]), int(match[2])
        parsed = http.client.parse_headers(io.BytesIO(head[match.end() :]))
        headers = {name.lower(): value for name, value in parsed.items()}
    is_reusable = minor == 1 and "close" not in headers.get("connection", "").lower()
    coding, length = headers.get("transfer-encoding"), headers.get("content-length")
    if status in (204, 304):
        body = b""
    elif coding is not None:
        if coding.strip().lower() != "chunked":
            raise http.client.HTTPException(f"unknown transfer coding {coding!r}")
        body = await _read_chunks(wire)
        # Both lengths at once are a sign of a request or an answer that was smuggled in (RFC 9112, section 6.3).
        is_reusable = is_reusable and length is None
    elif length is not None:
        if re.fullmatch(r"[0-9]{1,15}", length) is None:
            raise http.client.HTTPException(f"malformed Content-Length {length!r}")
        body = await wire.exactly(int(length))
    else:
        body, is_reusable = await wire.rest(), False
    return Received(status, headers, body), is_reusable


async def _read_chunks(wire: _Wire) -> bytes:
    body = bytearray()
    while True:
        match = _CHUNK.fullmatch(await wire.until(b"\r\n"))
        if match is None:
            raise http.client.HTTPException("malformed chunk")
        size = int(match[1], 16)
        if size == 0:
            break
        body += await wire.exactly(size)
        if await wire.exactly(2) != b"\r\n":
            raise http.client.HTTPException("malformed chunk")
    # Trailers end with an empty line.
    while await wire.until(b"\r\n") != b"\r\n":
        pass
    return bytes(body)


async def _connect(host: str, port: int) -> socket.socket:
    """Tries every address of the name in turn. The error of the last one names what failed, such as a refusal."""
    loop = asyncio.get_running_loop()
    failure = OSError(f"no address for {host}")
    for family, kind, protocol, _, address in await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        attempt = socket.socket(family, kind, protocol)
        attempt.setblocking(False)
        try:
            await loop.sock_connect(attempt, address)
            return attempt
        except OSError as error:
            attempt.close()
            failure = error
        except BaseException:
            attempt.close()
            raise
    raise failure


async def _tunnel(connected: socket.socket, authority: str, headers: Mapping[str, str]) -> None:
    """Asks a proxy for a connection to the service, on which TLS begins."""
    loop = asyncio.get_running_loop()
    lines = [f"CONNECT {authority} HTTP/1.1", f"Host: {authority}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    await loop.sock_sendall(connected, "\r\n".join([*lines, "", ""]).encode("latin-1"))
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        # One byte at a time: what follows the head belongs to TLS.
        byte = await loop.sock_recv(connected, 1)
        if not byte or len(head) > _MAX_HEAD_BYTES:
            raise OSError("Tunnel connection failed: the proxy did not answer CONNECT")
        head += byte
    match = _STATUS.match(head)
    if match is None or not 200 <= int(match[2]) < 300:
        raise OSError(f"Tunnel connection failed: {head.splitlines()[0].decode('latin-1')}")


def _default_context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _proxy_of(url: SplitResult) -> Optional[SplitResult]:
    """The proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name for the address. Raises ValueError for one that is not HTTP."""
    given = urllib.request.getproxies().get(url.scheme)
    if not given or urllib.request.proxy_bypass(url.netloc.rpartition("@")[2]):
        return None
    proxy = urlsplit(given if "://" in given else f"http://{given}")
    if proxy.scheme != "http" or not proxy.hostname:
        raise ValueError(f"the proxy for {url.scheme} must be http://host:port, and not {proxy.scheme}://…")
    return proxy


def _proxy_headers(proxy: SplitResult) -> Dict[str, str]:
    if proxy.username is None:
        return {}
    user = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(user.encode()).decode()}"}
