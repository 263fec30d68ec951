"""One tuning from the first candidate to the store.

In: a pipeline, and what it may take. Out: a TuningResult; the Funcs are scheduled, and the store has the schedule.

    Session.of(f, [640, 480], None, Options(budget=10)).tune()   ->   TuningResult(seconds=…)
"""

from __future__ import annotations

import math
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from halide_core.algorithm.model import Function, realization_order, with_made_funcs
from halide_core.algorithm.schedule_source import schedule_source
from halide_core.autoschedule.automatic import TUNED, AutomaticRequest, schedule_automatically
from halide_core.autoschedule.choices import decoded, encoded, plain
from halide_core.autoschedule.ranges import Region
from halide_core.autoschedule.store import StoredSchedule, keep, store_folder, store_key, stored
from halide_core.autoschedule.write import write
from halide_core.errors import PipelineError
from halide_core.run.pipeline import Realizable
from halide_core.run.target import Target, get_jit_target_from_environment
from halide_core.run.tune import TrialRecord, TuningResult
from halide_core.tuning.display import display
from halide_core.tuning.hosts import Hosts
from halide_core.tuning.job import EXPECTED, PROBLEM, Ending, Job, JobOutcome, JobRole
from halide_core.tuning.plot import draw
from halide_core.tuning.problem import Problem
from halide_core.tuning.processes import CandidateProcesses
from halide_core.tuning.proposals import ModelProposals, Proposal, Proposals
from halide_core.tuning.sampling import sampled

_HOPELESS, _SHORT = 3.0, 0.2
"""Times the best, and seconds: a candidate that takes longer than both is run once. First runs touch new pages."""
_FINALISTS = 3
_REPEATED = 24
"""Candidates in a row that were known before: there are no more."""
_STATES = 64
"""Of the model's search."""


@dataclass(frozen=True, slots=True)
class Options:
    """The limits of a search; ``run.tune`` says what each means."""

    budget: float = 60.0
    trials: int | None = None
    limit: float = 30.0
    jobs: int = 1
    seed: int = 0
    plot: Path | None = None


class Runner(Protocol):
    """Where candidates are compiled and measured."""

    def compiled(self, jobs: Sequence[Job]) -> list[JobOutcome]:
        """Compiles side by side."""
        ...

    def run(self, job: Job) -> JobOutcome:
        """Runs one, with nothing beside it."""
        ...

    def stop(self) -> None:
        """Ends all that is under way; a signal's handler may call it."""
        ...


@dataclass(slots=True)
class _Progress:
    """The findings so far. ``choices`` has the seconds of each candidate that was measured."""

    plain: float
    trials: list[TrialRecord] = field(default_factory=list)
    choices: dict[str, float] = field(default_factory=dict)

    @property
    def best(self) -> float:
        return min(self.choices.values(), default=math.inf)


class Session:
    """One pipeline at one size."""

    def __init__(self, given: Realizable, request: AutomaticRequest, options: Options, *, quiet: bool) -> None:
        self._given = given
        self._request = request
        self._options = options
        self._quiet = quiet
        self._problem = Problem.of(given, request)
        stages, hardware = self._problem.stages()
        self._key = store_key(list(stages.outputs), stages.outputs, hardware)
        self._known = stored(self._key)
        self._interrupted = threading.Event()

    @classmethod
    def of(
        cls,
        given: Realizable,
        sizes: Sequence[int] | None,
        target: Target | None,
        options: Options,
        *,
        quiet: bool = True,
    ) -> Session:
        """The session of a call: every output gets the same window."""
        outputs = given._defined()
        regions: dict[Function, Region] | None = None
        if sizes is not None:
            wrong = next((f for f in outputs if f.dimensions != len(sizes)), None)
            if wrong is not None or any(n < 1 for n in sizes):
                name = (wrong or outputs[0]).name
                raise PipelineError(f'{list(sizes)} are no sizes of "{name}".')
            regions = {f: tuple((0, int(n) - 1) for n in sizes) for f in outputs}
        made_for = target or get_jit_target_from_environment()
        return cls(given, AutomaticRequest.of(outputs, regions, made_for, TUNED, {}), options, quiet=quiet)

    @property
    def problem(self) -> Problem:
        """The problem that is tuned."""
        return self._problem

    # The whole.

    def tune(self, client: Any = None, measure_on: str | None = None) -> TuningResult:
        """Searches with optuna; ``run.tune`` says the rest."""
        folder = store_folder()
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        journal = None if folder is None else folder / f"{self._key.digest}.journal"
        model = self._problem.model()
        own = ModelProposals(model, model.stages.order, _STATES)
        proposals = sampled(model, own, journal=journal, name=self._key.digest, seed=self._options.seed)
        return self._searched(proposals, client, measure_on)

    def measure(self) -> TuningResult:
        """Measures the best few of the model's, which needs no more than is always installed."""
        model = self._problem.model()
        return self._searched(ModelProposals(model, model.stages.order, _STATES), None, None)

    def _searched(self, proposals: Proposals, client: Any, measure_on: str | None) -> TuningResult:
        end = time.monotonic() + self._options.budget
        with (
            tempfile.TemporaryDirectory(prefix="tune-") as name,
            CandidateProcesses(self._options.limit, self._options.jobs) as here,
        ):
            folder = Path(name)
            self._problem.write(folder / PROBLEM)
            first = here.run(Job(name, "", JobRole.PLAIN))
            if first.result is not Ending.DONE:
                raise PipelineError(f"The plain program, which all schedules are compared with, fails: {first.reason}")
            runner: Runner = here
            if client is not None:
                files = {each: (folder / each).read_bytes() for each in (PROBLEM, EXPECTED)}
                runner = Hosts(client, files, here, self._options.limit, measure_on)
            progress = _Progress(first.seconds)
            with self._at_interrupt(here.stop, runner.stop):
                self._search(proposals, runner, progress, name, end)
            chosen = self._final(runner, progress, name)
        return self._finished(progress, chosen)

    @contextmanager
    def _at_interrupt(self, *calls: Callable[[], None]) -> Iterator[None]:
        """The first Ctrl-C makes some calls, and raises nothing; a second one does."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def handle(*_: object) -> None:
            signal.signal(signal.SIGINT, before)
            self._interrupted.set()
            for call in calls:
                call()

        before = signal.signal(signal.SIGINT, handle)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    # The search.

    def _search(self, proposals: Proposals, runner: Runner, progress: _Progress, folder: str, end: float) -> None:
        repeated = 0
        with display(self._options.trials, quiet=self._quiet) as show:
            while time.monotonic() < end and not self._interrupted.is_set() and repeated < _REPEATED:
                left = self._options.jobs
                if self._options.trials is not None:
                    left = min(left, self._options.trials - len(progress.trials))
                asked = proposals.ask(left) if left > 0 else []
                if not asked:
                    return
                new = self._batch(asked, proposals, runner, progress, folder)
                repeated = 0 if new else repeated + len(asked)
                show(len(progress.trials), progress.best, progress.plain)

    def _batch(
        self, asked: list[Proposal], proposals: Proposals, runner: Runner, progress: _Progress, folder: str
    ) -> bool:
        """Compiles some candidates side by side, then runs them one after another. What an interrupt ended is not
        told. Returns: whether there was anything new."""
        fresh = {p.choice: p for p in asked if p.choice not in progress.choices and proposals.earlier(p) is None}
        jobs = [Job(folder, choice, JobRole.COMPILE) for choice in fresh]
        built = dict(zip(fresh, runner.compiled(jobs), strict=True))
        for p in asked:
            outcome = proposals.earlier(p)
            if outcome is None and p.choice in progress.choices:
                outcome = JobOutcome(Ending.DONE, progress.choices[p.choice], "measured before")
            if outcome is None:
                outcome = built[p.choice]
                if outcome.result is Ending.DONE:
                    hopeless = max(progress.best * _HOPELESS, _SHORT)
                    outcome = runner.run(Job(folder, p.choice, JobRole.MEASURE, hopeless))
            if self._interrupted.is_set():
                return bool(fresh)
            proposals.tell(p, outcome)
            done = outcome.result is Ending.DONE
            if done:
                progress.choices.setdefault(p.choice, outcome.seconds)
            seconds = outcome.seconds if done else None
            cycles = p.found.cycles
            progress.trials.append(
                TrialRecord(p.number, p.choice, cycles, outcome.result.value, seconds, outcome.reason)
            )
        return bool(fresh)

    def _final(self, runner: Runner, progress: _Progress, folder: str) -> tuple[str, float]:
        """The best few again, in turn: the least of many times is partly luck. Among them are the schedule that the
        store has, and the loops of the plain program, where these were faster. After an interrupt the best as it is.

        Raises:
            PipelineError: no candidate could be run.
        """
        if self._known is not None:
            progress.choices.setdefault(self._known.choice, self._known.seconds)
        if not progress.choices:
            reason = progress.trials[0].reason if progress.trials else "there was no time for any"
            raise PipelineError(f"No schedule was measured: {reason}.")
        finalists = sorted(progress.choices, key=lambda c: progress.choices[c])[:_FINALISTS]
        if self._known is not None and self._known.choice not in finalists:
            finalists.append(self._known.choice)
        if progress.plain < progress.best:
            finalists.append(encoded(plain(self._problem.order), self._problem.order))
        if self._interrupted.is_set() or len(finalists) == 1:
            return finalists[0], progress.choices[finalists[0]]
        again: dict[str, float] = {}
        for choice in [*finalists, *finalists]:
            outcome = runner.run(Job(folder, choice, JobRole.MEASURE))
            if outcome.result is Ending.DONE:
                again[choice] = min(again.get(choice, math.inf), outcome.seconds)
            elif outcome.result is Ending.WRONG:
                finalists = [c for c in finalists if c != choice]
                again.pop(choice, None)
        best = min((c for c in finalists if c in again), key=lambda c: again[c], default=None)
        if best is None:
            raise PipelineError("No schedule gave the same values twice.")
        return best, again[best]

    # The end.

    def _finished(self, progress: _Progress, chosen: tuple[str, float]) -> TuningResult:
        choice, seconds = chosen
        model = next((t.seconds for t in progress.trials if t.seconds is not None), seconds)
        count = len(progress.trials)
        if self._known is not None:
            model, count = self._known.model_seconds, count + self._known.trials
        source = self._source(choice)
        kept = keep(self._key, StoredSchedule(choice, source, seconds, progress.plain, model, count))
        if kept is not None:
            schedule_automatically(self._given._functions(), self._request)
        else:
            self._give(choice)
        if self._options.plot is not None:
            draw(self._options.plot, progress.trials, progress.plain, self._given._functions()[0].name)
        return TuningResult(
            source,
            seconds,
            progress.plain,
            model,
            tuple(progress.trials),
            self._interrupted.is_set(),
            kept,
            self._options.plot,
        )

    def _source(self, choice: str) -> str:
        """The choice as Python."""
        order = self._problem.order
        before = {f: len(f.directives) for f in order}
        self._problem.schedule(choice)
        given = [(f, tuple(f.directives)) for f in with_made_funcs(order)]
        text = schedule_source(given)
        for f, count in before.items():
            del f.directives[count:]
        return text

    def _give(self, choice: str) -> None:
        """Without a store: the directives themselves."""
        stages, hardware = self._problem.stages()
        order = realization_order(self._given._functions())
        whole = dict(zip(self._given._functions(), self._problem.windows, strict=True))
        write(decoded(choice, order), type(stages)(order, whole), hardware)
