"""RFC 8785: the canonical form of a JSON value, which all parties hash alike."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, Mapping, Union

#: What is to be countersigned: a string or a JSON object, at most 4096 bytes in canonical form.
Action = Union[str, Mapping[str, Any]]

_MAX_SAFE_INTEGER = 2**53 - 1


def assert_action(action: Any) -> None:
    """Raises TypeError or ValueError, naming the path, unless `action` is sent, hashed and read back unchanged."""
    if not isinstance(action, (str, dict)):
        raise TypeError("action must be a dict or a str: the action that the verdict is for")
    canonical_json(action)


def action_hash(action: Any) -> str:
    """SHA-256 of the canonical form as lower-case hex: the `action_hash` of a verdict."""
    return hashlib.sha256(canonical_json(action).encode("utf-8")).hexdigest()


def canonical_json(value: Any) -> str:
    """The canonical form. Raises TypeError or ValueError, naming the path, for what JSON does not hold exactly."""
    return _canonical(value, "action", ())


def _canonical(value: Any, path: str, ancestors: "tuple[int, ...]") -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value, path)
    if isinstance(value, (int, float)):
        return _number(value, path)
    if not isinstance(value, (dict, list, tuple)):
        raise TypeError(
            f"{path} is a {type(value).__name__}, which JSON does not have: give a dict, a list, a str or a number"
        )
    if id(value) in ancestors:
        raise ValueError(f"{path} contains itself")
    inner = ancestors + (id(value),)
    if not isinstance(value, dict):
        return "[" + ",".join(_canonical(item, f"{path}.{i}", inner) for i, item in enumerate(value)) + "]"
    for name in value:
        if not isinstance(name, str):
            raise TypeError(f"{path} has a name that is a {type(name).__name__}: names must be str")
    # RFC 8785, section 3.2.3, sorts by UTF-16 code units; Python would sort by code points.
    names = sorted(value, key=_utf16)
    members = (f"{_string(name, path)}:{_canonical(value[name], f'{path}.{name}', inner)}" for name in names)
    return "{" + ",".join(members) + "}"


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


def _string(text: str, path: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"{path} has a lone surrogate") from None
    return json.dumps(text, ensure_ascii=False)


def _number(value: Union[int, float], path: str) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{path} is {value}, which JSON does not have")
    if (isinstance(value, int) or value.is_integer()) and abs(value) > _MAX_SAFE_INTEGER:
        raise ValueError(f"{path} is an integer beyond 2^53 - 1: send it as a string")
    return _ecmascript_number(float(value))


def _ecmascript_number(number: float) -> str:
    """ECMAScript's form: plain digits from 1e-6 to below 1e21, an exponent beyond."""
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    # repr() gives the shortest digits that read back as the same number, as ECMAScript does.
    mantissa, _, power = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    all_digits = whole + fraction
    digits = all_digits.lstrip("0")
    # Where the decimal point stands, counted from the first digit.
    point = len(whole) + int(power or 0) - (len(all_digits) - len(digits))
    digits = digits.rstrip("0")
    if point <= -6 or point > 21:
        rest = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{rest}e{point - 1:+d}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    padded = digits.ljust(point, "0")
    return sign + padded[:point] + (f".{padded[point:]}" if len(padded) > point else "")
