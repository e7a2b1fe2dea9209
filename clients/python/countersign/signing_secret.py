"""The tenant's signing secrets as an application configures them."""

from __future__ import annotations

import re
from collections import abc
from dataclasses import dataclass
from typing import Awaitable, Callable, List, Optional, Sequence, Union

_WITH_ID = re.compile(r"(?:(sec_\w+):)?(.*)", re.DOTALL | re.ASCII)


@dataclass(frozen=True)
class SigningSecret:
    """One signing secret. With an `id`, it is tried only on signatures of this key id."""

    #: `svc-sec-…`; its UTF-8 bytes are the HMAC key.
    secret: str
    #: Key id, `sec_…`.
    id: Optional[str] = None

    def __repr__(self) -> str:
        return f"SigningSecret(id={self.id!r})"


_Secrets = Union[str, SigningSecret, Sequence[Union[str, SigningSecret]]]

#: One secret or, during a rotation, both, the preferred one first: `SigningSecret`, `"sec_…:svc-sec-…"`, several of
#: these in a list or separated by commas, or a function that reads them before every use, so that a rotation needs no restart.
SigningSecrets = Union[_Secrets, Callable[[], _Secrets]]

#: The same; the function may be one of `async def`.
AsyncSigningSecrets = Union[SigningSecrets, Callable[[], Awaitable[_Secrets]]]


def read_secrets(source: SigningSecrets) -> List[SigningSecret]:
    """The secrets, the preferred one first. Raises ValueError when there is none or one is empty."""
    given = source() if callable(source) else source
    items = [given] if isinstance(given, (str, SigningSecret)) else list(given)
    secrets = [secret for item in items for secret in _parse(item)]
    if not secrets or any(not secret.secret for secret in secrets):
        raise ValueError("signing_secret is empty: anyone could make its signatures")
    return secrets


async def read_secrets_async(source: AsyncSigningSecrets) -> List[SigningSecret]:
    """The same, where the function that reads them may be one of `async def`."""
    given = source() if callable(source) else source
    return read_secrets(await given if isinstance(given, abc.Awaitable) else given)


def candidates(secrets: Sequence[SigningSecret], kid: Optional[str]) -> List[SigningSecret]:
    """The secrets that may have made a signature of this key id."""
    return [secret for secret in secrets if secret.id is None or secret.id == kid]


def not_signed_text(kids: Sequence[str], secrets: Sequence[SigningSecret]) -> str:
    """Says why a signature does not hold: its secret is not configured, or it is and what was signed is something else."""
    configured = next((kid for kid in kids if any(held.id == kid for held in secrets)), None)
    if configured is None:
        return f"No configured secret made this signature (kid {', '.join(kids)})."
    return (
        f"The secret {configured} is configured, but the body is not what it signed: "
        "pass the raw bytes, or compare the secret's text."
    )


def _parse(item: Union[str, SigningSecret]) -> List[SigningSecret]:
    if isinstance(item, SigningSecret):
        return [SigningSecret(item.secret.strip(), item.id)]
    secrets = []
    for part in item.split(","):
        # A secret that was read from a file mostly ends in a line feed.
        match = _WITH_ID.fullmatch(part.strip())
        assert match is not None
        secrets.append(SigningSecret(match[2], match[1]))
    return secrets
