"""Prefetches of what a Func reads.

In: a case. Out: the case with a ``prefetch`` in a loop that nothing was said of.
"""

from __future__ import annotations

import random

from halide_core.ir.memory import PrefetchBoundStrategy
from halide_core.ir.types import INT32
from halide_core.schedule.access_directives import Prefetch
from tests.campaigns.fuzz.case import Case, Consumer, Definition, Image, Loop, Told
from tests.campaigns.fuzz.families.family import Drawn, Family
from tests.campaigns.fuzz.families.finding import placed_funcs, with_told
from tests.campaigns.fuzz.nests import model_of
from tests.campaigns.fuzz.terms import Form, number


def _draw_prefetch(case: Case, rng: random.Random) -> Case | None:
    """Of what a Func reads, in a loop that nothing was said of."""
    args, placed = model_of(case).args, placed_funcs(case)
    roots = [t.func for t in case.directives if t.method == "compute_root"]  # whose memory is there in every loop
    memory = roots if rng.random() < 0.9 else placed
    memory += [item.name for item in case.items if isinstance(item, Image) and not item.embedded]
    found = []
    for item in case.items:
        if isinstance(item, Definition) and item.name in placed:
            said = {a.name for t in case.directives if t.func == item.name for a in t.args if isinstance(a, Loop)}
            free = [v for v in args[item.name] if v not in said]
            read = {node.text: None for v in item.terms() for node in v if node.form is Form.READ}
            found += [(item.name, free, name) for name in read if name in memory and name != item.name and free]
    if not found:
        return None
    func, loops, fetched = rng.choice(found)
    at = rng.randrange(len(loops))
    source = rng.randrange(at, len(loops))  # dimensions nest in their order, the first one innermost
    given = (Consumer(fetched), Loop(loops[at]), Loop(loops[source]), number(rng.choice([0, 1, 2, 5, 100]), INT32))
    told = Told(func, 0, "prefetch", (*given, rng.choice(list(PrefetchBoundStrategy))))
    return with_told(case, told)


PREFETCHES = Family("prefetches", {"prefetch": Drawn(_draw_prefetch, (Prefetch,), 0.08)})
