"""Checks a verdict JWT: does it allow this user this action, now, once?"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import inspect
import json
import time
from typing import Any, Callable, Dict, Mapping, NoReturn, Optional, Sequence, Tuple, Union

from .answers import Claims, VerifyResult
from .canonical_json import Action, action_hash
from .clock_tolerance import (
    DEFAULT_CLOCK_TOLERANCE_SECONDS,
    MAX_CLOCK_TOLERANCE_SECONDS,
    checked_clock_tolerance,
    expired_text,
    not_yet_valid_text,
)
from .constants import TYPED_ACTION_TYPES
from .errors import VerdictError
from .public_keys import FetchKeys, fetch_keys, jwks_url_of, public_keys_at
from .received import named_members
from .replay_store import AsyncReplayStore, DefaultReplayStore, ReplayStore
from .signing_secret import (
    AsyncSigningSecrets,
    SigningSecret,
    SigningSecrets,
    candidates,
    read_secrets,
    read_secrets_async,
)
from .wire_types import CaptureSession

#: A token; or an answer of `verify`, whose tokens are the same claims under either secret of a rotation; or a capture session.
VerdictToken = Union[str, VerifyResult, CaptureSession]

_TOKEN_TYPE = "stepup+jwt"
_TEXT_CLAIMS = ("iss", "aud", "sub", "jti", "env", "verdict", "action_hash", "acr")
_TIME_CLAIMS = ("iat", "exp", "auth_time")

#: Shared by all calls without a store of their own, because a store for each call would remember nothing.
_shared_store = DefaultReplayStore()


def verify_verdict(
    jwt: VerdictToken,
    *,
    user_id: str,
    action: Action,
    audience: str,
    signing_secret: Optional[SigningSecrets] = None,
    jwks_url: Optional[str] = None,
    environment: str = "production",
    issuer: Optional[str] = None,
    nonce: Optional[str] = None,
    capture_session_id: Optional[str] = None,
    capture_binding: Optional[str] = None,
    acr: Optional[Sequence[str]] = None,
    max_age_seconds: Optional[float] = None,
    accept_evaluation_grade: bool = False,
    accept_replays: bool = False,
    replay_store: Optional[ReplayStore] = None,
    clock_tolerance_seconds: float = DEFAULT_CLOCK_TOLERANCE_SECONDS,
    now: Callable[[], float] = time.time,
    fetch_keys: FetchKeys = fetch_keys,
) -> Claims:
    """The claims of an approval that was not used before, which is then marked as used; else raises VerdictError.

    `user_id` and `action` come from the application's own session and request, never from the token.
    `capture_session_id` is the id of the capture session that this person was sent to, as you kept it: only that session's
    verdict is taken. It is required with a `CaptureSession`, and replaces `nonce`. For a typed action the verdict must also
    name the text that the person was shown.
    `capture_binding` is `same` (the session gave its result only to the browser that captured; the default with
    `capture_session_id`) or `any` (the session may have been made with `browser="any"`, so that the person who began it may
    have passed the link on).
    Without `signing_secret`, the public token is checked with the keys at `jwks_url` (default: `.well-known/jwks.json` below
    `issuer`), which `fetch_keys` reads; that needs `pip install 'countersign[public]'`.
    `audience` is the tenant id (empty: that of the signing secret), `issuer` the base URL of the environment (checked when given), `acr` the accepted
    authentication contexts such as `ACTIVE_ACR`, `max_age_seconds` the greatest age of the check itself.
    `accept_evaluation_grade` takes production verdicts of a model pack whose error rates were not measured on enough people
    (`evaluation`) or in no group of people (`ungrouped`): for demos, and where those who answer for the service have signed
    that off. `accept_replays` takes photos that were seen before within 24 hours.
    `clock_tolerance_seconds` (0 to 300) is the greatest difference between the clocks. A verdict that is refused stays unused.
    """
    if not audience and signing_secret is None:
        raise ValueError("audience is required without a signing secret: the tenant's id, ten_…")
    if capture_session_id is not None:
        if nonce is not None:
            raise TypeError("give one of nonce and capture_session_id; the hosted page sends no nonce of yours")
        capture_binding = capture_binding or "same"
    tolerance = checked_clock_tolerance(clock_tolerance_seconds)
    wanted_hash = action_hash(action)
    if signing_secret is None and jwks_url is None and issuer is not None:
        jwks_url = jwks_url_of(issuer)
    if signing_secret is None and jwks_url is not None:
        claims = _public_claims(_public_token(jwt, capture_session_id), jwks_url, fetch_keys)
    else:
        if signing_secret is None:
            raise ValueError("signing_secret, jwks_url or issuer is required")
        claims = _signed_claims(_tokens(jwt, capture_session_id), read_secrets(signing_secret))
    clock = now()
    _assert_times(claims, clock, tolerance)

    def must(holds: bool, code: str, message: str) -> None:
        if not holds:
            raise VerdictError(code, message, claims.get("reason"))

    aud, iss, env = claims["aud"], claims["iss"], claims["env"]
    # A tenant's secret signs for that tenant only.
    must(audience in ("", aud), "wrong_audience", f"The verdict's aud is {json.dumps(aud)}; {audience} is expected.")
    must(issuer in (None, iss), "wrong_issuer", f"The verdict's iss is {json.dumps(iss)}; {issuer} is expected.")
    must(env == environment, "wrong_environment", f"The verdict's env is {env}; {environment} is expected.")
    must(claims["sub"] == user_id, "wrong_user", "The verdict is about another user.")
    must(claims["action_hash"] == wanted_hash, "wrong_action", "The verdict is for another action.")
    must(nonce is None or claims.get("nonce") == nonce, "wrong_nonce", "The verdict has another nonce.")
    must(
        capture_session_id in (None, claims.get("capture_session")),
        "wrong_capture_session",
        "The verdict is not of the capture session that this person was sent to.",
    )
    reason = claims.get("reason")
    must(claims["verdict"] == "approved", "not_approved", f"The verdict is a rejection: {reason}.")
    must(
        capture_binding in (None, "any", claims.get("capture_binding")),
        "wrong_capture_binding",
        "The capture session gives its result to any browser.",
    )
    must(
        capture_session_id is None or not _is_typed(action) or isinstance(claims.get("display_hash"), str),
        "not_displayed",
        "The verdict does not name the text that the person was shown for this action.",
    )
    must(
        acr is None or claims["acr"] in acr,
        "wrong_context",
        f"The verdict's acr is {claims['acr']}; accepted are {', '.join(acr or ())}.",
    )
    age = clock - claims["auth_time"]
    must(
        max_age_seconds is None or age <= max_age_seconds + tolerance,
        "too_old",
        f"The check was made {age:.0f} s ago; {max_age_seconds} s are allowed.",
    )
    must(
        environment != "production" or accept_evaluation_grade or claims.get("model_grade") == "production",
        "evaluation_grade",
        f"The verdict's model_grade is {claims.get('model_grade')}, and production is expected: serve with a model pack of "
        "production grade, or set accept_evaluation_grade=True, for a demo or where that was signed off.",
    )
    replay = claims.get("replay")
    must(
        accept_replays or (isinstance(replay, dict) and replay.get("suspected") is False),
        "replay_suspected",
        "The photo was seen before within 24 hours.",
    )
    store = _shared_store if replay_store is None else replay_store
    # Backends that share a store may have other tolerances: the verdict is remembered until none of them can take it.
    forgotten_at = claims["exp"] + MAX_CLOCK_TOLERANCE_SECONDS
    _assert_unused(store.consume(claims["jti"], forgotten_at), claims.get("reason"))
    return Claims(**_members(claims))


async def verify_verdict_async(
    jwt: VerdictToken,
    *,
    signing_secret: AsyncSigningSecrets,
    replay_store: AsyncReplayStore,
    **expected: Any,
) -> Claims:
    """The same with a signing secret, for a store that is awaited."""
    use = _NotedUse()
    secrets = await read_secrets_async(signing_secret)
    claims = verify_verdict(jwt, signing_secret=secrets, replay_store=use, **expected)
    is_first = replay_store.consume(use.jti, use.expires_at)
    _assert_unused(await is_first if inspect.isawaitable(is_first) else is_first, claims.raw.get("reason"))
    return claims


class _NotedUse:
    """Leaves to the caller what follows when everything else about a verdict holds."""

    jti: str
    expires_at: float

    def consume(self, jti: str, expires_at: float) -> bool:
        self.jti, self.expires_at = jti, expires_at
        return True


def _assert_unused(is_first: bool, reason: Optional[str]) -> None:
    if not is_first:
        raise VerdictError("already_used", "The verdict was used before.", reason)


def checkable_token(jwt: str, jwt_next: Optional[str], secrets: Sequence[SigningSecret]) -> str:
    """The token of an overlap that the configured secrets made, or the first where they made neither."""
    for token in (jwt, jwt_next):
        try:
            if token is not None and _open(token, secrets) is not None:
                return token
        except VerdictError:
            return jwt
    return jwt


def unchecked_claims(jwt: str) -> Mapping[str, Any]:
    """Raises VerdictError `malformed`."""
    parts = jwt.split(".")
    if len(parts) != 3:
        _malformed("This is not a JWT.")
    return _json_part(parts[1])


def _is_typed(action: Action) -> bool:
    return isinstance(action, Mapping) and action.get("type") in TYPED_ACTION_TYPES


def _members(claims: Mapping[str, Any]) -> Dict[str, Any]:
    amr = claims.get("amr")
    known = {**claims, "amr": tuple(amr) if isinstance(amr, list) else ()}
    return {**named_members(Claims, known), "raw": claims}


def _tokens(token: VerdictToken, session_id: Optional[str]) -> Sequence[Optional[str]]:
    if isinstance(token, VerifyResult):
        return (token.jwt, token.jwt_next)
    if not isinstance(token, CaptureSession):
        return (token,)
    body = _session_answer(token, session_id)
    return (body.get("jwt"), body.get("jwt_next"))


def _public_token(token: VerdictToken, session_id: Optional[str]) -> Optional[str]:
    if isinstance(token, VerifyResult):
        return token.jwt_public
    if not isinstance(token, CaptureSession):
        return token
    public: Optional[str] = _session_answer(token, session_id).get("jwt_public")
    return public


def _session_answer(token: CaptureSession, session_id: Optional[str]) -> Mapping[str, Any]:
    if session_id is None:
        raise TypeError(
            "capture_session_id is required with a capture session: the id that you kept for this person, not one from an address"
        )
    if token.session_id != session_id:
        raise VerdictError(
            "wrong_capture_session",
            "This is another capture session than the one that this person was sent to.",
        )
    if token.result_withheld is not None:
        raise VerdictError(
            "proof_required",
            "The capture session gives its result only with the proof of the browser that captured.",
        )
    result = token.result
    if result is None or result["status"] != 200:
        why = "no capture was judged" if result is None else f"its last answer has status {result['status']}"
        raise VerdictError(
            "no_verdict", f"The capture session has no verdict: it is {token.status}, and {why}."
        )
    body: Mapping[str, Any] = result["body"]
    return body


def _signed_claims(tokens: Sequence[Optional[str]], secrets: Sequence[SigningSecret]) -> Mapping[str, Any]:
    first, *others = tokens
    claims = _open(first, secrets)
    for other in others:
        if claims is None and other is not None:
            claims = _open(other, secrets)
    if claims is None:
        raise VerdictError("signature_invalid", "No configured secret made this verdict.")
    return claims


def _open(jwt: Optional[str], secrets: Sequence[SigningSecret]) -> Optional[Mapping[str, Any]]:
    """The claims, or None when no secret made the token. Raises VerdictError `malformed`."""
    header, signed, payload, mac = _parts(jwt, "HS256")
    if not any(
        hmac.compare_digest(hmac.new(held.secret.encode("utf-8"), signed, hashlib.sha256).digest(), mac)
        for held in candidates(secrets, header.get("kid"))
    ):
        return None
    return _required_claims(payload)


def _public_claims(jwt: Optional[str], jwks_url: str, fetch: FetchKeys) -> Mapping[str, Any]:
    header, signed, payload, signature = _parts(jwt, "ES256")
    kid = header.get("kid")
    if not isinstance(kid, str):
        _malformed("The token names no key (kid).")
    public_keys_at(jwks_url, fetch).verify(kid, signed, signature)
    return _required_claims(payload)


def _parts(jwt: Optional[str], algorithm: str) -> Tuple[Mapping[str, Any], bytes, str, bytes]:
    """The header, what is signed, the claims and the signature. The algorithm is that of the trust: another is never negotiated."""
    parts = jwt.split(".") if isinstance(jwt, str) else []
    if len(parts) != 3:
        _malformed("This is not a JWT.")
    head, payload, signature = parts
    header = _json_part(head)
    # Extensions (`crit`) are not known here.
    if header.get("alg") != algorithm or header.get("typ") != _TOKEN_TYPE or "crit" in header:
        _malformed("This is another kind of token than a verdict.")
    _decode_part(payload)
    return header, f"{head}.{payload}".encode("ascii"), payload, _decode_part(signature)


def _required_claims(payload: str) -> Mapping[str, Any]:
    claims = _json_part(payload)
    for name in _TEXT_CLAIMS:
        if not isinstance(claims.get(name), str):
            _malformed(f"The verdict's {name} is missing or not a text.")
    for name in _TIME_CLAIMS + (("nbf",) if "nbf" in claims else ()):
        value = claims.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            _malformed(f"The verdict's {name} is missing or not a number.")
    return claims


def _assert_times(claims: Mapping[str, Any], now: float, tolerance: float) -> None:
    start = max(claims["iat"], claims.get("nbf", claims["iat"]))
    if start > now + tolerance:
        raise VerdictError("not_yet_valid", not_yet_valid_text(start, now, tolerance))
    if claims["exp"] <= now - tolerance:
        raise VerdictError("expired", expired_text(claims["exp"], now, tolerance))


def _json_part(part: str) -> Dict[str, Any]:
    try:
        value = json.loads(_decode_part(part).decode("utf-8"))
    except (ValueError, RecursionError):
        _malformed("This is not a JWT.")
    if not isinstance(value, dict):
        _malformed("This is not a JWT.")
    return value


def _decode_part(part: str) -> bytes:
    try:
        part.encode("ascii")
        return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        _malformed("This is not a JWT.")


def _malformed(message: str) -> NoReturn:
    raise VerdictError("malformed", message)
