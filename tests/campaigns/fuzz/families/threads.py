"""Producers in threads of their own, and memory of several iterations for them.

In: a case. Out: the case with ``async_`` or ``ring_buffer`` for any Func of it.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from halide_core.ir.types import INT32
from halide_core.schedule.directives import (
    Async,
)
from halide_core.schedule.storage_directives import RingBuffer
from tests.campaigns.fuzz.case import Case, Definition, Given, Told
from tests.campaigns.fuzz.families.family import Drawn, Family
from tests.campaigns.fuzz.families.finding import with_told
from tests.campaigns.fuzz.terms import number


def draw_of_any(method: str, *given: Given) -> Callable[[Case, random.Random], Case | None]:
    """The generator of a call about any Func."""

    def draw(case: Case, rng: random.Random) -> Case | None:
        found = [d.name for d in case.items if isinstance(d, Definition)]
        return with_told(case, Told(rng.choice(found), 0, method, given)) if found else None

    return draw


THREADS = Family(
    "threads",
    {
        "async_": Drawn(draw_of_any("async_"), (Async,), 0.1),
        "ring_buffer": Drawn(draw_of_any("ring_buffer", number(3, INT32)), (RingBuffer,), 0.05),
    },
)
