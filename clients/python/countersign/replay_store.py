"""Remembers which verdicts were used, so that a verdict approves one action only."""

from __future__ import annotations

import threading
import time
from typing import Awaitable, Callable, Dict, Protocol, Union

_SWEEP_SECONDS = 60.0


class ReplayStore(Protocol):
    """Where used verdicts are kept. Several processes must share a store, such as Redis: `SET jti 1 NX EXAT …`."""

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
