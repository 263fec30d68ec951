"""The history of a tuning: an optuna study in an SQLite file, which later runs go on from, and its plot.

In: a Tunable and measured times. Out: the next schedules to try.

    study = History.open(Path("tuning.db"), "blur", "blur", (2560, 1920), seed=0)
    trial = study.ask();  ...  study.tell(trial, Outcome(Result.DONE, 0.0011))
"""

from __future__ import annotations

import importlib
import sqlite3
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import optuna
from filelock import FileLock, Timeout
from optuna.trial import FixedTrial, FrozenTrial, TrialState
from tuning_candidate import Outcome, Result
from tuning_space import REGISTRY, Schedule, Size

optuna.logging.set_verbosity(optuna.logging.WARNING)
warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)

_STATES = {Result.DONE: TrialState.COMPLETE, Result.REFUSED: TrialState.PRUNED}
_STARTUP = 12  # trials at random before the sampler learns


@contextmanager
def storage(path: Path) -> Iterator[optuna.storages.RDBStorage]:
    """The SQLite file, for one tuner at a time: two would spoil each other's times.

    Raises:
        SystemExit: it can't be written, is no history, or is in use.
    """
    if not path.parent.is_dir():  # or the lock would make it
        raise SystemExit(f'The storage "{path}" can\'t be written: "{path.parent}" is no folder.')
    lock = FileLock(f"{path}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise SystemExit(f'Another tuner is using "{path}".') from None
    except OSError as error:
        raise SystemExit(f'The storage "{path}" can\'t be written: {error.strerror}.') from None
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("BEGIN IMMEDIATE")  # needs what writing needs
        yield optuna.storages.RDBStorage(f"sqlite:///{path}")
    except sqlite3.Error as error:
        raise SystemExit(f'The storage "{path}" can\'t be written: {error}.') from None
    finally:
        lock.release()


def _other_space(study: str) -> str:
    return f'The study "{study}" is of another search space, of an older tuner: choose another --study.'


class History:
    """A study of one pipeline at one size."""

    def __init__(self, study: optuna.Study, pipeline: str) -> None:
        self.study = study
        self.pipeline = pipeline
        self._known: dict[tuple[str, ...], FrozenTrial] = {}
        self.abandon()  # those of a tuner that was killed
        for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED)):
            self._known[self._key(self.schedule(trial))] = trial

    @staticmethod
    def open(store: optuna.storages.RDBStorage, name: str, pipeline: str, size: Size, seed: int) -> History:
        """Makes a study, or goes on with one.

        Raises:
            SystemExit: it was made for another pipeline, size or search space.
        """
        made = {"pipeline": pipeline, "size": f"{size[0]}x{size[1]}"}
        study = optuna.create_study(study_name=name, storage=store, load_if_exists=True, direction="minimize")
        trials, attributes = len(study.trials), study.user_attrs
        for key, wanted in made.items():
            found = attributes.get(key)
            if trials == 0 and not attributes:
                study.set_user_attr(key, wanted)
            elif found != wanted:
                what = f'the {key} "{found}"' if found else "something else"
                raise SystemExit(f'The study "{name}" was made for {what}, not for "{wanted}": choose another --study.')
        # A resumed study must not repeat the random trials that it began with.
        study.sampler = optuna.samplers.TPESampler(
            seed=seed + trials, n_startup_trials=_STARTUP, multivariate=True, group=True, constant_liar=True
        )
        try:
            return History(study, pipeline)
        except ValueError:
            raise SystemExit(_other_space(name)) from None

    @staticmethod
    def _key(schedule: Schedule) -> tuple[str, ...]:
        return tuple(map(str, schedule))

    def schedule(self, trial: FrozenTrial) -> Schedule:
        """The schedule that a trial of any run stands for."""
        return REGISTRY[self.pipeline].space(FixedTrial(trial.params))

    def ask(self) -> tuple[optuna.Trial, Schedule]:
        """The next trial.

        Raises:
            SystemExit: the study has trials of another search space.
        """
        trial = self.study.ask()
        try:
            schedule = REGISTRY[self.pipeline].space(trial)
        except ValueError:
            self.study.tell(trial, state=TrialState.FAIL)
            raise SystemExit(_other_space(self.study.study_name)) from None
        trial.set_user_attr("schedule", self._key(schedule))
        return trial, schedule

    def earlier(self, schedule: Schedule) -> Outcome | None:
        """What became of the same schedule before."""
        trial = self._known.get(self._key(schedule))
        if trial is None:
            return None
        reason = trial.user_attrs.get("reason", f"as trial {trial.number}")
        if trial.state is TrialState.COMPLETE and trial.value is not None:
            return Outcome(Result.DONE, trial.value, reason)
        return Outcome(Result.REFUSED, reason=reason)

    def tell(self, trial: optuna.Trial, schedule: Schedule, outcome: Outcome) -> None:
        """Keeps what became of a trial: its time, or that it was refused, or failed, and why."""
        if outcome.reason:
            trial.set_user_attr("reason", outcome.reason)
        if outcome.result is Result.WRONG:
            trial.set_user_attr("wrong", True)
        state = _STATES.get(outcome.result, TrialState.FAIL)
        told = self.study.tell(trial, outcome.seconds if state is TrialState.COMPLETE else None, state=state)
        if state is not TrialState.FAIL:
            self._known.setdefault(self._key(schedule), told)

    def abandon(self) -> None:
        """Fails the trials that were never told; a trial may have been told just before an interrupt."""
        for trial in self.study.get_trials(deepcopy=False):
            if not trial.state.is_finished():
                self.study.tell(trial.number, state=TrialState.FAIL, skip_if_finished=True)

    def best(self, count: int) -> list[tuple[Schedule, float]]:
        """The fastest different schedules, and their times in seconds."""
        done = self.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        found: dict[tuple[str, ...], tuple[Schedule, float]] = {}
        for seconds, trial in sorted(((t.value or 0.0, t) for t in done), key=lambda pair: pair[0]):
            schedule = self.schedule(trial)
            found.setdefault(self._key(schedule), (schedule, seconds))
        return list(found.values())[:count]

    def wrong(self) -> list[FrozenTrial]:
        """Trials whose results were wrong."""
        return [t for t in self.study.get_trials(deepcopy=False) if t.user_attrs.get("wrong")]

    def failures(self) -> list[tuple[str, int]]:
        """Why trials failed, and how many, the commonest first."""
        failed = self.study.get_trials(deepcopy=False, states=(TrialState.FAIL,))
        return Counter(t.user_attrs.get("reason", "interrupted") for t in failed).most_common()

    def counts(self) -> str:
        """How the trials of all runs ended."""
        states = Counter(t.state for t in self.study.get_trials(deepcopy=False))
        words = {TrialState.COMPLETE: "measured", TrialState.PRUNED: "refused", TrialState.FAIL: "failed"}
        return ", ".join(f"{states[s]} {word}" for s, word in words.items())

    def plot(self, path: Path, plain_seconds: float) -> None:
        """Draws each trial's time, the best so far, and the plain schedule's, as a PNG.

        Raises:
            OSError: it can't be written.
        """
        drawing = importlib.import_module("matplotlib.figure")  # slow, and only needed at the end
        trials = self.study.get_trials(deepcopy=False)
        done = [(t.number, t.value * 1e3) for t in trials if t.state is TrialState.COMPLETE and t.value is not None]
        figure = drawing.Figure(figsize=(8, 4.5))
        axes = figure.add_subplot()
        axes.axhline(plain_seconds * 1e3, color="tab:red", linestyle="--", label="plain schedule")
        if done:
            numbers, times = zip(*done, strict=True)
            axes.scatter(numbers, times, s=16, label="trial")
            axes.step(numbers, [min(times[: i + 1]) for i in range(len(times))], where="post", label="best so far")
        for state, word, colour in (
            (TrialState.PRUNED, "refused", "tab:gray"),
            (TrialState.FAIL, "failed", "tab:orange"),
        ):
            at = [t.number for t in trials if t.state is state]
            axes.plot(at, [0.98] * len(at), "x", color=colour, label=word, transform=axes.get_xaxis_transform())
        title = f"{self.study.study_name} {self.study.user_attrs['size']}"
        axes.set(yscale="log", xlabel="trial", ylabel="ms", title=title)
        axes.legend(fontsize="small")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=120, bbox_inches="tight")
