"""Simplification of a whole tree, each expression under the facts of its place.

In: a filled tree. Out: an equal one, whose guards and bounds are decided where loops and lets decide them, and in which
a loop of one iteration is that iteration; what a constant guard lets no iteration do behind is no part of its loop.

    for x in (0, 8): if x < 8: s    ->    for x in (0, 8): s
    for y in (a, 1): f[x, y] = s    ->    f[x, a] = s
    for x in (0, 8): if x + 96 < 100: s   ->    for x in (0, 4): s
"""

from __future__ import annotations

from dataclasses import replace

from halide_core import ir
from halide_core.analysis.conditions import assume_condition, known_values
from halide_core.analysis.linear import difference, linear_of
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import Simplifier
from halide_core.ir import (
    Allocate,
    Assert,
    Binary,
    BinaryOp,
    Block,
    ExprNode,
    For,
    If,
    Interval,
    IntImm,
    Let,
    LoopKind,
    Stmt,
)
from halide_core.ir.logic import conjuncts
from halide_core.ir.types import INT64
from halide_core.ir.visitor import ALL, free_variables, stmt_exprs, walk
from halide_core.lowering.passes.loop_shapes import guard_of


def simplify_tree(stmt: Stmt, settled: frozenset[Stmt] = frozenset()) -> Stmt:
    """Simplifies every expression, drops what never runs, and unwraps what always does.

    Args:
        settled: statements that are simple where they stand, with all that is in them: they stay.
    """
    return _scope(stmt, _Simplify(Facts(), {}, settled))


def _scope(stmt: Stmt, here: _Simplify) -> Stmt:
    """One statement, by what is known where it stands."""
    if stmt in here.settled:
        return stmt
    match stmt:
        case Block(stmts=stmts):
            return _block(stmts, here)
        case For(loop=loop, var=var, bounds=bounds, kind=kind, pure=pure, body=body):
            over = here.interval(bounds)
            if isinstance(over.len, IntImm) and over.len.value <= 0:
                return ir.NOTHING
            if over.len is ir.ONE and kind in (LoopKind.SERIAL, LoopKind.UNROLLED):
                return _block((Let(var, over.min, None), body), here)
            inner = Facts(here.facts)
            assume_loop(inner, var, over)
            inside = _scope(body, here.under(inner))
            shorter = _without_idle(var, over, inside)
            if shorter is not None:
                return _scope(For(loop, var, shorter, kind, pure, inside), here)
            return For(loop, var, over, kind, pure, inside)
        case If(condition=condition, then=then, otherwise=otherwise):
            test = here.expr(condition)
            if test is ir.TRUE:
                return _scope(then, here)
            other = None if otherwise is None else _where(otherwise, test, False, here)
            if test is ir.FALSE:
                return ir.NOTHING if other is None else other
            first = _where(then, test, True, here)
            return If(test, first, None if other is ir.NOTHING else other)
        case Assert(condition=condition):
            changed = here.stmt(stmt)
            return ir.NOTHING if isinstance(changed, Assert) and changed.condition is ir.TRUE else changed
        case ir.Fork(producer=producer, consumer=consumer, semaphores=semaphores):
            return ir.Fork(_scope(producer, here), _scope(consumer, here), semaphores)
        case ir.FirstLanes(count=count, body=body):
            return ir.FirstLanes(here.expr(count), _scope(body, here))
        case ir.Label(func=func, stage=stage, body=body):
            return ir.Label(func, stage, _scope(body, here))
        case ir.Remember(body=body):
            outside = here.stmt(replace(stmt, body=ir.NOTHING))
            assert isinstance(outside, ir.Remember)
            return replace(outside, body=_scope(body, here))
    return here.stmt(stmt)


def _without_idle(var: ir.Variable, over: Interval, body: Stmt) -> Interval | None:
    """The iterations of a loop of a constant length but those behind a constant, from which on its guard fails: nothing
    else is in it, as in what a split leaves of a tile that it doesn't divide. None where none is idle."""
    match over:
        case Interval(min=IntImm(value=low), len=IntImm(value=length)):
            ends = [e for c in conjuncts(guard_of(body)) if (e := _end(var, c)) is not None]
            end = min(ends, default=low + length)
            return Interval(over.min, ir.i64(max(0, end - low))) if end < low + length else None
    return None


def _end(var: ir.Variable, condition: ExprNode) -> int | None:
    """The constant from which on a comparison does not hold of a variable."""
    match condition:
        case Binary(op=BinaryOp.LT | BinaryOp.LE as op, a=a, b=b) if a.type is INT64:
            gap = difference(b, a)  # -var + const
            if gap.terms == {var: -1}:
                return gap.const + (op is BinaryOp.LE)
    return None


def _where(stmt: Stmt, test: ExprNode, holds: bool, here: _Simplify) -> Stmt:
    """A statement that runs where a condition holds, or where it does not."""
    inner = Facts(here.facts)
    assume_condition(inner, test, holds)
    return _scope(stmt, here.under(inner, {**here.constants, **known_values(test, holds)}))


def _block(stmts: tuple[Stmt, ...], outside: _Simplify) -> Stmt:
    inner = Facts(outside.facts)
    here = outside.under(inner, dict(outside.constants))
    result: list[Stmt] = []
    for i, s in enumerate(stmts):
        if isinstance(s, Let):
            value = here.expr(s.value)
            if isinstance(value, IntImm | ir.Variable | ir.BufferField):
                here = here.binding(s.var, value)
                if here.settles_with(s.var, stmts[i + 1 :]):
                    result.append(Let(s.var, value, None))
                continue
            within = None if s.within is None else here.interval(s.within)
            if s.var.type is INT64:
                inner.assume_range(s.var, value, value)
                if within is not None:
                    assume_loop(inner, s.var, within)
                if within is not None or here.has_met(s.var):
                    here = here.under(inner, {e: v for e, v in here.constants.items() if e is not s.var})
            result.append(Let(s.var, value, within))
            continue
        changed = _scope(s, here)
        if changed is not ir.NOTHING:
            result.append(changed)
        if isinstance(s, Assert):
            assume_condition(inner, s.condition)
            known = known_values(s.condition)  # a promised extent of 3 is what a loop to be unrolled has
            known = {e: v for e, v in known.items() if isinstance(e, ir.BufferField | ir.ParamRef)}
            here = here.under(inner, {**here.constants, **known})
    while result and isinstance(result[-1], Let | Allocate):  # nothing is left that it is for
        result.pop()
    return ir.block(result) if result else ir.NOTHING


class _Simplify(Simplifier):
    """A simplifier that also puts constants in place of what stands for them: let variables for literals or variables,
    parts of the conditions around for what they are worth. It is right as long as nothing more is known of what it has
    met."""

    _changes = ALL

    def __init__(self, facts: Facts, constants: dict[ExprNode, ExprNode], settled: frozenset[Stmt]) -> None:
        super().__init__(facts)
        self.constants = constants
        self.settled = settled
        self._memo.update(constants)

    def has_met(self, e: ExprNode) -> bool:
        """True where something simplified so far may hang on an expression."""
        return e in self._memo

    def settles_with(self, var: ir.Variable, rest: tuple[Stmt, ...]) -> bool:
        """True where a statement that stays as it is mentions a variable: the variable must stay, too."""
        kept = (each for s in rest for each in walk(s) if each in self.settled) if self.settled else ()
        return any(var in free_variables(e) for each in kept for e in stmt_exprs(each))

    def under(self, facts: Facts, constants: dict[ExprNode, ExprNode] | None = None) -> _Simplify:
        """A simplifier where other facts hold, and what stands for something there."""
        return _Simplify(facts, self.constants if constants is None else constants, self.settled)

    def binding(self, var: ir.Variable, value: ExprNode) -> _Simplify:
        """The simplifier that also knows what a variable stands for from here on."""
        if self.has_met(var):
            return self.under(self.facts, {**self.constants, var: value})
        self.constants[var] = self._memo[var] = value
        return self


def assume_loop(facts: Facts, var: ir.Variable, bounds: Interval) -> None:
    """Assumes what holds inside a loop: its variable's range, and that it runs at least once."""
    last = Simplifier(facts).expr(ir.sub(ir.add(bounds.min, bounds.len), ir.ONE))
    facts.assume_range(var, bounds.min, last)
    if not isinstance(bounds.len, IntImm):
        form = linear_of(bounds.len)
        if len(form.terms) == 1 and form.const == 0:
            facts.assume_at_least(bounds.len, ir.ONE)
