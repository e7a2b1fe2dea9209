"""Sends calls and blocks until they are answered."""

from __future__ import annotations

import http.client
import ssl
import time
import urllib.error
import urllib.request
from typing import Any, Dict, List, Optional, Tuple

from .call import Call, Outgoing, Received, TransportOptions
from .errors import CountersignError
from .received import ResponseInfo
from .signing_secret import SigningSecrets, read_secrets

_PIECE_BYTES = 65_536


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The service never redirects, and a key must not follow a redirect of anything else."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None


class Transport:
    def __init__(
        self,
        options: TransportOptions,
        signing_secret: Optional[SigningSecrets],
        ssl_context: Optional[ssl.SSLContext],
    ) -> None:
        self._options = options
        #: None: signatures are not checked.
        self._signing_secret = signing_secret
        handlers: List[urllib.request.BaseHandler] = [_NoRedirects()]
        if ssl_context is not None:
            handlers.append(urllib.request.HTTPSHandler(context=ssl_context))
        self._opener = urllib.request.build_opener(*handlers)

    def send(self, outgoing: Outgoing) -> Tuple[Dict[str, Any], ResponseInfo]:
        """The body of an answer that is no refusal. A degraded health report is one, too."""
        call = Call(self._options, outgoing)
        while True:
            try:
                return call.answer(self._exchange(call))
            except CountersignError as error:
                delay = call.delay_after(error)
                if delay is None:
                    raise
            time.sleep(delay)

    def _exchange(self, call: Call) -> Received:
        secrets = None if self._signing_secret is None else read_secrets(self._signing_secret)
        outgoing, timeout = call.outgoing, call.timeout_seconds
        request = urllib.request.Request(
            self._options.base_url + outgoing.path,
            method=outgoing.method,
            data=outgoing.body,
            headers=call.begin_try(secrets),
        )
        deadline = time.monotonic() + timeout
        try:
            try:
                response: Any = self._opener.open(request, timeout=timeout)
            except urllib.error.HTTPError as refusal:
                response = refusal
            with response:
                body = _read(response, deadline)
                names = {name.lower(): value for name, value in response.headers.items()}
                return Received(response.status, names, body)
        except (OSError, http.client.HTTPException) as error:
            raise call.failure(error) from error


def _read(response: Any, deadline: float) -> bytes:
    """Each wait for the network has a limit of its own; this one holds for all of them together."""
    pieces = []
    while True:
        piece = response.read1(_PIECE_BYTES)
        if not piece:
            break
        pieces.append(piece)
        if time.monotonic() > deadline:
            raise TimeoutError("timed out")
    body = b"".join(pieces)
    declared = response.headers.get("Content-Length")
    if declared is not None and declared.isdigit() and len(body) < int(declared):
        raise http.client.IncompleteRead(body, int(declared) - len(body))
    return body
