"""Families of directives that are added to drawn cases: a file each, and a random stream each."""

from __future__ import annotations

from tests.campaigns.fuzz.case import Case
from tests.campaigns.fuzz.families.at_once import AT_ONCE
from tests.campaigns.fuzz.families.family import Drawn, Family
from tests.campaigns.fuzz.families.memory import MEMORY
from tests.campaigns.fuzz.families.partitions import PARTITIONS
from tests.campaigns.fuzz.families.prefetches import PREFETCHES
from tests.campaigns.fuzz.families.reductions import REDUCTIONS
from tests.campaigns.fuzz.families.shared_loops import SHARED_LOOPS
from tests.campaigns.fuzz.families.tails import TAILS
from tests.campaigns.fuzz.families.threads import THREADS
from tests.campaigns.fuzz.families.tracing import TRACING
from tests.campaigns.fuzz.families.wrappers import WRAPPERS

FAMILIES: tuple[Family, ...] = (
    REDUCTIONS, PREFETCHES, THREADS, SHARED_LOOPS, MEMORY, PARTITIONS, WRAPPERS, TRACING, AT_ONCE, TAILS,
)  # fmt: skip
"""In the order in which they are asked: tails last, of the splits that others made."""

METHODS: dict[str, Drawn] = {name: each for family in FAMILIES for name, each in family.methods.items()}
"""The generator of each method of the interface that a family draws."""

RECORDED = tuple(kind for f in FAMILIES for each in (*f.methods.values(), *f.more) for kind in each.records)
"""The directives that families record."""


def draw_families(case: Case, seed: int, number: int) -> Case:
    """The case, or the case with directives of some families."""
    for family in FAMILIES:
        case = family.added(case, seed, number)
    return case
