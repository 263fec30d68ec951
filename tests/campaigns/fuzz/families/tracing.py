"""Tracing: the calls that show a Func at work.

In: a case. Out: the case with one of them, which changes no value.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from halide_core.schedule.directives import Trace, Traced
from tests.campaigns.fuzz.case import Case, Told
from tests.campaigns.fuzz.families.family import Drawn, Family
from tests.campaigns.fuzz.nests import model_of


def _draw_trace(method: str) -> Callable[[Case, random.Random], Case | None]:
    """The generator of one of the calls that show a Func at work."""

    def draw(case: Case, rng: random.Random) -> Case | None:
        func = rng.choice(list(model_of(case).args))
        given = ("a tag",) if method == Traced.TAG.value else ()
        return replace(case, directives=(*case.directives, Told(func, 0, method, given)))

    return draw


TRACING = Family("tracing", {what.value: Drawn(_draw_trace(what.value), (Trace,), 0.02) for what in Traced})
