"""Checks `X-Svc-Signature`: HMAC-SHA256 over a response and the request that it answers, or over a webhook."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from typing import Callable, List, Optional, Sequence, Tuple, Union

from .clock_tolerance import signed_text
from .errors import SignatureError
from .headers import only_value
from .signing_secret import SigningSecret, candidates, not_signed_text

DEFAULT_SIGNATURE_TOLERANCE_SECONDS = 300.0

_FORM = re.compile(r"t=([0-9]{1,12})((?:,kid=[^,=]{1,255},v2=[0-9a-f]{64})+)")
_PAIR = re.compile(r"kid=([^,]+),v2=([0-9a-f]{64})")
#: The service signs with two secrets at most; a longer list would only make work.
_MAX_SIGNATURES = 8


def assert_response_signature(
    signature: Union[str, Sequence[str], None],
    secrets: Sequence[SigningSecret],
    *,
    environment: str,
    method: str,
    target: str,
    status: int,
    request_id: Union[str, Sequence[str], None],
    body: bytes,
    now: Optional[float] = None,
    signature_tolerance_seconds: float = DEFAULT_SIGNATURE_TOLERANCE_SECONDS,
) -> None:
    """Returns when one of the secrets signed this answer to this request in this environment; else raises SignatureError.

    `signature` is `X-Svc-Signature`, `request_id` is `X-Request-Id`, each of them also as a list of one; `target` is path with query and begins with /v1,
    `body` holds the bytes as received. `now` is in unix seconds.
    """
    signature = only_value(signature, "x-svc-signature")
    request_id = only_value(request_id, "x-request-id")

    def head(env: str, timestamp: str) -> str:
        return f"v2:{env}:{timestamp}:{request_id}:{status}:{method}:{target}:"

    assert_signed(signature, secrets, environment, head, body, now, signature_tolerance_seconds)


def assert_signed(
    signature: Optional[str],
    secrets: Sequence[SigningSecret],
    environment: str,
    head: Callable[[str, str], str],
    body: bytes,
    now: Optional[float],
    signature_tolerance_seconds: float,
) -> None:
    timestamp, signatures = _parse(signature)
    if not _is_signed(head(environment, timestamp).encode("utf-8") + body, signatures, secrets):
        other = "sandbox" if environment == "production" else "production"
        if _is_signed(head(other, timestamp).encode("utf-8") + body, signatures, secrets):
            raise SignatureError(
                "wrong_environment",
                f"It was signed for the {other}, and {environment} is expected: it must not be used. "
                "Check the base URL, and what stands between you and the service.",
            )
        raise SignatureError("signature_invalid", not_signed_text([kid for kid, _ in signatures], secrets))
    # Only a checked signature proves that the time is the service's.
    clock = time.time() if now is None else now
    if abs(clock - int(timestamp)) > signature_tolerance_seconds:
        raise SignatureError(
            "signature_expired", signed_text(int(timestamp), clock, signature_tolerance_seconds)
        )


def _is_signed(
    signed: bytes, signatures: Sequence[Tuple[str, bytes]], secrets: Sequence[SigningSecret]
) -> bool:
    return any(
        hmac.compare_digest(hmac.new(held.secret.encode("utf-8"), signed, hashlib.sha256).digest(), mac)
        for kid, mac in signatures
        for held in candidates(secrets, kid)
    )


def _parse(header: Optional[str]) -> Tuple[str, List[Tuple[str, bytes]]]:
    """`t=<unix seconds>,kid=<id>,v2=<hex>`, with a second kid,v2 pair in an overlap."""
    if not header:
        raise SignatureError("signature_missing", "There is no X-Svc-Signature.")
    match = _FORM.fullmatch(header)
    signatures = [(kid, bytes.fromhex(mac)) for kid, mac in _PAIR.findall(match[2])] if match else []
    if match is None or len(signatures) > _MAX_SIGNATURES:
        raise SignatureError("signature_malformed", "X-Svc-Signature is not of the documented form.")
    return match[1], signatures
