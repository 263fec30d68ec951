"""Processes of C compilers: side by side, as many as there are processors, and ended with all that they started.

In: commands. Out: nothing, or the first one's complaint as a ToolchainError.

    run_all([["gcc", "-c", "a.c"], ["gcc", "-c", "b.c"]], 600.0)

Those of a compile in the background give way to all else, and another thread may end them (``Stoppable``).
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from queue import Empty, SimpleQueue
from typing import NamedTuple

from halide_core.errors import ToolchainError

_SHOWN_OUTPUT = 8000  # characters of a compiler's complaint that go into an error message
_OWN_FAULT = 4
"""The status that gcc ends with where an internal error does, and not one of the program (``-pass-exit-codes``)."""
_NICENESS = 5
"""Of compilers in the background, beyond their parent's: of a processor that it wants, too, they get a quarter."""


class Stoppable:
    """The compilers of one compile that another thread may end, and that give way to all else.

    Args:
        starting: what is held while one starts. A process that were forked just then would keep its pipe open.
    """

    def __init__(self, starting: AbstractContextManager[object] | None = None) -> None:
        self._starting = starting or nullcontext()
        self._live: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self.stopped = False
        """True once it was stopped: from then on none starts."""

    def stop(self) -> None:
        """Ends them all, without waiting for that."""
        with self._lock:
            self.stopped = True
            for process in self._live:
                if process.returncode is None:  # after that its number may be another's
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)

    def start(self, command: Sequence[str]) -> subprocess.Popen[str] | None:
        """Starts one; None if they were stopped."""
        with self._starting, self._lock:
            if self.stopped:
                return None
            process = _start(command)
            self._live.add(process)
        with suppress(OSError):  # it has ended already
            os.setpriority(os.PRIO_PGRP, process.pid, os.getpriority(os.PRIO_PROCESS, 0) + _NICENESS)
        return process

    def ended(self, process: subprocess.Popen[str]) -> None:
        """Forgets one that was waited for."""
        with self._lock:
            self._live.discard(process)


def run_all(
    commands: Sequence[Sequence[str]],
    timeout_s: float,
    within: Stoppable | None = None,
    careful: Sequence[str] = (),
) -> None:
    """Runs the commands side by side, and raises for the first one of the list that failed, or was stopped.

    Args:
        careful: words that come last when one runs again, as it failed by a fault of its own.
    """

    def run(command: Sequence[str]) -> str | None:
        failure = _run(command, timeout_s, within)
        if careful and failure is not None and failure.own:
            failure = _run([*command, *careful], timeout_s, within)
        return None if failure is None else failure.message

    failures = [run(commands[0])] if len(commands) == 1 else _side_by_side(commands, run)
    for failure in failures:
        if failure is not None:
            raise ToolchainError(failure)


def processors() -> int:
    """The number of compilers that run side by side: as many as there are processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _side_by_side(commands: Sequence[Sequence[str]], run: Callable[[Sequence[str]], str | None]) -> list[str | None]:
    """The complaints about each, with as many at a time as there are processors."""
    found: list[str | None] = [None] * len(commands)
    waiting: SimpleQueue[int] = SimpleQueue()
    for number in range(len(commands)):
        waiting.put(number)

    def work() -> None:
        with suppress(Empty):
            while True:
                number = waiting.get_nowait()
                found[number] = run(commands[number])

    # Those of a daemon thread are such, too: no exit waits for them.
    threads = [threading.Thread(target=work) for _ in range(min(len(commands), processors()))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def _start(command: Sequence[str]) -> subprocess.Popen[str]:
    # A session of its own: the driver's children (cc1, ld) can be ended with it.
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )


class _Failure(NamedTuple):
    """A command that failed: what is to be said of it, and whether the program had a fault of its own."""

    message: str
    own: bool = False


def _run(command: Sequence[str], timeout_s: float, within: Stoppable | None) -> _Failure | None:
    """Runs one command; None if all went well. (Raising is for the caller's own thread, where the user's line can be
    found.)"""
    shown = shlex.join(command)
    try:
        process = _start(command) if within is None else within.start(command)
    except OSError as error:
        return _Failure(f'"{command[0]}" can\'t be started: {error.strerror}\n  {shown}')
    if process is None:
        return _Failure(f"The compiler was stopped.\n  {shown}")
    try:
        output, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return _Failure(f"The compiler was stopped, as it took longer than {timeout_s:g} s.\n  {shown}")
    finally:
        if process.poll() is None:
            _kill(process)
        if within is not None:
            within.ended(process)
    if process.returncode == 0:
        return None
    how = f"failed with exit status {process.returncode}"
    if process.returncode < 0:
        how = f"was killed by {_signal_name(-process.returncode)} (is there enough memory?)"
    complaint = output if len(output) <= _SHOWN_OUTPUT else output[:_SHOWN_OUTPUT] + "\n[...]"
    message = f"The compiler {how}.\n  {shown}\n{complaint}".rstrip()
    return _Failure(message, process.returncode == _OWN_FAULT)


def _kill(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):  # it may end by itself in the meantime
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
