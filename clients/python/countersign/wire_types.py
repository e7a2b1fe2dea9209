"""Generated from docs/openapi.json and the claims by `npm run docs`: answers, claims and webhooks by their wire names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, List, Literal, Mapping, Optional, Tuple, TypedDict

from .received import Answer, Received

Environment = Literal["production", "sandbox"]

Scope = Literal["verify", "enroll", "replace", "recover", "erase", "read", "audit", "rotate"]

HealthStatus = Literal["ok", "degraded"]

ModelGrade = Literal["production", "ungrouped", "evaluation"]

FmrBasis = Literal["measured", "extrapolated"]

RejectionReason = Literal[
    "no_match",
    "liveness_failed",
    "replayed_capture",
    "locked_out",
    "reference_disabled",
    "second_approval_required",
    "same_person",
    "review_required",
]

FrameGuidance = Literal[
    "no_face",
    "not_upright",
    "several_faces",
    "too_far",
    "too_close",
    "cut_off",
    "too_dark",
    "too_bright",
    "blurred",
    "not_frontal",
    "wrong_direction",
    "turn_more",
    "nod_more",
]

LivenessGuidance = Literal[
    "no_face",
    "not_upright",
    "several_faces",
    "too_far",
    "too_close",
    "cut_off",
    "too_dark",
    "too_bright",
    "blurred",
    "not_frontal",
    "wrong_direction",
    "turn_more",
    "nod_more",
    "mirrored",
    "slower",
    "try_again",
]

PhotoGuidance = Literal[
    "no_face",
    "not_upright",
    "several_faces",
    "too_far",
    "too_close",
    "cut_off",
    "too_dark",
    "too_bright",
    "blurred",
    "not_frontal",
    "wrong_direction",
    "turn_more",
    "nod_more",
    "mirrored",
    "slower",
    "try_again",
    "eyes_closed",
    "file_unreadable",
    "wrong_format",
    "image_too_large",
    "image_too_small",
    "different_people",
    "not_live",
]

LivenessFinding = Literal["flat", "face_changed", "discontinuous", "replayed", "out_of_order", "mirrored"]

QualityComponent = Literal[
    "inter_eye_distance",
    "sharpness",
    "luminance_mean",
    "luminance_variance",
    "under_exposure_prevention",
    "over_exposure_prevention",
    "illumination_uniformity",
    "head_pose_yaw",
    "head_pose_pitch",
    "head_pose_roll",
    "eyes_open",
]

ChallengeStep = Literal["frontal", "turn_left", "turn_right", "nod_up", "nod_down"]

CaptureSessionStatus = Literal["open", "in_progress", "completed", "cancelled", "expired"]


class QualityBound(TypedDict, total=False):
    """Range of good values, both ends included; an absent end is open."""

    min: float
    max: float


class QualityIssue(TypedDict):
    """A component that is beyond its bound for an enrollment photo."""

    #: The field of the request that holds the photo.
    path: str
    #: Quality component, by its name in ISO/IEC 29794-5.
    component: QualityComponent
    #: Measured value of the component.
    value: float
    #: Range of good values, both ends included; an absent end is open.
    bound: QualityBound
    #: Advice to the person.
    guidance: PhotoGuidance
    #: The advice as a sentence to show to the person.
    hint: str


class QualityFinding(TypedDict):
    """One measurement of a photo, held against its bound for an enrollment photo."""

    #: Quality component, by its name in ISO/IEC 29794-5.
    component: QualityComponent
    value: float
    bound: Optional[QualityBound]
    #: True also where no bound is set: `bound` is then None.
    passed: bool


class ImageQuality(TypedDict):
    """All measurements of one photo."""

    #: The field of the request that holds the photo.
    path: str
    #: Whether every component keeps to its bound.
    passed: bool
    #: Width of the face between its outer edges, in pixels.
    face_width_px: int
    #: Confidence of the face detector, 0 to 1.
    detection: float
    components: List[QualityFinding]


class _Quality(TypedDict):
    #: Overall, 0 to 1, higher is better.
    score: float
    #: Whether every component keeps to its bound for an enrollment photo.
    passed: bool
    #: The components that failed; empty where all passed.
    issues: List[QualityIssue]


class Quality(_Quality, total=False):
    """Quality of the photo that was compared. Verify also compares photos that an enrollment refuses."""

    #: The photo that was compared. Only where `include` asks for `quality`.
    images: List[ImageQuality]


class _EnrollmentQuality(TypedDict):
    #: Overall, 0 to 1, higher is better.
    score: float
    #: Whether every component keeps to its bound for an enrollment photo.
    passed: bool
    #: The components that failed; empty where all passed.
    issues: List[QualityIssue]
    #: Number of photos that the reference was made of: with three, far fewer people are missed than with one.
    views: int


class EnrollmentQuality(_EnrollmentQuality, total=False):
    """Quality of the photos. The score is that of the best one."""

    #: One entry for each photo of the request, in their order. Only in a dry run, and where `include` asks for `quality`.
    images: List[ImageQuality]


class Liveness(TypedDict):
    """Presentation attack detection."""

    #: False when nothing was checked: the statement then claims nothing.
    checked: bool
    #: Checks that were made: `passive:<pack>` by the liveness network of that pack, `active-geometry@1` by the movements of
    #: a challenge.
    methods: List[str]
    #: Probability of a live person, 0 to 1, by the liveness network; None where it judged nothing, also for a face that is
    #: `too_close`.
    score: Optional[float]
    #: Whether the capture passed every method.
    passed: Optional[bool]
    #: Advice for the person after a capture that failed, the most urgent first; empty where there is none.
    guidance: List[LivenessGuidance]
    #: Suspicions about a capture that failed; empty where there are none. For the backend, never for the person.
    findings: List[LivenessFinding]


class CaptureSignal(TypedDict):
    """A sign that the pictures may not come from a camera of the device."""

    #: Name of the signal.
    code: Literal[
    "virtual_camera",
    "replaced_function",
    "synthetic_track",
    "unlisted_camera",
    "settings_mismatch",
    "frame_timing",
    "repeated_picture",
    "mixed_frames",
]
    #: `client`: the browser reported it. `server`: the service found it in the pictures.
    source: Literal["client", "server"]


class CaptureIntegrity(TypedDict):
    """Signs that pictures may not come from a camera of the device: hints, never proof. They change no verdict."""

    #: The signals; an empty list where nobody saw one.
    signals: List[CaptureSignal]


class Passkey(TypedDict):
    """A passkey of a user. Its key never leaves the service."""

    #: Id of the passkey.
    passkey_id: str
    #: Name by which the person and the backend tell passkeys apart.
    name: Optional[str]
    #: Whether other devices may have a copy.
    synced: bool
    #: Whether a copy existed at the last use.
    backed_up: bool
    #: Model of the authenticator, or zeros.
    aaguid: str
    #: How a browser reaches it, such as `usb`.
    transports: List[str]
    #: When it was registered. RFC 3339.
    created_at: str
    #: When it last signed. RFC 3339.
    last_used_at: Optional[str]


@dataclass(frozen=True)
class PasskeyChallenge(Answer):
    """Options with which a browser makes a passkey, or lets one sign."""

    #: Id of the options.
    challenge_id: str
    #: Secret of the options.
    nonce: str
    #: For `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`. Pass them on unchanged.
    options: Mapping[str, Any]
    #: When the options expire: the answer must have arrived by then. RFC 3339.
    expires_at: str


@dataclass(frozen=True)
class RegisteredPasskey(Answer):
    """Answer of `POST /v1/users/{user_id}/passkeys`."""

    #: The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
    #: identifier that holds format, invisible, private-use or unassigned characters of Unicode.
    user_id: str
    #: Id of the passkey.
    passkey_id: str
    #: Whether other devices may have a copy.
    synced: bool
    #: Whether a copy existed at the last use.
    backed_up: bool
    #: Model of the authenticator, or zeros.
    aaguid: str
    #: How a browser reaches it, such as `usb`.
    transports: List[str]
    #: When it was registered. RFC 3339.
    created_at: str
    #: Name by which the person and the backend tell passkeys apart.
    name: Optional[str] = None
    #: When it last signed. RFC 3339.
    last_used_at: Optional[str] = None


@dataclass(frozen=True)
class PasskeyList(Answer):
    """Answer of `GET /v1/users/{user_id}/passkeys`."""

    #: The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
    #: identifier that holds format, invisible, private-use or unassigned characters of Unicode.
    user_id: str
    #: Oldest first.
    data: List[Passkey]
    #: Whether more entries follow.
    has_more: bool


@dataclass(frozen=True)
class RevokedPasskey(Answer):
    """Answer of `DELETE /v1/users/{user_id}/passkeys/{passkey_id}`."""

    #: The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
    #: identifier that holds format, invisible, private-use or unassigned characters of Unicode.
    user_id: str
    #: Id of the passkey.
    passkey_id: str
    status: Literal["revoked"]


@dataclass(frozen=True)
class CancelledPasskeyRecovery(Answer):
    """Answer of `DELETE /v1/users/{user_id}/passkeys/recovery`."""

    #: The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
    #: identifier that holds format, invisible, private-use or unassigned characters of Unicode.
    user_id: str
    status: Literal["cancelled"]


class ProvenPasskey(TypedDict):
    """The passkey that has signed for this action. None where no `passkey_assertion` was sent."""

    #: Id of the passkey.
    passkey_id: str
    #: The name of the proof (RFC 8176): `hwk` for a key in hardware, `swk` for one in software. An approval has it in the
    #: `amr` and at the end of the `acr` of its JWT.
    amr: Literal["hwk", "swk"]


@dataclass(frozen=True)
class Challenge(Answer):
    """Answer of `POST /v1/challenges`."""

    challenge_id: str
    #: Send it back with the frames. No other call returns it.
    nonce: str
    #: The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
    #: identifier that holds format, invisible, private-use or unassigned characters of Unicode.
    user_id: str
    #: The call in which the frames will be sent. Default `verify`.
    purpose: Literal["verify", "enroll"]
    #: Movements, in order. Left and right are the person’s own.
    steps: List[ChallengeStep]
    #: Limits that the frames must keep to.
    capture: ChallengeCapture
    #: Seconds until the challenge expires: the frames must have arrived by then.
    expires_in: int
    #: When the challenge expires. RFC 3339.
    expires_at: str
    #: Name of the check in verdicts; None where no movement is asked for.
    method: Optional[str] = None
    #: The text of the action. Show all of it, and nothing else in its place. Only where `locale` was sent.
    display: Optional[ChallengeDisplay] = None
    #: Options for the browser, whose answer is sent with the frames. None for a user without passkeys, where `passkey` was
    #: `preferred`.
    passkey: Optional[Mapping[str, Any]] = None


@dataclass(frozen=True)
class Guidance(Answer):
    """Answer of `POST /v1/guidance`."""

    #: Movement that the person is asked to make: the step of the challenge that is shown. Left and right are the person’s
    #: own. Default `frontal`.
    step: ChallengeStep
    #: Advice for the person, the most urgent first. Empty where nothing needs to change: the person holds still, or the
    #: movement went far enough.
    guidance: List[FrameGuidance]


class Consent(TypedDict):
    """A person’s consent."""

    #: The customer’s own id of the consent: of its record, or of the text that was agreed to.
    id: str
    #: When the person agreed. RFC 3339.
    agreed_at: str


@dataclass(frozen=True)
class RecordedConsent(Answer):
    """Answer of `POST /v1/users/{user_id}/consent`: the consent that is recorded now."""

    #: The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
    #: identifier that holds format, invisible, private-use or unassigned characters of Unicode.
    user_id: str
    #: The reference that the consent is for. It stays as it was.
    reference_id: str
    #: A person’s consent.
    consent: Consent


@dataclass(frozen=True)
class EnrollResult(Answer):
    """Answer of `POST /v1/enroll`."""

    reference_id: str
    #: The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
    #: identifier that holds format, invisible, private-use or unassigned characters of Unicode.
    user_id: str
    #: Quality of the photos. The score is that of the best one.
    quality: EnrollmentQuality
    #: Presentation attack detection.
    liveness: Liveness
    #: The model pack that made the reference.
    model: str
    status: Literal["enrolled"]
    #: When the reference was captured. RFC 3339.
    created_at: str
    #: None where no report was sent.
    capture_integrity: Optional[CaptureIntegrity] = None
    #: The passkey that was registered with the reference; None for none.
    passkey: Optional[Passkey] = None


@dataclass(frozen=True)
class AssessResult(Answer):
    """Answer of `POST /v1/enroll` with `dry_run`: the quality of the photos. Nothing is stored."""

    #: The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
    #: identifier that holds format, invisible, private-use or unassigned characters of Unicode.
    user_id: str
    #: Quality of the photos. The score is that of the best one.
    quality: EnrollmentQuality
    #: Presentation attack detection.
    liveness: Liveness
    #: The model pack that made the reference.
    model: str
    status: Literal["assessed"]
    #: None where no report was sent.
    capture_integrity: Optional[CaptureIntegrity] = None


@dataclass(frozen=True)
class VerifyResult(Answer):
    """Answer of `POST /v1/verify`."""

    #: The `jti` of the JWT.
    verification_id: str
    #: The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
    #: identifier that holds format, invisible, private-use or unassigned characters of Unicode.
    user_id: str
    verdict: Literal["approved", "rejected"]
    #: Lowest score that is approved.
    threshold: float
    #: False match rate that the threshold reached on calibration data. It may differ from the configured one.
    fmr: float
    #: Basis of `fmr`: `extrapolated` where nobody has measured the rate and the operator accepted that.
    fmr_basis: FmrBasis
    #: Grade of the model pack at this rate: `production` where the rate was measured on everybody and in each group of
    #: people; `ungrouped` where the data name no groups; else `evaluation`.
    model_grade: ModelGrade
    #: Presentation attack detection.
    liveness: Liveness
    #: Whether the capture was seen before within 24 hours.
    replay: Replay
    model: str
    #: When the verdict was reached. RFC 3339.
    verified_at: str
    #: The verdict, signed with the signing secret that the caller holds.
    jwt: str
    #: The same claims under a key of the issuer (ES256). Anyone can check it with the keys at `/v1/.well-known/jwks.json`,
    #: and nobody else can make it.
    jwt_public: str
    #: When the JWT expires. RFC 3339.
    jwt_expires_at: str
    reason: Optional[RejectionReason] = None
    #: Similarity; higher is more alike. None when the images were not compared.
    score: Optional[float] = None
    quality: Optional[Quality] = None
    #: None where no report was sent.
    capture_integrity: Optional[CaptureIntegrity] = None
    #: The text that the hosted page showed the person for a typed action, or that your own page was given with the
    #: challenge. None where there is none.
    display: Optional[DisplayedText] = None
    #: During a rotation overlap: the same claims under the new secret. None otherwise.
    jwt_next: Optional[str] = None
    #: SHA-256 of the policy that was in force. None where the tenant has none.
    policy_hash: Optional[str] = None
    #: Name of the rule of the policy that decided about this action. None where the tenant has none.
    policy_rule: Optional[str] = None
    #: Other user’s verdict that it has used up.
    approval_id: Optional[str] = None
    #: Sandbox only: this verification cleared and issued the production key. None otherwise.
    production_key: Optional[Literal["issued"]] = None
    #: The passkey that has signed; None where no `passkey_assertion` was sent.
    passkey: Optional[ProvenPasskey] = None


@dataclass(frozen=True)
class Verification(Answer):
    """Answer of `GET /v1/verifications/{verification_id}`: the verdict of an earlier verification. It proves and approves
    nothing."""

    #: The `jti` of the JWT.
    verification_id: str
    verdict: Literal["approved", "rejected"]
    #: Lowest score that was approved.
    threshold: float
    #: False match rate that the threshold reached on calibration data.
    fmr: float
    #: The model pack that compared.
    model: str
    #: Whether the capture had been seen before within 24 hours.
    replay: Replay
    #: The request that verified, the `txn` of the JWT.
    request_id: str
    #: When the verdict was reached. RFC 3339.
    verified_at: str
    #: The user, where the query named the user. None otherwise: the service does not store user ids.
    user_id: Optional[str] = None
    reason: Optional[RejectionReason] = None
    #: Similarity; higher is more alike. None when the images were not compared.
    score: Optional[float] = None
    #: Basis of `fmr`. None for a verification by a version that did not record it.
    fmr_basis: Optional[FmrBasis] = None
    #: Grade of the model pack at this rate. None for a verification by a version that did not record it.
    model_grade: Optional[ModelGrade] = None
    #: The `acr` of the JWT. None for a verification by a version that did not record it.
    acr: Optional[str] = None
    #: The `amr` of the JWT.
    amr: List[str] = field(default_factory=list)
    #: Whether the user was verified for the action with this `action_hash`. None where the query held none.
    action_matches: Optional[bool] = None
    #: The `display_locale` of the JWT: language of the text that the person was shown for a typed action. None where the
    #: JWT has none.
    display_locale: Optional[str] = None
    #: The `display_version` of the JWT. None where the JWT has none.
    display_version: Optional[str] = None
    #: Whether the JWT has this `display_hash`: whether the person was shown this text. None where the query held none. The
    #: service keeps the hash only under the key of the user.
    display_matches: Optional[bool] = None
    #: The `policy_hash` of the JWT. None where the tenant had no policy.
    policy_hash: Optional[str] = None
    #: The `policy_rule` of the JWT. None where the tenant had no policy.
    policy_rule: Optional[str] = None
    #: The other user’s verdict that this approval has used up; None for none.
    approval_id: Optional[str] = None
    #: The challenge whose frames were judged; None for photos.
    challenge_id: Optional[str] = None
    #: The session of the hosted page that took the capture; None for any other caller.
    capture_session_id: Optional[str] = None


@dataclass(frozen=True)
class DeleteResult(Answer):
    """Answer of `DELETE /v1/delete`: the receipt of an erasure."""

    #: The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
    #: identifier that holds format, invisible, private-use or unassigned characters of Unicode.
    user_id: str
    status: Literal["erased"]
    erasure_id: str
    #: When the user was erased. RFC 3339.
    erased_at: str
    erased: ErasedCounts


@dataclass(frozen=True)
class User(Answer):
    """Answer of `GET /v1/users/{user_id}`: an enrolled user."""

    #: The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
    #: identifier that holds format, invisible, private-use or unassigned characters of Unicode.
    user_id: str
    status: Literal["enrolled"]
    #: When the user was first enrolled. RFC 3339.
    enrolled_at: str
    reference: UserReference
    lockout: UserLockout
    #: Number of passkeys of the user.
    passkeys: int = 0


@dataclass(frozen=True)
class AuditEntry:
    """One entry of the audit log."""

    #: 1, 2, 3, … without a gap.
    sequence: int
    #: When it happened. RFC 3339.
    created_at: str
    #: Name of the event: enroll, verify, delete, erasure_scheduled, rotate_signing, key_revealed, key_created, key_revoked,
    #: key_reissued, tenant_created, contract_changed, policy_changed, models_changed, drift_restarted,
    #: capture_page_changed, capture_consented, capture_code_failed, capture_number_failed, capture_disowned,
    #: consent_recorded, user_unlocked, ageing_undone, user_exported, users_compared, passkey_settings_changed,
    #: passkey_registered, passkey_revoked, passkey_recovery_cancelled, openid_client_added, openid_client_removed,
    #: openid_refused, openid_key_rotated, webhook_added, webhook_removed, webhook_redelivered, database_restored,
    #: working_keys_changed, verdict_key_rotated, audit_break_found, operator_password_reset, operator_added,
    #: operator_changed, operator_removed, operator_password_chosen, person_added, person_changed, person_password_reset,
    #: person_password_chosen, person_removed, signed_in, sign_in_failed, login_link_made, operator_link_made,
    #: second_factor_added, second_factor_removed, identity_confirmed, sessions_ended, tenant_suspended, tenant_resumed,
    #: tenant_deleted.
    event: str
    #: The actor: the id of an API key, `operator` for the command line, or an operator of the dashboard.
    actor: str
    #: Further facts that were recorded about the event.
    facts: Mapping[str, Any]
    #: Chain value, in hex: it covers every entry up to this one.
    hash: str
    #: The request that caused the event.
    request_id: Optional[str] = None
    #: HTTP status of the answer to a call of the API.
    status: Optional[int] = None
    #: Error code of a call that failed.
    code: Optional[str] = None
    #: Pseudonym of the user. Nobody can link it to a user who is erased.
    subject: Optional[str] = None


@dataclass(frozen=True)
class AuditPage(Answer):
    """Answer of `GET /v1/audit`: a page of the audit log."""

    #: The entries, in the requested order.
    data: List[AuditEntry]
    #: Whether more entries follow.
    has_more: bool
    #: Send it as `after` to read the entries that follow, now or when more have been written.
    next_cursor: str
    #: The `sequence` of the first entry that does not fit the chain, found by the daily verification: the log was changed
    #: in the database. None where the verification found none.
    broken_sequence: Optional[int] = None


@dataclass(frozen=True)
class HealthResult(Answer):
    """Answer of `GET /v1/health`."""

    status: HealthStatus
    environment: Environment
    version: str
    checks: Mapping[str, Any]


@dataclass(frozen=True)
class RotateSigningResult(Answer):
    """Answer of `POST /v1/keys/rotate-signing`."""

    signing_secret: NewSigningSecret = field(repr=False)
    previous: PreviousSigningSecret
    overlap_seconds: int


class DisplayedText(TypedDict):
    """Identifies the text that a person was shown."""

    #: SHA-256 of the text in RFC 8785 canonical form, in lower-case hex.
    hash: str
    #: Language of the text.
    locale: Literal["en", "de", "fr", "es", "ja"]
    #: Version of the template.
    version: str
    #: Your own page was given the text with the challenge. None where the hosted page showed it.
    source: Optional[Literal["challenge"]]


@dataclass(frozen=True)
class CaptureSessionLink(Answer):
    """Answer of `POST /v1/capture-sessions`: the link for the person."""

    session_id: str
    #: Link to send to the person. It opens in one browser, once. No other call returns it.
    url: str
    #: The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
    #: identifier that holds format, invisible, private-use or unassigned characters of Unicode.
    user_id: str
    #: The call in which the frames will be sent. Default `verify`.
    purpose: Literal["verify", "enroll"]
    #: `browser` of the request.
    browser: Literal["same", "any"]
    #: When the session expires. RFC 3339.
    expires_at: str
    #: Six digits, returned only here. Send them to the person by another channel than the link. After five wrong codes the
    #: session ends. None where the page asks for no code.
    confirmation_code: Optional[str] = None


@dataclass(frozen=True)
class CaptureSession(Answer):
    """Answer of `GET /v1/capture-sessions/{session_id}`."""

    session_id: str
    #: `open`: nobody has opened the link. `in_progress`: somebody has opened it. `completed`: `result` is final.
    #: `cancelled`: the person gave up. `expired`: the session expired before it was completed.
    status: CaptureSessionStatus
    #: Captures that were judged or are being judged.
    attempts: int
    #: `browser` of the request.
    browser: Literal["same", "any"]
    #: When the session was made. RFC 3339.
    created_at: str
    #: When it expires. RFC 3339.
    expires_at: str
    consent: Optional[Consent] = None
    #: Whether the person said that somebody else had begun. The session is then `cancelled`.
    disowned: bool = False
    #: The result of the last capture that was judged; None where none was. With `browser: "same"` it is there once the
    #: session is `completed`, and only with the proof. The JWT’s `capture_session` is the id of the session. Only the
    #: checked JWT proves an approval: the status `completed` does not.
    result: Optional[CaptureResult] = None
    #: There is a result, which is given out only with the proof of the browser that captured.
    result_withheld: Optional[Literal["proof_required"]] = None


@dataclass(frozen=True)
class Claims:
    """The claims of a verdict JWT. Times are in unix seconds."""

    #: Base URL of the environment that signed.
    iss: str
    #: Id of the tenant.
    aud: str
    #: The `user_id` of the call.
    sub: str
    #: When the verdict was signed, in unix seconds.
    iat: float
    #: When the verdict expires, in unix seconds.
    exp: float
    #: The `verification_id`.
    jti: str
    #: Environment that signed.
    env: Environment
    verdict: Literal["approved", "rejected"]
    #: The action as the caller sent it. Never run it from here.
    action: Any
    #: SHA-256 of the action in RFC 8785 canonical form, in lower-case hex.
    action_hash: str
    #: Which checks an approval rests on; `0` in a rejection.
    acr: str
    #: When the capture was judged, in unix seconds.
    auth_time: float
    #: When the verdict begins to be valid, in unix seconds.
    nbf: Optional[float] = None
    #: Id of the request, also in the service’s log.
    txn: Optional[str] = None
    #: Similarity of the faces; higher is more alike. Absent in a rejection.
    score: Optional[float] = None
    #: False match rate that the threshold reached on calibration data. It may differ from the configured one.
    fmr: Optional[float] = None
    #: Basis of `fmr`: `extrapolated` where nobody has measured the rate and the operator accepted that.
    fmr_basis: Optional[FmrBasis] = None
    #: SHA-256 of the text that the person was shown. Absent where the service wrote none.
    display_hash: Optional[str] = None
    #: Language of that text. Absent as `display_hash`.
    display_locale: Optional[Literal["en", "de", "fr", "es", "ja"]] = None
    #: Version of its template. Absent as `display_hash`.
    display_version: Optional[str] = None
    #: Your own page was given the text. Absent where the hosted page showed it.
    display_source: Optional[Literal["challenge"]] = None
    #: The `nonce` of the call. Absent where it sent none.
    nonce: Optional[str] = None
    #: Session of the hosted page; only the service writes it. Absent for others.
    capture_session: Optional[str] = None
    #: `same`: only the browser that captured got the result. Absent for others.
    capture_binding: Optional[Literal["same", "any"]] = None
    #: Methods of RFC 8176: `face`, and in an approval with a passkey also `hwk` or `swk`.
    amr: Tuple[str, ...] = ()
    #: How liveness was checked. The verdict claims nothing beyond it. A rejection has no score.
    liveness: Optional[Liveness] = None
    #: Challenge whose frames were judged. Absent for photos.
    challenge_id: Optional[str] = None
    #: Passkey that signed for this action. Absent where none was asked.
    passkey_id: Optional[str] = None
    #: Model pack.
    model: Optional[str] = None
    #: Grade of the model pack at this rate: `production` where the rate was measured on everybody and in each group of
    #: people; `ungrouped` where the data name no groups; else `evaluation`.
    model_grade: Optional[ModelGrade] = None
    #: Whether the capture was seen before within 24 hours.
    replay: Optional[Replay] = None
    #: SHA-256 of the policy that was in force. Absent where the tenant has none.
    policy_hash: Optional[str] = None
    #: Rule of that policy that decided. Absent where the tenant has none.
    policy_rule: Optional[str] = None
    #: Verdict of the other user that this approval used up. Absent where none was needed.
    approval_id: Optional[str] = None


@dataclass(frozen=True)
class WebhookEvent(Received):
    """Body of a webhook."""

    #: The same at every try and every redelivery.
    id: str
    #: The event, such as `user.enrolled`. Later versions of the service may send others.
    type: str
    #: RFC 3339.
    created_at: str
    environment: Environment
    tenant_id: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class ErrorDetail(Received):
    """One detail of an error of this version of the service."""

    #: The field.
    path: str = ""
    #: The fault of the field.
    issue: str = ""
    #: Quality component that is beyond its bound; only with `low_quality`.
    component: Optional[QualityComponent] = None
    #: Measured value of the component.
    value: Optional[float] = None
    #: Bound that the value had to keep to.
    bound: Optional[QualityBound] = None
    #: Advice to the person about a photo. Each detail of a `biometric_rejected` has one; the capture component has a text
    #: for it in five languages.
    guidance: Optional[PhotoGuidance] = None
    #: The advice as a sentence to show to the person.
    hint: Optional[str] = None
    #: Missing scope; only with `insufficient_scope`.
    scope: Optional[Scope] = None
    #: Requirement of the policy that is not met; only with `policy_not_met`.
    requirement: Optional[str] = None


class Replay(TypedDict):
    """Whether the capture was seen before within 24 hours."""

    suspected: bool


class UserReference(TypedDict):
    """The reference of a user."""

    reference_id: str
    #: When the reference was captured, or photos were last added to it. RFC 3339.
    created_at: str
    #: The model pack that made the reference.
    model: str
    #: Whether the user has a template of the model pack that decides. If not, verify answers `reference_model_mismatch`
    #: until the user is enrolled again.
    comparable: bool
    #: Number of photos that the reference was made of.
    views: int
    consent: Optional[Consent]


class UserLockout(TypedDict):
    """The lockout of a user."""

    #: Lockout that a verification would report now. Only a new enrollment ends `reference_disabled`.
    status: Literal["none", "locked_out", "reference_disabled"]
    #: When `locked_out` ends; None for any other status. RFC 3339.
    ends_at: Optional[str]
    #: Consecutive rejections so far.
    rejections: int


class ErasedCounts(TypedDict):
    """Numbers of what was erased."""

    #: Biometric references.
    references: int
    #: Captures that were remembered for detecting replays.
    captures: int
    #: Passkeys.
    passkeys: int
    #: Kept responses.
    idempotency_records: int


class ChallengeCapture(TypedDict):
    """Limits that the frames must keep to."""

    min_frames: int
    max_frames: int
    min_interval_ms: int
    max_interval_ms: int
    #: One gap between two frames may be as long as this, where a camera stops for a moment.
    max_gap_ms: int
    min_duration_ms: int
    max_duration_ms: int


class _ChallengeDisplayLine(TypedDict):
    #: Name of the fact.
    label: str
    #: The fact.
    value: str


class ChallengeDisplayLine(_ChallengeDisplayLine, total=False):
    """One line of the text."""

    #: Names letters that pass for others.
    note: str


class ChallengeDisplay(TypedDict):
    """The text of the action. Show all of it, and nothing else in its place. Only where `locale` was sent."""

    #: The `display_hash` of the verdict.
    hash: str
    #: Version of the template.
    version: str
    #: Language of the text.
    locale: Literal["en", "de", "fr", "es", "ja"]
    #: Kind of action.
    heading: str
    #: The lines, in the order in which to show them.
    lines: List[ChallengeDisplayLine]


class CaptureResult(TypedDict):
    """The answer to the last capture of a session. Only its checked JWT stands for an approval."""

    #: HTTP status of the call of verify or enroll.
    status: int
    #: Body of the answer of `verify` or `enroll`: the verdict with its JWT, or an error.
    body: Mapping[str, Any]


class NewSigningSecret(TypedDict):
    """A signing secret that was made. Store it before anything else: it is shown once."""

    #: The `kid` of signatures and JWTs.
    id: str
    #: The new signing secret. No replay and no other call returns it again.
    secret: str
    #: When the secret was made. RFC 3339.
    created_at: str


class PreviousSigningSecret(TypedDict):
    """The signing secret that was replaced."""

    id: str
    #: End of the overlap. RFC 3339.
    valid_until: str


class CaptureOutcome(TypedDict):
    """What came of the last capture. It proves nothing: get the session, and check the JWT of its verdict."""

    #: HTTP status of the call of verify or enroll.
    status: int
    verdict: Optional[Literal["approved", "rejected"]]
    reason: Optional[str]
    #: Code of the error; None where the capture was not refused with one.
    code: Optional[str]


class UserEnrolledData(TypedDict):
    """A reference was made, replaced, or got further photos."""

    user_id: str
    reference_id: str
    model: str
    views: int
    #: Whether the enrollment replaced another one.
    replaced: bool
    #: Number of photos that were added to the reference; 0 for one that is new.
    added: int


class UserLockedOutData(TypedDict):
    """A user has to wait after too many rejections."""

    user_id: str
    rejections: int
    #: RFC 3339.
    ends_at: str


class UserDisabledData(TypedDict):
    """A reference was disabled: only a new enrollment helps."""

    user_id: str
    rejections: int


class UserUnlockedData(TypedDict):
    """The operator ended the wait of a user."""

    user_id: str


class UserPasskeyRegisteredData(TypedDict):
    """A passkey was registered for a user. Somebody else than the person may have done it."""

    user_id: str
    passkey_id: str
    name: Optional[str]
    synced: bool
    #: Whether a recovery took the place of an earlier passkey.
    recovered: bool


class UserPasskeyRevokedData(TypedDict):
    """A passkey of a user was revoked."""

    user_id: str
    passkey_id: str


class UserPasskeyRecoveryBegunData(TypedDict):
    """The recovery of a lost passkey has begun: another one can be registered from `ready_at` on. Tell the person, who may
    know nothing of it."""

    user_id: str
    verification_id: str
    #: RFC 3339.
    ready_at: str
    #: RFC 3339.
    expires_at: str


class UserPasskeyRecoveryCancelledData(TypedDict):
    """The recovery of a passkey was cancelled, by the backend or by an approved verification with a passkey."""

    user_id: str
    verification_id: str


class UserPasskeyCounterReversedData(TypedDict):
    """A passkey of a user signed with a counter that did not grow, and was refused. A copy of the passkey may exist."""

    user_id: str
    passkey_id: str


class UserErasureScheduledData(TypedDict):
    """A user is going to be erased by the policy of the tenant, unless the user is approved before."""

    user_id: str
    #: RFC 3339.
    erase_at: str


class UserErasedData(TypedDict):
    """A user was erased."""

    user_id: str
    status: Literal["erased"]
    erasure_id: str
    #: RFC 3339.
    erased_at: str
    erased: ErasedCounts


class CaptureSessionCompletedData(TypedDict):
    """A session of the hosted capture page has its final result."""

    session_id: str
    purpose: Literal["verify", "enroll"]
    #: Number of captures that were judged, 0 to 3.
    attempts: int
    #: None where no capture was judged.
    result: Optional[CaptureOutcome]


class CaptureSessionCancelledData(TypedDict):
    """The person left the hosted capture page by its button."""

    session_id: str
    purpose: Literal["verify", "enroll"]
    #: Number of captures that were judged, 0 to 3.
    attempts: int
    #: Whether the person said that somebody else had begun.
    disowned: bool


class CaptureSessionExpiredData(TypedDict):
    """The time of a session of the hosted capture page was over first."""

    session_id: str
    purpose: Literal["verify", "enroll"]
    #: Number of captures that were judged, 0 to 3.
    attempts: int


class OpenIDLinkReadyData(TypedDict):
    """An identity provider asks for a person: send the link to that person. It is useless after `expires_at`."""

    user_id: str
    session_id: str
    #: Link to send to the person. It opens in one browser, once.
    url: str
    #: Name of the application of the OpenID provider.
    application: str
    #: Client of the identity provider that asks.
    requested_by: str
    #: Text that the person also sees where they began; None for none.
    message: Optional[str]
    #: RFC 3339.
    expires_at: str


class OpenIDRequestDisownedData(TypedDict):
    """A person said that a request of an identity provider was begun by somebody else."""

    user_id: str
    session_id: str
    application: str
    requested_by: str


class WebhookTestData(TypedDict):
    """Somebody asked for an event, to see whether it arrives."""

