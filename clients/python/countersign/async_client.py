"""The client of a Countersign service for asyncio. Generated from client.py: `npm run docs` writes this file."""

from __future__ import annotations

import dataclasses
import json
import re
import ssl
import time
import uuid
from typing import Any, Callable, Dict, AsyncIterator, Mapping, Optional, Sequence, Type, TypeVar, Union

from .answers import Claims, VerifyResult
from .async_transport import AsyncTransport
from .body_limit import DEFAULT_MAX_BODY_BYTES
from .canonical_json import Action, action_hash, assert_action
from .client_base import NO_OPTIONS, CallOptions, ClientBase, assert_answers, list_or_none, path_part, query
from .clock_tolerance import DEFAULT_CLOCK_TOLERANCE_SECONDS
from .headers import Headers
from .photo import Photo, encode_photo, encode_photos
from .received import Answer, named_members, read_answer
from .replay_store import AsyncReplayStore, DefaultReplayStore
from .retry import RetryPolicy
from .signature import DEFAULT_SIGNATURE_TOLERANCE_SECONDS
from .signing_secret import AsyncSigningSecrets, read_secrets, read_secrets_async
from .verdict import VerdictToken, checkable_token, verify_verdict_async
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
    Guidance,
    HealthResult,
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

A = TypeVar("A", bound=Answer)


class AsyncCountersign(ClientBase):
    """As `Countersign`, with methods to await. It keeps connections: use it as `async with`, or `await aclose()` at the end,
    and in one event loop at a time. A call that is cancelled leaves no connection behind. Every method raises `ApiError`, `ConnectionError`, `TimeoutError`, `SignatureError` or
    `UnexpectedResponseError`, all of them `CountersignError`, and `TypeError` or `ValueError` for wrong arguments.
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        signing_secret: AsyncSigningSecrets,
        tenant_id: str = "",
        verify_responses: bool = True,
        clock_tolerance_seconds: float = DEFAULT_CLOCK_TOLERANCE_SECONDS,
        signature_tolerance_seconds: float = DEFAULT_SIGNATURE_TOLERANCE_SECONDS,
        timeout_seconds: float = 15.0,
        max_retries: int = 2,
        max_retry_after_seconds: float = 30.0,
        connect_retry_seconds: float = 10.0,
        max_body_bytes: int = DEFAULT_MAX_BODY_BYTES,
        accept_evaluation_grade: bool = False,
        replay_store: Optional[AsyncReplayStore] = None,
        allow_insecure_http: bool = False,
        ssl_context: Optional[ssl.SSLContext] = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Raises ValueError for options that cannot work.

        :param base_url: of the key's environment; ends in /v1
        :param api_key: `svc-prod-…` or `svc-sbx-…`
        :param signing_secret: `"sec_…:svc-sec-…"`; during a rotation both; or a function that reads them
        :param tenant_id: `ten_…`, which verdicts must name; default: the tenant whose signing secret made the verdict
        :param verify_responses: check `X-Svc-Signature`
        :param clock_tolerance_seconds: greatest difference of the clocks for the times of a verdict, 0 to 300
        :param signature_tolerance_seconds: greatest age of the signature of a response or a webhook
        :param timeout_seconds: of one try; the service gives up after 10 s
        :param max_retries: tries after the first
        :param max_retry_after_seconds: a longer `Retry-After` is left to you
        :param connect_retry_seconds: how long a refused connection is tried again, however many tries that takes; with
            `max_retries=0` it is not. A service that starts again listens soon
        :param max_body_bytes: a larger request is refused before it is sent; the service takes 8 MiB by default
        :param accept_evaluation_grade: take production verdicts of a model pack that is not of production grade
            (`evaluation` or `ungrouped`); for demos, and where those who answer for the service have signed that off
        :param replay_store: where used verdicts are remembered; default: this object's memory
        :param allow_insecure_http: allow `http:` to other hosts than this one, which sends key and photos unencrypted
        :param ssl_context: default: the system's trusted authorities
        :param now: unix seconds
        """
        super().__init__(
            base_url=base_url,
            api_key=api_key,
            tenant_id=tenant_id,
            clock_tolerance_seconds=clock_tolerance_seconds,
            signature_tolerance_seconds=signature_tolerance_seconds,
            timeout_seconds=timeout_seconds,
            retry=RetryPolicy(max_retries, max_retry_after_seconds, connect_retry_seconds),
            max_body_bytes=max_body_bytes,
            accept_evaluation_grade=accept_evaluation_grade,
            allow_insecure_http=allow_insecure_http,
            now=now,
        )
        # Callables are read before every use; anything else is checked now.
        if not callable(signing_secret):
            read_secrets(signing_secret)
        self._signing_secret = signing_secret
        self._replay_store = (
            DefaultReplayStore(now) if replay_store is None else replay_store
        )
        self._transport = AsyncTransport(
            self._transport_options, signing_secret if verify_responses else None, ssl_context
        )

    async def __aenter__(self) -> AsyncCountersign:
        return self

    async def __aexit__(self, *_error: Any) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections that are kept."""
        await self._transport.aclose()

    async def enroll(
        self,
        user_id: str,
        *,
        image: Optional[Photo] = None,
        images: Optional[Sequence[Photo]] = None,
        challenge: Optional[Mapping[str, Any]] = None,
        replace: bool = False,
        verification_id: Optional[str] = None,
        require_liveness: Optional[str] = None,
        consent: Optional[Mapping[str, str]] = None,
        include: Optional[Sequence[str]] = None,
        passkey_registration: Optional[Mapping[str, Any]] = None,
        capture_integrity: Optional[Mapping[str, Any]] = None,
        options: CallOptions = NO_OPTIONS,
    ) -> EnrollResult:
        """Captures a user's biometric reference. Three photos of one person become a better reference than one.

        `replace` takes the place of an earlier reference; `verification_id` names the approved verification of an action with
        `type: "replace_reference"` where the contract asks for one. `consent` is `{"id": …, "agreed_at": <RFC 3339>}`.
        `include=["quality"]` adds every measurement of the photos as `quality["images"]`.
        `capture_integrity` is the report of the capture component, unchanged: `{"signals": [...]}`.
        """
        body = {
            "user_id": user_id,
            "replace": replace or None,
            "verification_id": verification_id,
            "require_liveness": require_liveness,
            "consent": consent,
            "include": list_or_none(include),
            "passkey_registration": passkey_registration,
            "capture_integrity": capture_integrity,
            **encode_photos(image, images, challenge),
        }
        return await self._of_user(EnrollResult, "/enroll", body, options)

    async def add_photos(
        self,
        user_id: str,
        *,
        image: Optional[Photo] = None,
        images: Optional[Sequence[Photo]] = None,
        challenge: Optional[Mapping[str, Any]] = None,
        options: CallOptions = NO_OPTIONS,
    ) -> EnrollResult:
        """Adds photos to the reference of an enrolled user. Each must match it."""
        body = {"user_id": user_id, "add": True, **encode_photos(image, images, challenge)}
        return await self._of_user(EnrollResult, "/enroll", body, options)

    async def assess_photos(
        self,
        user_id: str,
        *,
        image: Optional[Photo] = None,
        images: Optional[Sequence[Photo]] = None,
        options: CallOptions = NO_OPTIONS,
    ) -> AssessResult:
        """Tells whether photos are good enough to enroll with, and stores nothing (`dry_run`)."""
        body = {"user_id": user_id, "dry_run": True, **encode_photos(image, images, None)}
        return await self._of_user(AssessResult, "/enroll", body, options)

    async def verify(
        self,
        user_id: str,
        *,
        action: Action,
        image: Optional[Photo] = None,
        images: Optional[Sequence[Photo]] = None,
        challenge: Optional[Mapping[str, Any]] = None,
        nonce: Optional[str] = None,
        approval_id: Optional[str] = None,
        require_liveness: Optional[str] = None,
        include: Optional[Sequence[str]] = None,
        require_passkey: bool = False,
        passkey_assertion: Optional[Mapping[str, Any]] = None,
        capture_integrity: Optional[Mapping[str, Any]] = None,
        options: CallOptions = NO_OPTIONS,
    ) -> VerifyResult:
        """Is this really that person, for this action? A rejection is an answer, not an error.

        Give the result, or its `jwt`, to `verify_verdict` where the action runs.
        `include=["quality"]` adds every measurement of the compared photo as `quality["images"]`.
        `passkey_assertion` is what a passkey of the user signed for the action, and `capture_integrity` the report of the
        capture component, unchanged.
        """
        assert_action(action)
        key = options.idempotency_key or str(uuid.uuid4())
        body = {
            "user_id": user_id,
            "action": action,
            "approval_id": approval_id,
            "require_liveness": require_liveness,
            "include": list_or_none(include),
            "require_passkey": require_passkey or None,
            "passkey_assertion": passkey_assertion,
            "capture_integrity": capture_integrity,
            **encode_photos(image, images, challenge),
        }
        # A retry must be the same request to the byte. Without a key of the caller, so must a double click be; later it is another
        # request, so that an answer of before is none to it.
        nonce = nonce or options.idempotency_key or self._nonce_of(body)
        body["nonce"] = nonce
        result = await self._of_user(VerifyResult, "/verify", body, dataclasses.replace(options, idempotency_key=key))
        self._assert_verifies(result, body)
        secrets = await read_secrets_async(self._signing_secret)
        return dataclasses.replace(result, jwt=checkable_token(result.jwt, result.jwt_next, secrets))

    async def create_challenge(
        self,
        user_id: str,
        *,
        action: Optional[Action] = None,
        purpose: str = "verify",
        modes: Optional[Sequence[str]] = None,
        passkey: Optional[str] = None,
        locale: Optional[str] = None,
        payees: Optional[str] = None,
        options: CallOptions = NO_OPTIONS,
    ) -> Challenge:
        """Asks for a challenge: the movements that the person makes before the camera, for one user and one action.

        With `locale`, the answer's `display` is the text of a typed action for your page to show; a `payment_batch` also
        needs its list, `payees`.

        The frames go to `verify` or `enroll` as `challenge`: `{"challenge_id": …, "nonce": …, "frames": [{"step", "t_ms", "image"}]}`.
        """
        if purpose != "enroll":
            assert_action(action)
        body = {
            "user_id": user_id,
            "action": action,
            "purpose": purpose,
            "modes": list_or_none(modes),
            "passkey": passkey,
            "locale": locale,
            "payees": payees,
        }
        return await self._of_user(Challenge, "/challenges", body, options, purpose=purpose)

    async def guide(
        self,
        *,
        image: Photo,
        step: Optional[str] = None,
        frontal: Optional[Photo] = None,
        user_id: Optional[str] = None,
        options: CallOptions = NO_OPTIONS,
    ) -> Guidance:
        """Advises a person before the camera by one small frame. The call is not retried: go on without the advice where it fails."""
        body = {
            "image": encode_photo(image, "image"),
            "step": step,
            "frontal": None if frontal is None else encode_photo(frontal, "frontal"),
            "user_id": user_id,
        }
        if options.max_retries is None:
            options = dataclasses.replace(options, max_retries=0)
        return await self._call(Guidance, "POST", "/guidance", body, options, step=step or "frontal")

    async def create_capture_session(
        self,
        user_id: str,
        *,
        return_url: str,
        action: Optional[Action] = None,
        payees: Optional[str] = None,
        purpose: str = "verify",
        browser: Optional[str] = None,
        description: Optional[str] = None,
        modes: Optional[Sequence[str]] = None,
        require_liveness: Optional[str] = None,
        replace: bool = False,
        verification_id: Optional[str] = None,
        confirmation: Optional[str] = None,
        locale: Optional[str] = None,
        consent: Optional[Mapping[str, str]] = None,
        passkey: Optional[str] = None,
        began: Optional[Mapping[str, str]] = None,
        options: CallOptions = NO_OPTIONS,
    ) -> CaptureSessionLink:
        """A link to the hosted capture page, for one user and one action.

        Keep `session_id` with the person whom you send to `url`: the id that comes back in an address may be another person's.
        `payees` is the list of a batch, as `payment_batch` makes it. `description` says in words what the person confirms; `confirmation` is `code` or `none`; `consent` is
        `{"version": …, "text": …}`. `browser` is `same`, the default: the result needs the proof that the page gives only to the
        browser that captured; or `any`, for links that are opened on another device: a person who passes such a link on gets the result.
        `began` is what you know of the visitor who began, `{"ip": …, "user_agent": …}`: the
        page then says when and where that was.
        """
        if purpose != "enroll":
            assert_action(action)
        body = {
            "user_id": user_id,
            "return_url": return_url,
            "action": action,
            "payees": payees,
            "purpose": purpose,
            "browser": browser,
            "description": description,
            "modes": list_or_none(modes),
            "require_liveness": require_liveness,
            "replace": replace or None,
            "verification_id": verification_id,
            "confirmation": confirmation,
            "locale": locale,
            "consent": consent,
            "passkey": passkey,
            "began": began,
        }
        return await self._of_user(CaptureSessionLink, "/capture-sessions", body, options, purpose=purpose)

    async def get_capture_session(
        self, session_id: str, *, proof: Optional[str] = None, options: CallOptions = NO_OPTIONS
    ) -> CaptureSession:
        """How far a session has come. Give it to `verify_verdict`, with the `capture_session_id` that you kept.

        `proof` is `capture_proof` from the address with which the person came back: without it, only a session that was made
        with `browser="any"` gives its result.
        """
        if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", session_id) is None:
            raise ValueError(
                f"session_id is {json.dumps(session_id)}: give the session_id of create_capture_session"
            )
        path = f"/capture-sessions/{session_id}" + query({"proof": proof or None})
        name = "/capture-sessions/{session_id}"
        return await self._call(CaptureSession, "GET", path, None, options, name, session_id=session_id)

    async def delete(self, user_id: str, *, options: CallOptions = NO_OPTIONS) -> DeleteResult:
        """Erases everything that is kept of a user. A repeat within 24 hours gets the same receipt."""
        return await self._call(DeleteResult, "DELETE", "/delete", {"user_id": user_id}, options, user_id=user_id)

    async def get_user(self, user_id: str, *, options: CallOptions = NO_OPTIONS) -> User:
        """Reads the record of an enrolled user, which holds nothing biometric. Raises `reference_not_found` for anyone else."""
        path = f"/users/{path_part(user_id, 'user_id')}"
        return await self._call(User, "GET", path, None, options, "/users/{user_id}", user_id=user_id)

    async def record_consent(
        self, user_id: str, *, consent: Mapping[str, str], options: CallOptions = NO_OPTIONS
    ) -> RecordedConsent:
        """Records that an enrolled user has agreed again, or to another text, without a photo.

        `consent` is `{"id": …, "agreed_at": …}`. Ask for it where the person is signed in.
        """
        path = f"/users/{path_part(user_id, 'user_id')}/consent"
        body, name = {"consent": dict(consent)}, "/users/{user_id}/consent"
        return await self._call(RecordedConsent, "POST", path, body, options, name, user_id=user_id)

    async def get_verification(
        self,
        verification_id: str,
        *,
        user_id: Optional[str] = None,
        action: Optional[Action] = None,
        display_hash: Optional[str] = None,
        options: CallOptions = NO_OPTIONS,
    ) -> Verification:
        """Looks an earlier verification up. The answer is no approval: only a checked JWT is.

        With `user_id`, a verification of another user is `verification_not_found`; with `action` too, `action_matches` says
        whether the user was verified for it, and with `display_hash`, `display_matches` says whether the person was shown
        the text with this hash.
        """
        if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", verification_id) is None:
            raise ValueError(
                f"verification_id is {json.dumps(verification_id)}: give the verification_id of an answer of verify"
            )
        given = {"user_id": user_id, "action_hash": None, "display_hash": display_hash}
        if action is not None:
            if user_id is None:
                raise ValueError("action needs user_id")
            assert_action(action)
            given["action_hash"] = action_hash(action)
        if display_hash is not None and user_id is None:
            raise ValueError("display_hash needs user_id")
        about = {"verification_id": verification_id, "user_id": user_id}
        path, name = f"/verifications/{verification_id}", "/verifications/{verification_id}"
        return await self._call(Verification, "GET", path + query(given), None, options, name, **about)

    async def begin_passkey_registration(
        self,
        user_id: str,
        *,
        user_name: Optional[str] = None,
        verification_id: Optional[str] = None,
        options: CallOptions = NO_OPTIONS,
    ) -> PasskeyChallenge:
        """Begins the registration of a passkey: pass `options` of the answer to a page on which the user is signed in."""
        body = {"user_name": user_name, "verification_id": verification_id}
        return await self._passkeys(PasskeyChallenge, "POST", user_id, "/registration", body, options)

    async def register_passkey(
        self,
        user_id: str,
        *,
        challenge_id: str,
        nonce: str,
        credential: Mapping[str, Any],
        name: Optional[str] = None,
        verification_id: Optional[str] = None,
        options: CallOptions = NO_OPTIONS,
    ) -> RegisteredPasskey:
        """Registers the passkey that the browser made."""
        body = {
            "challenge_id": challenge_id,
            "nonce": nonce,
            "credential": credential,
            "name": name,
            "verification_id": verification_id,
        }
        return await self._passkeys(RegisteredPasskey, "POST", user_id, "", body, options, user_id=user_id)

    async def list_passkeys(self, user_id: str, *, options: CallOptions = NO_OPTIONS) -> PasskeyList:
        """Lists the passkeys of a user, oldest first."""
        return await self._passkeys(PasskeyList, "GET", user_id, "", None, options, user_id=user_id)

    async def revoke_passkey(
        self, user_id: str, passkey_id: str, *, options: CallOptions = NO_OPTIONS
    ) -> RevokedPasskey:
        """Revokes a passkey, such as a lost one: nothing that it signs counts from then on."""
        if re.fullmatch(r"pky_[A-Za-z0-9_-]{1,60}", passkey_id) is None:
            raise ValueError(f"passkey_id is {json.dumps(passkey_id)}: give the passkey_id of a passkey")
        about, name = {"user_id": user_id, "passkey_id": passkey_id}, "/{passkey_id}"
        return await self._passkeys(RevokedPasskey, "DELETE", user_id, f"/{passkey_id}", None, options, name, **about)

    async def cancel_passkey_recovery(
        self, user_id: str, *, options: CallOptions = NO_OPTIONS
    ) -> CancelledPasskeyRecovery:
        """Cancels the recovery of a passkey that an approved verification for `recover_passkey` has begun."""
        return await self._passkeys(CancelledPasskeyRecovery, "DELETE", user_id, "/recovery", None, options, user_id=user_id)

    async def begin_passkey_assertion(
        self, user_id: str, *, action: Action, options: CallOptions = NO_OPTIONS
    ) -> PasskeyChallenge:
        """Asks for what a passkey of the user signs for one action; the answer goes to `verify` with photos."""
        assert_action(action)
        return await self._passkeys(PasskeyChallenge, "POST", user_id, "/assertion", {"action": action}, options)

    async def _passkeys(
        self,
        answer: Type[A],
        method: str,
        owner: str,
        rest: str,
        body: Optional[Dict[str, Any]],
        options: CallOptions,
        name: Optional[str] = None,
        **about: Optional[str],
    ) -> A:
        path = f"/users/{path_part(owner, 'user_id')}/passkeys{rest}"
        shown = "/users/{user_id}/passkeys" + (rest if name is None else name)
        return await self._call(answer, method, path, body, options, shown, **about)

    async def audit_page(
        self,
        *,
        after: Optional[str] = None,
        limit: Optional[int] = None,
        event: Optional[str] = None,
        order: Optional[str] = None,
        options: CallOptions = NO_OPTIONS,
    ) -> AuditPage:
        """A page of the tenant's audit log, oldest first, or newest first with `order="desc"`. The sandbox has none."""
        path = "/audit" + query({"after": after, "limit": limit, "event": event, "order": order})
        page = await self._call(AuditPage, "GET", path, None, options, "/audit")
        entries = [AuditEntry(**named_members(AuditEntry, entry)) for entry in page.raw["data"]]
        return dataclasses.replace(page, data=entries)

    async def audit_entries(
        self,
        *,
        after: Optional[str] = None,
        limit: Optional[int] = None,
        event: Optional[str] = None,
        order: Optional[str] = None,
        options: CallOptions = NO_OPTIONS,
    ) -> AsyncIterator[AuditEntry]:
        """Every entry of the tenant's audit log from `after` on, in the `order` (`asc` or `desc`); pages are fetched as needed."""
        while True:
            page = await self.audit_page(after=after, limit=limit, event=event, order=order, options=options)
            for entry in page.data:
                yield entry
            if not page.has_more:
                return
            after = page.next_cursor

    async def health(self, *, options: CallOptions = NO_OPTIONS) -> HealthResult:
        """A degraded service is an answer, too."""
        return await self._call(HealthResult, "GET", "/health", None, options)

    async def rotate_signing(
        self, *, force: bool = False, options: CallOptions = NO_OPTIONS
    ) -> RotateSigningResult:
        """Makes a new signing secret; the old one stays valid for 30 minutes. Store the new one before anything else: it is shown once.

        Where the answer is lost on the way, the retry raises `ApiError` `secret_already_told`: call again with `force=True`,
        which makes another secret and ends the older one at once.
        """
        return await self._call(
            RotateSigningResult, "POST", "/keys/rotate-signing", {"force": force or None}, options
        )

    async def verify_verdict(
        self,
        jwt: VerdictToken,
        *,
        user_id: str,
        action: Action,
        nonce: Optional[str] = None,
        capture_session_id: Optional[str] = None,
        capture_binding: Optional[str] = None,
        issuer: Optional[str] = None,
        acr: Optional[Sequence[str]] = None,
        max_age_seconds: Optional[float] = None,
        accept_replays: bool = False,
    ) -> Claims:
        """The claims of an approval of this tenant and environment, once; else raises VerdictError. See `verify_verdict`."""
        return await verify_verdict_async(
            jwt,
            user_id=user_id,
            action=action,
            nonce=nonce,
            capture_session_id=capture_session_id,
            capture_binding=capture_binding,
            issuer=issuer,
            acr=acr,
            max_age_seconds=max_age_seconds,
            accept_replays=accept_replays,
            signing_secret=self._signing_secret,
            audience=self._tenant_id,
            environment=self.environment,
            accept_evaluation_grade=self._accept_evaluation_grade,
            replay_store=self._replay_store,
            clock_tolerance_seconds=self._clock_tolerance_seconds,
            now=self._now,
        )

    async def verify_webhook(
        self, headers: Headers, body: Union[bytes, bytearray, memoryview]
    ) -> WebhookEvent:
        """The event of a webhook of this client's environment, once its signature holds; else raises SignatureError."""
        return verify_webhook(
            headers,
            body,
            await read_secrets_async(self._signing_secret),
            environment=self.environment,
            now=self._now(),
            signature_tolerance_seconds=self._signature_tolerance_seconds,
        )

    async def _of_user(
        self, answer: Type[A], path: str, body: Dict[str, Any], options: CallOptions, **about: Optional[str]
    ) -> A:
        return await self._call(answer, "POST", path, body, options, user_id=body["user_id"], **about)

    async def _call(
        self,
        answer: Type[A],
        method: str,
        path: str,
        body: Optional[Dict[str, Any]],
        options: CallOptions,
        name: Optional[str] = None,
        **about: Optional[str],
    ) -> A:
        """The answer, whose members must be those of `about`."""
        received, info = await self._transport.send(self._outgoing(method, path, body, options, name))
        assert_answers(all(received.get(member) == value for member, value in about.items()))
        return read_answer(answer, received, info)
