"""The keys that an issuer publishes, and the check of tokens that they sign (ES256). Needs the package `cryptography`."""

from __future__ import annotations

import base64
import json
import math
import threading
import time
import urllib.parse
import urllib.request
from typing import Any, Callable, Dict, Mapping, Optional, Tuple

from .errors import VerdictError

#: After this time keys are read again, as the service's `Cache-Control` says: a key that was removed is refused from then on.
MAX_AGE_SECONDS = 600
#: While the keys cannot be read, those that are known count for this long.
MAX_OUTAGE_SECONDS = 86_400
#: Known keys are read again at most this often: neither invented key ids nor an outage make this process ask without end.
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
        self._seconds = seconds
        #: Guards what follows, and is never held while the keys are read.
        self._lock = threading.Lock()
        self._by_id: Dict[str, Mapping[str, Any]] = {}
        self._read_at = -math.inf
        self._tried_at = -math.inf
        #: Why the last attempt failed.
        self._failure: Optional[str] = None
        #: Set when the read that is under way has ended; None where none is.
        self._reading: Optional[threading.Event] = None

    def verify(self, kid: str, signed: bytes, signature: bytes) -> None:
        """Raises VerdictError `signature_invalid`, `keys_unavailable`."""
        if not _is_signed(self._key(kid), signed, signature):
            raise VerdictError("signature_invalid", "The key that the verdict names did not sign it.")

    def _key(self, kid: str) -> Mapping[str, Any]:
        with self._lock:
            now = self._seconds()
            key = self._find(kid)
            cool_down = COOL_DOWN_SECONDS if self._by_id else _TIMEOUT_SECONDS
            is_due = key is None or now - self._read_at >= MAX_AGE_SECONDS
            is_reader = is_due and now - self._tried_at >= cool_down and self._reading is None
            if is_reader:
                self._reading = threading.Event()
            reading = self._reading
        if is_reader:
            self._read()
        elif key is None and reading is not None:
            reading.wait()
        with self._lock:
            key = self._find(kid)
            if key is not None:
                return key
            if self._failure is not None:
                raise VerdictError("keys_unavailable", f"The issuer's keys cannot be read: {self._failure}")
        raise VerdictError("signature_invalid", "No key that the issuer publishes made this verdict.")

    def _find(self, kid: str) -> Optional[Mapping[str, Any]]:
        is_kept = self._seconds() - self._read_at < MAX_OUTAGE_SECONDS
        return self._by_id.get(kid) if is_kept else None

    def _read(self) -> None:
        by_id, failure = self._by_id, None
        try:
            keys = json.loads(self._fetch(self._url))["keys"]
            by_id = {key["kid"]: key for key in keys if _is_for_verdicts(key)}
        except BaseException as error:
            failure = str(error) or type(error).__name__
            # An interrupt of the program goes on; whatever else the reading function raises is an outage.
            if not isinstance(error, Exception):
                raise
        finally:
            with self._lock:
                self._by_id, self._failure, self._tried_at = by_id, failure, self._seconds()
                if failure is None:
                    self._read_at = self._tried_at
                reading, self._reading = self._reading, None
            if reading is not None:
                reading.set()


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
