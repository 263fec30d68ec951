"""Growth of the length of a loop made by splits with the compute bounds below it.

In: a length as ``split`` writes it. Out: the hole in it, and how much the hole must grow.

    growth((?len + 7)/8)   ->   at least k once ?len is at least 8·(k - 1) + 1
"""

from __future__ import annotations

from dataclasses import dataclass

from halide_core import ir
from halide_core.analysis.simplify import simplify
from halide_core.ir import Binary, BinaryOp, ExprNode, Hole


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """A length that is at least ``k`` exactly where the hole is at least ``scale·(k - 1) + 1``."""

    hole: Hole
    scale: ExprNode

    def needed(self, k: ExprNode) -> ExprNode:
        """The least value of the hole that makes the length at least ``k``."""
        return simplify(ir.add(ir.mul(self.scale, ir.sub(k, ir.ONE)), ir.ONE))


def raised(condition: ExprNode) -> tuple[Hole, ExprNode] | None:
    """The hole of a length that must be at least some number, and that number; None where a condition says no such
    thing: ``3 <= (?len + 7)/8`` is ``17 <= ?len``."""
    match condition:
        case Binary(op=BinaryOp.LE, a=least, b=length) if (grown := growth(length)) is not None:
            return grown.hole, grown.needed(least)
    return None


def growth(length: ExprNode) -> Growth | None:
    """The dependence of a length; None where it is constant, fused, or no hole is left in it."""
    match length:
        case Hole():
            return Growth(length, ir.ONE)
        case Binary(op=BinaryOp.DIV, a=numerator, b=divisor):
            # ceil(n/k), which split writes as (n + (k - 1))/k.
            below = growth(simplify(ir.sub(numerator, ir.sub(divisor, ir.ONE))))
            return None if below is None else Growth(below.hole, simplify(ir.mul(below.scale, divisor)))
    return None
