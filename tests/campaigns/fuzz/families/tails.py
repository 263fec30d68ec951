"""Tails of splits that ``draw_schedule`` does not choose, and vectors of vectors.

In: a case with splits. Out: the case with other tails, or with a second vectorized loop.
"""

from __future__ import annotations

import random
from dataclasses import replace

from halide_core.ir.types import INT32
from halide_core.schedule.directives import Split, TailStrategy, Traverse
from tests.campaigns.fuzz.case import Case, Loop
from tests.campaigns.fuzz.families.family import Drawn, Family
from tests.campaigns.fuzz.families.finding import reduction_loops
from tests.campaigns.fuzz.nests import model_of
from tests.campaigns.fuzz.terms import number

OTHER_TAILS = (
    TailStrategy.Predicate, TailStrategy.PredicateLoads, TailStrategy.PredicateStores, TailStrategy.RoundUpAndBlend,
    TailStrategy.ShiftInwardsAndBlend, TailStrategy.ShiftInwardsAndBlend,
)  # fmt: skip
_SPLITTING = ("split", "tile", "vectorize", "unroll", "parallel")


def _draw_tail(case: Case, rng: random.Random) -> Case | None:
    """Other tails for the splits of a case."""
    splits = [i for i, t in enumerate(case.directives) if t.method in _SPLITTING and len(t.args) > 1]
    if not splits:
        return None
    directives = list(case.directives)
    for i in rng.sample(splits, rng.randint(1, len(splits))):
        told = directives[i]
        args = told.args[:-1] if isinstance(told.args[-1], TailStrategy) else told.args
        reduced = args[0] in reduction_loops(case, told.func, told.stage)
        tail = rng.choice(OTHER_TAILS[:3] if reduced and rng.random() < 0.95 else OTHER_TAILS)
        directives[i] = replace(told, args=(*args, tail))
    return replace(case, directives=tuple(directives))


def _draw_vectors(case: Case, rng: random.Random) -> Case | None:
    """A second vectorized loop, over a dimension that nothing was said of."""
    args = model_of(case).args
    found = []
    for i, t in enumerate(case.directives):
        if t.method == "vectorize" and t.stage == 0 and not t.within:
            said = {a.name for each in case.directives if each.func == t.func for a in each.args if isinstance(a, Loop)}
            found += [(i, v) for v in args.get(t.func, ()) if v not in said]
    if not found:
        return None
    at, v = rng.choice(found)
    tail = rng.choice([TailStrategy.GuardWithIf, TailStrategy.RoundUp, TailStrategy.ShiftInwards])
    told = replace(case.directives[at], args=(Loop(v), number(rng.choice([2, 2, 3]), INT32), tail))
    return replace(case, directives=(*case.directives[: at + 1], told, *case.directives[at + 1 :]))


TAILS = Family("tails", {}, (Drawn(_draw_tail, (Split,), 0.085), Drawn(_draw_vectors, (Traverse,), 0.01)))
