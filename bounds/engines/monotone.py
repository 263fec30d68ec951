"""Monotonicity of an expression in a variable: its extremes then lie at the ends of the variable's range.

In: an int64 expression and a variable. Out: a Direction.

    min(x, 7) + x/2  in x   ->   GROWS
    x - x/2          in x   ->   UNKNOWN
"""

from __future__ import annotations

from enum import Enum

from halide_core.analysis.linear import Linear, linear_of
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
        return self._linear(linear_of(e))

    def _linear(self, form: Linear) -> Direction:
        """Of a linear form; a product of two that vary is an atom, and known only where neither varies."""
        result = Direction.CONSTANT
        for atom, c in form.terms.items():
            known = (
                self._product(atom)
                if isinstance(atom, Binary) and atom.op is BinaryOp.MUL
                else self.of(atom)
            )
            result = result.joined(known if c > 0 else known.reversed())
        return self._distributed(form) if result is Direction.UNKNOWN else result

    def _distributed(self, form: Linear) -> Direction:
        """Of max(a - b, c) - a, which is max(-b, c - a): where something cancels in a side of a min or a max."""
        for atom, c in form.terms.items():
            match atom:
                case Binary(op=BinaryOp.MIN | BinaryOp.MAX, a=a, b=b):
                    rest = form.plus(linear_of(atom), -c)
                    sides = [linear_of(side) for side in (a, b)]
                    if any(_cancels(side, c, rest) for side in sides):
                        one, other = (self._linear(rest.plus(side, c)) for side in sides)
                        return one.joined(other)
        return Direction.UNKNOWN

    def _product(self, e: Binary) -> Direction:
        varies = any(self.of(side) is not Direction.CONSTANT for side in (e.a, e.b))
        return Direction.UNKNOWN if varies else Direction.CONSTANT


def _cancels(side: Linear, times: int, rest: Linear) -> bool:
    """True where an atom is in neither of two forms as it is in both together."""
    return any(rest.terms.get(atom, 0) == -times * c for atom, c in side.terms.items())
