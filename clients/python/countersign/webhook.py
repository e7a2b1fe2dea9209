"""Checks a webhook: did the service say this, in this environment, in the last minutes?"""

from __future__ import annotations

import json
from typing import Any, Mapping, Optional, Union

from .errors import SignatureError
from .headers import Headers, header_of
from .received import named_members
from .signature import DEFAULT_SIGNATURE_TOLERANCE_SECONDS, assert_signed
from .signing_secret import SigningSecrets, read_secrets
from .wire_types import WebhookEvent

#: How an object of JSON begins in base64. No JSON begins in this way.
_BASE64_OBJECT = "eyJ"
_IS_BASE64 = (
    "The body is base64, and not the JSON that was signed: "
    "decode it first, as a serverless host asks for with isBase64Encoded"
)


def verify_webhook(
    headers: Headers,
    body: Union[bytes, bytearray, memoryview],
    signing_secret: SigningSecrets,
    *,
    environment: str = "production",
    now: Optional[float] = None,
    signature_tolerance_seconds: float = DEFAULT_SIGNATURE_TOLERANCE_SECONDS,
) -> WebhookEvent:
    """The event, once its signature holds; else raises SignatureError.

    `body` is the raw body and not parsed JSON, because the signature covers its bytes. An event may come more than once;
    its `id` is the same each time. `now` is in unix seconds.
    """
    if isinstance(body, str) and body.startswith(_BASE64_OBJECT):
        raise TypeError(f"{_IS_BASE64}: base64.b64decode(body)")
    if not isinstance(body, (bytes, bytearray, memoryview)):
        raise TypeError("body must be the raw bytes of the request, and not text or parsed JSON")
    raw = bytes(body)
    event_id = header_of(headers, "x-svc-webhook-id")
    signature = header_of(headers, "x-svc-signature")
    if signature and raw.startswith(_BASE64_OBJECT.encode()):
        raise SignatureError("signature_invalid", f"{_IS_BASE64}.")

    def head(env: str, timestamp: str) -> str:
        return f"webhook:v2:{env}:{timestamp}:{event_id}:"

    secrets = read_secrets(signing_secret)
    assert_signed(signature, secrets, environment, head, raw, now, signature_tolerance_seconds)
    event: Mapping[str, Any] = json.loads(raw)
    if event.get("id") != event_id:
        raise SignatureError("response_mismatch", "The body is of another event than its header says.")
    return WebhookEvent(raw=event, **named_members(WebhookEvent, event))
