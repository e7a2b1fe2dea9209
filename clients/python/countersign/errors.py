"""Errors that calls of the SDK raise. Every error has a stable `code`."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Tuple

from .constants import VERDICT_REMEDIES
from .received import named_members
from .wire_types import ErrorDetail

_DETAILS_SHOWN = 3


class CountersignError(Exception):
    """Base of every error of this package except `TypeError` and `ValueError`, which report wrong arguments."""

    code: str

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class ApiError(CountersignError):
    """The service refused the request, or would have: `body_too_large` is raised before anything is sent.

    The message says what is wrong, which fields or photos are concerned, and what to do next.
    """

    def __init__(
        self,
        body: Mapping[str, Any],
        *,
        status: int,
        retry_after_seconds: Optional[float],
        verified: bool,
    ) -> None:
        self.details: Tuple[ErrorDetail, ...] = tuple(_read_details(body.get("details")))
        #: Empty where nothing was sent.
        self.request_id = str(body.get("request_id", ""))
        #: The next step for the developer or the operator; None where the service is of an older version.
        self.remedy: Optional[str] = _text_or_none(body.get("remedy"))
        message = str(body["message"])
        remedy = f" {self.remedy}" if self.remedy else ""
        origin = f"request {self.request_id}" if self.request_id else "not sent"
        super().__init__(
            str(body["code"]),
            f"{message}{_detail_text(message, self.details)}{remedy} ({body['code']}, {origin})",
        )
        self.category = str(body["error"])
        self.status = status
        #: Seconds, from `Retry-After`.
        self.retry_after_seconds = retry_after_seconds
        #: False when no tenant was known to sign the response, as for a wrong API key.
        self.verified = verified
        #: Address of the page that explains the code.
        self.doc_url: Optional[str] = _text_or_none(body.get("doc_url"))

    @property
    def guidance(self) -> Tuple[str, ...]:
        """Codes of what the person can do better, the most urgent first."""
        return tuple(detail.guidance for detail in self.details if detail.guidance is not None)


class _NoAnswerError(CountersignError):
    def __init__(self, code: str, what: str, *, attempts: int, elapsed_seconds: float) -> None:
        tries = "1 attempt" if attempts == 1 else f"{attempts} attempts"
        super().__init__(code, f"{what} ({tries}, {elapsed_seconds:.1f} s in all)")
        self.attempts = attempts
        #: Seconds since the call began, including waits between tries.
        self.elapsed_seconds = elapsed_seconds


class ConnectionError(_NoAnswerError):
    """No answer came: the address, the network or TLS."""

    #: Whether nothing listened at the address, as while a service starts again.
    is_refused = False


class TimeoutError(_NoAnswerError):
    """No complete answer came in time."""


#: Deprecated names of the two errors.
ApiConnectionError, ApiTimeoutError = ConnectionError, TimeoutError


class UnexpectedResponseError(CountersignError):
    """The answer is not one of the service, such as a proxy's error page or a redirect."""

    def __init__(self, status: int) -> None:
        super().__init__(
            "unexpected_response",
            f"The answer (status {status}) is not one of Countersign; is the base URL right?",
        )
        self.status = status


class SignatureError(CountersignError):
    """The answer or webhook cannot be trusted: forged, changed, too old, or signed with a secret that is not configured.

    Codes: `signature_missing`, `signature_malformed`, `signature_invalid`, `signature_expired`, `wrong_environment`
    (signed with your secret, but in the other environment), `response_mismatch` (well signed, but about another request).
    """


class VerdictError(CountersignError):
    """A verdict JWT does not allow the action.

    Codes: `malformed`, `signature_invalid`, `expired`, `not_yet_valid`, `wrong_audience`, `wrong_issuer`,
    `wrong_environment`, `wrong_user`, `wrong_action`, `wrong_nonce`, `wrong_capture_session`,
    `wrong_capture_binding`, `not_displayed`, `wrong_context`, `too_old`, `not_approved`, `evaluation_grade`,
    `replay_suspected`, `already_used`, `keys_unavailable` (the issuer's keys cannot be read), `proof_required` (a capture
    session that gives its result only with the proof), `no_verdict` (a capture session whose capture verify did not judge).
    """

    def __init__(self, code: str, message: str, reason: Optional[str] = None) -> None:
        #: The next step; None for a reason that this version does not know, and where the message says it.
        self.remedy: Optional[str] = VERDICT_REMEDIES.get((reason or "") if code == "not_approved" else code)
        super().__init__(code, f"{message} {self.remedy}" if self.remedy else message)
        #: Why a verdict that is `not_approved` was rejected, such as `no_match`.
        self.reason = reason


def _read_details(details: Any) -> Sequence[ErrorDetail]:
    if not isinstance(details, list):
        return []
    return [
        ErrorDetail(raw=detail, **named_members(ErrorDetail, detail))
        for detail in details
        if isinstance(detail, dict)
    ]


def _detail_text(message: str, details: Sequence[ErrorDetail]) -> str:
    # The one photo of the request need not be named.
    if not details or (len(details) == 1 and details[0].path == "image" and details[0].issue == message):
        return ""
    # A photo's issue repeats the message; then only the photo is named.
    shown = [
        detail.path if detail.issue == message else f"{detail.path}: {detail.issue}"
        for detail in details[:_DETAILS_SHOWN]
    ]
    more = len(details) - len(shown)
    return f" [{'; '.join(shown)}{f'; and {more} more' if more > 0 else ''}]"


def _text_or_none(value: Any) -> Optional[str]:
    return value if isinstance(value, str) else None
