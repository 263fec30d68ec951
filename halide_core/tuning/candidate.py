"""The process of one candidate: ``python -m halide_core.tuning.candidate``.

In: a Job on stdin. Out: its JobOutcome on stdout, after a mark, as a pipeline may print too.
"""

from __future__ import annotations

import json
import pickle
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from halide_core.autoschedule.choices import ChoiceError
from halide_core.config import optimizing
from halide_core.errors import (
    BoundsError,
    DefinitionError,
    HalideError,
    NotAvailableError,
    PipelineError,
    ScheduleError,
)
from halide_core.lang.buffer import Buffer
from halide_core.run.backend import backend
from halide_core.tuning.job import EXPECTED, MARK, PROBLEM, Clock, Ending, Job, JobOutcome, JobRole
from halide_core.tuning.problem import Array, Problem

_REFUSALS = (ScheduleError, BoundsError, DefinitionError, PipelineError, NotAvailableError)
_REPEATS, _SECONDS = 40, 0.6
_CLOCKS = {Clock.WALL: time.perf_counter, Clock.CPU: time.process_time}
_BEFORE = 7
"""In every byte of an output before it is written: values that stay as they were show."""


def perform(job: Job) -> JobOutcome:
    """The work of the process.

    Raises:
        HalideError: the candidate can't be compiled, or not be run.
    """
    folder = Path(job.folder)
    problem = Problem.read(folder / PROBLEM)
    problem.schedule(job.choice)
    request = problem.request()
    with optimizing():  # what is measured, and what is found in the cache then
        compiled = backend().compile(request)
    if job.role is JobRole.COMPILE:
        return JobOutcome(Ending.DONE)
    inputs, outputs, now = problem.values(request), problem.results(request, compiled), _CLOCKS[job.clock]

    def timed() -> float:
        start = now()
        compiled.run(inputs, outputs)
        return now() - start

    def computed() -> tuple[float, list[Array]]:
        _reset(outputs)
        return timed(), problem.within(request, outputs)

    first, values = computed()
    if job.role is JobRole.PLAIN:
        (folder / EXPECTED).write_bytes(pickle.dumps(values))
    expected = pickle.loads((folder / EXPECTED).read_bytes())
    seconds = first if first > job.hopeless else min(first, _least(timed))
    if not (_same(values, expected) and _same(computed()[1], expected)):  # a race need not show at once
        return JobOutcome(Ending.WRONG, reason="the result differs from the plain program's")
    return JobOutcome(Ending.DONE, seconds)


def _reset(buffers: list[Buffer]) -> None:
    for buffer in buffers:
        kind = buffer.array.dtype
        buffer.array[...] = np.frombuffer(bytes([_BEFORE]) * 8, kind, 1)[0] if kind.kind != "b" else True


def _least(timed: Callable[[], float]) -> float:
    times = [timed()]
    while len(times) < _REPEATS and sum(times) < _SECONDS:
        times.append(timed())
    return min(times)


def _same(ones: list[Array], others: list[Array]) -> bool:
    """True where all bits are the same."""
    return all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(ones, others, strict=True))


def main() -> None:
    """Reads a Job, writes its JobOutcome."""
    job = Job.from_json(sys.stdin.read())
    try:
        outcome = perform(job)
    except _REFUSALS as error:
        outcome = JobOutcome(Ending.REFUSED, reason=f"{type(error).__name__}: {error.message}")
    except HalideError as error:
        outcome = JobOutcome(Ending.FAILED, reason=f"{type(error).__name__}: {error.message}")
    except ChoiceError as error:
        outcome = JobOutcome(Ending.REFUSED, reason=str(error))
    sys.stdout.write(f"{MARK}{json.dumps([outcome.result.value, outcome.seconds, outcome.reason])}\n")


if __name__ == "__main__":
    main()
