"""Counts of how often the fuzzer draws each directive, and its program compiles.

In: a campaign's seed, a number of cases. Out: for each row of the table, the cases that have it, and those of them that
were lowered without a refusal. Nothing is run: ``python -m tests.campaigns.fuzz`` does that with the same cases.
"""

from __future__ import annotations

import warnings
from collections import Counter

from halide_core.errors import HalideError
from halide_core.lowering.driver import lower
from halide_core.schedule.directives import TailStrategy
from tests.campaigns.directives.gather import Row
from tests.campaigns.fuzz.case import Case
from tests.campaigns.fuzz.draw import draw
from tests.campaigns.fuzz.interpreted import request_of


def rows_in(case: Case) -> set[Row]:
    """The rows that the directives of a case belong to."""
    tails = {arg.name for told in case.directives for arg in told.args if isinstance(arg, TailStrategy)}
    return {(method, "") for method in case.methods} | {("split", tail) for tail in tails}


def lowers(case: Case) -> bool:
    """True where a case compiles; a directive that is drawn illegal on purpose is refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            lower(request_of(case.build()[0]))
    except HalideError:
        return False
    return True


def count(seed: int, cases: int, *, lowered: bool = True) -> tuple[Counter[Row], Counter[Row]]:
    """In how many cases each row was drawn, and in how many of them it was lowered."""
    drawn, through = Counter[Row](), Counter[Row]()
    for number in range(cases):
        case = draw(seed, number)
        rows = rows_in(case)
        drawn.update(rows)
        if lowered and lowers(case):
            through.update(rows)
    return drawn, through


def search(seed: int, start: int, end: int, wanted: list[Row], drawn: Counter[Row], through: Counter[Row]) -> None:
    """Draws further cases, and lowers those with a row of ``wanted`` that no case has shown yet: what is drawn seldom
    needs more of them. Adds them to both counts."""
    missing = {row for row in wanted if not through[row]}
    for number in range(start, end):
        if not missing:
            return
        case = draw(seed, number)
        rows = rows_in(case) & missing
        if rows:
            drawn.update(rows)
            if lowers(case):
                through.update(rows)
                missing -= rows
