"""Remembers which verdicts were used, so that a verdict approves one action only."""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from typing import Awaitable, Callable, Dict, Protocol, Union

_SWEEP_SECONDS = 60.0


class ReplayStore(Protocol):
    """Where used verdicts are kept. Several processes must share a store, such as `RedisReplayStore` or `PostgresReplayStore`."""

    def consume(self, jti: str, expires_at: float) -> bool:
        """Marks a verdict as used, atomically; False when it was used before.

        It may be forgotten after `expires_at` (unix seconds), when the JWT is refused anyway.
        """
        ...


class AsyncReplayStore(Protocol):
    """The same for `AsyncCountersign`, which also takes a `ReplayStore` that blocks nobody, such as one in memory."""

    def consume(self, jti: str, expires_at: float) -> Union[bool, Awaitable[bool]]:
        """Most of them are `async def`."""
        ...


class MemoryReplayStore:
    """A store for one process. Safe for threads."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._used: Dict[str, float] = {}
        self._next_sweep = 0.0
        self._lock = threading.Lock()

    def consume(self, jti: str, expires_at: float) -> bool:
        with self._lock:
            now = self._now()
            if now >= self._next_sweep:
                self._next_sweep = now + _SWEEP_SECONDS
                self._used = {used: until for used, until in self._used.items() if until >= now}
            if jti in self._used:
                return False
            self._used[jti] = expires_at
            return True

    def __len__(self) -> int:
        return len(self._used)


class DefaultReplayStore(MemoryReplayStore):
    """The store of an application that gives none. It warns once where other processes evidently do the same work."""

    _has_looked = False

    def consume(self, jti: str, expires_at: float) -> bool:
        if not DefaultReplayStore._has_looked:
            DefaultReplayStore._has_looked = True
            if _has_siblings():
                warnings.warn(
                    "Used verdicts are remembered in the memory of this process, and it is one of several: a verdict can be "
                    "used once in each. Give replay_store, such as RedisReplayStore(client).",
                    RuntimeWarning,
                    stacklevel=2,
                )
        return super().consume(jti, expires_at)


def _has_siblings() -> bool:
    """Whether uWSGI says so, or the variable by which gunicorn, uvicorn and hosts set the number of workers."""
    number = str(getattr(sys.modules.get("uwsgi"), "numproc", None) or os.environ.get("WEB_CONCURRENCY"))
    return number.isdecimal() and int(number) > 1
