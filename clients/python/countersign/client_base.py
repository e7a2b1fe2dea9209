"""What the client that blocks and that for asyncio share: options, paths, bodies and checks, without any input or output."""

from __future__ import annotations

import hmac
import json
import re
import uuid
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence
from urllib.parse import quote, urlencode, urlsplit

from .answers import VerifyResult
from .body_limit import assert_body_fits
from .canonical_json import action_hash
from .call import Outgoing, TransportOptions
from .clock_tolerance import checked_clock_tolerance
from .errors import SignatureError, VerdictError
from .retry import RetryPolicy
from .verdict import unchecked_claims

#: Frames of guidance are small: the service takes no larger body there.
_GUIDANCE_BODY_BYTES = 512 * 1024

#: As long as the service gives the first answer to a request again.
_REPEAT_SECONDS = 30

_KEY = re.compile(r"svc-(prod|sbx)-[0-9A-Za-z]+", re.ASCII)
_LOOPBACK = re.compile(r"localhost|127(\.[0-9]{1,3}){3}|::1")


@dataclass(frozen=True)
class CallOptions:
    """Options of one call, which replace those of its client."""

    #: Default: a new one for every call, the same for its retries. The same key again makes a repeat safe for 24 hours.
    idempotency_key: Optional[str] = None
    timeout_seconds: Optional[float] = None
    max_retries: Optional[int] = None
    #: Your own id of the request, for the service's log.
    request_id: Optional[str] = None


NO_OPTIONS = CallOptions()


class ClientBase:
    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        tenant_id: str,
        clock_tolerance_seconds: float,
        signature_tolerance_seconds: float,
        timeout_seconds: float,
        retry: RetryPolicy,
        max_body_bytes: int,
        accept_evaluation_grade: bool,
        allow_insecure_http: bool,
        now: Callable[[], float],
    ) -> None:
        self.environment = environment_of(api_key)
        self._api_key = api_key
        self._tenant_id = tenant_id
        self._signature_tolerance_seconds = signature_tolerance_seconds
        self._clock_tolerance_seconds = checked_clock_tolerance(clock_tolerance_seconds)
        self._accept_evaluation_grade = accept_evaluation_grade
        self._max_body_bytes = max_body_bytes
        self._now = now
        self._transport_options = TransportOptions(
            api_key=api_key,
            environment=self.environment,
            base_url=checked_base_url(base_url, allow_insecure_http),
            signature_tolerance_seconds=signature_tolerance_seconds,
            timeout_seconds=timeout_seconds,
            retry=retry,
            now=now,
        )

    def _outgoing(
        self, method: str, path: str, body: Optional[Dict[str, Any]], options: CallOptions, name: Optional[str]
    ) -> Outgoing:
        headers = {}
        key = options.idempotency_key
        if method == "POST" and path != "/guidance":
            key = key or str(uuid.uuid4())
        if key is not None:
            headers["X-Svc-Idempotency-Key"] = key
        if options.request_id is not None:
            headers["X-Request-Id"] = options.request_id
        return Outgoing(
            method=method,
            path=path,
            name=path if name is None else name,
            headers=headers,
            body=None if body is None else self._encode(path, body),
            timeout_seconds=options.timeout_seconds,
            max_retries=options.max_retries,
        )

    def _encode(self, path: str, body: Dict[str, Any]) -> bytes:
        given = {name: value for name, value in body.items() if value is not None}
        encoded = json.dumps(given, ensure_ascii=False, allow_nan=False).encode("utf-8")
        limit = min(_GUIDANCE_BODY_BYTES, self._max_body_bytes) if path == "/guidance" else self._max_body_bytes
        assert_body_fits(given, encoded, limit)
        return encoded

    def _assert_verifies(self, result: VerifyResult, body: Mapping[str, Any]) -> None:
        # The signature does not name the request, so a well-signed approval of another one could be put in its place.
        try:
            claims = unchecked_claims(result.jwt)
        except VerdictError:
            claims = {}
        assert_answers(
            claims.get("sub") == body["user_id"]
            and claims.get("action_hash") == action_hash(body["action"])
            and claims.get("nonce") == body["nonce"]
            and claims.get("env") == self.environment
            and claims.get("verdict") == result.verdict
        )

    def _nonce_of(self, body: Mapping[str, Any]) -> str:
        """The same for the same request within these seconds, and a secret to everybody without the API key."""
        content = json.dumps([body, int(self._now() // _REPEAT_SECONDS)])
        return hmac.new(self._api_key.encode(), content.encode(), "sha256").hexdigest()


def list_or_none(items: Optional[Sequence[str]]) -> Optional[List[str]]:
    return None if items is None else list(items)


def path_part(text: str, name: str) -> str:
    # `.` and `..` are steps of a path, so that no address names them.
    if text in ("", ".", ".."):
        raise ValueError(f"{name} is {json.dumps(text)}: no address names it")
    return quote(text, safe="")


def query(parameters: Mapping[str, object]) -> str:
    """The query of an address, with its question mark; empty without any value."""
    given = {name: value for name, value in parameters.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


def environment_of(api_key: str) -> str:
    if not api_key:
        raise ValueError("api_key is required (svc-prod-… or svc-sbx-…)")
    match = _KEY.fullmatch(api_key)
    if match is None:
        raise ValueError("api_key must be svc-prod-… or svc-sbx-…, with nothing around it")
    return "production" if match[1] == "prod" else "sandbox"


def checked_base_url(text: str, allow_insecure_http: bool) -> str:
    if not text:
        raise ValueError("base_url is required, as in https://countersign.example.com/v1")
    url = urlsplit(text)
    if not url.hostname or not re.search(r"/v1/?$", url.path) or url.query or url.fragment:
        raise ValueError("base_url must end in /v1, as in https://countersign.example.com/v1")
    is_local = _LOOPBACK.fullmatch(url.hostname) is not None
    if url.scheme != "https" and not (url.scheme == "http" and (allow_insecure_http or is_local)):
        raise ValueError("base_url must be https: (allow_insecure_http=True sends key and photos unencrypted)")
    return text.rstrip("/")


def assert_answers(holds: bool) -> None:
    if not holds:
        raise SignatureError("response_mismatch", "The response answers another request.")
