"""Memory: allocated further out, remembered between runs.

In: a case with Funcs in loops, or at the root. Out: the case with a directive about where the memory of one is.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from halide_core.schedule.storage_directives import HoistStorage, HoistStorageRoot, Memoize
from tests.campaigns.fuzz.case import (
    Case,
    Image,
    Told,
)
from tests.campaigns.fuzz.families.family import Drawn, Family
from tests.campaigns.fuzz.families.finding import placed_funcs, with_told


def _draw_hoist(method: str) -> Callable[[Case, random.Random], Case | None]:
    """The generator of one of the two: of a Func that is computed in a loop."""

    def draw(case: Case, rng: random.Random) -> Case | None:
        inside = [t for t in case.directives if t.method == "compute_at"]
        if not inside:
            return None
        told = rng.choice(inside)
        loops = [t.args for t in inside if t.args[0] == told.args[0]]
        given = rng.choice([told.args, *loops]) if method == "hoist_storage" else ()
        return replace(case, directives=(*case.directives, Told(told.func, 0, method, given)))

    return draw


def _draw_memoize(case: Case, rng: random.Random) -> Case | None:
    """Of a Func with memory of its own, where no input would have to be tagged."""
    apart = ("store_at", "store_root", "async_", "compute_with", "memoize")
    refused = {t.func for t in case.directives if t.method in apart}
    found = [name for name in placed_funcs(case) if name not in case.outputs and name not in refused]
    if not found or any(isinstance(item, Image) for item in case.items):
        return None
    return with_told(case, Told(rng.choice(found), 0, "memoize"))


MEMORY = Family(
    "memory",
    {
        "hoist_storage": Drawn(_draw_hoist("hoist_storage"), (HoistStorage,), 0.055),
        "hoist_storage_root": Drawn(_draw_hoist("hoist_storage_root"), (HoistStorageRoot,), 0.055),
        "memoize": Drawn(_draw_memoize, (Memoize,), 0.5),
    },
)
