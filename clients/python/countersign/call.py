"""One call over HTTP apart from the network: its headers, its errors, its retries, and the check of an answer's signature before anything reads it."""

from __future__ import annotations

import json
import logging
import time
import urllib.error
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from . import errors
from .constants import UNVERIFIABLE_CODES
from .errors import ApiError, CountersignError, SignatureError, UnexpectedResponseError
from .received import ResponseInfo
from .retry import RetryPolicy, is_refused, parse_retry_after, retry_delay_seconds
from .signature import assert_response_signature
from .signing_secret import SigningSecret

_log = logging.getLogger("countersign")
# Nothing is printed unless the application asks for it.
_log.addHandler(logging.NullHandler())


@dataclass(frozen=True)
class TransportOptions:
    api_key: str = field(repr=False)
    #: Environment of the API key. An answer of the other environment is refused.
    environment: str
    #: Ends in /v1.
    base_url: str
    signature_tolerance_seconds: float
    #: Of one try, body included.
    timeout_seconds: float
    retry: RetryPolicy
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
class Received:
    status: int
    #: By their names in small letters.
    headers: Mapping[str, str]
    body: bytes


class Call:
    """One call and its tries. A transport begins a try, exchanges request and answer, and waits as long as `delay_after` says."""

    def __init__(self, options: TransportOptions, outgoing: Outgoing) -> None:
        self.outgoing = outgoing
        given = outgoing.timeout_seconds
        #: Of one try, body included.
        self.timeout_seconds = options.timeout_seconds if given is None else given
        self._options = options
        self._policy = options.retry
        if outgoing.max_retries is not None:
            self._policy = replace(self._policy, max_retries=outgoing.max_retries)
        self._secrets: Optional[List[SigningSecret]] = None
        self._started = time.monotonic()
        self._attempts = self._retries = 0

    def begin_try(self, secrets: Optional[List[SigningSecret]]) -> Dict[str, str]:
        """The headers of a try. The secrets are those of now, since a rotation may have come between; None: no signature is checked."""
        self._attempts += 1
        self._secrets = secrets
        headers = {"Authorization": f"Bearer {self._options.api_key}", "Content-Type": "application/json"}
        if secrets and secrets[0].id:
            # During a rotation `jwt` is then signed with this secret.
            headers["X-Svc-Signing-Key-Id"] = secrets[0].id
        return {**headers, **self.outgoing.headers}

    def answer(self, received: Received) -> Tuple[Dict[str, Any], ResponseInfo]:
        """The body of an answer that is no refusal. A degraded health report is one, too."""
        parsed = _parse(received.body)
        fault = None if self._secrets is None else self._signature_fault(received, self._secrets)
        retry_after = parse_retry_after(received.headers.get("retry-after"), self._options.now())
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
            attempts=self._attempts,
            elapsed_seconds=time.monotonic() - self._started,
            retry_after_seconds=retry_after,
        )

    def failure(self, error: Exception) -> CountersignError:
        """The error to raise where the network, TLS or the time limit left a try without an answer."""
        cause = error.reason if isinstance(error, urllib.error.URLError) else error
        attempts, elapsed = self._attempts, time.monotonic() - self._started
        if isinstance(cause, TimeoutError) or "timed out" in str(cause):
            text = f"No complete answer within {self.timeout_seconds:g} s."
            return errors.TimeoutError("timeout", text, attempts=attempts, elapsed_seconds=elapsed)
        text = f"{self.outgoing.method} {self._options.base_url}{self.outgoing.name} failed: {cause}."
        failed = errors.ConnectionError("connection_failed", text, attempts=attempts, elapsed_seconds=elapsed)
        failed.is_refused = isinstance(cause, ConnectionRefusedError)
        return failed

    def delay_after(self, error: CountersignError) -> Optional[float]:
        """Seconds to wait before the next try, or None where the error is the caller's."""
        elapsed = time.monotonic() - self._started
        delay = retry_delay_seconds(error, self._retries, self._policy, elapsed)
        if delay is None:
            return None
        what = f"{self.outgoing.method} {self.outgoing.name}"
        _log.warning("%s: %s, trying again in %.1f s", what, error.code, delay)
        self._retries += 0 if is_refused(error) else 1
        return delay

    def _signature_fault(
        self, received: Received, secrets: List[SigningSecret]
    ) -> Optional[SignatureError]:
        options = self._options
        try:
            assert_response_signature(
                received.headers.get("x-svc-signature"),
                secrets,
                environment=options.environment,
                method=self.outgoing.method,
                # A proxy may add a prefix to the path; the service signs the path from /v1 on.
                target=f"/v1{self.outgoing.path}",
                status=received.status,
                request_id=received.headers.get("x-request-id"),
                body=received.body,
                now=options.now(),
                signature_tolerance_seconds=options.signature_tolerance_seconds,
            )
        except SignatureError as fault:
            return fault
        return None


def _parse(body: bytes) -> Optional[Dict[str, Any]]:
    try:
        parsed = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None
