"""SDK of Countersign, a self-hosted service for biometric step-up verification."""

from .acr import ACR_VALUES, ACTIVE_ACR, PASSKEY_ACR
from .answers import (
    Answer,
    AssessResult,
    AuditEntry,
    AuditPage,
    CancelledPasskeyRecovery,
    CaptureSession,
    CaptureSessionLink,
    Challenge,
    Claims,
    DeleteResult,
    EnrollResult,
    Guidance,
    Health,
    Passkey,
    PasskeyChallenge,
    PasskeyList,
    ResponseInfo,
    RecordedConsent,
    RevokedPasskey,
    RotateSigningResult,
    User,
    Verification,
    VerifyResult,
    WebhookEvent,
)
from .canonical_json import Action, action_hash, canonical_json
from .client import CallOptions, Countersign
from .errors import (
    ApiConnectionError,
    ApiError,
    ApiTimeoutError,
    CountersignError,
    ErrorDetail,
    SignatureError,
    UnexpectedResponseError,
    VerdictError,
)
from .payment_batch import payment_batch
from .photo import Photo
from .replay_store import MemoryReplayStore, ReplayStore
from .signature import assert_response_signature
from .signing_secret import SigningSecret, SigningSecrets, read_secrets
from .verdict import verify_verdict
from .webhook import verify_webhook

__version__ = "0.1.0"

__all__ = [
    "ACR_VALUES",
    "ACTIVE_ACR",
    "Action",
    "Answer",
    "ApiConnectionError",
    "ApiError",
    "ApiTimeoutError",
    "AssessResult",
    "AuditEntry",
    "AuditPage",
    "CallOptions",
    "CancelledPasskeyRecovery",
    "CaptureSession",
    "CaptureSessionLink",
    "Challenge",
    "Claims",
    "Countersign",
    "CountersignError",
    "DeleteResult",
    "EnrollResult",
    "ErrorDetail",
    "Guidance",
    "Health",
    "MemoryReplayStore",
    "PASSKEY_ACR",
    "Passkey",
    "PasskeyChallenge",
    "PasskeyList",
    "Photo",
    "ReplayStore",
    "ResponseInfo",
    "RecordedConsent",
    "RevokedPasskey",
    "RotateSigningResult",
    "SignatureError",
    "SigningSecret",
    "SigningSecrets",
    "UnexpectedResponseError",
    "User",
    "VerdictError",
    "Verification",
    "VerifyResult",
    "WebhookEvent",
    "action_hash",
    "assert_response_signature",
    "canonical_json",
    "payment_batch",
    "read_secrets",
    "verify_verdict",
    "verify_webhook",
]
