"""Results of calls: the fields of the service's answers, by their wire names."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Dict, List, Mapping, Optional, Tuple, Type, TypeVar

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
class Answer:
    #: Everything that the service sent, members that this version does not name included.
    raw: Mapping[str, Any] = field(repr=False)
    response: ResponseInfo = field(repr=False, compare=False)


@dataclass(frozen=True)
class EnrollResult(Answer):
    reference_id: str
    user_id: str
    #: `enrolled`.
    status: str
    quality: Mapping[str, Any]
    liveness: Mapping[str, Any]
    model: str
    created_at: str
    #: The passkey that was registered together with the reference.
    passkey: Optional[Mapping[str, Any]] = None
    #: `{"signals": [{"code", "source"}]}`: signs that pictures may not come from a camera, where the browser reported some.
    capture_integrity: Optional[Mapping[str, Any]] = None


@dataclass(frozen=True)
class AssessResult(Answer):
    """Quality of the photos of a dry run. Nothing was stored."""

    user_id: str
    #: `assessed`.
    status: str
    quality: Mapping[str, Any]
    liveness: Mapping[str, Any]
    model: str
    #: `{"signals": [{"code", "source"}]}`: signs that pictures may not come from a camera, where the browser reported some.
    capture_integrity: Optional[Mapping[str, Any]] = None


@dataclass(frozen=True)
class VerifyResult(Answer):
    #: The `jti` of the JWT.
    verification_id: str
    user_id: str
    #: `approved` or `rejected`.
    verdict: str
    #: Of a rejection: `no_match`, `liveness_failed`, `replayed_capture`, `locked_out`, `reference_disabled`,
    #: `second_approval_required`, `same_person` or `review_required`.
    reason: Optional[str]
    #: Similarity; None when the images were not compared.
    score: Optional[float]
    threshold: float
    #: The false match rate that the threshold has reached on calibration data.
    fmr: float
    fmr_basis: str
    #: `production`, `ungrouped` or `evaluation`: what the model pack is good for at this rate.
    model_grade: str
    liveness: Mapping[str, Any]
    quality: Optional[Mapping[str, Any]]
    #: `{"suspected": bool}`: whether the photo was seen before within 24 hours.
    replay: Mapping[str, bool]
    model: str
    verified_at: str
    #: The verdict token that the configured secrets made.
    jwt: str
    jwt_expires_at: str
    #: During a rotation overlap: the same claims under the new secret.
    jwt_next: Optional[str] = None
    #: The same claims under a key of the issuer (ES256); None where the service is of an older version.
    jwt_public: Optional[str] = None
    #: `{"hash", "locale", "version"}` of the text that the hosted page showed for a typed action; else None.
    display: Optional[Mapping[str, str]] = None
    #: SHA-256 of the policy that was in force; None where the tenant has none.
    policy_hash: Optional[str] = None
    #: Name of the rule of the policy that decided about the action.
    policy_rule: Optional[str] = None
    #: The other user's verdict that this approval has used up.
    approval_id: Optional[str] = None
    #: `issued` when this verify of the sandbox issued the production key.
    production_key: Optional[str] = None
    #: `{"passkey_id": str, "amr": "hwk" or "swk"}` of the passkey that signed for the action.
    passkey: Optional[Mapping[str, Any]] = None
    #: `{"signals": [{"code", "source"}]}`: signs that pictures may not come from a camera, where the browser reported some.
    capture_integrity: Optional[Mapping[str, Any]] = None

    @property
    def approved(self) -> bool:
        """Whether the service approved. Only a checked verdict, `verify_verdict(…)`, allows the action."""
        return self.verdict == "approved"


@dataclass(frozen=True)
class Verification(Answer):
    """A verdict of an earlier `verify`. It proves and approves nothing."""

    verification_id: str
    #: The user whom the call named, else None: the service does not store user ids.
    user_id: Optional[str]
    #: `approved` or `rejected`.
    verdict: str
    reason: Optional[str]
    score: Optional[float]
    threshold: float
    fmr: float
    fmr_basis: Optional[str]
    model_grade: Optional[str]
    model: str
    #: The `acr` of the JWT.
    acr: Optional[str]
    #: `{"suspected": bool}`.
    replay: Mapping[str, bool]
    #: Whether the user was verified for the action of the call; None where it named none.
    action_matches: Optional[bool]
    challenge_id: Optional[str]
    capture_session_id: Optional[str]
    #: The request that verified, the `txn` of the JWT.
    request_id: str
    verified_at: str
    #: The `amr` of the JWT. Services of earlier versions do not say it.
    amr: Tuple[str, ...] = ()
    #: Language of the text that the person was shown for a typed action.
    display_locale: Optional[str] = None
    display_version: Optional[str] = None
    #: Whether the person was shown the text whose hash the call named; None where it named none.
    display_matches: Optional[bool] = None
    #: SHA-256 of the policy that was in force; None where the tenant had none.
    policy_hash: Optional[str] = None
    policy_rule: Optional[str] = None
    #: The other user's verdict that this approval has used up.
    approval_id: Optional[str] = None


@dataclass(frozen=True)
class DeleteResult(Answer):
    user_id: str
    #: `erased`.
    status: str
    erasure_id: str
    erased_at: str
    erased: Mapping[str, int]


@dataclass(frozen=True)
class User(Answer):
    user_id: str
    status: str
    enrolled_at: str
    reference: Mapping[str, Any]
    lockout: Mapping[str, Any]
    #: Number of the user's passkeys.
    passkeys: int = 0


@dataclass(frozen=True)
class RecordedConsent(Answer):
    user_id: str
    #: The reference that the consent is for. It stays as it was.
    reference_id: str
    #: `{"id": str, "agreed_at": str}`.
    consent: Mapping[str, str]


@dataclass(frozen=True)
class Challenge(Answer):
    challenge_id: str
    #: Send it back with the frames. No other call returns it.
    nonce: str
    user_id: str
    purpose: str
    method: Optional[str]
    #: Such as `frontal`, `turn_left`, `nod_up`; left and right are the person's own.
    steps: List[str]
    #: What the frames must keep to.
    capture: Mapping[str, int]
    expires_in: int
    expires_at: str
    #: Options for the browser, where the call asked for a passkey and the user has one.
    passkey: Optional[Mapping[str, Any]] = None
    #: Text of a typed action for your page to show: `{"hash", "version", "locale", "heading", "lines"}`, where the call named a locale.
    display: Optional[Mapping[str, Any]] = None


@dataclass(frozen=True)
class PasskeyChallenge(Answer):
    """Options with which a browser makes a passkey, or lets one sign."""

    challenge_id: str
    nonce: str
    #: For `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`. Pass them on unchanged.
    options: Mapping[str, Any]
    expires_at: str


@dataclass(frozen=True)
class Passkey(Answer):
    user_id: str
    passkey_id: str
    name: Optional[str]
    #: Whether other devices may have a copy.
    synced: bool
    backed_up: bool
    aaguid: str
    transports: List[str]
    created_at: str
    last_used_at: Optional[str]


@dataclass(frozen=True)
class PasskeyList(Answer):
    user_id: str
    #: The passkeys by their wire names, oldest first.
    data: List[Mapping[str, Any]]
    #: False: a user has at most ten.
    has_more: bool


@dataclass(frozen=True)
class RevokedPasskey(Answer):
    user_id: str
    passkey_id: str
    #: `revoked`.
    status: str


@dataclass(frozen=True)
class CancelledPasskeyRecovery(Answer):
    user_id: str
    #: `cancelled`.
    status: str


@dataclass(frozen=True)
class Guidance(Answer):
    step: str
    #: What the person can do better, the most urgent first; empty where nothing is left to be done.
    guidance: List[str]


@dataclass(frozen=True)
class CaptureSessionLink(Answer):
    session_id: str
    #: Where the person is sent. It opens in one browser, once.
    url: str
    #: Six digits for the person, by another channel than the link; None where the page asks for no code.
    confirmation_code: Optional[str]
    user_id: str
    purpose: str
    #: `same` or `any`, as it was asked for.
    browser: str
    expires_at: str


@dataclass(frozen=True)
class CaptureSession(Answer):
    session_id: str
    #: `open`, `in_progress`, `completed`, `cancelled` or `expired`.
    status: str
    attempts: int
    consent: Optional[Mapping[str, str]]
    #: `same` where only the proof of the browser that captured gives the result, else `any`.
    browser: str
    #: `{"status": int, "body": …}` of the last capture that was judged. Only its checked JWT stands for an approval.
    result: Optional[Mapping[str, Any]]
    #: `proof_required` where there is a result, and the proof was not given.
    result_withheld: Optional[str]
    created_at: str
    expires_at: str
    #: Whether the person said that somebody else had begun.
    disowned: bool = False


@dataclass(frozen=True)
class AuditEntry:
    sequence: int
    created_at: str
    event: str
    actor: str
    request_id: Optional[str]
    status: Optional[int]
    code: Optional[str]
    #: Pseudonym of the user.
    subject: Optional[str]
    facts: Mapping[str, Any]
    #: Chain value in hex.
    hash: str


@dataclass(frozen=True)
class AuditPage(Answer):
    #: Oldest first, unless the order is `desc`.
    data: List[AuditEntry]
    has_more: bool
    #: What to send as `after` for what follows, now or later.
    next_cursor: str
    #: The log was changed in the service's database: the first entry that does not fit. None where none is known.
    broken_sequence: Optional[int] = None


@dataclass(frozen=True)
class Health(Answer):
    #: `ok` or `degraded`.
    status: str
    environment: str
    version: str
    checks: Mapping[str, Any]


@dataclass(frozen=True)
class RotateSigningResult(Answer):
    #: `{"id", "secret", "created_at"}`. Store it before anything else: it is shown once.
    signing_secret: Mapping[str, str] = field(repr=False)
    #: `{"id", "valid_until"}`.
    previous: Mapping[str, str]
    overlap_seconds: int


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
    #: The session of the hosted page that made the verify, and whether it gave its result only to the browser that captured
    #: (`same`) or not (`any`). None for any other verify: only the service writes these claims.
    capture_session: Optional[str] = None
    capture_binding: Optional[str] = None
    txn: Optional[str] = None
    fmr: Optional[float] = None
    model: Optional[str] = None
    model_grade: Optional[str] = None
    amr: Tuple[str, ...] = ()
    #: Identify the text that the person was shown for a typed action; None where no page of Countersign showed it.
    display_hash: Optional[str] = None
    display_locale: Optional[str] = None
    display_version: Optional[str] = None
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


def named_members(cls: type, body: Mapping[str, Any]) -> Dict[str, Any]:
    """The members of `body` that the dataclass names; one that the service leaves out is None or the default."""
    skipped = {"raw", "response"}
    names = [one for one in fields(cls) if one.name not in skipped]
    return {one.name: body.get(one.name) for one in names if one.name in body or not _has_default(one)}


def read_answer(cls: Type[A], body: Mapping[str, Any], response: ResponseInfo) -> A:
    return cls(raw=body, response=response, **named_members(cls, body))


def _has_default(one: Any) -> bool:
    return one.default is not MISSING or one.default_factory is not MISSING
