"""Expressions without the cases that facts rule out: what is left is proven sooner.

In: an expression, and who decides conditions. Out: an expression that is worth the same wherever the decisions hold.

    select(0 < n, min(a, b), c) <= a   ->   min(a, b) <= a      where 0 < n is certain
"""

from __future__ import annotations

from collections.abc import Callable

from halide_core.ir import Binary, BinaryOp, Expr, Select
from halide_core.visit import Rewriter, subexpressions

_CASES = frozenset({BinaryOp.MIN, BinaryOp.MAX, BinaryOp.DIV, BinaryOp.MOD})

Decide = Callable[[Expr], "bool | None"]
"""Whether a condition is certain, or its opposite; None where neither is."""


class _Decided(Rewriter):
    """From the outermost condition inwards: what is in a case that is ruled out is not asked about."""

    def __init__(self, decide: Decide) -> None:
        super().__init__()
        self._decide = decide

    def rewrite_Select(self, e: Select) -> Expr:
        """The case that is certain."""
        certain = self._decide(e.condition)
        if certain is None:
            return self.parts_of(e)
        return self.expr(e.a if certain else e.b)


def without_idle_cases(e: Expr, decide: Decide) -> Expr:
    """The expression with each select whose condition is decided replaced by what it gives."""
    return _Decided(decide).expr(e)


def where(e: Expr, condition: Expr, *, holds: bool) -> Expr:
    """An expression where a condition holds, or where it does not: without the cases that this decides."""
    if holds:
        return without_idle_cases(e, lambda each: _follows(condition, each) or None)
    return without_idle_cases(e, lambda each: False if _follows(each, condition) else None)


def _follows(a: Expr, b: Expr) -> bool:
    """Whether the forms of two conditions show that one holds wherever the other does."""
    if a is b:
        return True
    if isinstance(a, Binary) and a.op is BinaryOp.OR:
        return _follows(a.a, b) and _follows(a.b, b)
    if isinstance(b, Binary) and b.op is BinaryOp.AND:
        return _follows(a, b.a) and _follows(a, b.b)
    if isinstance(a, Binary) and a.op is BinaryOp.AND and (_follows(a.a, b) or _follows(a.b, b)):
        return True
    return isinstance(b, Binary) and b.op is BinaryOp.OR and (_follows(a, b.a) or _follows(a, b.b))


def has_cases(e: Expr) -> bool:
    """Whether a value is found by telling cases apart, or by dividing."""
    return any(
        isinstance(each, Select) or (isinstance(each, Binary) and each.op in _CASES) for each in subexpressions([e])
    )
