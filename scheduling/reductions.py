"""Legality of reduction loops that trade places, or run at once.

In: a nest, what a directive makes of its loops. Out: how they take the iterations that touch one point from then on, or
a ScheduleError with the legal choices.

    f[x] += g[x, r.x, r.y]       r.x and r.y trade places: sums may be taken in any order
    f[r.x, r.y] = f[r.x, r.y-1]  r.x goes anywhere, and is a loop of threads or lanes: no iteration of it meets another
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from halide_core.algorithm.model import AlgebraicLaw
from halide_core.analysis.associativity import law_of
from halide_core.errors import DependenceError
from halide_core.ir import LoopKind
from halide_core.loop_nest import Loop, Nest, Order, Program, StageKey, provided
from halide_core.schedule.directives import Fuse, Reorder, Traverse
from halide_core.scheduling.dependence import variables_apart
from halide_core.scheduling.legality import described, refuse


def in_new_order(program: Program, key: StageKey, loops: Sequence[Loop], d: Reorder | Fuse) -> Program:
    """The program with the loops of a nest in another order.

    Legal when: reduction loops keep their order; or those that trade places with others keep iterations apart, by all
    of the variables that they run over; or the update takes in values by an operator that is associative and
    commutative, which may have been said by ``atomic``.
    """
    nest = program.nests[key]
    before = [loop for loop in nest.loops if loop.reduces]
    after = [loop for loop in loops if loop.reduces]
    order = nest.order
    if order is Order.IN_ORDER and before != after:
        order = Order.INDEPENDENT
    if order is not Order.COMMUTATIVE and _meeting(key, before) != _meeting(key, after):
        order = Order.COMMUTATIVE
        if not provided(nest.core).atomic:
            law = _any_order(key, before, d)
            program = replace(program, algorithm=replace(program.algorithm, laws=(*program.algorithm.laws, law)))
    changed = replace(nest, loops=tuple(loops), order=order)
    if nest.waiver is None and not provided(nest.core).atomic:
        for loop in loops:
            if loop.reduces and loop.kind in _AT_ONCE and not _apart_inside(key, changed, loop):
                refuse(
                    d,
                    f'iterations of the {loop.kind.value} loop "{loop.name.var}" may meet in one point, but for those '
                    f"of one iteration of the loops around it now.",
                    DependenceError,
                )
    return program.with_nest(key, changed)


def _any_order(key: StageKey, before: Sequence[Loop], d: Reorder | Fuse) -> AlgebraicLaw:
    func, stage = key.func, key.stage
    law = law_of(func, func.definitions[stage])
    if law is None or not law.commutes:
        told = "the update" if law is None else law.told()
        refuse(
            d,
            f"it would change the order in which values are taken in, and with it the result: {told} is not known to "
            f"be associative and commutative, and iterations of these loops may meet in one point. They must stay, "
            f"innermost first: {described(before)}.",
            DependenceError,
        )
    return AlgebraicLaw(d, law)


def _meeting(key: StageKey, loops: Sequence[Loop]) -> list[Loop]:
    """Those of some reduction loops of which two iterations may touch one point."""
    apart = variables_apart(key.func, key.stage)
    return [loop for loop in loops if not apart.issuperset(loop.reduces)]


_AT_ONCE = frozenset({LoopKind.PARALLEL, LoopKind.VECTORIZED})


def _apart_inside(key: StageKey, nest: Nest, loop: Loop) -> bool:
    """True where no two iterations of a reduction loop, in one iteration of those around it, touch one point."""
    at = nest.loops.index(loop)
    moving = {v for each in nest.loops[at:] for v in each.reduces}
    fixed = frozenset(v for each in nest.loops[:at] for v in each.reduces if v not in moving)
    return variables_apart(key.func, key.stage, fixed).issuperset(loop.reduces)


def check_at_once(program: Program, key: StageKey, loop: Loop, d: Traverse) -> None:
    """Checks that the iterations of a reduction loop may run as threads or as lanes.

    Legal when: they keep apart, by each of the variables that the loop runs over, in one iteration of the loops around
    it: that another one of those is done before is their own affair; or the update is atomic; or the user allowed race
    conditions.
    """
    nest = program.nests[key]
    if _apart_inside(key, nest, loop) or (nest.waiver is not None and not provided(nest.core).atomic):
        return
    if provided(nest.core).atomic:
        return
    legal = described(each for each in nest.loops if _apart_inside(key, nest, each))
    subject = d.own.subject()
    turns = f"{subject}.atomic() makes iterations that meet take turns; and " if _takes_turns(key, d) else ""
    refuse(
        d,
        f'"{d.var}" is a reduction loop of which two iterations may meet in one point, so that one depends on the '
        f"other. The loops of this stage whose iterations never do, innermost first: {legal}. Before this line, "
        f"{turns}where you know that no two iterations write one point, {subject}.allow_race_conditions() takes your "
        f"word for it.",
        DependenceError,
    )


def _takes_turns(key: StageKey, d: Traverse) -> bool:
    """True where ``atomic`` would make the loop legal."""
    law = law_of(key.func, key.func.definitions[key.stage])
    return law is not None and law.commutes
