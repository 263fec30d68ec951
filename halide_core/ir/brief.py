"""Expressions as text of bounded length: they are graphs, and written as trees they can be endless.

In: an expression. Out: its text; an ellipsis where nobody would read it to its end.

    brief(x + 1)   ->   x + 1
"""

from __future__ import annotations

from halide_core.ir import ExprNode, Interval
from halide_core.ir.printer import format_expr
from halide_core.ir.visitor import parts

_READABLE = 150


def tree_size(e: ExprNode, most: int) -> int:
    """The nodes of an expression written as a tree, counted until there are more than ``most``."""
    count, waiting = 0, [e]
    while waiting and count <= most:
        count += 1
        waiting.extend(parts(waiting.pop()))
    return count


def is_readable(e: ExprNode) -> bool:
    """True where an expression is worth printing."""
    return tree_size(e, _READABLE) <= _READABLE


def brief(e: ExprNode, most: int = _READABLE) -> str:
    """An expression as text; an ellipsis where it has more than ``most`` nodes."""
    return format_expr(e) if tree_size(e, most) <= most else "…"


def brief_interval(i: Interval) -> str:
    """``(min, len)``."""
    return f"({brief(i.min)}, {brief(i.len)})"
