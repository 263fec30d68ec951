"""Schedules without vectors: loops left alone, unrolled, cut into pieces of a small constant length.

In: a case without a schedule. Out: the case with one, legal as far as the model of nests knows.
"""

from __future__ import annotations

import random
from dataclasses import replace

from halide_core.ir import LoopKind
from halide_core.ir.types import INT32
from halide_core.schedule.directives import TailStrategy
from tests.campaigns.fuzz.case import Case, Given, Loop, Told
from tests.campaigns.fuzz.directives import Drawing
from tests.campaigns.fuzz.draw_schedule import _Schedule
from tests.campaigns.fuzz.families import METHODS
from tests.campaigns.fuzz.nests import LoopModel
from tests.campaigns.fuzz.terms import number

COPIES = (2, 2, 3, 4, 4, 4, 5, 6, 7, 8, 8)
_TAILS = (TailStrategy.GuardWithIf, TailStrategy.RoundUp, TailStrategy.ShiftInwards)
_ALONE = 0.12
"""So often nothing is said at all."""
_FACTORED = 0.4
"""So often a reduction is factored, where there is one."""


class Copies(_Schedule):
    """One schedule."""

    def draw(self) -> tuple[Told, ...]:
        """Consumers first."""
        for func in reversed(list(self.model.args)):
            placed, nests = self._place(func), self.model.nests[func]
            if not placed and (len(nests) > 1 or self.rng.random() < 0.5):
                self.inside[func] = ()
                self.told.append(Told(func, 0, "compute_root"))
                placed = True
            for nest in nests if placed else ():
                self._loops(Drawing(self.case, self.rng, nest, nests, self.told))
        return tuple(self.told)

    def _loops(self, d: Drawing) -> None:
        r = self.rng
        few = next((loop for loop in d.nest.loops if loop.name == "c" and loop.pure), None)
        if few is not None and r.random() < 0.8:
            self._channels(d, few)
        if not d.nest.loops or r.random() < 0.2:
            return
        inner = [loop for loop in d.nest.loops if loop.kind is LoopKind.SERIAL]
        if not inner:
            return
        loop = inner[-1] if r.random() < 0.7 else r.choice(inner)
        roll = r.random()
        if roll < 0.12 and loop.extent is not None and loop.extent <= max(COPIES):
            d.tell("unroll", Loop(loop.name))
        elif roll < 0.7:
            self._unrolled(d, loop)
        elif roll < 0.9:
            short = self._split(d, loop)
            if r.random() < 0.3:
                d.tell("unroll", Loop(short.name))
                d.nest.run_as(short.name, LoopKind.UNROLLED)
        if r.random() < 0.08:
            outer = d.pick(lambda each: each.pure and each.kind is LoopKind.SERIAL)
            if outer is not None:
                d.tell("parallel", Loop(outer.name))

    def _channels(self, d: Drawing, few: LoopModel) -> None:
        """A loop of a few inside of the row's: written out, or left to gcc, which knows its length."""
        (func, stage), (low, extent) = d.nest.stage, self.case.windows[0][self.model.args[d.nest.stage[0]].index("c")]
        known = func in self.case.outputs and stage == 0
        if known:
            d.tell("bound", Loop("c"), number(low, INT32), number(extent, INT32))
        names = [loop.name for loop in reversed(d.nest.loops) if loop.name != few.name]
        if d.nest.loops[-1].name != few.name and names:
            d.nest.reorder([few.name, *names])
            d.tell("reorder", *map(Loop, [few.name, *names]))
        if self.rng.random() < 0.7:
            d.tell("unroll", Loop(few.name), *(() if known else (number(extent, INT32), TailStrategy.GuardWithIf)))
            d.nest.run_as(few.name, LoopKind.UNROLLED)

    def _tail(self, d: Drawing, loop: LoopModel, k: int) -> tuple[Given, ...]:
        r = self.rng
        if loop.name[0] in "cy":  # there are no more of them in the inputs
            return (TailStrategy.GuardWithIf,)
        if (loop.extent is not None and loop.extent % k) or not loop.pure or d.nest.steered or not loop.grows:
            return r.choice([(), (TailStrategy.GuardWithIf,)])
        return r.choice([(), (r.choice(_TAILS[: 3 if d.nest.stage[1] == 0 else 2]),)])

    def _unrolled(self, d: Drawing, loop: LoopModel) -> None:
        k = self.rng.choice(COPIES)
        d.tell("unroll", Loop(loop.name), number(k, INT32), *self._tail(d, loop, k))
        inner = d.inner(loop, "u")
        d.split(loop, loop.name, inner, k)
        d.nest.run_as(inner, LoopKind.UNROLLED)

    def _split(self, d: Drawing, loop: LoopModel) -> LoopModel:
        k = self.rng.choice(COPIES)
        outer, inner = d.fresh(f"{loop.name}o"), d.fresh(f"{loop.name}i")
        d.tell("split", Loop(loop.name), Loop(outer), Loop(inner), number(k, INT32), *self._tail(d, loop, k))
        d.split(loop, outer, inner, k)
        return d.nest.loops[d.nest.index(inner)]


def draw_copies(case: Case, rng: random.Random) -> Case:
    """The case with a schedule."""
    if rng.random() < _ALONE:
        return case
    if rng.random() < _FACTORED:
        factored = METHODS["rfactor"].draw(case, rng)
        if factored is not None:
            return factored
    return replace(case, directives=Copies(case, rng).draw())
