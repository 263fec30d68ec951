"""A campaign: many cases, judged in several processes; what fails is made small and written down.

In: how many, from which seed, by how many jobs, with or without compiled code. Out: a Report, and test files.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.campaigns.fuzz.case import Case
from tests.campaigns.fuzz.judge import FAST, Judges
from tests.campaigns.fuzz.modes import Mode
from tests.campaigns.fuzz.report import Report
from tests.campaigns.fuzz.shrink import ATTEMPTS, shrink
from tests.campaigns.fuzz.verdict import Outcome
from tests.campaigns.fuzz.workers import Task, Workers
from tests.campaigns.fuzz.write import write_test

EXECUTABLES = 5
"""Of so many compiled cases one is a stand-alone executable too."""
SHOWN = 8
"""So many kinds of failures are made small; the others are counted."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign as it was asked for."""

    cases: int
    seed: int
    jobs: int = 1
    compiled: bool = False
    certify: bool = True
    first: int = 0
    mode: Mode = Mode.LANGUAGE

    def case(self, number: int) -> Case:
        """One of its cases."""
        return self.mode.case(self.seed, number)

    def judges(self, number: int) -> Judges:
        """Who judges a case."""
        asked = self.mode.judges if self.certify else self.mode.judges & ~Judges.CERTIFICATE
        if self.compiled:
            asked |= Judges.COMPILED
            if number % EXECUTABLES == 0:
                asked |= Judges.EXECUTABLE
        return asked

    def tasks(self) -> Iterator[Task]:
        """The cases, each drawn when a worker is free."""
        for number in range(self.first, self.first + self.cases):
            yield number, self.case(number), self.judges(number)


def run(campaign: Campaign, workers: Workers, *, progress: bool = False) -> Report:
    """Judges every case."""
    report, start = Report(mode=campaign.mode), time.monotonic()
    for number, verdict in workers.judge(campaign.tasks()):
        report.add(number, verdict)
        if verdict.outcome is Outcome.MISMATCH and progress:
            _say(f"\rcase {campaign.seed}/{number}: {verdict.kind}\n")
        if progress and (len(report.verdicts) % 10 == 0 or len(report.verdicts) == campaign.cases):
            bad = report.count(Outcome.MISMATCH)
            took = time.monotonic() - start
            _say(f"\r{len(report.verdicts)} of {campaign.cases} cases, {bad} mismatches, {took:.0f} s ")
    if progress:
        _say("\n")
    return report


def write_failures(
    campaign: Campaign, report: Report, workers: Workers, folder: Path, *, attempts: int = ATTEMPTS
) -> list[Path]:
    """Makes the first failure of each kind small and writes it as a test."""
    paths = []
    for kind, numbers in list(report.failures().items())[:SHOWN]:
        found = Failure(workers, kind, campaign.judges(numbers[0]))
        case = campaign.case(numbers[0])
        found.ask_fewer(case)
        small = shrink(case, found.shows, attempts)
        paths.append(write_test(small, workers.one(small, found.judges), found.judges, folder))
    return paths


@dataclass(slots=True)
class Failure:
    """A kind of mismatch, and the judges that it takes to see it."""

    workers: Workers
    kind: str
    judges: Judges

    def shows(self, case: Case) -> bool:
        """True where a case fails so."""
        verdict = self.workers.one(case, self.judges)
        return verdict.outcome is Outcome.MISMATCH and verdict.kind == self.kind

    def ask_fewer(self, case: Case) -> None:
        """Asks one judge alone, or none besides the interpreter, where that is enough."""
        everyone = self.judges
        for fewer in (FAST, *(each for each in Judges if each in everyone)):
            self.judges = fewer
            if self.shows(case):
                return
        self.judges = everyone


def _say(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
