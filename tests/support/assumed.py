"""Everything that bounds inference took for true, asserted where it said so: a program that the interpreter judges.

In: a query with its answers. Out: the filled tree with an Assert for each fact along the query's paths, and for the
ranges of values of each stage. What does not hold is a wrong answer that waits for the program whose memory becomes too
small by it.

    ?loop w.x.len >= 3, said inside o.x   ->   for o.x: let w.new.x.len = …; assert 3 <= w.new.x.len; …

A path is about what is needed: its conditions, and the intervals that it keeps lets within, stand around the assertion
where the tree does not ask for them itself. Of iterations that run at once nothing is asserted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import dropwhile

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.interval import type_range
from halide_core.analysis.value_ends import ValueEnds, between
from halide_core.analysis.value_range import ValueRanges
from halide_core.bounds.infer.substitute import fill
from halide_core.bounds.query.answers import Answers
from halide_core.bounds.query.query import Binder, Choice, Define, Path, Query, Where
from halide_core.ir import (
    Assert,
    Block,
    Event,
    ExprNode,
    Failure,
    If,
    LoopKind,
    LoopName,
    Print,
    Provide,
    Stmt,
)
from halide_core.ir.logic import within
from halide_core.ir.visitor import subexpressions
from halide_core.loop_nest import Level, Nest, Program, StageKey, cpu_box

Place = Level | StageKey
"""The head of a level; or right before an assignment, under none of its conditions."""


def with_assumptions(query: Query, answers: Answers) -> Stmt:
    """The filled tree, with what its answers rest on."""
    return _Assumptions(query, answers).tree()


class _Assumptions:
    def __init__(self, query: Query, answers: Answers) -> None:
        self._query = query
        self._answers = answers
        self._levels = {path: level for level, path in query.scopes.items()}
        self._cores = {_entered(query, key): key for key in query.writes}
        self._above: dict[Path, Place] = {}
        """Paths between two places, with the one below."""
        for path, place in [*self._levels.items(), *self._cores.items()]:
            at = path.parent
            while at is not None and at not in self._levels:
                self._above.setdefault(at, place)
                at = at.parent
        self._found: dict[Place, list[Stmt]] = {}

    def tree(self) -> Stmt:
        for path, (least, most) in self._answers.facts.said():
            self._assert(path, ir.less_equal(least, most))
        program = self._query.program
        values = _Values(program)
        at_once: set[LoopName] = set()
        nests: dict[StageKey, Nest] = {}
        for key, nest in program.nests.items():
            inside = [loop.name for loop in dropwhile(lambda each: each.kind is not LoopKind.AT_ONCE, nest.loops)]
            at_once.update(inside)
            lets = [_assertion(e, "a let: ") for e in _kept_within(_entered(self._query, key).up_to(self._query.top))]
            asserted = Block((*lets, *self._found.get(key, ()), values.asserted(key, nest.core)))
            core = nest.core if inside else asserted
            nests[key] = replace(nest, core=core)
        filled = replace(program, nests=nests)
        return fill(filled, self._answers, lambda level: [] if level in at_once else self._found.get(level, []))

    def _assert(self, path: Path, fact: ExprNode) -> None:
        if fact is ir.TRUE:
            return
        place, below = self._place(path)
        kept = [*_kept_within(path.up_to(self._query.top)), *(b.condition for b in below if isinstance(b, Where))]
        self._found.setdefault(place, []).append(_under(kept, _assertion(fact, "assumed: ")))

    def _place(self, path: Path) -> tuple[Place, list[Binder]]:
        """Where a path's end is, and the binders of it that are left below that, outermost first."""
        below: list[Binder] = []
        at = path
        while True:
            if at in self._levels and (not below or at not in self._cores):
                return self._levels[at], below
            if at in self._above:
                return self._above[at], below
            if at in self._cores:
                return self._cores[at], below
            assert at.binder is not None and at.parent is not None
            assert isinstance(at.binder, Where | Choice), "what binds a variable stands above a level or an assignment"
            below.insert(0, at.binder)
            at = at.parent


class _Values:
    """The ranges of what stages write where it counts, in their compute bounds."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._ranges = ValueRanges()
        self._ends = ValueEnds(self._ranges)

    def asserted(self, key: StageKey, core: Stmt) -> Stmt:
        """An assignment under its conditions, with what is known of its values."""
        if isinstance(core, If):
            return replace(core, then=self.asserted(key, core.then))
        assert isinstance(core, Provide)
        claims = [c for k, value in enumerate(core.values) for c in self._claims(key.func, k, value)]
        if not claims or any(isinstance(e, Print | Event) for e in subexpressions(core.values)):
            return core
        boxes = zip(core.args, cpu_box(key.func, key.stage), strict=True)
        within_bounds = [within(arg, bounds) for arg, bounds in boxes]
        found = [_assertion(c, "a value: ") for c in claims]
        return Block((_under(within_bounds, Block(tuple(found))), core))

    def _claims(self, f: Function, component: int, value: ExprNode) -> list[ExprNode]:
        found = between(value, self._ends.of_function(f, component))
        (low, high), (least, most) = self._ranges.of_function(f, component), type_range(value.type)
        if low > least and math.isfinite(low):
            found.append(ir.less_equal(_const(low, value), value))
        if high < most and math.isfinite(high):
            found.append(ir.less_equal(value, _const(high, value)))
        return found


def _const(end: float, like: ExprNode) -> ExprNode:
    return ir.const(end if like.type.is_float() else int(end), like.type)


def _assertion(claim: ExprNode, of: str) -> Stmt:
    return Assert(claim, Failure.ASSERTION, (of, str(claim)))


def _under(conditions: Sequence[ExprNode], stmt: Stmt) -> Stmt:
    for condition in reversed(conditions):
        stmt = If(condition, stmt, None)
    return stmt


def _entered(query: Query, key: StageKey) -> Path:
    """The path down to an assignment, without its conditions."""
    path, core = query.writes[key].path, query.program.nests[key].core
    while isinstance(core, If) and (key.stage or not key.func.keeps):
        assert path.parent is not None, "each condition is a binder"
        path, core = path.parent, core.then
    return path


def _kept_within(binders: Iterator[Binder]) -> Iterator[ExprNode]:
    """The conditions that lets lie where the path keeps them."""
    for b in reversed(list(binders)):
        if isinstance(b, Define) and b.within is not None:
            yield within(b.var, b.within)
