"""The case of a seed.

In: a campaign's seed and a number. Out: a Case, the same in every process and however many jobs there are.
"""

from __future__ import annotations

import random

from tests.campaigns.fuzz.case import Case
from tests.campaigns.fuzz.draw_algorithm import draw_algorithm
from tests.campaigns.fuzz.draw_schedule import draw_schedule
from tests.campaigns.fuzz.formulas import draw_formulas
from tests.campaigns.fuzz.later import draw_later
from tests.campaigns.fuzz.newest import draw_newest


def draw(seed: int, number: int) -> Case:
    """The ``number``-th case of a campaign."""
    label = f"{seed}/{number}"
    rng = random.Random(label)
    case = draw_later(draw_schedule(draw_algorithm(label, rng), rng), seed, number)
    return draw_formulas(draw_newest(case, seed, number), seed, number)
