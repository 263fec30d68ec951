"""Conditions put together and taken apart.

In: conditions. Out: their conjunction, disjunction or negation, or the parts that they are made of.

    all_of((0 <= x, x < n))      ->   0 <= x && x < n
    conjuncts(0 <= x && x < n)   ->   [0 <= x, x < n]
"""

from __future__ import annotations

from collections.abc import Iterable

from halide_core import ir
from halide_core.ir import BinaryOp, ExprNode, Interval


def all_of(conditions: Iterable[ExprNode]) -> ExprNode:
    """The conjunction; TRUE of none."""
    result: ExprNode | None = None
    for c in conditions:
        if c is not ir.TRUE:
            result = c if result is None else ir.conjunction(result, c)
    return ir.TRUE if result is None else result


def any_of(conditions: Iterable[ExprNode]) -> ExprNode:
    """The disjunction; FALSE of none."""
    result: ExprNode | None = None
    for c in conditions:
        if c is not ir.FALSE:
            result = c if result is None else ir.binary(BinaryOp.OR, result, c)
    return ir.FALSE if result is None else result


def negation(e: ExprNode) -> ExprNode:
    """``!e``."""
    return ir.Not(e.type, e)


def conjuncts(e: ExprNode) -> list[ExprNode]:
    """The parts of a conjunction."""
    if isinstance(e, ir.Binary) and e.op is BinaryOp.AND:
        return conjuncts(e.a) + conjuncts(e.b)
    return [e]


def alternatives(e: ExprNode) -> list[ExprNode]:
    """The parts of a disjunction."""
    if isinstance(e, ir.Binary) and e.op is BinaryOp.OR:
        return alternatives(e.a) + alternatives(e.b)
    return [e]


def provable_parts(e: ExprNode) -> list[ExprNode]:
    """The parts of a condition that can be proven one after the other."""
    return list(dict.fromkeys(p for c in conjuncts(e) for p in distribute_or(c)))


def distribute_or(e: ExprNode) -> list[ExprNode]:
    """The parts of ``x || (a && b)``: ``a || x`` and ``b || x``; the whole where it has another form."""
    *exceptions, last = alternatives(e)
    parts = conjuncts(last)
    if not exceptions or len(parts) == 1 or any(len(conjuncts(x)) > 1 for x in exceptions):
        return [e]
    return [any_of([part, *exceptions]) for part in parts]


def within(e: ExprNode, over: Interval) -> ExprNode:
    """``e`` lies in an interval."""
    return ir.conjunction(ir.less_equal(over.min, e), ir.less(e, ir.add(over.min, over.len)))
