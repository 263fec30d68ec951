"""Expressions without the cases that facts rule out: what is left is proven sooner.

In: an expression, and who decides conditions. Out: an expression that is worth the same wherever the decisions hold.

    select(0 < n, min(a, b), c) <= a   ->   min(a, b) <= a      where 0 < n is certain
"""

from __future__ import annotations

from collections.abc import Callable

from halide_core.ir import Expr, Select
from halide_core.visit import Rewriter

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
