"""The processes that look at mutants: one for each that must be imported, one for all others.

In: a copy of the tree, arguments of ``attempt``. Out: how a process ended, None where it was given up; its processor
time, children included.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any

from tests.campaigns.mutate.shadow import Shadow

COLD = 75
"""The exit status of a process that can't take a mutant in: it needs one that imports it."""
_PATIENCE = 2400.0
"""Seconds after which a process is given up."""

_started: set[subprocess.Popen[str]] = set()
"""The processes that run now."""


def execute(
    shadow: Shadow, arguments: list[str], *, output: int | None = subprocess.DEVNULL
) -> tuple[int | None, float]:
    """Runs a process to its end."""
    process = _start(shadow, arguments, output)
    with _Limit(process) as limit:
        _, status, used = os.wait4(process.pid, 0)
    _started.discard(process)
    process.returncode = os.waitstatus_to_exitcode(status)
    return None if limit.passed else process.returncode, used.ru_utime + used.ru_stime


class Server:
    """A process that has imported the compiler, and answers requests."""

    def __init__(self, shadow: Shadow, arguments: list[str]) -> None:
        self._process = _start(shadow, [*arguments, "--serve"], subprocess.PIPE, subprocess.PIPE)

    def asked(self, request: dict[str, Any]) -> tuple[int | None, float]:
        """The exit status of a request's process, and its time. Raises: RuntimeError where the server itself did."""
        requests, replies = self._process.stdin, self._process.stdout
        assert requests is not None and replies is not None
        with _Limit(self._process) as limit:
            requests.write(json.dumps(request) + "\n")
            requests.flush()
            line = replies.readline()
        if limit.passed:
            return None, 0.0
        if not line:
            raise RuntimeError("The process that has the compiler as it is ended.")
        reply = json.loads(line)
        return reply["ended"], reply["seconds"]


def kill_all() -> None:
    """Ends what still runs."""
    for process in list(_started):
        _kill(process)


class _Limit:
    """Kills a process that takes too long."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.passed = False
        self._process = process
        self._timer = threading.Timer(_PATIENCE, self._pass)

    def _pass(self) -> None:
        self.passed = True
        _kill(self._process)

    def __enter__(self) -> _Limit:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


def _kill(process: subprocess.Popen[str]) -> None:
    """Ends a process and what it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _start(shadow: Shadow, arguments: list[str], output: int | None, given: int | None = None) -> subprocess.Popen[str]:
    environment = os.environ | {"HL_CACHE_DIR": str(shadow.cache), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "tests.campaigns.mutate.attempt", *arguments]
    errors = None if output is None else subprocess.DEVNULL
    process = subprocess.Popen(
        command,
        cwd=shadow.tree,
        env=environment,
        stdin=given or subprocess.DEVNULL,
        stdout=output,
        stderr=errors,
        text=True,
        start_new_session=True,
    )
    _started.add(process)
    return process
