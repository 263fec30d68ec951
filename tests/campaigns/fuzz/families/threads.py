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


_STORES = ("store_at", "store_root", "fold_storage", "hoist_storage", "hoist_storage_root", "memoize")
_ANYWHERE = 0.2


def _draw_ring(case: Case, rng: random.Random) -> Case | None:
    """The generator of a ring: of a Func that is computed in a loop by a thread of its own, with memory outside of that
    loop; and at times of any."""
    copies = number(rng.choice([1, 2, 2, 3, 3, 4]), INT32)
    kept = {t.func for t in case.directives if t.method in _STORES}
    inside = [t for t in case.directives if t.method == "compute_at" and t.func not in kept]
    if not inside or rng.random() < _ANYWHERE:
        return draw_of_any("ring_buffer", copies)(case, rng)
    told = rng.choice(inside)
    outer = [t.args for t in inside if t.args[0] == told.args[0] and t.args != told.args]
    if outer and rng.random() < 0.5:
        case = with_told(case, Told(told.func, 0, "hoist_storage", rng.choice(outer)))
    else:
        case = with_told(case, Told(told.func, 0, "hoist_storage_root"))
    if all(t.func != told.func or t.method != "async_" for t in case.directives):
        case = with_told(case, Told(told.func, 0, "async_"))
    return with_told(case, Told(told.func, 0, "ring_buffer", (copies,)))


THREADS = Family(
    "threads",
    {
        "async_": Drawn(draw_of_any("async_"), (Async,), 0.1),
        "ring_buffer": Drawn(_draw_ring, (RingBuffer,), 0.1),
    },
)
