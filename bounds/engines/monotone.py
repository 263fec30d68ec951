"""Monotonicity of an expression in a variable: its extremes then lie at the ends of the variable's range.

In: an int64 expression and a variable. Out: a Direction.

    min(x, 7) + x/2  in x   ->   GROWS
    x - x/2          in x   ->   UNKNOWN
"""

from __future__ import annotations

from enum import Enum

from halide_core.analysis.linear import linear_of
from halide_core.ir import Binary, BinaryOp, ExprNode, IntImm, Select, Variable
from halide_core.ir.types import INT64
from halide_core.ir.visitor import parts


class Direction(Enum):
    """The monotonicity of an expression in a variable."""

    CONSTANT = 0
    GROWS = 1
    FALLS = -1
    UNKNOWN = None

    def reversed(self) -> Direction:
        """Of the negated expression."""
        return self if self.value is None else Direction(-self.value)

    def joined(self, other: Direction) -> Direction:
        """Of a sum, a min or a max of two."""
        if self is other or other is Direction.CONSTANT:
            return self
        return other if self is Direction.CONSTANT else Direction.UNKNOWN


class Directions:
    """The directions of expressions in one variable, each found once."""

    def __init__(self, var: Variable) -> None:
        self._known: dict[ExprNode, Direction] = {var: Direction.GROWS}

    def of(self, e: ExprNode) -> Direction:
        """The direction of an expression; UNKNOWN says nothing."""
        known = self._known.get(e)
        if known is None:
            known = self._known[e] = self._compute(e)
        return known

    def _compute(self, e: ExprNode) -> Direction:
        if e.type is INT64:
            match e:
                case Binary(op=BinaryOp.ADD | BinaryOp.SUB | BinaryOp.MUL):
                    return self._sum(e)
                case Binary(op=BinaryOp.MIN | BinaryOp.MAX, a=a, b=b):
                    return self.of(a).joined(self.of(b))
                case Binary(op=BinaryOp.DIV, a=a, b=IntImm(value=k)) if k:
                    return self.of(a) if k > 0 else self.of(a).reversed()
                case Select(condition=condition, a=a, b=b) if self.of(condition) is Direction.CONSTANT:
                    return self.of(a).joined(self.of(b))
        return Direction.CONSTANT if all(self.of(p) is Direction.CONSTANT for p in parts(e)) else Direction.UNKNOWN

    def _sum(self, e: ExprNode) -> Direction:
        """Of a linear form; a product of two that vary is an atom, and known only where neither varies."""
        result = Direction.CONSTANT
        for atom, c in linear_of(e).terms.items():
            known = (
                self._product(atom)
                if isinstance(atom, Binary) and atom.op is BinaryOp.MUL
                else self.of(atom)
            )
            result = result.joined(known if c > 0 else known.reversed())
        return result

    def _product(self, e: Binary) -> Direction:
        varies = any(self.of(side) is not Direction.CONSTANT for side in (e.a, e.b))
        return Direction.UNKNOWN if varies else Direction.CONSTANT
