"""One call over HTTP with its time limit, its retries, and the check of the answer's signature before anything reads the answer."""

from __future__ import annotations

import http.client
import json
import logging
import ssl
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from . import errors
from .constants import UNVERIFIABLE_CODES
from .errors import ApiError, CountersignError, SignatureError, UnexpectedResponseError
from .received import ResponseInfo
from .retry import RetryPolicy, is_refused, parse_retry_after, retry_delay_seconds
from .signature import assert_response_signature
from .signing_secret import SigningSecret, SigningSecrets, read_secrets

_log = logging.getLogger("countersign")
# Nothing is printed unless the application asks for it.
_log.addHandler(logging.NullHandler())
_PIECE_BYTES = 65_536


@dataclass(frozen=True)
class TransportOptions:
    api_key: str = field(repr=False)
    #: Environment of the API key. An answer of the other environment is refused.
    environment: str
    #: Ends in /v1.
    base_url: str
    #: None: signatures are not checked.
    signing_secret: Optional[SigningSecrets] = field(repr=False)
    signature_tolerance_seconds: float
    #: Of one try, body included.
    timeout_seconds: float
    retry: RetryPolicy
    ssl_context: Optional[ssl.SSLContext]
    #: Unix seconds.
    now: Callable[[], float]


@dataclass(frozen=True)
class Outgoing:
    method: str
    #: After /v1, with the query.
    path: str
    #: The path as logs and errors show it, which names no user.
    name: str
    headers: Mapping[str, str]
    body: Optional[bytes]
    timeout_seconds: Optional[float]
    max_retries: Optional[int]


@dataclass(frozen=True)
class _Received:
    status: int
    headers: Mapping[str, str]
    body: bytes


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The service never redirects, and a key must not follow a redirect of anything else."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None


class Transport:
    def __init__(self, options: TransportOptions) -> None:
        self._options = options
        handlers: List[urllib.request.BaseHandler] = [_NoRedirects()]
        if options.ssl_context is not None:
            handlers.append(urllib.request.HTTPSHandler(context=options.ssl_context))
        self._opener = urllib.request.build_opener(*handlers)

    def send(self, outgoing: Outgoing) -> Tuple[Dict[str, Any], ResponseInfo]:
        """The body of an answer that is no refusal. A degraded health report is one, too."""
        policy = self._options.retry
        if outgoing.max_retries is not None:
            policy = replace(policy, max_retries=outgoing.max_retries)
        started = time.monotonic()
        attempts = retries = 0
        while True:
            attempts += 1
            try:
                return self._attempt(outgoing, attempts, started)
            except CountersignError as error:
                delay = retry_delay_seconds(error, retries, policy, time.monotonic() - started)
                if delay is None:
                    raise
                _log.warning(
                    "%s %s: %s, trying again in %.1f s", outgoing.method, outgoing.name, error.code, delay
                )
                retries += 0 if is_refused(error) else 1
            time.sleep(delay)

    def _attempt(
        self, outgoing: Outgoing, attempt: int, started: float
    ) -> Tuple[Dict[str, Any], ResponseInfo]:
        options = self._options
        # Read again for every try: a rotation may have come between.
        secrets = None if options.signing_secret is None else read_secrets(options.signing_secret)
        received = self._exchange(outgoing, secrets, attempt, started)
        parsed = _parse(received.body)
        fault = None if secrets is None else self._signature_fault(outgoing, received, secrets)
        retry_after = parse_retry_after(received.headers.get("retry-after"), options.now())
        if parsed is not None and all(isinstance(parsed.get(name), str) for name in ("error", "code", "message")):
            if fault is not None and parsed["code"] not in UNVERIFIABLE_CODES:
                raise fault
            raise ApiError(
                parsed, status=received.status, retry_after_seconds=retry_after, verified=fault is None
            )
        # A page of something else on the way has no signature: its status says more than that.
        if parsed is None or (fault is not None and not 200 <= received.status < 300):
            raise UnexpectedResponseError(received.status)
        if fault is not None:
            raise fault
        return parsed, ResponseInfo(
            status=received.status,
            request_id=received.headers.get("x-request-id", ""),
            replayed=received.headers.get("x-svc-idempotent-replay") == "true",
            attempts=attempt,
            elapsed_seconds=time.monotonic() - started,
            retry_after_seconds=retry_after,
        )

    def _exchange(
        self, outgoing: Outgoing, secrets: Optional[List[SigningSecret]], attempt: int, started: float
    ) -> _Received:
        options = self._options
        timeout = options.timeout_seconds if outgoing.timeout_seconds is None else outgoing.timeout_seconds
        headers = {"Authorization": f"Bearer {options.api_key}", "Content-Type": "application/json"}
        if secrets and secrets[0].id:
            # During a rotation `jwt` is then signed with this secret.
            headers["X-Svc-Signing-Key-Id"] = secrets[0].id
        request = urllib.request.Request(
            options.base_url + outgoing.path,
            method=outgoing.method,
            data=outgoing.body,
            headers={**headers, **outgoing.headers},
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
                return _Received(response.status, names, body)
        except (OSError, http.client.HTTPException) as error:
            cause = error.reason if isinstance(error, urllib.error.URLError) else error
            so_far = {"attempts": attempt, "elapsed_seconds": time.monotonic() - started}
            if isinstance(cause, TimeoutError) or "timed out" in str(cause):
                raise errors.TimeoutError(
                    "timeout", f"No complete answer within {timeout:g} s.", **so_far  # type: ignore[arg-type]
                ) from error
            failed = errors.ConnectionError(
                "connection_failed",
                f"{outgoing.method} {options.base_url}{outgoing.name} failed: {cause}.",
                **so_far,  # type: ignore[arg-type]
            )
            failed.is_refused = isinstance(cause, ConnectionRefusedError)
            raise failed from error

    def _signature_fault(
        self, outgoing: Outgoing, received: _Received, secrets: List[SigningSecret]
    ) -> Optional[SignatureError]:
        options = self._options
        try:
            assert_response_signature(
                received.headers.get("x-svc-signature"),
                secrets,
                environment=options.environment,
                method=outgoing.method,
                # A proxy may add a prefix to the path; the service signs the path from /v1 on.
                target=f"/v1{outgoing.path}",
                status=received.status,
                request_id=received.headers.get("x-request-id"),
                body=received.body,
                now=options.now(),
                signature_tolerance_seconds=options.signature_tolerance_seconds,
            )
        except SignatureError as fault:
            return fault
        return None


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


def _parse(body: bytes) -> Optional[Dict[str, Any]]:
    try:
        parsed = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None
