"""Measuring one application under one schedule on every side, turn by turn, and checking what each computed.

In: the sides (a command each), an application, a schedule. Out: a ``Row`` with an ``Outcome`` for each side.

Sides take turns of about 50 ms, so that whatever slows the machine for a while slows all of them; what counts is the
least time. A side that refuses or crashes has its reason in the outcome, and the others still run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.apps.app import App, Array, Inputs
from benchmarks.processes import LIMIT_S, FirstResult, WorkerError, WorkerLostError, WorkerProcess, first_result

_TURN_S = 0.05
_MOST_A_TURN = 200
_SLOW_S, _SLOW_TURNS = 1.0, 2
"""A run that takes longer than this gets so many turns only."""


@dataclass
class Outcome:
    """The result of one side for an application; times are minima.

    ``cpu_s`` is the processor time of all threads, which other programs on the machine disturb less.
    """

    run_s: float | None = None
    cpu_s: float | None = None
    runs: int = 0
    compile_s: float | None = None
    failed: str = ""
    wrong: str = ""


@dataclass
class Start:
    """From the start of a process to its first result, on one side. ``warm_s`` is None where there is no cache."""

    cold_s: float | None = None
    warm_s: float | None = None
    peak_mib: float | None = None
    failed: str = ""


@dataclass
class Row:
    """One application, schedule and number of threads."""

    app: str
    schedule: str
    threads: int
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    disagree: str = ""


class Prepared:
    """An application's inputs on disk, and numpy's answer, computed once however many rows ask for it."""

    def __init__(self, app: App, size: str, folder: Path) -> None:
        self.app, self.size, self.folder = app, size, folder
        self._inputs: Inputs = app.inputs(app.sizes[size])
        self._wanted: Array | None = None
        self.inputs: list[str | float] = []
        for number, value in enumerate(self._inputs):
            if isinstance(value, np.ndarray):
                path = folder / f"{app.name}_{number}.npy"
                np.save(path, value)
                self.inputs.append(str(path))
            else:
                self.inputs.append(value)

    def wanted(self) -> Array:
        """The reference's answer."""
        if self._wanted is None:
            self._wanted = self.app.reference(self._inputs, self.app.sizes[self.size])
        return self._wanted


class Sides:
    """The workers: one process a side and number of threads, started when first needed and again after a crash."""

    def __init__(self, commands: Mapping[str, Sequence[str]], limit_s: float = LIMIT_S) -> None:
        self.names = list(commands)
        self._limit_s = limit_s
        self._commands = commands
        self._running: dict[tuple[str, int], WorkerProcess] = {}

    def of(self, side: str, threads: int) -> WorkerProcess:
        """The worker."""
        key = (side, threads)
        if key not in self._running:
            self._running[key] = WorkerProcess(self._commands[side], thread_environment(threads), self._limit_s)
        return self._running[key]

    def lost(self, side: str, threads: int) -> None:
        """Forgets a worker that died."""
        worker = self._running.pop((side, threads), None)
        if worker is not None:
            worker.close()

    def close(self) -> None:
        """Ends all."""
        for worker in self._running.values():
            worker.close()
        self._running.clear()


def thread_environment(threads: int) -> dict[str, str]:
    """Environment variables that limit the threads of both compilers and of the libraries of ``bench-peers``."""
    names = ("HL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    return dict.fromkeys(names, str(threads))


def measure(
    sides: Sides, prepared: Prepared, schedule: str | Mapping[str, str], threads: int, repeat: int, *, check: bool
) -> Row:
    """Loads an application on every side, checks the results, and lets the sides take turns.

    Args:
        schedule: of all sides, or of each one.
    """
    each = dict.fromkeys(sides.names, schedule) if isinstance(schedule, str) else schedule
    row = Row(prepared.app.name, "/".join(dict.fromkeys(each.values())), threads)
    results: dict[str, Array] = {}
    turns: dict[str, int] = {}
    for side in sides.names:
        outcome = row.outcomes[side] = Outcome()
        with _Noting(sides, side, threads, outcome) as ask:
            order = {"app": prepared.app.name, "schedule": each[side], "size": prepared.size, "inputs": prepared.inputs}
            outcome.compile_s = min(ask(do="load", compiles=2, **order)["compile_s"], default=None)
            result = prepared.folder / f"{side}.npy"
            ask(do="save", path=str(result))
            results[side] = np.load(result)
            _keep_least(outcome, ask(do="run", count=1))
            turns[side] = repeat
    if check:
        for side, result in results.items():
            row.outcomes[side].wrong = prepared.app.tolerance.difference(result, prepared.wanted())
    row.disagree = _disagreement(prepared.app, results)
    for turn in range(repeat):
        for side in turns:
            outcome = row.outcomes[side]
            if outcome.failed or outcome.run_s is None or (outcome.run_s > _SLOW_S and turn >= _SLOW_TURNS):
                continue
            with _Noting(sides, side, threads, outcome) as ask:
                count = max(1, min(_MOST_A_TURN, int(_TURN_S / outcome.run_s)))
                _keep_least(outcome, ask(do="run", count=count))
                outcome.runs += count
    return row


def _keep_least(outcome: Outcome, answer: Mapping[str, list[float]]) -> None:
    """Takes in the times of some runs."""
    outcome.run_s = min(answer["run_s"] if outcome.run_s is None else [outcome.run_s, *answer["run_s"]])
    outcome.cpu_s = min(answer["cpu_s"] if outcome.cpu_s is None else [outcome.cpu_s, *answer["cpu_s"]])


def _disagreement(app: App, results: Mapping[str, Array]) -> str:
    """The differences of the sides' results from the first one's, beyond what is allowed against numpy."""
    names = list(results)
    for other in names[1:]:
        difference = app.tolerance.difference(results[names[0]], results[other])
        if difference:
            return f"{names[0]} and {other}: {difference}"
    return ""


class _Noting:
    """``with _Noting(…) as ask``: asks a worker, and writes what goes wrong into the outcome."""

    def __init__(self, sides: Sides, side: str, threads: int, outcome: Outcome) -> None:
        self._sides, self._side, self._threads, self._outcome = sides, side, threads, outcome

    def __enter__(self) -> Callable[..., dict[str, list[float]]]:
        def ask(**order: object) -> dict[str, list[float]]:
            return self._sides.of(self._side, self._threads).ask(**order)

        return ask

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: object) -> bool:
        if isinstance(error, WorkerError):
            self._outcome.failed = str(error)
            self._outcome.run_s = None
            if isinstance(error, WorkerLostError):
                self._sides.lost(self._side, self._threads)
            return True
        return False


def measure_start(
    python: str, side: str, prepared: Prepared, schedule: str, threads: int, *, cached: bool, repeat: int
) -> Start:
    """From process start to the first result: with an empty cache, then with what that left behind."""
    command = [python, "-m", "benchmarks.first_result", side, prepared.app.name, schedule, prepared.size]
    command += [str(value) for value in prepared.inputs]
    colds: list[FirstResult] = []
    warms: list[FirstResult] = []
    try:
        for _ in range(repeat):
            with tempfile.TemporaryDirectory(prefix="bench-cache-") as folder:
                environment = {**thread_environment(threads), "HL_CACHE_DIR": folder}
                colds.append(first_result(command, environment))
                if cached:
                    warms.append(first_result(command, environment))
    except WorkerError as error:
        return Start(failed=str(error))
    return Start(
        cold_s=min(r.seconds for r in colds),
        warm_s=min((r.seconds for r in warms), default=None),
        peak_mib=min(r.peak_mib for r in [*colds, *warms]),
    )
