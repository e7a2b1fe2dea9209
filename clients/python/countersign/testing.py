"""The service in memory for tests: starts `countersign fake`, a process that needs no model, and stops it."""

from __future__ import annotations

import atexit
import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from .async_client import AsyncCountersign
from .client import Countersign

_VARIABLES = ("CS_BASE_URL", "CS_API_KEY", "CS_SIGNING_SECRETS", "CS_TENANT_ID")
_STOP_SECONDS = 5.0


class FakeCountersign:
    """A service of its own for one test or one run. The end of a `user_id` chooses the outcome, such as `ada+no_match`.

    Use it as `with FakeCountersign(…) as fake`, or call `stop()`.
    """

    def __init__(
        self,
        *,
        command: Sequence[str] = ("npx", "countersign"),
        cwd: Optional[Union[str, "os.PathLike[str]"]] = None,
        environment: str = "sandbox",
        timeout_seconds: float = 30.0,
    ) -> None:
        """Returns when the service answers. Raises RuntimeError where it does not start.

        :param command: how `countersign` is called
        :param cwd: where; for `npx`, the folder of the clone
        :param environment: `sandbox` or `production`
        """
        self._ahead_seconds = 0.0
        self._complaints = tempfile.TemporaryFile("w+", encoding="utf-8")
        # A group of its own, because npx starts the service as a further process.
        self._process = subprocess.Popen(
            [*command, "fake", "--environment", environment],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
            start_new_session=True,
        )
        atexit.register(self.stop)
        try:
            said = self._read_settings(timeout_seconds)
        except BaseException:
            self.stop()
            raise
        self.base_url, self.api_key, self.signing_secret, self.tenant_id = (said[name] for name in _VARIABLES)

    def __enter__(self) -> FakeCountersign:
        return self

    def __exit__(self, *_error: Any) -> None:
        self.stop()

    def options(self) -> Dict[str, Any]:
        """What a client of this service is made with; `now` follows `advance`."""
        return {
            "base_url": self.base_url,
            "api_key": self.api_key,
            "signing_secret": self.signing_secret,
            "tenant_id": self.tenant_id,
            "now": self.now,
        }

    def client(self, **options: Any) -> Countersign:
        return Countersign(**{**self.options(), **options})

    def async_client(self, **options: Any) -> AsyncCountersign:
        return AsyncCountersign(**{**self.options(), **options})

    def now(self) -> float:
        """The time of the service in unix seconds."""
        return time.time() + self._ahead_seconds

    def advance(self, seconds: float) -> None:
        """Moves the clock of the service and of its clients forward."""
        self._ask("POST", "/fake/clock", {"advance_ms": seconds * 1000})
        self._ahead_seconds += seconds

    def requests(self) -> List[Mapping[str, Any]]:
        """The requests so far, each with `method`, `path` and `body`."""
        data: List[Mapping[str, Any]] = self._ask("GET", "/fake/requests")["data"]
        return data

    def play(self, session_id: str, step: str) -> Optional[str]:
        """Plays the person on the hosted page: `open`, `capture` or `cancel`. Returns the address to which the browser then goes back."""
        address: Optional[str] = self._ask("POST", f"/fake/capture-sessions/{session_id}/{step}")["return_url"]
        return address

    def stop(self) -> None:
        atexit.unregister(self.stop)
        if self._process.poll() is None:
            self._end(signal.SIGTERM)
            try:
                self._process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._end(getattr(signal, "SIGKILL", signal.SIGTERM))
                self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._complaints.close()

    def _end(self, how: int) -> None:
        if hasattr(os, "killpg"):
            os.killpg(self._process.pid, how)
        else:
            self._process.terminate()

    def _read_settings(self, timeout_seconds: float) -> Dict[str, str]:
        lines: "queue.Queue[str]" = queue.Queue()
        threading.Thread(target=self._read_lines, args=(lines,), daemon=True).start()
        said: Dict[str, str] = {}
        deadline = time.monotonic() + timeout_seconds
        while len(said) < len(_VARIABLES):
            try:
                line = lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                line = ""
            if not line:
                self._complaints.seek(0)
                raise RuntimeError(f"countersign fake did not start: {self._complaints.read().strip()}")
            name, _, value = line.strip().replace("export ", "", 1).partition("=")
            if name in _VARIABLES:
                said[name] = value
        return said

    def _read_lines(self, lines: "queue.Queue[str]") -> None:
        assert self._process.stdout is not None
        for _ in _VARIABLES:
            lines.put(self._process.stdout.readline())

    def _ask(self, method: str, path: str, body: Optional[Mapping[str, Any]] = None) -> Mapping[str, Any]:
        encoded = None if body is None else json.dumps(body).encode()
        address = self.base_url[: -len("/v1")] + path
        with urllib.request.urlopen(urllib.request.Request(address, encoded, method=method)) as response:
            answer: Mapping[str, Any] = json.load(response)
            return answer
