"""Simplification of a whole tree, each expression under the facts of its place.

In: a filled tree. Out: an equal one, whose guards and bounds are decided where loops and lets decide them, and in which
a loop of one iteration is that iteration.

    for x in (0, 8): if x < 8: s    ->    for x in (0, 8): s
    for y in (a, 1): f[x, y] = s    ->    f[x, a] = s
"""

from __future__ import annotations

from halide_core import ir
from halide_core.analysis.conditions import assume_condition, known_values
from halide_core.analysis.linear import linear_of
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import Simplifier
from halide_core.ir import (
    Allocate,
    AllocateFlat,
    AnswerQuery,
    Assert,
    Block,
    Expr,
    For,
    If,
    Interval,
    IntImm,
    Let,
    LoopKind,
    Stmt,
)
from halide_core.ir.types import INT64
from halide_core.ir.visitor import Substitution


def simplify_tree(stmt: Stmt) -> Stmt:
    """Simplifies every expression, drops what never runs, and unwraps what always does."""
    return _scope(stmt, Facts(), {})


def _scope(stmt: Stmt, facts: Facts, constants: dict[Expr, Expr]) -> Stmt:
    """One statement. ``constants`` maps let variables to the literals or variables that they stand for, and parts of
    the conditions around to what they are worth."""
    simplifier = _Simplify(facts, constants)
    match stmt:
        case Block(stmts=stmts):
            return _block(stmts, facts, dict(constants))
        case For(loop=loop, var=var, bounds=bounds, kind=kind, pure=pure, body=body):
            over = simplifier.interval(bounds)
            if isinstance(over.len, IntImm) and over.len.value <= 0:
                return ir.NOTHING
            if over.len is ir.ONE and kind in (LoopKind.SERIAL, LoopKind.UNROLLED):
                return _block((Let(var, over.min, None), body), facts, dict(constants))
            inner = Facts(facts)
            assume_loop(inner, var, over)
            return For(loop, var, over, kind, pure, _scope(body, inner, constants))
        case If(condition=condition, then=then, otherwise=otherwise):
            test = simplifier.expr(condition)
            if test is ir.TRUE:
                return _scope(then, facts, constants)
            other = None if otherwise is None else _where(otherwise, test, False, facts, constants)
            if test is ir.FALSE:
                return ir.NOTHING if other is None else other
            first = _where(then, test, True, facts, constants)
            return If(test, first, None if other is ir.NOTHING else other)
        case Assert(condition=condition):
            changed = simplifier.stmt(stmt)
            return ir.NOTHING if isinstance(changed, Assert) and changed.condition is ir.TRUE else changed
        case ir.Fork(producer=producer, consumer=consumer, semaphores=semaphores):
            ahead, behind = _scope(producer, facts, constants), _scope(consumer, facts, constants)
            return ir.Fork(ahead, behind, semaphores)
        case ir.Label(func=func, stage=stage, body=body):
            return ir.Label(func, stage, _scope(body, facts, constants))
        case Allocate() | AllocateFlat() | AnswerQuery():
            return simplifier.stmt(stmt)
    return simplifier.stmt(stmt)


def _where(stmt: Stmt, test: Expr, holds: bool, facts: Facts, constants: dict[Expr, Expr]) -> Stmt:
    """A statement that runs where a condition holds, or where it does not."""
    inner = Facts(facts)
    assume_condition(inner, test, holds)
    return _scope(stmt, inner, {**constants, **known_values(test, holds)})


def _block(stmts: tuple[Stmt, ...], facts: Facts, constants: dict[Expr, Expr]) -> Stmt:
    inner = Facts(facts)
    result: list[Stmt] = []
    for s in stmts:
        if isinstance(s, Let):
            value = _Simplify(inner, constants).expr(s.value)
            if isinstance(value, IntImm | ir.Variable | ir.BufferField):
                constants[s.var] = value
                continue
            within = None if s.within is None else _Simplify(inner, constants).interval(s.within)
            if s.var.type is INT64:
                inner.assume_range(s.var, value, value)
                if within is not None:
                    assume_loop(inner, s.var, within)
            result.append(Let(s.var, value, within))
            continue
        changed = _scope(s, inner, constants)
        if changed is not ir.NOTHING:
            result.append(changed)
        if isinstance(s, Assert):
            assume_condition(inner, s.condition)
            known = known_values(s.condition)  # a promised extent of 3 is what a loop to be unrolled has
            constants.update({e: v for e, v in known.items() if isinstance(e, ir.BufferField | ir.ParamRef)})
    return ir.block(result) if result else ir.NOTHING


class _Simplify(Simplifier):
    """A simplifier that also puts constants in place of the variables that stand for them."""

    def __init__(self, facts: Facts, constants: dict[Expr, Expr]) -> None:
        super().__init__(facts)
        self._constants = Substitution(constants) if constants else None

    def expr(self, expr: Expr) -> Expr:
        """The simplified expression."""
        if self._constants is not None:
            expr = self._constants.expr(expr)
        return super().expr(expr)


def assume_loop(facts: Facts, var: ir.Variable, bounds: Interval) -> None:
    """What holds inside a loop: its variable's range, and that it runs at least once."""
    last = Simplifier(facts).expr(ir.sub(ir.add(bounds.min, bounds.len), ir.ONE))
    facts.assume_range(var, bounds.min, last)
    if not isinstance(bounds.len, IntImm):
        form = linear_of(bounds.len)
        if len(form.terms) == 1 and form.const == 0:
            facts.assume_at_least(bounds.len, ir.ONE)
