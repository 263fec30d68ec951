"""Processes of C compilers: side by side, as many as there are processors, and ended with all that they started.

In: commands. Out: nothing, or the first one's complaint as a ToolchainError.

    run_all([["gcc", "-c", "a.c"], ["gcc", "-c", "b.c"]], 600.0)
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue

from halide_core.errors import ToolchainError

_SHOWN_OUTPUT = 8000  # characters of a compiler's complaint that go into an error message


def run_all(commands: Sequence[Sequence[str]], timeout_s: float) -> None:
    """Runs the commands side by side, and raises for the first one of the list that failed."""
    if len(commands) == 1:
        failures = [_run(commands[0], timeout_s)]
    else:
        failures = _run_side_by_side(commands, timeout_s)
    for failure in failures:
        if failure is not None:
            raise ToolchainError(failure)


def processors() -> int:
    """The number of compilers that run side by side: as many as there are processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _run_side_by_side(commands: Sequence[Sequence[str]], timeout_s: float) -> list[str | None]:
    """The messages of ``_run`` for each, with as many at a time as there are processors."""
    found: list[str | None] = [None] * len(commands)
    waiting: SimpleQueue[int] = SimpleQueue()
    for number in range(len(commands)):
        waiting.put(number)

    def work() -> None:
        with suppress(Empty):
            while True:
                number = waiting.get_nowait()
                found[number] = _run(commands[number], timeout_s)

    threads = [threading.Thread(target=work) for _ in range(min(len(commands), processors()))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def _run(command: Sequence[str], timeout_s: float) -> str | None:
    """Runs one command; None if all went well, else what went wrong. (Raising is for the caller's own thread, where
    the user's line can be found.)"""
    shown = shlex.join(command)
    try:
        # A session of its own: the driver's children (cc1, ld) can be ended with it.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return f'"{command[0]}" can\'t be started: {error.strerror}\n  {shown}'
    try:
        output, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return f"The compiler was stopped, as it took longer than {timeout_s:g} s.\n  {shown}"
    finally:
        if process.poll() is None:
            _kill(process)
    if process.returncode == 0:
        return None
    how = f"failed with exit status {process.returncode}"
    if process.returncode < 0:
        how = f"was killed by {_signal_name(-process.returncode)} (is there enough memory?)"
    complaint = output if len(output) <= _SHOWN_OUTPUT else output[:_SHOWN_OUTPUT] + "\n[...]"
    return f"The compiler {how}.\n  {shown}\n{complaint}".rstrip()


def _kill(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):  # it may end by itself in the meantime
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
