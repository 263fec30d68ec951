"""The case of a seed.

In: a campaign's seed and a number. Out: a Case, the same in every process and however many jobs there are.
"""

from __future__ import annotations

import random

from tests.campaigns.fuzz.case import Case
from tests.campaigns.fuzz.draw_algorithm import draw_algorithm
from tests.campaigns.fuzz.draw_schedule import draw_schedule
from tests.campaigns.fuzz.families import draw_families
from tests.campaigns.fuzz.formulas import draw_formulas


def draw(seed: int, number: int) -> Case:
    """The ``number``-th case of a campaign."""
    label = f"{seed}/{number}"
    rng = random.Random(label)
    case = draw_schedule(draw_algorithm(label, rng), rng)
    return draw_formulas(draw_families(case, seed, number), seed, number)
