"""Constant ranges of integer expressions, from their shape alone.

In: an expression, and the ranges of variables in it. Out: the least and greatest number it can be; infinite where
nothing says so.

    x % 8 + 3   ->   (3, 10)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from halide_core import ir
from halide_core.analysis.interval import EVERYTHING, TRUTH, Range, fits, meet, of_integers, type_range, union
from halide_core.ir import Binary, BinaryOp, BufferField, ExprNode, Field, Hole, IntImm, ParamRef, Select, Variable
from halide_core.ir.logic import conjuncts
from halide_core.ir.types import INT32, INT64

_OF_INDICES = frozenset(
    {BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.DIV, BinaryOp.MOD, BinaryOp.MIN, BinaryOp.MAX}
)
"""Index arithmetic is made of these, and never wraps; an int64 that is shifted is the user's own, and may."""
_DEPTH = 4
"""A factor is looked into so many operators deep."""


class ConstantRanges:
    """Constant ranges of integer expressions, given those of variables: from the start, or met on the way."""

    def __init__(self, variables: Mapping[ExprNode, Range] | None = None) -> None:
        self._known: dict[ExprNode, Range] = {}
        self._variables: dict[ExprNode, Range] = dict(variables or {})

    def loop(self, var: Variable, over: ir.Interval) -> None:
        """A loop's variable."""
        first, length = self.of(over.min), self.of(over.len)
        self._variables[var] = (first[0], max(first[0], first[1] + length[1] - 1))

    def between(self, var: Variable, first: ExprNode, last: ExprNode) -> None:
        """A variable that is kept between two ends."""
        least, most = self.of(first)[0], self.of(last)[1]
        self._variables[var] = (least, max(least, most))

    def let(self, var: Variable | Hole, value: ExprNode) -> None:
        """A let's variable, or a hole that is answered."""
        self._variables[var] = self.of(value)

    def where(self, conditions: Iterable[ExprNode]) -> ConstantRanges:
        """The ranges where conditions hold, which may compare params and variables with others."""
        found = ConstantRanges(self._variables)
        for condition in conditions:
            found.learn(condition)
        return found

    def learn(self, condition: ExprNode) -> None:
        """Takes in a condition that holds of everything that is asked for from now on."""
        for each in conjuncts(condition):
            match each:
                case Binary(op=BinaryOp.LT | BinaryOp.LE as op, a=a, b=b):
                    (least, _), (_, most), strict = self.of(a), self.of(b), op is BinaryOp.LT
                    self._limit(a, (-math.inf, most - strict))
                    self._limit(b, (least + strict, math.inf))

    def _limit(self, e: ExprNode, over: Range) -> None:
        if isinstance(e, Variable | ParamRef) and e.type.is_integer():
            low, high = meet(self.of(e), over)
            if low <= high:  # where conditions contradict each other nothing runs, and any range is right
                self._variables[e] = (low, high)
                self._known.clear()

    def of(self, e: ExprNode) -> Range:
        """The range of an expression."""
        known = self._known.get(e)
        if known is None:
            known = self._compute(e)
            if not isinstance(e, Variable | ParamRef | Hole):
                self._known[e] = known
        return known

    def _compute(self, e: ExprNode) -> Range:
        match e:
            case IntImm(value=value):
                return (value, value)
            case Variable() | ParamRef() | Hole():
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
                if op is BinaryOp.MUL:
                    known = self._product(a, b, self._product(b, a, known))
                if op is BinaryOp.DIV:
                    known = self._quotient(a, b, known)
                    if e.type is INT64 and self.of(a)[0] <= INT64.range[0] and self.of(b)[0] <= -1 <= self.of(b)[1]:
                        return INT64.range  # the least int64 by -1 is the least one
                if (e.type is INT64 and op in _OF_INDICES) or fits(known, e.type):
                    return known
        return type_range(e.type)

    def _product(self, a: ExprNode, d: ExprNode, known: Range, depth: int = _DEPTH) -> Range:
        """The range of a product, where one factor may be a number of quotients by the other one: what is rounded up to
        a whole number of them is not far from what it was, however many they are."""
        by = self.of(d)
        match a:
            case Binary(op=BinaryOp.ADD | BinaryOp.SUB as op, a=part, b=IntImm() as more) if depth and self._stays(a):
                rest = of_integers(BinaryOp.MUL, by, self.of(more))
                return meet(known, of_integers(op, self._times(part, d, depth - 1), rest))
            case Binary(op=BinaryOp.MIN | BinaryOp.MAX as op) if depth and a.type is INT64 and by[0] >= 0:
                one, other = (self._times(each, d, depth - 1) for each in (a.a, a.b))
                return meet(known, of_integers(op, one, other))
            case Binary(op=BinaryOp.DIV, a=whole, b=b) if b is d and by[0] >= 1:
                low, high = self.of(whole)
                return meet(known, (low - by[1] + 1, high))
        return known

    def _stays(self, e: Binary) -> bool:
        """True where a sum does not wrap: indices never do."""
        return e.type is INT64 or fits(of_integers(e.op, self.of(e.a), self.of(e.b)), e.type)

    def _quotient(self, a: ExprNode, d: ExprNode, known: Range) -> Range:
        """The range of a quotient, where what is divided is a multiple of the divisor, or not far from one."""
        near = _multiple(a, d)
        if near is None or self.of(d)[0] < 0:
            return known
        by = of_integers(BinaryOp.DIV, near[1], self.of(d))
        exact = of_integers(BinaryOp.ADD, self.of(near[0]), by)
        return meet(known, exact if self.of(d)[0] > 0 else union(exact, (0, 0)))

    def _times(self, a: ExprNode, d: ExprNode, depth: int) -> Range:
        return self._product(a, d, of_integers(BinaryOp.MUL, self.of(a), self.of(d)), depth)


def _multiple(e: ExprNode, d: ExprNode) -> tuple[ExprNode, Range] | None:
    """The number of times that an expression is a divisor, and the range of what it is more; None if it shows no
    multiple of it. Nothing is that in a narrow type, where the multiple may wrap."""
    match e:
        case Binary(op=BinaryOp.MUL, a=a, b=b) if e.type is INT64 and (a is d or b is d):
            return (b if a is d else a), (0, 0)
        case Binary(op=BinaryOp.ADD | BinaryOp.SUB as op, a=a, b=IntImm(value=more)):
            near = _multiple(a, d)
            return None if near is None else (near[0], of_integers(op, near[1], (more, more)))
        case Binary(op=BinaryOp.MUL, a=Binary(op=BinaryOp.DIV, a=a, b=by), b=IntImm(value=k)) if by is e.b and k > 0:
            near = _multiple(a, d)
            return None if near is None else (near[0], (near[1][0] - k + 1, near[1][1]))
    return None
