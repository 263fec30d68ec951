"""Regions that depend on which case of a specialized stage a run takes.

In: clauses whose paths pass through cases, and how to take one clause's box into a union. Out: one box, whose ends
choose by the cases' conditions where the cases need different points.

    n >= 8 => g[x + 8] in ?cpu g;  !(n >= 8) => g[x] in ?cpu g    ->   ?cpu g.x.min = f.min + select(n >= 8, 8, 0)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.conditions import assume_condition, known_values
from halide_core.analysis.prover import Facts
from halide_core.analysis.prune_selects import assume
from halide_core.analysis.simplify import Simplifier
from halide_core.bounds.infer.boxes import Box, Side
from halide_core.bounds.query.query import Clause, Path, Taken
from halide_core.ir import BinaryOp, ExprNode, Select
from halide_core.ir.types import BOOL, INT64
from halide_core.ir.visitor import Substitution, subexpressions
from halide_core.loop_nest import Program, StageKey

Join = Callable[[Box | None, Clause], Box]
"""The smallest box around another and the points of a clause."""

_Cased = tuple[Clause, tuple[Taken, ...]]


def gather(
    program: Program, box: Box | None, clauses: Sequence[Clause], stop: Path, facts: Facts, join: Join
) -> Box | None:
    """``box`` and what every clause needs, in terms of what is bound at ``stop``, where ``facts`` hold."""
    return _Gathering(program, facts, join).all(box, [(c, _cases_below(c, stop)) for c in clauses])


def _cases_below(clause: Clause, stop: Path) -> tuple[Taken, ...]:
    """The cases that a clause's path passes through, outermost first."""
    found = [binder for binder in clause.path.up_to(stop) if isinstance(binder, Taken)]
    return tuple(reversed(found))


class _Gathering:
    def __init__(self, program: Program, facts: Facts, join: Join) -> None:
        self._program = program
        self._facts = facts
        self._join = join

    def all(self, box: Box | None, clauses: Sequence[_Cased]) -> Box | None:
        """The clauses outside of cases first, then one specialized stage after another."""
        stages: dict[tuple[Function, int], dict[int, list[_Cased]]] = {}
        for clause, cases in clauses:
            if not cases:
                box = self._join(box, clause)
                continue
            key = cases[0].key
            by_number = stages.setdefault((key.func, key.stage), {})
            by_number.setdefault(key.specialization, []).append((clause, cases[1:]))
        for (func, stage), by_number in stages.items():
            found: list[tuple[ExprNode, Box | None]] = [
                (case.condition, self.all(box, by_number.get(case.number, [])))
                for case in self._program.cases(func, stage)
                if not case.fails
            ]
            box = self._first_that_holds(found)
        return box

    def _first_that_holds(self, found: list[tuple[ExprNode, Box | None]]) -> Box | None:
        """The box of the first condition that holds; the last needs none, since one case is always taken."""
        _, box = found[-1]
        for condition, other in reversed(found[:-1]):
            box = self._either(condition, other, box)
        return box

    def _either(self, condition: ExprNode, a: Box | None, b: Box | None) -> Box | None:
        if a is None or b is None:
            given = b if a is None else a
            if given is None:
                return None
            nothing = Box(tuple(Side(s.low, ir.sub(s.low, ir.ONE)) for s in given.whole()), given.when)
            a, b = (given, nothing) if b is None else (nothing, given)
        sides = [self._either_side(condition, x, y) for x, y in zip(a.whole(), b.whole(), strict=True)]
        return Box(tuple(sides), self._either_when(condition, a.when, b.when))

    def _either_side(self, condition: ExprNode, a: Side, b: Side) -> Side:
        low, high = (either(condition, x, y, self._facts) for x, y in ((a.low, b.low), (a.high, b.high)))
        return Side(low, high, tuple(dict.fromkeys(a.evidence + b.evidence)))

    def _either_when(self, condition: ExprNode, a: ExprNode, b: ExprNode) -> ExprNode:
        if a is b:
            return a
        chosen = (ir.conjunction(condition, a), ir.conjunction(ir.Not(BOOL, condition), b))
        return Simplifier(self._facts).expr(ir.binary(BinaryOp.OR, *chosen))


def chosen_ends(e: ExprNode, condition: ExprNode) -> tuple[ExprNode, ExprNode]:
    """The values of an expression where a condition holds, and where it does not."""
    return (e.a, e.b) if isinstance(e, Select) and e.condition is condition else (e, e)


Need = tuple[StageKey | None, ExprNode]
"""A nest, and how long a dimension must at least be in the runs that take it."""


def by_case(program: Program, needs: Sequence[Need], length: ExprNode, facts: Facts) -> list[ExprNode]:
    """Lower bounds of a length, one for each need that is apart. The needs of a specialized stage make
    one, which depends on the case; a case that needs no more than ``length`` needs nothing."""
    found: list[ExprNode] = []
    stages: dict[tuple[Function, int], dict[int, ExprNode]] = {}
    for key, least in needs:
        if key is None or (key.func, key.stage) not in program.specialized:
            found.append(least)
            continue
        cases = stages.setdefault((key.func, key.stage), {})
        known = cases.get(key.specialization)
        cases[key.specialization] = least if known is None else Simplifier(facts).maximum(known, least)
    for (func, stage), cases in stages.items():
        tried = [(case, cases.get(case.number, ir.ZERO)) for case in program.cases(func, stage) if not case.fails]
        if len({least for _, least in tried}) > 1:
            tried = [(c, ir.ZERO if _has(program.taken(StageKey(func, stage, c.number)), n, length, facts) else n)
                     for c, n in tried]  # fmt: skip
        _, least = tried[-1]
        for case, other in reversed(tried[:-1]):
            least = either(case.condition, other, least, facts)
        if least is not ir.ZERO:
            found.append(least)
    return found


def _has(when: ExprNode, least: ExprNode, length: ExprNode, facts: Facts) -> bool:
    inner = Facts(facts)
    assume_condition(inner, when)
    return inner.proves_le(least, length)


def same(a: ExprNode, b: ExprNode, facts: Facts) -> bool:
    """True where two expressions are found equal, case by case of the conditions in them: False says nothing."""
    return _same(a, b, facts, _CONDITIONS)


_CONDITIONS = 6
"""So many conditions are told apart at most."""


def _same(a: ExprNode, b: ExprNode, facts: Facts, most: int) -> bool:
    simplifier = Simplifier(facts)
    a, b = simplifier.expr(a), simplifier.expr(b)
    if a is b or (facts.proves_le(a, b) and facts.proves_le(b, a)):
        return True
    condition = next((e.condition for e in subexpressions([a, b]) if isinstance(e, Select)), None)
    if condition is None or most == 0:
        return False
    for holds in (True, False):
        inner = Facts(facts)
        assume_condition(inner, condition, holds)
        x, y = (assume(e, condition, holds=holds) for e in (a, b))
        if not _same(x, y, inner, most - 1):
            return False
    return True


def either(condition: ExprNode, a: ExprNode, b: ExprNode, facts: Facts) -> ExprNode:
    """``select(condition, a, b)``, or one of the two where it is right in both cases."""
    if a is b or _same_where(condition, True, a, b, facts):
        return b
    if _same_where(condition, False, a, b, facts):
        return a
    sides = (assume(a, condition, holds=True), assume(b, condition, holds=False))
    return Simplifier(facts).expr(Select(INT64, condition, *sides))


def _same_where(condition: ExprNode, holds: bool, a: ExprNode, b: ExprNode, facts: Facts) -> bool:
    inner = Facts(facts)
    assume_condition(inner, condition, holds)
    known, simplifier = Substitution(known_values(condition, holds)), Simplifier(inner)
    return simplifier.expr(known.expr(a)) is simplifier.expr(known.expr(b))
