"""Partitioned loops: divided into a head, a steady part and a tail, or kept whole.

In: a case. Out: the case with one of the calls, about a loop that nothing was said of or about all loops of a Func.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from halide_core.schedule.access_directives import Partition, PartitionLoop
from tests.campaigns.fuzz.case import Border, Case, Definition, Given, Loop, Told
from tests.campaigns.fuzz.families.family import Drawn, Family
from tests.campaigns.fuzz.families.finding import placed_funcs, with_told
from tests.campaigns.fuzz.families.threads import draw_of_any
from tests.campaigns.fuzz.nests import model_of
from tests.campaigns.fuzz.terms import Form


def _draw_partition(method: str) -> Callable[[Case, random.Random], Case | None]:
    """The generator of one of the calls about loops that are divided."""

    def draw(case: Case, rng: random.Random) -> Case | None:
        args = model_of(case).args
        placed = [f for f in dict.fromkeys(placed_funcs(case)) if args[f]]
        if not placed:
            return None
        if method.startswith("always"):  # one with nothing to divide has no effect
            edges = _edges(case)
            placed = [f for f in placed if edges.get(f)] if rng.random() < 0.9 else placed
            args = {**args, **{f: names for f, names in edges.items() if names}}
            if not placed:
                return None
        func = rng.choice(placed)
        said = {a.name for t in case.directives if t.func == func for a in t.args if isinstance(a, Loop)}
        free = [Loop(v) for v in args[func] if v not in said]
        given: tuple[Given, ...] = ()
        if not method.endswith("_all"):
            if not free:
                return None
            given = (rng.choice(free),)
            given += (rng.choice(list(Partition)),) if method == "partition" else ()
        return with_told(case, Told(func, 0, method, given))

    return draw


def _edges(case: Case) -> dict[str, tuple[str, ...]]:
    """Of each Func, the variables that its definition clamps, or reads at a border by."""
    borders = {item.name for item in case.items if isinstance(item, Border)}
    found: dict[str, tuple[str, ...]] = {}
    for item in case.items:
        if isinstance(item, Definition):
            nodes = [n for term in item.terms() for n in term]
            ends = [n for n in nodes if n.text == "clamp" or (n.form is Form.READ and n.text in borders)]
            names = {n.text for end in ends for n in end if n.form is Form.NAME}
            found[item.name] = tuple(v for v in item.args if v in names)
    return found


def _drawn(method: str, share: float) -> Drawn:
    return Drawn(_draw_partition(method), (PartitionLoop,), share)


PARTITIONS = Family(
    "partitions",
    {
        "partition_all": Drawn(draw_of_any("partition_all", Partition.Never), (PartitionLoop,), 0.02),
        "partition": _drawn("partition", 0.03),
        "never_partition": _drawn("never_partition", 0.03),
        "never_partition_all": _drawn("never_partition_all", 0.03),
        "always_partition": _drawn("always_partition", 0.04),
        "always_partition_all": _drawn("always_partition_all", 0.03),
    },
)
