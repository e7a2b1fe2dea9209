"""SDK of Countersign, a self-hosted service for biometric step-up verification."""

from .answers import Claims, VerifyResult
from .async_client import AsyncCountersign
from .canonical_json import Action, action_hash, canonical_json
from .client import Countersign
from .client_base import CallOptions
from .constants import ACR_VALUES, ACTIVE_ACR, ERROR_CATEGORIES, ERROR_CODES, PASSKEY_ACR
from .errors import (
    ApiConnectionError,
    ApiError,
    ApiTimeoutError,
    CountersignError,
    SignatureError,
    UnexpectedResponseError,
    VerdictError,
)

# They are missing in `__all__`, so that `import *` hides no built-in error.
from .errors import ConnectionError as ConnectionError
from .errors import TimeoutError as TimeoutError
from .payment_batch import payment_batch
from .photo import Photo
from .received import Answer, ResponseInfo
from .replay_store import AsyncReplayStore, MemoryReplayStore, ReplayStore
from .shared_replay_stores import (
    AsyncPostgresReplayStore,
    AsyncRedisReplayStore,
    PostgresReplayStore,
    RedisReplayStore,
)
from .signature import assert_response_signature
from .signing_secret import AsyncSigningSecrets, SigningSecret, SigningSecrets, read_secrets
from .verdict import verify_verdict
from .webhook import verify_webhook
from .wire_types import (
    AssessResult,
    AuditEntry,
    AuditPage,
    CancelledPasskeyRecovery,
    CaptureSession,
    CaptureSessionLink,
    Challenge,
    DeleteResult,
    EnrollResult,
    ErrorDetail,
    Guidance,
    HealthResult,
    Passkey,
    PasskeyChallenge,
    PasskeyList,
    RecordedConsent,
    RegisteredPasskey,
    RevokedPasskey,
    RotateSigningResult,
    User,
    Verification,
    WebhookEvent,
)

#: Deprecated name.
Health = HealthResult

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
    "AsyncCountersign",
    "AsyncPostgresReplayStore",
    "AsyncRedisReplayStore",
    "AsyncReplayStore",
    "AsyncSigningSecrets",
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
    "ERROR_CATEGORIES",
    "ERROR_CODES",
    "EnrollResult",
    "ErrorDetail",
    "Guidance",
    "Health",
    "HealthResult",
    "MemoryReplayStore",
    "PASSKEY_ACR",
    "Passkey",
    "PasskeyChallenge",
    "PasskeyList",
    "Photo",
    "PostgresReplayStore",
    "RedisReplayStore",
    "ReplayStore",
    "ResponseInfo",
    "RecordedConsent",
    "RegisteredPasskey",
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
