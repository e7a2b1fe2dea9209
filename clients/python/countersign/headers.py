"""Reads headers in any of the forms in which frameworks and hosting adapters hand them over."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Optional, Protocol, Tuple, Union

from .errors import SignatureError


class AskedHeaders(Protocol):
    """Headers that are only asked by name, without case."""

    def get(self, name: str) -> Any: ...


#: A mapping whose values may be lists of one (such as `multiValueHeaders`), pairs (such as those of ASGI), or an object with a `get`.
Headers = Union[Mapping[str, Any], Iterable[Tuple[Any, Any]], AskedHeaders]


def header_of(headers: Headers, name: str) -> Optional[str]:
    """The value, or None. `name` is in lower case. Raises SignatureError where there are several, TypeError where these are no headers."""
    given: Any = headers
    if hasattr(given, "items"):
        found = _listed(given.items(), name)
    elif hasattr(given, "get"):
        found = [given.get(name)]
    elif isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise TypeError("headers must be the request's headers")
    else:
        found = _listed(given, name)
    values = [value for one in found for value in (one if isinstance(one, (list, tuple)) else [one])]
    return only_value(values, name)


def only_value(value: Any, name: str) -> Optional[str]:
    """The one value of a header that may be given as a list. Raises SignatureError where there are several."""
    if isinstance(value, (list, tuple)):
        if len(value) > 1:
            raise SignatureError("signature_malformed", f"There are several headers {name}.")
        value = value[0] if value else None
    return None if value is None else _text(value)


def _listed(pairs: Iterable[Tuple[Any, Any]], name: str) -> list[Any]:
    return [value for key, value in pairs if _text(key).lower() == name]


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
