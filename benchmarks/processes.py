"""The processes that measure: long-lived workers that answer over a pipe, and short ones that are timed as a whole.

with WorkerProcess([python, "-m", "benchmarks.worker", "halide"], {"HL_NUM_THREADS": "1"}) as worker:
    worker.ask(do="run", count=10)["run_s"]
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LIMIT_S = 900.0
"""No answer takes longer than this; a worker that is silent for so long hangs."""


class WorkerError(Exception):
    """A worker could not do what it was asked: what its library said, or how its process ended."""


class WorkerLostError(WorkerError):
    """The process is gone, or was ended because it hung: the next order needs a new one."""


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **extra}


class WorkerProcess:
    """A process that answers each line with a line. Its complaints are kept in a file, for the message if it dies."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], limit_s: float = LIMIT_S) -> None:
        self._limit_s = limit_s
        self._complaints = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - closed with it
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            cwd=ROOT,
            env=_environment(environment),
        )
        self._rest = b""
        try:
            self._answer()  # says that it is ready, or why not
        except WorkerError:
            self.close()
            raise

    def ask(self, **order: Any) -> dict[str, Any]:
        """The answer to one order.

        Raises:
            WorkerError: the library refused. WorkerLostError: the process crashed or hung.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise WorkerLostError(self._last_words()) from None
        answer = self._answer()
        if "error" in answer:
            raise WorkerError(f"{answer['kind']}: {answer['error']}")
        return answer

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        deadline = time.monotonic() + self._limit_s
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    self._process.kill()
                    raise WorkerLostError(f"no answer in {self._limit_s:g} s")
                part = os.read(self._process.stdout.fileno(), 1 << 16)
                if not part:
                    raise WorkerLostError(self._last_words())
                self._rest += part
        line, _, self._rest = self._rest.partition(b"\n")
        found = json.loads(line)
        assert isinstance(found, dict)
        return found

    def _last_words(self) -> str:
        code = self._process.wait()
        end = f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
        self._complaints.seek(0)
        lines = self._complaints.read().strip().splitlines()
        return f"{end}: {lines[-1]}" if lines else end

    def close(self) -> None:
        """Ends the process."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._complaints.close()

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


@dataclass(frozen=True)
class FirstResult:
    """Seconds from the start of a process to its first result, and the most memory that it held."""

    seconds: float
    peak_mib: float


def first_result(command: Sequence[str], environment: Mapping[str, str]) -> FirstResult:
    """Runs ``benchmarks.first_result`` once.

    Raises:
        WorkerError: it failed.
    """
    with tempfile.TemporaryFile() as complaints:
        start = time.perf_counter()
        process = subprocess.Popen(
            list(command), stdout=subprocess.PIPE, stderr=complaints, cwd=ROOT, env=_environment(environment)
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        seconds = time.perf_counter() - start
        process.wait()
        process.stdout.close()
        if not line.strip() or process.returncode != 0:
            complaints.seek(0)
            words = complaints.read().decode("utf-8", "replace").strip().splitlines()
            raise WorkerError(words[-1] if words else f"ended with status {process.returncode}")
    return FirstResult(seconds, int(line) / 1024)
