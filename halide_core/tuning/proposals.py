"""Candidates in the order in which they are tried: the model's best ones, ordered anew by what was learned.

In: a cost model; the Outcomes of earlier candidates. Out: Proposals.

    proposals.ask(2)   ->   [Proposal(0, …), Proposal(1, …)]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from halide_core.algorithm.model import Function
from halide_core.autoschedule.choices import encoded
from halide_core.autoschedule.cost import CostModel
from halide_core.autoschedule.search import Found, search
from halide_core.tuning.job import Ending, JobOutcome
from halide_core.tuning.learned import Estimator


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate: its choices, and their text."""

    number: int
    found: Found
    choice: str


class Proposals(Protocol):
    """A source of candidates."""

    def ask(self, count: int) -> list[Proposal]:
        """The next candidates; fewer, or none, where there are no more."""
        ...

    def tell(self, proposal: Proposal, outcome: JobOutcome) -> None:
        """Says what became of a candidate."""
        ...

    def earlier(self, proposal: Proposal) -> JobOutcome | None:
        """The outcome of the same choice before."""
        ...


class ModelProposals:
    """The states in which the model's search ends. The first one is its own choice; the others come in the order of
    what they are expected to take, by all that was measured so far."""

    def __init__(self, model: CostModel, order: Sequence[Function], count: int) -> None:
        self._order = order
        different = {encoded(f.placed(), order): f for f in search(model, width=count, best=count)}
        self._waiting = list(different.items())
        self._asked = 0
        self.estimator = Estimator()

    def ask(self, count: int) -> list[Proposal]:
        """The next candidates."""
        made: list[Proposal] = []
        while len(made) < count and self._waiting:
            at = 0
            if self._asked:
                at = min(range(len(self._waiting)), key=lambda i: self.estimator.estimate(self._waiting[i][1]))
            choice, found = self._waiting.pop(at)
            made.append(Proposal(self._asked, found, choice))
            self._asked += 1
        return made

    def tell(self, proposal: Proposal, outcome: JobOutcome) -> None:
        """Learns a time."""
        if outcome.result is Ending.DONE and outcome.seconds > 0:
            self.estimator.learn(proposal.found, outcome.seconds)

    def earlier(self, proposal: Proposal) -> JobOutcome | None:
        """Nothing: all are different."""
        return None
