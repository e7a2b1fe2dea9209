"""Classes that add something to those of the same name in `wire_types`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping

from . import wire_types


@dataclass(frozen=True)
class VerifyResult(wire_types.VerifyResult):
    """Answer of `POST /v1/verify`."""

    @property
    def approved(self) -> bool:
        """Whether the service approved. Only a checked verdict, `verify_verdict(…)`, allows the action."""
        return self.verdict == "approved"


@dataclass(frozen=True)
class Claims(wire_types.Claims):
    """The claims of an approval. Times are in unix seconds."""

    #: Every claim of the token.
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)
