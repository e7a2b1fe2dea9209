"""The size of a request's body, checked before anything is sent: a photo that is too large costs an upload that is refused."""

from __future__ import annotations

import math
from typing import Any, Iterator, Mapping, Tuple

from .errors import ApiError

_MIB = 1024 * 1024

#: As the service has it where its operator has not set COUNTERSIGN_MAX_BODY_BYTES.
DEFAULT_MAX_BODY_BYTES = 8 * _MIB

_HINT = "The photo is too large. Please choose a smaller one."


def assert_body_fits(body: Mapping[str, Any], encoded: bytes, max_bytes: int) -> None:
    """Raises ApiError `body_too_large`, as the service would answer, with the largest photo in `details`."""
    if len(encoded) <= max_bytes:
        return
    photos = list(_photos(body))
    details = []
    if photos:
        path, size = max(photos, key=lambda photo: photo[1])
        issue = f"has {_in_mib(size)}, and base64 adds a third"
        details.append({"path": path, "issue": issue, "guidance": "image_too_large", "hint": _HINT})
    what = "smaller photos" if len(photos) > 1 else "a smaller photo"
    refusal = {
        "error": "invalid_request",
        "code": "body_too_large",
        "message": f"The body has {_in_mib(len(encoded))}, and the service takes {_in_mib(max_bytes)}.",
        "remedy": f"Send {what}: 1280 pixels on the longer side are plenty. Where the service takes more, set max_body_bytes.",
        "request_id": "",
        "details": details,
    }
    raise ApiError(refusal, status=413, retry_after_seconds=None, verified=False)


def _photos(body: Mapping[str, Any]) -> Iterator[Tuple[str, int]]:
    """Path and bytes of every photo, from its base64."""
    frames = (body.get("challenge") or {}).get("frames") or []
    named = [("image", body.get("image")), ("frontal", body.get("frontal"))]
    named += [(f"images.{index}", photo) for index, photo in enumerate(body.get("images") or [])]
    named += [(f"challenge.frames.{index}.image", frame["image"]) for index, frame in enumerate(frames)]
    for path, base64 in named:
        if isinstance(base64, str):
            yield path, len(base64) * 3 // 4


def _in_mib(size: int) -> str:
    """Whole KiB below 1 MiB, else MiB with at most one decimal, rounded up."""
    if size < _MIB:
        return f"{math.ceil(size / 1024)} KiB"
    return f"{math.ceil(size / _MIB * 10) / 10:g} MiB"
