"""The keys that an issuer publishes, and the check of tokens that they sign (ES256). Needs the package `cryptography`."""

from __future__ import annotations

import base64
import json
import math
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Callable, Dict, Mapping, Optional, Tuple

from .errors import VerdictError

#: After this time keys are read again, as the service's `Cache-Control` says: a key that was removed is refused from then on.
MAX_AGE_SECONDS = 600
#: An unknown key id has the keys read again, at most this often.
COOL_DOWN_SECONDS = 30
_TIMEOUT_SECONDS = 5
#: Far more than any set of keys needs.
_MAX_BYTES = 1 << 20
_P256_BYTES = 32
_LOOPBACK = ("localhost", "127.0.0.1", "::1")

#: Reads the document at an address.
FetchKeys = Callable[[str], bytes]


class PublicKeys:
    """The keys at one address, as this process has read them."""

    def __init__(
        self, url: str, fetch: FetchKeys, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
            raise ValueError(f"jwks_url must be https, since anyone on the way could replace the keys: {url}")
        self._url = url
        self._fetch = fetch
        self._lock = threading.Lock()
        self._by_id: Dict[str, Mapping[str, Any]] = {}
        self._seconds = seconds
        #: None before the first read.
        self._read_at: Optional[float] = None

    def verify(self, kid: str, signed: bytes, signature: bytes) -> None:
        """Raises VerdictError `signature_invalid`, `keys_unavailable`."""
        if not _is_signed(self._key(kid), signed, signature):
            raise VerdictError("signature_invalid", "The key that the verdict names did not sign it.")

    def _key(self, kid: str) -> Mapping[str, Any]:
        with self._lock:
            if self._age_seconds() >= MAX_AGE_SECONDS:
                self._read()
            if kid not in self._by_id and self._age_seconds() >= COOL_DOWN_SECONDS:
                self._read()
            if kid not in self._by_id:
                raise VerdictError("signature_invalid", "No key that the issuer publishes made this verdict.")
            return self._by_id[kid]

    def _read(self) -> None:
        try:
            keys = json.loads(self._fetch(self._url))["keys"]
            self._by_id = {key["kid"]: key for key in keys if _is_for_verdicts(key)}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise VerdictError("keys_unavailable", f"The issuer's keys cannot be read: {error}") from error
        self._read_at = self._seconds()

    def _age_seconds(self) -> float:
        return math.inf if self._read_at is None else self._seconds() - self._read_at


_known: Dict[Tuple[str, FetchKeys], PublicKeys] = {}


def public_keys_at(url: str, fetch: FetchKeys) -> PublicKeys:
    """The keys of an address, which are kept. Raises ValueError for an address without TLS."""
    known = _known.get((url, fetch))
    if known is None:
        known = _known.setdefault((url, fetch), PublicKeys(url, fetch))
    return known


def jwks_url_of(issuer: str) -> str:
    return f"{issuer.rstrip('/')}/.well-known/jwks.json"


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Keys come only from the address that was given."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None


def fetch_keys(url: str) -> bytes:
    with urllib.request.build_opener(_NoRedirects).open(url, timeout=_TIMEOUT_SECONDS) as response:
        body: bytes = response.read(_MAX_BYTES)
        return body


def _is_for_verdicts(key: Any) -> bool:
    return (
        isinstance(key, dict)
        and isinstance(key.get("kid"), str)
        and key.get("kty") == "EC"
        and key.get("crv") == "P-256"
        and key.get("alg", "ES256") == "ES256"
        and key.get("use", "sig") == "sig"
    )


def _is_signed(jwk: Mapping[str, Any], signed: bytes, signature: bytes) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric import ec, utils
        from cryptography.hazmat.primitives.hashes import SHA256
    except ImportError as error:
        raise RuntimeError("Public verdicts need one more package: pip install 'countersign[public]'") from error

    # r and s, 32 bytes each: a signature in DER has another length.
    if len(signature) != 2 * _P256_BYTES:
        return False
    r, s = (int.from_bytes(half, "big") for half in (signature[:_P256_BYTES], signature[_P256_BYTES:]))
    try:
        numbers = ec.EllipticCurvePublicNumbers(_coordinate(jwk["x"]), _coordinate(jwk["y"]), ec.SECP256R1())
        numbers.public_key().verify(utils.encode_dss_signature(r, s), signed, ec.ECDSA(SHA256()))
        return True
    except (InvalidSignature, ValueError, KeyError, TypeError):
        return False


def _coordinate(text: str) -> int:
    return int.from_bytes(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), "big")
