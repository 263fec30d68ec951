"""Legality of reduction loops that trade places, or run at once.

In: a nest, what a directive makes of its loops. Out: how they take the iterations that touch one point from then on, or
a ScheduleError with the legal choices.

    f[x] += g[x, r.x, r.y]       r.x and r.y trade places: sums may be taken in any order
    f[r.x, r.y] = f[r.x, r.y-1]  r.x goes anywhere, and is a loop of threads or lanes: no iteration of it meets another
    f[g[r.x]] += 1               r.x is one under f.update().atomic(): iterations that meet take turns, in any order
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

from halide_core.algorithm.model import AlgebraicLaw
from halide_core.analysis.associativity import law_of, updates_points
from halide_core.errors import DependenceError
from halide_core.ir import If, LoopKind, Provide, Stmt
from halide_core.loop_nest import Loop, Nest, Order, Program, StageKey
from halide_core.schedule.access_directives import Atomic
from halide_core.schedule.directives import Fuse, Reorder, StageDirective, Traverse
from halide_core.scheduling.dependence import variables_apart
from halide_core.scheduling.legality import described, refuse, stage_key
from halide_core.scheduling.phase0.atomic_laws import offer_of


def in_new_order(program: Program, key: StageKey, loops: Sequence[Loop], d: Reorder | Fuse) -> Program:
    """The program with the loops of a nest in another order.

    Legal when: reduction loops keep their order; or those that trade places with others keep iterations apart, by all
    of the variables that they run over; or the update takes in values by an operator that is associative and
    commutative, which may have been said by ``atomic``. No loop of threads or lanes may get iterations that meet by it,
    unless they take turns, or the user allowed race conditions.
    """
    nest = program.nests[key]
    before = [loop for loop in nest.loops if loop.reduces]
    after = [loop for loop in loops if loop.reduces]
    order = nest.order
    if order is Order.IN_ORDER and before != after:
        order = Order.INDEPENDENT
    if order is not Order.COMMUTATIVE and _meeting(key, before) != _meeting(key, after):
        order = Order.COMMUTATIVE
        program = _resting(program, _offer(program, nest) or _any_order(key, before, d))
    changed = replace(nest, loops=tuple(loops), order=order)
    program = program.with_nest(key, changed)
    racing = _racing(key, changed)
    if racing and nest.atomic is not None:
        return _in_turns(program, key, d)
    if racing and nest.waiver is None:
        refuse(
            d,
            f'iterations of the {racing[0].kind.value} loop "{racing[0].name.var}" may meet in one point, but for '
            f"those of one iteration of the loops around it now.",
            DependenceError,
        )
    return program


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


_OPERATORS = "+, *, min, max, &, | or ^"
_AT_ONCE = frozenset({LoopKind.PARALLEL, LoopKind.VECTORIZED})


def _apart_inside(key: StageKey, nest: Nest, loop: Loop) -> bool:
    """True where no two iterations of a reduction loop, in one iteration of those around it, touch one point."""
    at = nest.loops.index(loop)
    moving = {v for each in nest.loops[at:] for v in each.reduces}
    fixed = frozenset(v for each in nest.loops[:at] for v in each.reduces if v not in moving)
    return variables_apart(key.func, key.stage, fixed).issuperset(loop.reduces)


def _racing(key: StageKey, nest: Nest) -> list[Loop]:
    """The reduction loops of threads or lanes of which two iterations may touch one point."""
    return [
        loop for loop in nest.loops if loop.reduces and loop.kind in _AT_ONCE and not _apart_inside(key, nest, loop)
    ]


def atomic(program: Program, d: Atomic) -> Program:
    """Makes the updates of a stage atomic: iterations that meet take turns.

    Args:
        program: the program.
        d: the stage.

    Rewrite: once a directive after this one makes a reduction loop parallel or vectorized whose iterations may meet::

        f[x] = f[x] + g[r]   ->   atomic f[x] = f[x] + g[r]

    Legal when: always, as long as no such loop is. With one, the stage must read its Func where it writes it, and
    nowhere else, and its operator be associative and commutative (``phase0.atomic_laws``), if only by the user's word.

    Raises: ScheduleError.
    """
    key = stage_key(program, d)
    nest = replace(program.nests[key], atomic=d)
    program = program.with_nest(key, nest)
    return _in_turns(program, key, d) if _racing(key, nest) else program


def _in_turns(program: Program, key: StageKey, d: StageDirective) -> Program:
    """The program in which iterations of an atomic stage may meet: each of its updates is one step from here on, and
    the law that their order does not matter is one that the program rests on.

    Raises: ScheduleError at the directive by which they meet.
    """
    nest = program.nests[key]
    assert nest.atomic is not None
    offer = _offer(program, nest)
    if offer is None or not updates_points(key.func, key.func.definitions[key.stage]):
        _refuse_turns(key, nest.atomic, d)
    return _resting(program, offer).with_nest(key, replace(nest, core=_marked(nest.core)))


def _refuse_turns(key: StageKey, asked: Atomic, d: StageDirective) -> NoReturn:
    """The error of a directive by which iterations of an atomic stage meet that can take no turns."""
    func, definition = key.func, key.func.definitions[key.stage]
    meeting = f"iterations of the stage's reduction loops would meet in one point, and {asked.spelled()} can't help"
    if not updates_points(func, definition):
        name = func.own.name
        refuse(
            d,
            f'{meeting}: an atomic step reads one point of "{name}" and writes it, and the stage does not: it must '
            f'read "{name}" where it writes it, and nowhere else.',
            DependenceError,
        )
    law = law_of(func, definition)
    told = "the update" if law is None else law.told()
    refuse(
        d,
        f"{meeting}: {told} is not known to be associative and commutative, so the order of steps shows. Operators "
        f"that are: {_OPERATORS}. {d.own.subject()}.atomic(True) takes your word that the order does not matter.",
        DependenceError,
    )


def _offer(program: Program, nest: Nest) -> AlgebraicLaw | None:
    """The law that an atomic stage may rest on: that of its definition, from before Funcs in it were inlined."""
    return None if nest.atomic is None else offer_of(program.algorithm, nest.atomic)


def _resting(program: Program, law: AlgebraicLaw) -> Program:
    """The program with a law, once, among those that it takes for true."""
    algorithm = program.algorithm
    if law in algorithm.laws:
        return program
    return replace(program, algorithm=replace(algorithm, laws=(*algorithm.laws, law)))


def _marked(core: Stmt) -> Stmt:
    if isinstance(core, If):
        return replace(core, then=_marked(core.then))
    assert isinstance(core, Provide)
    return replace(core, atomic=True)


def at_once(program: Program, key: StageKey, loop: Loop, d: Traverse) -> Program:
    """The program in which the iterations of a reduction loop may run as threads or as lanes.

    Legal when: they keep apart, by each of the variables that the loop runs over, in one iteration of the loops around
    it: that another one of those is done before is their own affair; or the update is atomic, and its steps may come
    in any order; or the user allowed race conditions.
    """
    nest = program.nests[key]
    if _apart_inside(key, nest, loop):
        return program
    if nest.atomic is not None:
        return _in_turns(program, key, d)
    if nest.waiver is not None:
        return program
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
