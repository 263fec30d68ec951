"""The case of a seed.

In: a campaign's seed and a number. Out: a Case, the same in every process and however many jobs there are.
"""

from __future__ import annotations

import random

from tests.campaigns.fuzz.case import Case
from tests.campaigns.fuzz.plain.lookups import Lookups
from tests.campaigns.fuzz.plain.programs import WIDTHS, Mixed
from tests.campaigns.fuzz.plain.schedules import draw_copies
from tests.campaigns.fuzz.plain.sums import Sums

_LOOKUPS, _SUMS = 0.4, 0.2
"""The shares of programs that look tables up by what conditions make, and of those that add several numbers up."""
_LEFT_ALONE = 0.6
"""So often these have no schedule: each copy in a loop makes it less likely that gcc takes it."""


def draw_plain(seed: int, at: int) -> Case:
    """The ``at``-th case of a campaign."""
    label = f"plain_{seed}/{at}"
    rng, kind = random.Random(label), random.Random(f"{label}/kind")
    roll = kind.random()
    if roll < _SUMS:
        return Sums(rng).case(label)
    if roll > _SUMS + _LOOKUPS:
        return draw_copies(Mixed(rng).case(label), rng)
    case = Lookups(rng, WIDTHS).case(label)
    return case if kind.random() < _LEFT_ALONE else draw_copies(case, rng)
