"""Expressions without the cases that facts or conditions rule out: what is left is shorter, and proven sooner.

In: an expression, and who decides conditions. Out: an expression that is worth the same wherever the decisions hold.

    without_idle_cases: select(0 < n, min(a, b), c) <= a   ->   min(a, b) <= a      where 0 < n is certain
    assume:             select(p || q, a, b)               ->   a                   under p
"""

from __future__ import annotations

from collections.abc import Callable

from halide_core.ir import Binary, BinaryOp, ExprNode, Select
from halide_core.ir.visitor import Rewriter, has

_CASES = frozenset({BinaryOp.MIN, BinaryOp.MAX, BinaryOp.DIV, BinaryOp.MOD})

Decide = Callable[[ExprNode], "bool | None"]
"""True where a condition is certain, or its opposite; None where neither is."""


class _Decided(Rewriter):
    """From the outermost condition inwards: what is in a case that is ruled out is not asked about."""

    def __init__(self, decide: Decide) -> None:
        super().__init__()
        self._decide = decide

    def rewrite_Select(self, e: Select) -> ExprNode:
        """The case that is certain."""
        certain = self._decide(e.condition)
        if certain is None:
            return self.parts_of(e)
        return self.expr(e.a if certain else e.b)


def without_idle_cases(e: ExprNode, decide: Decide) -> ExprNode:
    """The expression with each select whose condition is decided replaced by what it gives."""
    return _Decided(decide).expr(e)


def assume(e: ExprNode, condition: ExprNode, *, holds: bool) -> ExprNode:
    """An expression where a condition holds, or where it does not: without the cases that this decides."""
    following = _Following()
    if holds:
        return without_idle_cases(e, lambda each: following.of(condition, each) or None)
    return without_idle_cases(e, lambda each: False if following.of(each, condition) else None)


class _Following:
    """Implications among conditions, as far as their forms show them: each two are compared once."""

    def __init__(self) -> None:
        self._known: dict[tuple[ExprNode, ExprNode], bool] = {}

    def of(self, a: ExprNode, b: ExprNode) -> bool:
        """True where ``a ⇒ b``."""
        if (a, b) not in self._known:
            self._known[a, b] = a is b or self._by_parts(a, b)
        return self._known[a, b]

    def _by_parts(self, a: ExprNode, b: ExprNode) -> bool:
        if isinstance(a, Binary) and a.op is BinaryOp.OR:
            return self.of(a.a, b) and self.of(a.b, b)
        if isinstance(b, Binary) and b.op is BinaryOp.AND:
            return self.of(a, b.a) and self.of(a, b.b)
        if isinstance(a, Binary) and a.op is BinaryOp.AND and (self.of(a.a, b) or self.of(a.b, b)):
            return True
        return isinstance(b, Binary) and b.op is BinaryOp.OR and (self.of(a, b.a) or self.of(a, b.b))


def has_cases(e: ExprNode) -> bool:
    """True where a value is found by telling cases apart, or by dividing."""
    return has(e, Select, *_CASES)
