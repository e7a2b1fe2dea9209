"""Answers of the service, read into the fields of a class."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Dict, Mapping, Optional, Type, TypeVar

A = TypeVar("A", bound="Answer")


@dataclass(frozen=True)
class ResponseInfo:
    """Facts about an answer apart from its body."""

    status: int
    #: `X-Request-Id`, which the service's log and audit log name.
    request_id: str
    #: True when this is the kept response of an earlier request with this idempotency key.
    replayed: bool
    #: How often the call was tried.
    attempts: int
    #: Seconds since the call began, including waits between tries.
    elapsed_seconds: float
    #: When to try again; for a user who is locked out.
    retry_after_seconds: Optional[float] = None


@dataclass(frozen=True)
class Received:
    #: Everything that the service sent, members that this version does not name included.
    raw: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Answer(Received):
    response: ResponseInfo = field(repr=False, compare=False)


def named_members(cls: type, body: Mapping[str, Any]) -> Dict[str, Any]:
    """The members of `body` that the dataclass names; one that the service leaves out is None or the default."""
    skipped = {"raw", "response"}
    names = [one for one in fields(cls) if one.name not in skipped]
    return {one.name: body.get(one.name) for one in names if one.name in body or not _has_default(one)}


def read_answer(cls: Type[A], body: Mapping[str, Any], response: ResponseInfo) -> A:
    return cls(raw=body, response=response, **named_members(cls, body))


def _has_default(one: Any) -> bool:
    return one.default is not MISSING or one.default_factory is not MISSING
