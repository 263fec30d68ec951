"""Looks for fast schedules of blur, unsharp and matmul by measuring.

    python examples/autotune.py --pipeline blur --trials 60        go on with out/tuning.db, or begin it
    python examples/autotune.py --pipeline all --timeout 120       two minutes each

Schedules come from a search space by optuna's sampler. They are compiled in parallel, then run one at a time, each in a
process of its own with a time limit. A schedule that the compiler refuses is a pruned trial, with the reason. Every
result is compared, bit for bit, with that of the plain schedule: every Func computed at root, no vectors, no threads.
Ctrl-C keeps the history, and shows what was found so far.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

OUT = Path(__file__).resolve().parent / "out"

try:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from tuning_candidate import Job, Outcome, Result, Role, Workers
    from tuning_space import REGISTRY, Schedule, Size, python_source
    from tuning_study import History, storage
except ModuleNotFoundError as missing:
    if missing.name not in ("optuna", "rich", "sqlalchemy"):
        raise
    raise SystemExit(
        f"The tuner needs {missing.name}, which the extra \"tune\" installs: pip install 'halide-core[tune]', "
        f"or in a checkout pip install -e '.[tune]'."
    ) from None

_PLAIN_PATIENCE = 10.0  # times the limit
_LONG = 1.0  # seconds: a plain schedule that takes longer is run only once
_HOPELESS = 3.0  # times the best, and
_SHORT = 0.2  # seconds: a candidate that takes longer than both is run only once. A first run is slow for its pages.
_FINALISTS = 3


@contextmanager
def at_interrupt(*calls: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C makes some calls, and raises nothing; a second one does."""

    def handle(*_: object) -> None:
        signal.signal(signal.SIGINT, before)
        for call in calls:
            call()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Tuner:
    """One pipeline at one size."""

    def __init__(self, history: History, size: Size, workers: Workers, folder: Path, console: Console) -> None:
        self._history = history
        self._size = size
        self._workers = workers
        self._console = console
        self._expected = str(folder / f"{history.pipeline}.npy")
        self._name = history.pipeline
        self._best = next((seconds for _, seconds in history.best(1)), math.inf)
        self.plain = 0.0

    def _run(self, schedule: Schedule, role: Role) -> Outcome:
        plain = role is Role.PLAIN
        hopeless = _LONG if plain else max(self._best * _HOPELESS, _SHORT)
        job = Job(self._name, self._size, schedule, role, self._expected, hopeless)
        return self._workers.run(job, patience=_PLAIN_PATIENCE if plain else 1.0)

    def measure_plain(self) -> None:
        """Measures the plain schedule, whose result all others must give.

        Raises:
            SystemExit: it fails.
        """
        outcome = self._run(REGISTRY[self._name].plain, Role.PLAIN)
        if outcome.result is not Result.DONE:
            raise SystemExit(f"{self._name}: the plain schedule: {outcome.reason}")
        self.plain = outcome.seconds

    def search(self, trials: int, timeout: float, jobs: int) -> None:
        """Tries schedules until there were enough, or until the time is over.

        Raises:
            KeyboardInterrupt: on Ctrl-C, between two dealings with the history, which an interrupt could leave locked.
        """
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        end = time.monotonic() + timeout
        interrupted = threading.Event()
        with (
            at_interrupt(interrupted.set, self._workers.stop),
            Progress(*columns, console=self._console) as progress,
            ThreadPoolExecutor(jobs) as pool,
        ):
            task = progress.add_task(self._name, total=trials)
            left = trials

            def tick() -> None:
                progress.update(task, advance=1, description=self._status())

            while left > 0 and time.monotonic() < end and not interrupted.is_set():
                count = min(jobs, left)
                self._batch(count, pool, tick, interrupted)
                left -= count
        if interrupted.is_set():
            self._history.abandon()
            raise KeyboardInterrupt

    def _status(self) -> str:
        found = f"best {self._best * 1e3:.3g} ms, {self.plain / self._best:.1f}x" if self._best < math.inf else ""
        return f"{self._name} {found}"

    def _batch(
        self, count: int, pool: ThreadPoolExecutor, tick: Callable[[], None], interrupted: threading.Event
    ) -> None:
        """Compiles some schedules at once, then runs them one after another, with nothing beside them. What an
        interrupt ended is not told."""
        asked = [self._history.ask() for _ in range(count)]
        compiled = list(pool.map(lambda a: self._compiled(a[1]), asked))
        for (trial, schedule), built in zip(asked, compiled, strict=True):
            # A twin in this very batch is known by now.
            outcome = self._history.earlier(schedule) or built
            if outcome is built and built.result is Result.DONE:
                outcome = self._run(schedule, Role.MEASURE)
            if interrupted.is_set():
                return
            self._history.tell(trial, schedule, outcome)
            if outcome.result is Result.DONE:
                self._best = min(self._best, outcome.seconds)
            tick()

    def _compiled(self, schedule: Schedule) -> Outcome:
        earlier = self._history.earlier(schedule)
        return earlier if earlier is not None else self._run(schedule, Role.COMPILE)

    def final(self) -> tuple[Schedule, float] | None:
        """The best few and the plain schedule again, in turn: the least of many times is partly luck."""
        finalists = [schedule for schedule, _ in self._history.best(_FINALISTS)]
        times = [math.inf] * len(finalists)
        for _ in range(2):
            again = self._run(REGISTRY[self._name].plain, Role.PLAIN)
            if again.result is Result.DONE:
                self.plain = min(self.plain, again.seconds)
            for i, schedule in enumerate(finalists):
                outcome = self._run(schedule, Role.MEASURE)
                if outcome.result is Result.DONE:
                    times[i] = min(times[i], outcome.seconds)
        if not finalists or min(times) == math.inf:
            return None
        i = times.index(min(times))
        return finalists[i], times[i]


def tune(history: History, size: Size, options: argparse.Namespace, console: Console) -> bool:
    """Tunes one pipeline and prints what was found. Whether all went well.

    Raises:
        KeyboardInterrupt: after what was found so far was printed.
    """
    interrupted = False
    with (
        tempfile.TemporaryDirectory(prefix="autotune_") as folder,
        Workers(options.limit) as workers,
    ):
        tuner = Tuner(history, size, workers, Path(folder), console)
        tuner.measure_plain()
        try:
            tuner.search(options.trials, options.timeout, options.jobs)
            found = tuner.final()
        except KeyboardInterrupt:
            interrupted = True
            found = next(iter(history.best(1)), None)
    good = report(history, size, tuner.plain, found)
    plot = options.plot or OUT / f"autotune-{history.study.study_name}.png"
    try:
        history.plot(plot, tuner.plain)
        print(f"# history: {plot}")
    except (OSError, ModuleNotFoundError) as error:
        print(f"# no plot of the history: {error}")
    if interrupted:
        raise KeyboardInterrupt
    return good


def report(history: History, size: Size, plain: float, found: tuple[Schedule, float] | None) -> bool:
    """Prints the best schedule as Python, below its figures. Whether all went well."""
    wrong = history.wrong()
    print(f"# {history.pipeline} {size[0]}x{size[1]}: {history.counts()}")
    for trial in wrong:
        print(f"# WRONG RESULT, trial {trial.number}: {'; '.join(trial.user_attrs['schedule'])}")
    for reason, count in history.failures():
        print(f"#   failed, {count} times: {reason}")
    print(f"# plain schedule {plain * 1e3:.4g} ms")
    if found is None:
        print("# no schedule was measured")
        return False
    schedule, seconds = found
    print(f"# best schedule {seconds * 1e3:.4g} ms: {plain / seconds:.2f} times as fast; the same bits\n")
    print(python_source(schedule, REGISTRY[history.pipeline].build().names))
    return not wrong


def parse_size(text: str) -> Size:
    """``1024`` or ``2560x1920``."""
    match = re.fullmatch(r"(\d+)(?:x(\d+))?", text)
    size = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not all(0 < n <= 1 << 14 for n in size):
        raise argparse.ArgumentTypeError(f'a size is WIDTHxHEIGHT or N, of 1 to 16384, not "{text}"')
    return size


def positive(text: str) -> int:
    """A number of trials, or of processes."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f'a positive number is needed, not "{text}"')
    return int(text)


def seconds(text: str) -> float:
    """A time limit."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value > 0:
        raise argparse.ArgumentTypeError(f'a positive number of seconds is needed, not "{text}"')
    return value


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pipeline", choices=[*REGISTRY, "all"], default="blur")
    parser.add_argument("--trials", type=positive, default=60, help="how many more, for each pipeline (60)")
    parser.add_argument("--timeout", type=seconds, default=math.inf, help="seconds, for each pipeline (no limit)")
    parser.add_argument("--limit", type=seconds, default=30.0, help="seconds to compile or to run a candidate (30)")
    parser.add_argument("--size", type=parse_size, help="of the output, 2560x1920 or N (that of the benchmarks)")
    parser.add_argument("--seed", type=int, default=0, help="of the sampler (0)")
    parser.add_argument("--jobs", type=positive, default=os.cpu_count() or 1, help="how many compile at once (cores)")
    parser.add_argument("--storage", type=Path, help=f"the SQLite file of the history ({OUT / 'tuning.db'})")
    parser.add_argument("--study", help="the name of the history in it (pipeline-size)")
    parser.add_argument("--plot", type=Path, help="where the history is drawn, a PNG (out/autotune-STUDY.png)")
    options = parser.parse_args()
    if options.pipeline == "all" and (options.study or options.plot):
        parser.error("--study and --plot are for one pipeline; choose one with --pipeline")
    return options


def main() -> None:
    """Tunes what the command line says."""
    options = parsed()
    if options.storage is None:
        OUT.mkdir(exist_ok=True)
        options.storage = OUT / "tuning.db"
    console = Console(stderr=True)
    sound = True
    try:
        with storage(options.storage) as store:
            for name in REGISTRY if options.pipeline == "all" else [options.pipeline]:
                size = options.size or REGISTRY[name].size
                study = options.study or f"{name}-{size[0]}x{size[1]}"
                sound &= tune(History.open(store, study, name, size, options.seed), size, options, console)
    except KeyboardInterrupt:
        print(f"interrupted; the history is in {options.storage}", file=sys.stderr)
        raise SystemExit(130) from None
    raise SystemExit(0 if sound else 1)


if __name__ == "__main__":
    main()
