"""How far the clock of this machine may be from the clock of the service, and the texts that say by how much it is."""

from __future__ import annotations

import math
from datetime import datetime, timezone

#: Seconds by which a verdict may come too early or too late. Servers without a time service drift by seconds a week, and a
#: verdict is checked in the second in which it was made: a clock that is a little behind would refuse all of them.
DEFAULT_CLOCK_TOLERANCE_SECONDS = 60.0
#: More than the life of a verdict (300 s by default) would hide a broken clock rather than tolerate a drift.
MAX_CLOCK_TOLERANCE_SECONDS = 300.0


def checked_clock_tolerance(seconds: float) -> float:
    """Raises ValueError for anything but a number from 0 to 300."""
    if not isinstance(seconds, (int, float)) or not 0 <= seconds <= MAX_CLOCK_TOLERANCE_SECONDS:
        raise ValueError(f"clock_tolerance_seconds is {seconds}; it must be a number from 0 to 300")
    return seconds


def not_yet_valid_text(start: float, now: float, tolerance: float) -> str:
    return (
        f"The verdict is valid from {_iso_time(start)}, which is {start - now:.0f} s ahead of this machine's clock; "
        f"{tolerance:g} s of difference are allowed. Is this machine's clock right?"
    )


def expired_text(end: float, now: float, tolerance: float) -> str:
    return (
        f"The verdict expired at {_iso_time(end)}, which is {now - end:.0f} s ago by this machine's clock; "
        f"{tolerance:g} s of difference are allowed. Have the action countersigned again; if this verdict is a new one: "
        "is this machine's clock right?"
    )


def signed_text(at: float, now: float, tolerance: float) -> str:
    ahead = f"{at - now:.0f} s ahead of this machine's clock"
    distance = ahead if now < at else f"{now - at:.0f} s ago"
    return f"It was signed {distance}; {tolerance:g} s are allowed. Is the clock right?"


def _iso_time(unix_seconds: float) -> str:
    try:
        time = datetime.fromtimestamp(math.floor(unix_seconds), timezone.utc)
    except (OverflowError, ValueError, OSError):
        return str(unix_seconds)
    return time.isoformat().replace("+00:00", "Z")
