"""``hl.tune``: schedules that are found by measuring.

In: a pipeline and sizes. Out: the schedule of the Funcs, which is kept in the store, and a TuningResult.

    print(hl.tune(f, [2560, 1920], budget=60))   ->   the best schedule as Python, below its figures
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from halide_core.run.output_files import TargetLike
from halide_core.run.pipeline import Realizable
from halide_core.run.target import checked_target


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """A candidate: cycles that the model expects, and the seconds that it took, or why it has none."""

    number: int
    choice: str
    cycles: float
    result: str
    seconds: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TuningResult:
    """The end of a tuning. All times are seconds of one run.

    Args:
        source: the best schedule, as a Python function of the Funcs.
        seconds: its least time; that of the plain program (every Func at root) and of the model's own choice beside it.
        interrupted: whether Ctrl-C ended it before its budget did.
        store: the file that the schedule is kept in; None without a cache folder.
    """

    source: str
    seconds: float
    plain_seconds: float
    model_seconds: float
    trials: tuple[TrialRecord, ...] = field(repr=False)
    interrupted: bool = False
    store: Path | None = None
    plot: Path | None = None

    def counts(self) -> Mapping[str, int]:
        """The number of candidates that ended in each way."""
        found: dict[str, int] = {}
        for trial in self.trials:
            found[trial.result] = found.get(trial.result, 0) + 1
        return found

    def __str__(self) -> str:
        counted = ", ".join(f"{n} {word}" for word, n in self.counts().items())
        lines = [
            f"# {len(self.trials)} candidates: {counted}",
            *(
                f"# {t.result}, candidate {t.number}: {t.reason}"
                for t in self.trials
                if t.result in ("wrong", "failed")
            ),
            f"# the plain program {_ms(self.plain_seconds)}, the model's choice {_ms(self.model_seconds)}",
            f"# the best {_ms(self.seconds)}: {self.plain_seconds / self.seconds:.2f} times as fast, the same bits",
        ]
        lines += [f"# kept in {self.store}"] if self.store is not None else []
        lines += [f"# drawn in {self.plot}"] if self.plot is not None else []
        return "\n".join([*lines, "", self.source])


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.4g} ms"


def tune(
    f: Realizable,
    sizes: Sequence[int] | None = None,
    *,
    budget: float = 60.0,
    trials: int | None = None,
    target: TargetLike = None,
    limit: float = 30.0,
    jobs: int = 0,
    seed: int = 0,
    plot: str | os.PathLike[str] | None = None,
    quiet: bool = False,
    client: Any = None,
    measure_on: str | None = None,
) -> TuningResult:
    """Looks for a fast schedule by measuring, gives it to the Funcs, and keeps it in the store, so that
    ``schedule="tuned"`` finds it in every process to come. Ctrl-C ends the search, and keeps all that was found.

    Candidates are choices of the cost model's space: its own best ones first, then what optuna's sampler proposes. They
    are compiled side by side, and run one at a time, each in a process of its own. One that crashes, takes too long or
    gives other bits than the plain program is recorded, and never chosen. A search that is called again goes on.

    Args:
        sizes: the window of every output, from 0; None for their estimates. Inputs without data get random values.
        budget: seconds for the whole search; one candidate more may be under way when they are over.
        trials: how many candidates at most.
        limit: seconds for one candidate to be compiled, or to be run.
        jobs: how many compile side by side; 0 for one a core.
        seed: of the sampler.
        plot: an SVG file to be drawn: the progress, and the model beside the measurements.
        quiet: shows no progress.
        client: a ``dask.distributed.Client``, whose workers compile.
        measure_on: the address of the worker that measures, on a host where nothing else runs; without it, candidates
            are measured here.

    Raises:
        ScheduleError: Funcs that are scheduled already; an output whose size nobody said.
        NotAvailableError: optuna is not installed (``pip install 'halide-core[tune]'``), or an extern stage.
        PipelineError: the plain program can't be run, or no candidate can.
    """
    from halide_core.tuning.session import Options, Session  # noqa: PLC0415  # few programs ask

    options = Options(budget, trials, limit, jobs or os.cpu_count() or 1, seed, None if plot is None else Path(plot))
    session = Session.of(f, sizes, checked_target(target, runs_here=True), options, quiet=quiet)
    return session.tune(client, measure_on)
