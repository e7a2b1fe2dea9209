"""Sends calls over kept connections without blocking the event loop of asyncio."""

from __future__ import annotations

import asyncio
import http.client
import ssl
from typing import Any, Coroutine, Dict, Optional, Tuple

from .async_connection import Connections
from .call import Call, Outgoing, Received, TransportOptions
from .errors import CountersignError
from .received import ResponseInfo
from .signing_secret import AsyncSigningSecrets, read_secrets_async


class AsyncTransport:
    def __init__(
        self,
        options: TransportOptions,
        signing_secret: Optional[AsyncSigningSecrets],
        ssl_context: Optional[ssl.SSLContext],
    ) -> None:
        self._options = options
        #: None: signatures are not checked.
        self._signing_secret = signing_secret
        self._connections = Connections(options.base_url, ssl_context)

    async def send(self, outgoing: Outgoing) -> Tuple[Dict[str, Any], ResponseInfo]:
        """The body of an answer that is no refusal. A degraded health report is one, too."""
        call = Call(self._options, outgoing)
        while True:
            try:
                return call.answer(await self._exchange(call))
            except CountersignError as error:
                delay = call.delay_after(error)
                if delay is None:
                    raise
            await asyncio.sleep(delay)

    async def aclose(self) -> None:
        await self._connections.aclose()

    async def _exchange(self, call: Call) -> Received:
        secrets = None if self._signing_secret is None else await read_secrets_async(self._signing_secret)
        headers, outgoing = call.begin_try(secrets), call.outgoing
        exchange = self._connections.exchange(outgoing.method, outgoing.path, headers, outgoing.body)
        try:
            return await _within(call.timeout_seconds, exchange)
        except (OSError, http.client.HTTPException) as error:
            raise call.failure(error) from error


async def _within(seconds: float, exchange: Coroutine[Any, Any, Received]) -> Received:
    """Raises TimeoutError. `asyncio.wait_for` before Python 3.12 loses a cancellation that comes together with the answer."""
    task = asyncio.ensure_future(exchange)
    try:
        await asyncio.wait({task}, timeout=seconds)
        if task.done():
            return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
        if not task.cancelled():
            task.exception()
    raise TimeoutError("timed out")
