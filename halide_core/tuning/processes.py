"""Candidates in processes of their own: whatever one does (hang, crash, print), the process that asked goes on.

In: Jobs, from any thread. Out: their Outcomes.

    with CandidateProcesses(limit=30) as processes:
        processes.run(job)   ->   JobOutcome(Ending.FAILED, reason="killed by SIGSEGV")
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from halide_core.tuning.job import MARK, Ending, Job, JobOutcome, JobRole

_PLAIN_PATIENCE = 10.0
"""Times the limit: the plain program is slow, and nothing goes without it."""


class CandidateProcesses:
    """Starts processes for Jobs, and ends those that are left.

    Args:
        limit: seconds that one may take.
        jobs: how many compile side by side.
    """

    def __init__(self, limit: float, jobs: int = 1, command: Sequence[str] = ()) -> None:
        self._limit = limit
        self._jobs = jobs
        self._command = list(command) or [sys.executable, "-m", "halide_core.tuning.candidate"]
        self._live: set[subprocess.Popen[str]] = set()
        self._lock = threading.RLock()  # a signal's handler stops them in the middle of anything
        self._closed = False

    def __enter__(self) -> CandidateProcesses:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends all; what is started from now on fails at once. A signal's handler may call it: it waits for none."""
        with self._lock:
            self._closed = True
            for process in self._live:
                _kill(process)

    def compiled(self, jobs: Sequence[Job]) -> list[JobOutcome]:
        """Runs Jobs side by side."""
        with ThreadPoolExecutor(self._jobs) as pool:
            return list(pool.map(self.run, jobs))

    def run(self, job: Job) -> JobOutcome:
        """Runs a Job to its end, or to the limit."""
        with self._lock:
            if self._closed:
                return JobOutcome(Ending.FAILED, reason="interrupted")
            # A session of its own: Ctrl-C is for the tuner alone, and a C compiler ends with the candidate.
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True, errors="replace", start_new_session=True, env=_environment(),
            )  # fmt: skip
            self._live.add(process)
        limit = self._limit * (_PLAIN_PATIENCE if job.role is JobRole.PLAIN else 1.0)
        with process:  # which closes its pipes
            try:
                out, errors = process.communicate(job.to_json(), timeout=limit)
            except subprocess.TimeoutExpired:
                what = "compiling" if job.role is JobRole.COMPILE else "running"
                return JobOutcome(Ending.FAILED, reason=f"{what} it took longer than {limit:g} s")
            finally:
                _kill(process)
                process.wait()
                with self._lock:
                    self._live.discard(process)
        return _answer(process.returncode, out, errors)


def _environment() -> dict[str, str]:
    """The environment of the other process, which finds what this one imports."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}


def _kill(process: subprocess.Popen[str]) -> None:
    """Kills a process and those that it started. Once it has been waited for its number may be another's."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _answer(code: int, out: str, errors: str) -> JobOutcome:
    _, mark, text = out.rpartition(MARK)
    if mark and code == 0:
        result, seconds, reason = json.loads(text)
        return JobOutcome(Ending(result), seconds, reason)
    if code < 0:
        return JobOutcome(Ending.FAILED, reason=f"killed by {signal.Signals(-code).name}")
    last = errors.strip().splitlines()[-1:] or [f"ended with status {code}"]
    return JobOutcome(Ending.FAILED, reason=last[0])
