"""Schedules of vectors: 2 to 64 lanes of every loop, alone, in tiles, unrolled, in threads, by every tail.

In: a case without a schedule. Out: the case with one, legal as far as the model of nests knows.
"""

from __future__ import annotations

import random
from dataclasses import replace

from halide_core.ir import LoopKind
from halide_core.ir.memory import MemoryType
from halide_core.ir.types import INT32
from halide_core.schedule.directives import TailStrategy
from tests.campaigns.fuzz.case import Case, Given, Loop, Told
from tests.campaigns.fuzz.directives import Drawing
from tests.campaigns.fuzz.draw_schedule import _Schedule
from tests.campaigns.fuzz.nests import LoopModel
from tests.campaigns.fuzz.terms import number

LANES = (2, 3, 4, 4, 5, 7, 8, 8, 8, 12, 16, 16, 16, 24, 32, 32, 33, 64)
_TAILS = (
    TailStrategy.Auto, TailStrategy.Auto, TailStrategy.GuardWithIf, TailStrategy.RoundUp, TailStrategy.ShiftInwards,
    TailStrategy.PredicateLoads, TailStrategy.PredicateStores, TailStrategy.Predicate, TailStrategy.RoundUpAndBlend,
    TailStrategy.ShiftInwardsAndBlend,
)  # fmt: skip
_FOR_UPDATES = (
    TailStrategy.Auto, TailStrategy.GuardWithIf, TailStrategy.RoundUp, TailStrategy.PredicateStores,
    TailStrategy.RoundUpAndBlend, TailStrategy.ShiftInwardsAndBlend,
)  # fmt: skip
_FORBIDDEN = 0.03


class Lanes(_Schedule):
    """One schedule."""

    def draw(self) -> tuple[Told, ...]:
        """Consumers first."""
        for func in reversed(list(self.model.args)):
            placed, nests = self._place(func), self.model.nests[func]
            if not placed and len(nests) > 1:  # in every lane of each reader, it would be written out as often
                self.inside[func] = ()
                self.told.append(Told(func, 0, "compute_root"))
                placed = True
            for nest in nests if placed else ():
                self._loops(Drawing(self.case, self.rng, nest, nests, self.told))
            if placed and func not in self.case.outputs and self.rng.random() < 0.2:
                kind = self.rng.choice([MemoryType.Heap, MemoryType.Stack, MemoryType.Auto])
                self.told.append(Told(func, 0, "store_in", (kind,)))
        return tuple(self.told)

    def _loops(self, d: Drawing) -> None:
        r = self.rng
        if sum(loop.pure for loop in d.nest.loops) > 1 and r.random() < 0.2:
            self._tiled(d)
        pure = [loop for loop in d.nest.loops if loop.pure]
        if not pure:
            self._reduced(d)
            return
        x = pure[-1] if r.random() < 0.85 else r.choice(pure)
        roll = r.random()
        if roll < 0.55:
            self._vector(d, x)
        elif roll < 0.75:  # vectors in a tile of a row
            inner = self._split(d, x, r.choice([16, 20, 32, 40, 64]))
            self._vector(d, inner)
        elif roll < 0.9:
            self._vector(d, x)
            self._unrolled(d, r.choice([2, 3, 4]))
        else:
            self._unrolled(d, r.choice([2, 3, 8]))
        if r.random() < 0.25:
            self._threads(d)

    def _reduced(self, d: Drawing) -> None:
        """A reduction's own loop in lanes, where its operator and the places that it writes let it."""
        r = self.rng
        loops = [loop for loop in d.nest.loops if loop.kind is LoopKind.SERIAL]
        if not loops or r.random() < 0.4:
            return
        loop, k = loops[-1], r.choice([2, 4, 8, 16])
        if r.random() < 0.5:
            d.tell("atomic")
            method = "vectorize"
        else:
            method = r.choice(["unroll", "unroll", "vectorize"])
        d.tell(method, Loop(loop.name), number(k, INT32))

    def _tail(self, d: Drawing, loop: LoopModel, k: int) -> tuple[Given, ...]:
        r = self.rng
        if r.random() < _FORBIDDEN:
            return (r.choice(_TAILS),)
        if loop.extent is not None and (loop.extent % k or not loop.pure):
            return r.choice([(), (TailStrategy.GuardWithIf,)])
        if d.nest.steered or not loop.grows:
            return r.choice([(), (), (TailStrategy.GuardWithIf,)])
        tail = r.choice(_TAILS if d.nest.stage[1] == 0 else _FOR_UPDATES)
        return () if tail is TailStrategy.Auto else (tail,)

    def _split(self, d: Drawing, loop: LoopModel, k: int) -> LoopModel:
        outer, inner = d.fresh(f"{loop.name}o"), d.fresh(f"{loop.name}i")
        d.tell("split", Loop(loop.name), Loop(outer), Loop(inner), number(k, INT32), *self._tail(d, loop, k))
        d.split(loop, outer, inner, k)
        return d.nest.loops[d.nest.index(inner)]

    def _vector(self, d: Drawing, loop: LoopModel) -> None:
        if any(each.kind is LoopKind.VECTORIZED for each in d.nest.loops):
            return
        lanes = [k for k in LANES if loop.extent is None or k <= loop.extent] or [1]
        k = self.rng.choice(lanes)
        d.tell("vectorize", Loop(loop.name), number(k, INT32), *self._tail(d, loop, k))
        inner = d.inner(loop, "v")
        d.split(loop, loop.name, inner, k)
        d.nest.run_as(inner, LoopKind.VECTORIZED)

    def _unrolled(self, d: Drawing, k: int) -> None:
        loop = d.pick(lambda each: each.kind is LoopKind.SERIAL and each.pure)
        if loop is not None:
            d.tell("unroll", Loop(loop.name), number(k, INT32), *self._tail(d, loop, k))
            inner = d.inner(loop, "u")
            d.split(loop, loop.name, inner, k)
            d.nest.run_as(inner, LoopKind.UNROLLED)

    def _tiled(self, d: Drawing) -> None:
        y, x = [loop for loop in d.nest.loops if loop.pure][-2:]
        names = [d.fresh(f"{loop.name}{letter}") for letter in "oi" for loop in (x, y)]
        factors = self.rng.choice([8, 16, 32, 50]), self.rng.choice([1, 2, 3])
        tail = self._tail(d, x, factors[0])
        given = (x.name, y.name, *names)
        d.tell("tile", *map(Loop, given), *(number(k, INT32) for k in factors), *tail)
        d.split(x, names[0], names[2], factors[0])
        d.split(y, names[1], names[3], factors[1])
        d.nest.reorder([names[2], names[3], names[0], names[1]])

    def _threads(self, d: Drawing) -> None:
        loop = d.pick(lambda each: each.pure and each.kind is LoopKind.SERIAL)
        if loop is not None:
            d.tell("parallel", Loop(loop.name))
            d.nest.run_as(loop.name, LoopKind.PARALLEL)


def draw_lanes(case: Case, rng: random.Random) -> Case:
    """The case with a schedule."""
    return replace(case, directives=Lanes(case, rng).draw())
