"""Photos in any of the forms that an application holds them in, as the API takes them."""

from __future__ import annotations

import base64
import os
import re
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Sequence, Union

from .errors import ApiError

#: A JPEG, PNG or WebP file: its bytes, its path as `pathlib.Path`, or base64 with or without a `data:` prefix.
Photo = Union[bytes, bytearray, memoryview, "os.PathLike[str]", str]

_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_DATA_URL = re.compile(r"data:[^,]*;base64,")

_HINT = "This file cannot be read as a photo. Please choose another one."


def unreadable(path: str, issue: str) -> ApiError:
    """As the service would answer: what a browser sent instead of a photo is the person's to mend, and no fault of the program."""
    refusal = {
        "error": "biometric_rejected",
        "code": "image_unreadable",
        "message": "The image could not be read.",
        "remedy": "Ask for a new photo, and pass its bytes or its base64.",
        "request_id": "",
        "details": [{"path": path, "issue": issue, "guidance": "file_unreadable", "hint": _HINT}],
    }
    return ApiError(refusal, status=422, retry_after_seconds=None, verified=False)


def encode_photo(photo: Any, path: str) -> str:
    """Base64 with padding. Raises ApiError `image_unreadable`, naming `path`, for anything that is no photo."""
    if photo is None:
        raise unreadable(path, "is required: a photo")
    if isinstance(photo, str):
        encoded = _DATA_URL.sub("", photo, count=1)
        if encoded and _BASE64.fullmatch(encoded) is None:
            raise unreadable(path, "is text that is not base64; name a file by a pathlib.Path")
    elif isinstance(photo, (bytes, bytearray, memoryview)):
        encoded = base64.b64encode(photo).decode("ascii")
    elif isinstance(photo, os.PathLike):
        encoded = base64.b64encode(Path(photo).read_bytes()).decode("ascii")
    else:
        raise unreadable(path, f"must be bytes, a pathlib.Path or base64, and not {type(photo).__name__}")
    if not encoded:
        raise unreadable(path, "is empty")
    return encoded


def encode_photos(
    image: Optional[Photo], images: Optional[Sequence[Photo]], challenge: Optional[Mapping[str, Any]]
) -> Dict[str, Any]:
    """The one member of a request that holds the photos. Raises TypeError where more than one of the three is given."""
    if sum(given is not None for given in (image, images, challenge)) > 1:
        raise TypeError("give one of image, images and challenge")
    if challenge is not None:
        return {"challenge": _encode_frames(challenge)}
    if images is not None:
        if not isinstance(images, (list, tuple)) or not images:
            raise unreadable("images", "must be a list of photos")
        return {"images": [encode_photo(one, f"images.{index}") for index, one in enumerate(images)]}
    return {"image": encode_photo(image, "image")}


def _encode_frames(challenge: Mapping[str, Any]) -> Dict[str, Any]:
    frames = challenge.get("frames")
    if not isinstance(frames, (list, tuple)) or not frames:
        raise unreadable("challenge.frames", "must be a list of frames")
    encoded = [
        {**_members(frame), "image": encode_photo(_members(frame).get("image"), f"challenge.frames.{index}.image")}
        for index, frame in enumerate(frames)
    ]
    return {**challenge, "frames": encoded}


def _members(frame: Any) -> Mapping[str, Any]:
    return frame if isinstance(frame, Mapping) else {}
