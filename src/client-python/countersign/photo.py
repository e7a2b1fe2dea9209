"""Photos in any of the forms that an application holds them in, as the API takes them."""

from __future__ import annotations

import base64
import os
import re
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Sequence, Union

#: A JPEG, PNG or WebP file: its bytes, its path as `pathlib.Path`, or base64 with or without a `data:` prefix.
Photo = Union[bytes, bytearray, memoryview, "os.PathLike[str]", str]

_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_DATA_URL = re.compile(r"data:[^,]*;base64,")


def encode_photo(photo: Any, path: str) -> str:
    """Base64 with padding. Raises TypeError or ValueError, naming `path`, where the photo is missing or empty."""
    if photo is None:
        raise TypeError(f"{path} is required: a photo")
    if isinstance(photo, str):
        encoded = _DATA_URL.sub("", photo, count=1)
        if encoded and _BASE64.fullmatch(encoded) is None:
            raise TypeError(f"{path} is text that is not base64; name a file by a pathlib.Path")
    elif isinstance(photo, (bytes, bytearray, memoryview)):
        encoded = base64.b64encode(photo).decode("ascii")
    elif isinstance(photo, os.PathLike):
        encoded = base64.b64encode(Path(photo).read_bytes()).decode("ascii")
    else:
        raise TypeError(f"{path} must be bytes, a pathlib.Path or base64, and not {type(photo).__name__}")
    if not encoded:
        raise ValueError(f"{path} is empty")
    return encoded


def encode_photos(
    image: Optional[Photo], images: Optional[Sequence[Photo]], challenge: Optional[Mapping[str, Any]]
) -> Dict[str, Any]:
    """The one member of a request that holds the photos. Raises TypeError unless exactly one of the three is given."""
    if sum(given is not None for given in (image, images, challenge)) != 1:
        raise TypeError("give one of image, images and challenge")
    if challenge is not None:
        return {"challenge": _encode_frames(challenge)}
    if images is not None:
        if isinstance(images, (str, bytes, bytearray)) or not images:
            raise TypeError("images must be a list of photos")
        return {"images": [encode_photo(one, f"images.{index}") for index, one in enumerate(images)]}
    return {"image": encode_photo(image, "image")}


def _encode_frames(challenge: Mapping[str, Any]) -> Dict[str, Any]:
    frames = challenge.get("frames")
    if not frames or isinstance(frames, (str, bytes)):
        raise TypeError("challenge['frames'] must be a list of frames")
    encoded = [
        {**frame, "image": encode_photo(frame.get("image"), f"challenge.frames.{index}.image")}
        for index, frame in enumerate(frames)
    ]
    return {**challenge, "frames": encoded}
