"""One candidate schedule, compiled or measured in a process of its own.

In: a Job. Out: an Outcome: a time, or why there is none. Whatever the candidate does (hang, crash, write to stdout),
the process that asked goes on.

    with Workers(limit=30) as workers:
        workers.run(Job("blur", (256, 256), schedule, Role.MEASURE, expected="plain.npy"))   ->   Outcome(seconds=2e-5)
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from tuning_space import REGISTRY, Directive, Schedule, Size

import halide_core as hl

MARK = "\x1ftuning:"  # before the answer, as a candidate may print too
_REFUSALS = (hl.ScheduleError, hl.BoundsError, hl.DefinitionError, hl.PipelineError, hl.NotAvailableError)
_REPEATS = 40
_SECONDS = 0.6


class Role(Enum):
    """What a process is for."""

    COMPILE = "compile"  # into the compile cache
    MEASURE = "measure"
    PLAIN = "plain"  # measure, and write what every candidate must give


class Result(Enum):
    """How a candidate ended."""

    DONE = "done"
    REFUSED = "refused"  # the compiler or the pipeline said why it can't be
    WRONG = "wrong"  # other bits than the plain schedule's: a fault of the compiler
    FAILED = "failed"


@dataclass(frozen=True)
class Job:
    """What to do. What takes longer than ``hopeless`` seconds is not run again."""

    pipeline: str
    size: Size
    schedule: Schedule
    role: Role
    expected: str = ""
    hopeless: float = float("inf")

    def to_json(self) -> str:
        """As text, for the process."""
        calls = [[d.subject, d.method, d.arguments] for d in self.schedule]
        return json.dumps([self.pipeline, self.size, calls, self.role.value, self.expected, self.hopeless])

    @staticmethod
    def from_json(text: str) -> Job:
        """The Job of a text."""
        pipeline, size, calls, role, expected, hopeless = json.loads(text)
        schedule = [Directive(subject, method, tuple(arguments)) for subject, method, arguments in calls]
        return Job(pipeline, tuple(size), schedule, Role(role), expected, hopeless)


@dataclass(frozen=True)
class Outcome:
    """The least time of a run in seconds (0 for a compilation), or a reason."""

    result: Result
    seconds: float = 0.0
    reason: str = ""


class Workers:
    """Starts processes for Jobs, from any thread, and ends those that are left."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._live: set[subprocess.Popen[str]] = set()
        self._lock = threading.RLock()  # a signal's handler stops them in the middle of anything
        self._closed = False

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends all; what is started from now on fails at once. A signal's handler may call it: it waits for none."""
        with self._lock:
            self._closed = True
            for process in self._live:
                _kill(process)

    def run(self, job: Job, *, patience: float = 1.0) -> Outcome:
        """Runs a Job to its end, or for ``patience`` times the limit."""
        with self._lock:
            if self._closed:
                return Outcome(Result.FAILED, reason="interrupted")
            # A session of its own: Ctrl-C is for the tuner alone, and a C compiler ends with the candidate.
            process = subprocess.Popen(
                [sys.executable, __file__],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True, errors="replace", start_new_session=True,
            )  # fmt: skip
            self._live.add(process)
            if self._closed:  # stopped while it started
                _end(process)
        limit = self._limit * patience
        with process:  # which closes its pipes
            try:
                out, errors = process.communicate(job.to_json(), timeout=limit)
            except subprocess.TimeoutExpired:
                what = "compiling" if job.role is Role.COMPILE else "running"
                return Outcome(Result.FAILED, reason=f"{what} it took longer than {limit:g} s")
            finally:
                _end(process)
                with self._lock:
                    self._live.discard(process)
        return _answer(process.returncode, out, errors)


def _end(process: subprocess.Popen[str]) -> None:
    """Ends a process and those that it started, and waits for it."""
    _kill(process)
    process.wait()


def _kill(process: subprocess.Popen[str]) -> None:
    """Kills a process and those that it started. Once it has been waited for its number may be another's."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _answer(code: int, out: str, errors: str) -> Outcome:
    _, mark, text = out.rpartition(MARK)
    if mark and code == 0:
        result, seconds, reason = json.loads(text)
        return Outcome(Result(result), seconds, reason)
    if code < 0:
        return Outcome(Result.FAILED, reason=f"killed by {signal.Signals(-code).name}")
    last = errors.strip().splitlines()[-1:] or [f"ended with status {code}"]
    return Outcome(Result.FAILED, reason=last[0])


def _perform(job: Job) -> Outcome:
    """The work of the process."""
    tunable = REGISTRY[job.pipeline]
    algorithm = tunable.build()
    for directive in job.schedule:
        directive.apply(algorithm.names)
    compiled = algorithm.output.compile_to_callable(algorithm.inputs)
    if job.role is Role.COMPILE:
        return Outcome(Result.DONE)
    inputs = tunable.arrays(job.size)
    output = np.full(tunable.extents(*job.size)[::-1], 7, tunable.dtype)

    def run() -> float:
        start = time.perf_counter()
        compiled(*inputs, output)
        return time.perf_counter() - start

    first = run()
    if job.role is Role.PLAIN:
        _check_corner(job, inputs, output)
        np.save(job.expected, output)
    expected = np.load(job.expected)
    sound = _same_bits(output, expected)
    seconds = first if first > job.hopeless else min(first, _least(run))
    if not (sound and _same_bits(output, expected)):  # a race need not show at once
        return Outcome(Result.WRONG, reason="the result differs from the plain schedule's")
    return Outcome(Result.DONE, seconds)


def _least(run: Callable[[], float]) -> float:
    times = [run()]
    while len(times) < _REPEATS and sum(times) < _SECONDS:
        times.append(run())
    return min(times)


def _same_bits(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    return one.shape == other.shape and bool((one.view(np.uint8) == other.view(np.uint8)).all())


def _check_corner(job: Job, inputs: list[np.ndarray[Any, Any]], output: np.ndarray[Any, Any]) -> None:
    """The plain program is checked too, where it begins: by the reference semantics."""
    algorithm = REGISTRY[job.pipeline].build()
    for param, array in zip(algorithm.inputs, inputs, strict=True):
        param.set(array)
    window = [(0, min(n, 4)) for n in output.shape[::-1]]
    wanted = np.asarray(algorithm.output.evaluate(window))
    if not _same_bits(np.ascontiguousarray(output[tuple(slice(n) for n in wanted.shape)]), wanted):
        raise SystemExit("The plain schedule's result differs from the reference semantics.")


def main() -> None:
    """Reads a Job, writes its Outcome."""
    job = Job.from_json(sys.stdin.read())
    try:
        outcome = _perform(job)
    except _REFUSALS as error:
        outcome = Outcome(Result.REFUSED, reason=f"{type(error).__name__}: {error.message}")
    except hl.HalideError as error:
        outcome = Outcome(Result.FAILED, reason=f"{type(error).__name__}: {error.message}")
    print(MARK + json.dumps([outcome.result.value, outcome.seconds, outcome.reason]), flush=True)


if __name__ == "__main__":
    main()
