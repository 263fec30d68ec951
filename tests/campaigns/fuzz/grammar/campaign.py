"""A campaign of the grammar: each case is drawn towards the emptiest cell, or grown from one that reached new blocks.

In: how many cases, from which seed; a folder to go on from. Out: a Journal, its text, and test files of what failed.

Every case is interpreted before and after all passes, in up to three windows; one of SAMPLED is judged by all that cost
more: every pass, the program without its schedule, the certificate. Those whose loops are left to gcc are compiled
instead, where there is a compiler.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.campaigns.fuzz.case import Case
from tests.campaigns.fuzz.grammar.axes import Cell
from tests.campaigns.fuzz.grammar.draw import Order, is_plain
from tests.campaigns.fuzz.grammar.journal import Journal
from tests.campaigns.fuzz.grammar.serving import Drawn
from tests.campaigns.fuzz.judge import INTERPRETED, Judges
from tests.campaigns.fuzz.verdict import Outcome
from tests.campaigns.fuzz.workers import Task, Workers

SAMPLED = 10
COMPILED = 9
EXECUTABLES = 18
"""One of so many cases is judged by who costs more, and two of COMPILED."""
_GROWN = 0.3
"""The share of cases that are grown from others, once there are some."""


@dataclass(slots=True)
class Campaign:
    """A campaign as it was asked for, and its findings."""

    cases: int
    seed: int
    journal: Journal
    compiled: bool = False
    plain_alone: bool = False
    """Of so many cases, those alone whose loops are left to gcc."""
    until: Callable[[Case, Judges], bool] | None = None
    """Ends it after a mismatch of which this holds."""
    failed: dict[str, tuple[Case, Judges]] = field(default_factory=dict)
    """The first failure of each kind."""
    took: float = 0.0
    _orders: dict[int, tuple[Cell | None, Judges]] = field(default_factory=dict)
    _end: bool = False

    def judges(self, number: int) -> Judges:
        """The judges of a case."""
        asked = INTERPRETED if number % SAMPLED == 0 else Judges.BRIEF
        if self.compiled and number % COMPILED in (0, COMPILED // 2):
            asked |= Judges.COMPILED
        if self.compiled and number % EXECUTABLES == 0:
            asked |= Judges.EXECUTABLE
        if self.compiled and is_plain(self.seed, number):
            asked = asked & Judges.EXECUTABLE | Judges.COMPILED | Judges.NATIVE
        return asked

    def run(self, workers: Workers, *, progress: bool = False) -> None:
        """Judges the cases."""
        start = time.monotonic()
        for number, verdict in workers.judge(self._tasks()):
            target, judges = self._orders.pop(number)
            drawn = verdict if isinstance(verdict, Drawn) else Drawn(verdict.outcome, verdict.kind, verdict.detail)
            self.journal.add(number, target, drawn, [str(each.name) for each in Judges if each in judges])
            if drawn.outcome is Outcome.MISMATCH:
                if drawn.case is not None:
                    self.failed.setdefault(drawn.kind, (drawn.case, judges))
                    self._end = self._end or (self.until is not None and self.until(drawn.case, judges))
                _say(f"\rcase {self.seed}/{number}: {drawn.kind}: {drawn.detail[:200]}\n" if progress else "")
            if progress and self.journal.cases % 50 == 0:
                holes = len(self.journal.table.holes())
                _say(f"\r{self.seed}: {self.journal.cases} cases, {holes} holes, {time.monotonic() - start:.0f} s ")
        self.took = time.monotonic() - start
        _say("\n" if progress else "")

    def _tasks(self) -> Iterator[Task]:
        first = self.journal.next
        for number in range(first, first + self.cases):
            if self._end:
                return
            if self.plain_alone and not is_plain(self.seed, number):
                continue
            yield number, self._order(number), self.judges(number)

    def _order(self, number: int) -> Order:
        rng = random.Random(f"{self.seed}/{number}/order")
        busy = [target for target, _ in self._orders.values() if target is not None]
        target = self.journal.table.emptiest(rng, busy)
        parent = rng.choice(self.journal.corpus) if self.journal.corpus and rng.random() < _GROWN else None
        parent = None if is_plain(self.seed, number) else parent
        self._orders[number] = (None if parent is not None else target, self.judges(number))
        return Order(self.seed, number, target, parent)


def kept_in(folder: Path, seed: int) -> Path:
    """Where a campaign is kept."""
    return folder / f"seed_{seed}"


def _say(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
