"""Classes that the document of the API does not describe: an answer that may approve, the claims of a verdict, the event of a webhook."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Tuple

from . import wire_types


@dataclass(frozen=True)
class VerifyResult(wire_types.VerifyResult):
    """Answer of `POST /v1/verify`."""

    @property
    def approved(self) -> bool:
        """Whether the service approved. Only a checked verdict, `verify_verdict(…)`, allows the action."""
        return self.verdict == "approved"


@dataclass(frozen=True)
class Claims:
    """The claims of an approval. Times are in unix seconds."""

    iss: str
    aud: str
    sub: str
    iat: float
    exp: float
    jti: str
    env: str
    verdict: str
    action_hash: str
    acr: str
    auth_time: float
    #: What was countersigned.
    action: Any
    nbf: Optional[float] = None
    score: Optional[float] = None
    nonce: Optional[str] = None
    #: The session of the hosted page that made the verification, and whether it gave its result only to the browser that captured
    #: (`same`) or not (`any`). None for any other verification: only the service writes these claims.
    capture_session: Optional[str] = None
    capture_binding: Optional[str] = None
    txn: Optional[str] = None
    fmr: Optional[float] = None
    #: `measured` or `extrapolated`: whether the pack's calibration measured that rate.
    fmr_basis: Optional[str] = None
    model: Optional[str] = None
    model_grade: Optional[str] = None
    amr: Tuple[str, ...] = ()
    liveness: Optional[wire_types.Liveness] = None
    replay: Optional[wire_types.Replay] = None
    #: Identify the text that the person was shown for a typed action; None where no page of Countersign showed it.
    display_hash: Optional[str] = None
    display_locale: Optional[str] = None
    display_version: Optional[str] = None
    #: `challenge` where your own page was given the text with the challenge.
    display_source: Optional[str] = None
    #: The challenge whose frames were checked; None for photos.
    challenge_id: Optional[str] = None
    #: Id of the passkey that signed for the action.
    passkey_id: Optional[str] = None
    #: The policy that was in force, the rule that decided, and the other person's verdict that this approval used up.
    policy_hash: Optional[str] = None
    policy_rule: Optional[str] = None
    approval_id: Optional[str] = None
    #: Every claim of the token.
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class WebhookEvent:
    #: The same at every try and every redelivery.
    id: str
    #: Such as `user.enrolled`, `user.locked_out`, `user.erased`; there may be more of them one day.
    type: str
    created_at: str
    environment: str
    tenant_id: str
    data: Mapping[str, Any]
    raw: Mapping[str, Any] = field(repr=False)
