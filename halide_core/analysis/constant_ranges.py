"""Constant ranges of integer expressions, from their shape alone.

In: an expression, and the ranges of variables in it. Out: the least and greatest number it can be; infinite where
nothing says so.

    x % 8 + 3   ->   (3, 10)
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from halide_core import ir
from halide_core.ir import Binary, BinaryOp, BufferField, Expr, Field, IntImm, ParamRef, Select, Variable
from halide_core.ir.types import INT32, INT64

Range = tuple[float, float]
_ANY: Range = (-math.inf, math.inf)


class ConstantRanges:
    """Constant ranges of integer expressions, given those of variables: from the start, or met on the way."""

    def __init__(self, variables: Mapping[Expr, Range] | None = None) -> None:
        self._known: dict[Expr, Range] = {}
        self._variables: dict[Expr, Range] = dict(variables or {})

    def loop(self, var: Variable, over: ir.Interval) -> None:
        """A loop's variable."""
        first, length = self.of(over.min), self.of(over.len)
        self._variables[var] = (first[0], max(first[0], first[1] + length[1] - 1))

    def let(self, var: Variable, value: Expr) -> None:
        """A let's variable."""
        self._variables[var] = self.of(value)

    def of(self, e: Expr) -> Range:
        """The range of an expression."""
        known = self._known.get(e)
        if known is None:
            known = self._compute(e)
            if not isinstance(e, Variable | ParamRef):
                self._known[e] = known
        return known

    def _compute(self, e: Expr) -> Range:
        match e:
            case IntImm(value=value):
                return (value, value)
            case Variable() | ParamRef():
                return self._variables.get(e, _ANY if e.type is INT64 or not e.type.is_integer() else e.type.range)
            case BufferField(field=field):
                return (0, INT32.range[1]) if field is Field.EXTENT else INT32.range
            case ir.Cast(type=type, a=a) if type.is_integer() and a.type.is_integer():
                low, high = self.of(a) if a.type is INT64 or not a.type.is_bool() else (0, 1)
                return (low, high) if type.range[0] <= low and high <= type.range[1] else type.range
            case ir.Promise(value=promised):
                return self.of(promised)
            case Select(a=a, b=b) if e.type.is_integer():
                x, y = self.of(a), self.of(b)
                return (min(x[0], y[0]), max(x[1], y[1]))
            case Binary(op=op, a=a, b=b) if e.type.is_integer() and not e.type.is_bool():
                low, high = of_operator(op, self.of(a), self.of(b))
                if e.type is INT64 or (e.type.range[0] <= low and high <= e.type.range[1]):
                    return (low, high)
        return e.type.range if e.type.is_integer() else _ANY


def of_operator(op: BinaryOp, a: Range, b: Range) -> Range:
    """The range of an operator's exact result; anything, for those that are not of integer arithmetic."""
    match op:
        case BinaryOp.ADD:
            return (a[0] + b[0], a[1] + b[1])
        case BinaryOp.SUB:
            return (a[0] - b[1], a[1] - b[0])
        case BinaryOp.MUL:
            corners = [0 if x == 0 or y == 0 else x * y for x in a for y in b]
            return (min(corners), max(corners))
        case BinaryOp.MIN:
            return (min(a[0], b[0]), min(a[1], b[1]))
        case BinaryOp.MAX:
            return (max(a[0], b[0]), max(a[1], b[1]))
        case BinaryOp.DIV:
            most = max(abs(a[0]), abs(a[1])) + 1
            if b[0] >= 0 and not math.isinf(most):  # a quotient by 0 is 0
                least = max(b[0], 1)
                return (a[0] // least if a[0] < 0 else 0, max(a[1] // least, 0))
            return (-most, most)
        case BinaryOp.MOD:
            return (0, max(max(abs(b[0]), abs(b[1])) - 1, 0))
    return _ANY
