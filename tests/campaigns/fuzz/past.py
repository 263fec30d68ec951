"""A failure of the past as a test: what every file of ``corpus`` ends with.

In: the function ``build`` that a case was written as. Out: nothing, or an AssertionError that says what went wrong.

    check(build)                                  the judges agree, and the program runs
    check(build, outcome=Outcome.REFUSED)         it is refused with a reason, where that is the right answer
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from halide_core.errors import Location
from tests.campaigns.fuzz.case import Built, Window
from tests.campaigns.fuzz.judge import INTERPRETED, Judges, judge
from tests.campaigns.fuzz.verdict import Outcome


@dataclass(frozen=True)
class PastCase:
    """Implements ``case.Program`` for a written case."""

    maker: Callable[[bool], Built]
    seed: str = "past"
    scheduled: bool = True
    methods: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    def build(self, *, scheduled: bool = True) -> Built:
        """Makes the objects anew."""
        return self.maker(scheduled)

    @cached_property
    def _unscheduled(self) -> Built:
        return self.maker(False)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs."""
        return tuple(f.name() for f in self._unscheduled[0])

    @property
    def windows(self) -> tuple[Window, ...]:
        """The window of each output."""
        return tuple(tuple(window) for window in self._unscheduled[1])

    def blamed(self, location: Location) -> str:
        """The line itself."""
        return location.text


def check(
    build: Callable[[bool], Built],
    judges: Judges = INTERPRETED,
    *,
    outcome: Outcome = Outcome.RAN,
) -> None:
    """All judges agree, and the case ends as it should."""
    verdict = judge(PastCase(build), judges)
    assert verdict.outcome is outcome, f"{verdict.outcome.value}: {verdict.kind}\n{verdict.detail}"
