"""Countersign with Python's standard library alone: call the API, check its signature, check a verdict.

    from countersign import Countersign, verify_verdict
"""

import base64
import hashlib
import hmac
import json
import re
import time
import urllib.error
import urllib.request
import uuid


class Refused(Exception):
    """Not to be trusted, or not allowed. `args[0]` says why."""


class ApiError(Exception):
    """The service refused. `code` is stable."""

    def __init__(self, body):
        details = "; ".join(f"{detail['path']}: {detail['issue']}" for detail in body.get("details", []))
        super().__init__(f"{body['code']}: {body['message']} {details}".strip())
        self.code = body["code"]


# Seconds by which this machine's clock may differ from the service's when a verdict is checked.
CLOCK_TOLERANCE = 60

# Given before the service knows whose request it is, so no tenant's secret signs them. None says anything about a user.
UNVERIFIABLE_CODES = {
    "malformed_request",
    "request_timeout",
    "headers_too_large",
    "missing_api_key",
    "malformed_api_key",
    "invalid_api_key",
    "revoked_api_key",
    "wrong_environment",
    "unknown_endpoint",
    "method_not_allowed",
    "shutting_down",
    "store_unavailable",
    "internal_error",
}


class Countersign:
    """`base_url` ends in /v1. `secrets` maps key ids to signing secrets: one, or both during a rotation, the new one first."""

    def __init__(self, base_url, api_key, secrets):
        # One secret signs for both environments: an answer of the other one is refused.
        self.environment = "sandbox" if api_key.startswith("svc-sbx-") else "production"
        self.base_url, self.api_key, self.secrets = base_url, api_key, secrets

    def enroll(self, user_id, photos, replace=False):
        images = [base64.b64encode(photo).decode() for photo in photos]
        return self.call("POST", "/enroll", {"user_id": user_id, "images": images, "replace": replace})

    def verify(self, user_id, photo, action, nonce):
        image = base64.b64encode(photo).decode()
        return self.call(
            "POST", "/verify", {"user_id": user_id, "image": image, "action": action, "nonce": nonce}
        )

    def delete(self, user_id):
        return self.call("DELETE", "/delete", {"user_id": user_id})

    def call(self, method, path, body):
        """The answer's body. Raises ApiError for a refusal, Refused for an answer that cannot be trusted."""
        request = urllib.request.Request(
            self.base_url + path,
            method=method,
            data=json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.api_key}",
                "Content-Type": "application/json",
                # During a rotation `jwt` is then signed with this one.
                "X-Svc-Signing-Key-Id": next(iter(self.secrets)),
                # The same key again makes a retry safe for 24 hours.
                "X-Svc-Idempotency-Key": str(uuid.uuid4()),
            },
        )
        try:
            response = urllib.request.urlopen(request, timeout=15)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            raw, status, headers = response.read(), response.status, response.headers
        try:
            assert_signature(
                headers.get("X-Svc-Signature") or "",
                self.secrets.values(),
                environment=self.environment,
                method=method,
                target="/v1" + path,
                status=status,
                request_id=headers.get("X-Request-Id"),
                body=raw,
            )
        except Refused:
            raise_unverified(raw)
            raise
        answer = json.loads(raw)
        if status >= 400 and "code" in answer:
            raise ApiError(answer)
        return answer


def raise_unverified(raw):
    """A wrong API key is told from a wrong signature."""
    try:
        answer = json.loads(raw)
    except ValueError:
        return
    if isinstance(answer, dict) and answer.get("code") in UNVERIFIABLE_CODES:
        raise ApiError(answer)


def parse_secrets(text):
    """Of `sec_…:svc-sec-…`, two of them with a comma between during a rotation."""
    return dict(pair.split(":", 1) for pair in text.split(","))


def assert_signature(
    header, secrets, *, environment, method, target, status, request_id, body, now=None, tolerance=300
):
    """Raises Refused unless one of the secrets signed this answer to this request, just now, in this environment."""
    match = re.fullmatch(r"t=([0-9]{1,12})((?:,kid=[^,=]+,v2=[0-9a-f]{64})+)", header)
    if not match:
        raise Refused("malformed signature")
    timestamp = match[1]
    signed = f"v2:{environment}:{timestamp}:{request_id}:{status}:{method}:{target}:".encode() + body
    if not any(
        hmac.compare_digest(hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest(), mac)
        for mac in re.findall(r"v2=([0-9a-f]{64})", match[2])
        for secret in secrets
    ):
        raise Refused("wrong signature")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance:
        raise Refused("signature too old or ahead")


def verify_verdict(
    jwt,
    secrets,
    *,
    audience,
    environment,
    user_id,
    action,
    nonce=None,
    issuer=None,
    accept_evaluation_grade=False,
    accept_replays=False,
    seen,
    now=None,
):
    """The claims of an approval of this action, once; else raises Refused. `seen`: a set of used `jti`.

    Several processes must share what they have seen: in a database, with a unique constraint.
    `accept_evaluation_grade` takes production verdicts of a demo's model pack, `accept_replays` photos that were seen before.
    """
    now = time.time() if now is None else now
    try:
        head, payload, signature = jwt.split(".")
        header, claims = json.loads(unbase64url(head)), json.loads(unbase64url(payload))
        if header["alg"] != "HS256" or header["typ"] != "stepup+jwt" or "crit" in header:
            raise Refused("another kind of token")
        signed, mac = f"{head}.{payload}".encode(), unbase64url(signature)
        if not any(
            hmac.compare_digest(hmac.new(secret.encode(), signed, hashlib.sha256).digest(), mac)
            for secret in secrets
        ):
            raise Refused("wrong signature")
        checks = {
            "expired": claims["nbf"] - CLOCK_TOLERANCE <= now < claims["exp"] + CLOCK_TOLERANCE,
            "wrong audience": claims["aud"] == audience,
            "wrong issuer": issuer is None or claims["iss"] == issuer,
            "wrong environment": claims["env"] == environment,
            "wrong user": claims["sub"] == user_id,
            "wrong action": claims["action_hash"] == action_hash(action),
            "wrong nonce": nonce is None or claims.get("nonce") == nonce,
            "not approved": claims["verdict"] == "approved",
            "evaluation grade": environment != "production"
            or accept_evaluation_grade
            or claims.get("model_grade") == "production",
            "photo seen before": accept_replays or claims.get("replay", {}).get("suspected") is False,
        }
        jti = claims["jti"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refused("malformed token") from error
    for reason, holds in checks.items():
        if not holds:
            raise Refused(reason)
    if jti in seen:
        raise Refused("already used")
    seen.add(jti)
    return claims


def unbase64url(text):
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def action_hash(action):
    return hashlib.sha256(canonical(action).encode()).hexdigest()


def canonical(value):
    """RFC 8785. Raises ValueError for what JSON does not have, and for integers that not every reader takes for the same one."""
    if isinstance(value, dict):
        # In the order of UTF-16 code units; Python itself would sort by code points.
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(name)}:{canonical(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if abs(value) > 2**53 - 1 and float(value).is_integer():
            raise ValueError("an integer beyond 2^53 - 1: send it as a string")
        return canonical_number(float(value))
    text = json.dumps(value, ensure_ascii=False)
    text.encode()  # a lone surrogate raises UnicodeEncodeError, a ValueError
    return text


def canonical_number(number):
    """ECMAScript's form: plain digits from 1e-6 to below 1e21, an exponent beyond."""
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError("not a JSON number")
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    mantissa, _, exponent = f"{repr(abs(number))}e0".partition("e")
    whole, _, fraction = mantissa.partition(".")
    exponent = int(exponent.partition("e")[0])
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + exponent - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if point > 21 or point <= -6:
        power = point - 1
        mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
        return f"{sign}{mantissa}e{'+' if power > 0 else ''}{power}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    padded = digits.ljust(point, "0")
    return sign + padded[:point] + ("." + padded[point:] if len(padded) > point else "")
