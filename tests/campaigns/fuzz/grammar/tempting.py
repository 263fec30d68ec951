"""Directives drawn without a model of what is legal: any loop, any tail, any order, so that what must be refused is
asked for as often as what may run.

In: a Drawing. Out: one more directive, and the nest as it is if that is taken. The compiler says what is legal; what it
refuses is left out (``legal``), and what it takes must run right.
"""

from __future__ import annotations

from collections.abc import Callable

from halide_core.ir import LoopKind
from halide_core.ir.types import INT32
from halide_core.schedule.directives import TailStrategy
from tests.campaigns.fuzz.case import Loop
from tests.campaigns.fuzz.directives import Drawing
from tests.campaigns.fuzz.nests import LoopModel
from tests.campaigns.fuzz.terms import number

_TAILS = (
    TailStrategy.RoundUp,
    TailStrategy.RoundUp,
    TailStrategy.ShiftInwards,
    TailStrategy.ShiftInwards,
    TailStrategy.RoundUpAndBlend,
    TailStrategy.ShiftInwardsAndBlend,
    TailStrategy.PredicateStores,
)


def tempt(d: Drawing) -> None:
    """One directive about the loops of a stage."""
    if d.nest.loops:
        d.rng.choice(_TEMPTATIONS)(d)


def _tail(d: Drawing) -> None:
    loop = d.pick(lambda each: each.kind is LoopKind.SERIAL)
    if loop is None:
        return
    k = d.rng.choice([2, 3, 4, 5])
    outer, inner = d.fresh(f"{loop.name}o"), d.fresh(f"{loop.name}i")
    d.tell("split", Loop(loop.name), Loop(outer), Loop(inner), number(k, INT32), d.rng.choice(_TAILS))
    d.split(loop, outer, inner, k)
    if d.rng.random() < 0.3:  # an inner loop, which can't grow
        kept = d.nest.loops[d.nest.index(inner)]
        again, innermost = d.fresh(f"{inner}o"), d.fresh(f"{inner}i")
        d.tell("split", Loop(inner), Loop(again), Loop(innermost), number(d.rng.choice([2, 3]), INT32), _TAILS[0])
        d.split(kept, again, innermost, 2)


def _order(d: Drawing) -> None:
    loops = d.rng.sample(d.nest.loops, d.rng.randint(1, len(d.nest.loops)))
    if len(loops) > 1:
        names = [loop.name for loop in loops]
        d.nest.reorder(names)
        d.tell("reorder", *map(Loop, names))


def _kind(d: Drawing) -> None:
    loop = d.rng.choice(d.nest.loops)
    method, kind = d.rng.choice([("parallel", LoopKind.PARALLEL), ("vectorize", LoopKind.VECTORIZED)])
    if loop.kind is not LoopKind.SERIAL:
        return
    d.tell(method, Loop(loop.name), *((number(d.rng.choice([2, 4]), INT32),) if method == "vectorize" else ()))
    if method == "parallel":
        d.nest.run_as(loop.name, kind)
        return
    inner = d.inner(loop, "v")
    d.split(loop, loop.name, inner, 4)
    d.nest.run_as(inner, kind)


def _fuse(d: Drawing) -> None:
    if len(d.nest.loops) < 2:
        return
    inner, outer = d.rng.sample(d.nest.loops, 2)
    label = d.fresh(f"{inner.name}{outer.name}")
    d.tell("fuse", Loop(inner.name), Loop(outer.name), Loop(label))
    d.nest.loops.remove(outer)
    d.nest.replace_loop(inner.name, LoopModel(label, inner.pure and outer.pure))


_TEMPTATIONS: tuple[Callable[[Drawing], None], ...] = (_tail, _tail, _tail, _order, _kind, _fuse)
