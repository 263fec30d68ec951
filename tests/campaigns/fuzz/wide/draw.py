"""The case of a seed.

In: a campaign's seed and a number. Out: a Case, the same in every process and however many jobs there are.
"""

from __future__ import annotations

import random

from tests.campaigns.fuzz.case import Case
from tests.campaigns.fuzz.wide.programs import Rows
from tests.campaigns.fuzz.wide.schedules import draw_lanes


def draw_wide(seed: int, at: int) -> Case:
    """The ``at``-th case of a campaign."""
    label = f"wide_{seed}/{at}"
    rng = random.Random(label)
    return draw_lanes(Rows(rng).case(label), rng)
