"""Printing while a pipeline runs, to see what it computes.

In: a value, and what to show of it. Out: the value, whose computation shows a line.

    f[x] = print(x*x, "is the square of", x)   ->   "9 is the square of 3", at each point that is computed
"""

from __future__ import annotations

from halide_core import ir
from halide_core.lang.expr import Expr, ExprLike, as_bool, as_node


def print(value: ExprLike, *more: ExprLike | str) -> Expr:
    """``value``; wherever it is computed, a line shows it and what follows, with spaces between.

    It shows what is computed, which the schedule decides: a point may be computed several times, or where nobody needs
    it, as where loops are rounded up, by values that may be anything there.
    Lines of parallel loops come in any order, but whole. What is computed for a coordinate or a condition of an RDom,
    and what ``evaluate`` computes, shows nothing.

    Args:
        value: of any type. more: texts and values.
    """
    return print_when(True, value, *more)


def print_when(condition: ExprLike, value: ExprLike, *more: ExprLike | str) -> Expr:
    """``print`` where a condition holds."""
    node = as_node(value)
    message: list[str | ir.ExprNode] = [node]
    for part in more:
        message += [" ", part if isinstance(part, str) else as_node(part)]
    test = ir.TRUE if condition is True else as_bool(condition)._node()
    return Expr.of(ir.Print(node.type, node, test, tuple(message)))
