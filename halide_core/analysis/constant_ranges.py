"""Constant ranges of integer expressions, from their shape alone.

In: an expression, and the ranges of variables in it. Out: the least and greatest number it can be; infinite where
nothing says so.

    x % 8 + 3   ->   (3, 10)
"""

from __future__ import annotations

from collections.abc import Mapping

from halide_core import ir
from halide_core.analysis.interval import EVERYTHING, TRUTH, Range, fits, of_integers, type_range, union
from halide_core.ir import Binary, BufferField, ExprNode, Field, IntImm, ParamRef, Select, Variable
from halide_core.ir.types import INT32, INT64


class ConstantRanges:
    """Constant ranges of integer expressions, given those of variables: from the start, or met on the way."""

    def __init__(self, variables: Mapping[ExprNode, Range] | None = None) -> None:
        self._known: dict[ExprNode, Range] = {}
        self._variables: dict[ExprNode, Range] = dict(variables or {})

    def loop(self, var: Variable, over: ir.Interval) -> None:
        """A loop's variable."""
        first, length = self.of(over.min), self.of(over.len)
        self._variables[var] = (first[0], max(first[0], first[1] + length[1] - 1))

    def let(self, var: Variable, value: ExprNode) -> None:
        """A let's variable."""
        self._variables[var] = self.of(value)

    def of(self, e: ExprNode) -> Range:
        """The range of an expression."""
        known = self._known.get(e)
        if known is None:
            known = self._compute(e)
            if not isinstance(e, Variable | ParamRef):
                self._known[e] = known
        return known

    def _compute(self, e: ExprNode) -> Range:
        match e:
            case IntImm(value=value):
                return (value, value)
            case Variable() | ParamRef():
                return self._variables.get(e, EVERYTHING if e.type is INT64 else type_range(e.type))
            case BufferField(field=field):
                return (0, INT32.range[1]) if field is Field.EXTENT else INT32.range
            case ir.Cast(type=type, a=a) if type.is_integer() and a.type.is_integer():
                known = TRUTH if a.type.is_bool() else self.of(a)
                return known if fits(known, type) else type.range
            case ir.Promise(value=promised):
                return self.of(promised)
            case Select(a=a, b=b) if e.type.is_integer():
                return union(self.of(a), self.of(b))
            case Binary(op=op, a=a, b=b) if e.type.is_integer() and not e.type.is_bool():
                known = of_integers(op, self.of(a), self.of(b), e.type.bits())
                if e.type is INT64 or fits(known, e.type):
                    return known
        return type_range(e.type)
