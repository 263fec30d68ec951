"""The history of a tuning: an optuna study in a journal, which later searches, and other processes, go on with.

In: a cost model, and the model's own proposals. Out: these, and what the sampler proposes, in turn.

A candidate is a number from 0 to 1 for each Func: its place among all choices that there are for the Func, the cheapest
first, given the choices for its consumers. So every number is a legal choice, and small ones are the model's taste.

    {"0 blur": 0.11, "1 across": 0.0}
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from pathlib import Path

import optuna
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState

from halide_core.algorithm.model import Function
from halide_core.autoschedule.choices import encoded
from halide_core.autoschedule.cost import CostModel
from halide_core.autoschedule.search import Found, FuncChoice, drawn
from halide_core.tuning.job import Ending, JobOutcome
from halide_core.tuning.proposals import ModelProposals, Proposal

_STATES = {Ending.DONE: TrialState.COMPLETE, Ending.REFUSED: TrialState.PRUNED}
_STARTUP = 8
"""The model's own candidates, before the sampler has a turn."""


class StudyProposals:
    """An optuna study of one pipeline at one size."""

    def __init__(self, model: CostModel, own: ModelProposals, *, journal: Path | None, name: str, seed: int) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._model = model
        self._own = own
        self._number = {f: f"{i} {f.name}" for i, f in enumerate(reversed(model.stages.order))}
        storage = None
        if journal is not None:
            storage = optuna.storages.JournalStorage(JournalFileBackend(str(journal)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            self._study = optuna.create_study(study_name=name, storage=storage, load_if_exists=True)
            before = self._study.get_trials(deepcopy=False)
            # A search that goes on must not repeat the random numbers that it began with.
            self._study.sampler = optuna.samplers.TPESampler(
                seed=seed + len(before), n_startup_trials=_STARTUP, multivariate=True, group=True, constant_liar=True
            )
        self._trials: dict[int, optuna.Trial] = {}
        self._asked = 0
        self._known: dict[str, JobOutcome] = {}
        for trial in before:
            self._remember(trial)

    @property
    def order(self) -> Sequence[Function]:
        """The Funcs, producers first."""
        return self._model.stages.order

    def _remember(self, trial: FrozenTrial) -> None:
        choice = trial.user_attrs.get("choice")
        if choice is None or "result" not in trial.user_attrs:
            return  # of a search that was killed
        reason = trial.user_attrs.get("reason", "")
        self._known.setdefault(choice, JobOutcome(Ending(trial.user_attrs["result"]), trial.value or 0.0, reason))

    def ask(self, count: int) -> list[Proposal]:
        """The model's first, then its and the sampler's in turn."""
        made = []
        for _ in range(count):
            own = self._unknown() if self._asked < _STARTUP or self._asked % 2 else None
            if own is not None:
                self._study.enqueue_trial(self._ranks(own.found))
            made.append(self._proposal())
            self._asked += 1
        return made

    def _unknown(self) -> Proposal | None:
        """The model's next one that no earlier search has tried."""
        while own := self._own.ask(1):
            known = self._known.get(own[0].choice)
            if known is None:
                return own[0]
            self._own.tell(own[0], known)
        return None

    def _proposal(self) -> Proposal:
        trial = self._study.ask()

        def draw(f: Function, choices: list[FuncChoice]) -> int:
            return _at(trial.suggest_float(self._number[f], 0.0, 1.0), len(choices))

        found = drawn(self._model, draw)
        choice = encoded(found.placed(), self.order)
        trial.set_user_attr("choice", choice)
        self._trials[trial.number] = trial
        return Proposal(trial.number, found, choice)

    def _ranks(self, found: Found) -> dict[str, float]:
        """The numbers of choices that were made."""
        ranks: dict[str, float] = {}

        def draw(f: Function, choices: list[FuncChoice]) -> int:
            at = next(i for i, each in enumerate(choices) if _alike(each, found.choices[f]))
            ranks[self._number[f]] = _number(at, len(choices))
            return at

        drawn(self._model, draw)
        return ranks

    def tell(self, proposal: Proposal, outcome: JobOutcome) -> None:
        """Keeps what became of a trial: its time, or that it was refused, or failed, and why."""
        trial = self._trials.pop(proposal.number)
        trial.set_user_attr("result", outcome.result.value)
        if outcome.reason:
            trial.set_user_attr("reason", outcome.reason)
        state = _STATES.get(outcome.result, TrialState.FAIL)
        self._study.tell(trial, outcome.seconds if state is TrialState.COMPLETE else None, state=state)
        self._known.setdefault(proposal.choice, outcome)
        self._own.tell(proposal, outcome)

    def earlier(self, proposal: Proposal) -> JobOutcome | None:
        """The outcome of the same choice before."""
        return self._known.get(proposal.choice)


def _at(number: float, count: int) -> int:
    """The place that a number stands for: small places have larger shares."""
    return min(count - 1, int(count * number * number))


def _number(at: int, count: int) -> float:
    return math.sqrt((at + 0.5) / count)


def _alike(one: FuncChoice, other: FuncChoice) -> bool:
    if one.nest is None or other.nest is None:
        return one.nest is other.nest
    a, b = one.nest, other.nest
    return (a.anchor, a.level, a.shape, a.vector) == (b.anchor, b.level, b.shape, b.vector)
