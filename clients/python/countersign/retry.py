"""When a call is tried again, and after how long."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Optional

from . import errors
from .errors import ApiError, UnexpectedResponseError

_FIRST_DELAY_SECONDS = 0.5
_MAX_DELAY_SECONDS = 8.0
#: Answers of a proxy in front of the service when the service cannot.
_TRANSIENT_STATUSES = frozenset({502, 503, 504})


@dataclass(frozen=True)
class RetryPolicy:
    #: Tries after the first; 0 for none.
    max_retries: int
    #: A longer `Retry-After` is left to the caller.
    max_retry_after_seconds: float
    #: How long a refused connection is tried again, since a service that starts again listens soon.
    connect_retry_seconds: float = 10.0


def retry_delay_seconds(
    error: Exception, retry: int, policy: RetryPolicy, elapsed_seconds: float = 0.0
) -> Optional[float]:
    """Seconds to wait before the next try, or None when trying again is no use.

    `retry` counts the retries so far, without those after a refused connection: these are bounded by time, and the request has not
    reached anybody.

    Every call may be repeated: POST carries an idempotency key, and a repeated DELETE gets the same receipt.
    """
    if is_refused(error) and policy.max_retries > 0:
        delay = random.uniform(0, _FIRST_DELAY_SECONDS)
        return delay if elapsed_seconds + delay < policy.connect_retry_seconds else None
    if retry >= policy.max_retries or not _is_transient(error):
        return None
    asked = error.retry_after_seconds if isinstance(error, ApiError) else None
    if asked is not None and asked > policy.max_retry_after_seconds:
        return None
    # Full jitter, on top of what the service asks for: callers that were refused together must not return together.
    return (asked or 0.0) + random.uniform(0, min(_MAX_DELAY_SECONDS, _FIRST_DELAY_SECONDS * 2.0**retry))


def parse_retry_after(header: Optional[str], now: float) -> Optional[float]:
    """Seconds from now, of either form in RFC 9110, section 10.2.3."""
    if header is None:
        return None
    if re.fullmatch(r"[0-9]{1,9}", header):
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - now)
    except (TypeError, ValueError, OverflowError):
        return None


def is_refused(error: Exception) -> bool:
    """Whether nothing listened at the address."""
    return isinstance(error, errors.ConnectionError) and error.is_refused


def _is_transient(error: Exception) -> bool:
    if isinstance(error, (errors.ConnectionError, errors.TimeoutError)):
        return True
    if isinstance(error, UnexpectedResponseError):
        return error.status in _TRANSIENT_STATUSES
    # A wrong API key stays wrong. No other conflict passes within the time of a call.
    return (
        isinstance(error, ApiError)
        and error.code != "too_many_wrong_keys"
        and (error.status == 429 or error.status >= 500 or error.code == "idempotency_in_progress")
    )
