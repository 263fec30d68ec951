"""The case of a seed.

In: a campaign's seed and a number. Out: a Case, the same in every process and however many jobs there are.
"""

from __future__ import annotations

import random

from tests.campaigns.fuzz.case import Case
from tests.campaigns.fuzz.plain.programs import Mixed
from tests.campaigns.fuzz.plain.schedules import draw_copies


def draw_plain(seed: int, at: int) -> Case:
    """The ``at``-th case of a campaign."""
    label = f"plain_{seed}/{at}"
    rng = random.Random(label)
    return draw_copies(Mixed(rng).case(label), rng)
