"""Claims about machine integers: what index arithmetic leaves out of account.

In: the expressions that stand in a tree. Out: conditions under which no int64 index leaves int64, so that it may be
taken for an integer; and those under which each coordinate of a definition, computed in int32 as the user wrote it, is
the int64 number that the program uses.

    f[x] = g[x*4]   ->   int64(int32(x)*4) == x*4       (a start-up check sees to it)

Constant ranges of variables decide most of int64; what they leave open is a claim like any other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from bounds.claims import all_of
from halide_core import ir
from halide_core.algorithm import Definition
from halide_core.index import TargetExprs
from halide_core.ir import Binary, BinaryOp, BufferField, Expr, Field, IntImm, Select, Variable
from halide_core.types import INT32, INT64
from halide_core.visit import parts, subexpressions

Range = tuple[float, float]
_ANY: Range = (-math.inf, math.inf)
_LEAST, _MOST = INT64.range


class Ranges:
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
            if not isinstance(e, Variable):
                self._known[e] = known
        return known

    def _compute(self, e: Expr) -> Range:
        match e:
            case IntImm(value=value):
                return (value, value)
            case Variable():
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
                low, high = _combined(op, self.of(a), self.of(b))
                if e.type is INT64 or (e.type.range[0] <= low and high <= e.type.range[1]):
                    return (low, high)
        return e.type.range if e.type.is_integer() else _ANY


def _combined(op: BinaryOp, a: Range, b: Range) -> Range:
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
            if b[0] > 0 and not math.isinf(most):
                return (a[0] // b[0] if a[0] < 0 else 0, max(a[1] // b[0], 0))
            return (-most, most)
        case BinaryOp.MOD:
            return (0, max(max(abs(b[0]), abs(b[1])) - 1, 0))
    return _ANY


def overflowing(exprs: Iterable[Expr], ranges: Ranges) -> list[Expr]:
    """The int64 arithmetic in some expressions that the constant ranges don't keep in int64."""
    return [e for e in subexpressions(exprs) if _is_arithmetic(e) and not _fits(ranges.of(e))]


def fits_int64(risky: Iterable[Expr]) -> Expr:
    """That some expressions stay in int64."""
    least, most = ir.i64(_LEAST), ir.i64(_MOST)
    return all_of(all_of((ir.less_equal(least, e), ir.less_equal(e, most))) for e in risky)


def _is_arithmetic(e: Expr) -> bool:
    return isinstance(e, Binary) and e.type is INT64


def _fits(over: Range) -> bool:
    return over[0] >= _LEAST and over[1] <= _MOST


def predicates(definition: Definition) -> list[Expr]:
    """The conditions of a definition, outermost first."""
    domain = definition.domain
    return [p for p in (ir.TRUE if domain is None else domain.predicate, definition.predicate) if p is not ir.TRUE]


def fits_int32(e: Expr) -> Expr:
    """That an int64 number is one of int32."""
    least, most = (ir.i64(end) for end in INT32.range)
    return ir.conjunction(ir.less_equal(least, e), ir.less_equal(e, most))


def in_int64(coordinates: Iterable[Expr], exprs: TargetExprs) -> Iterator[Expr]:
    """The int32 expressions that are computed as int64 ones: if each fits int32, the two are the same number. What is
    computed in int32 all the same needs no claim."""
    seen: set[Expr] = set()
    waiting = list(coordinates)
    while waiting:
        e = waiting.pop()
        if e in seen or e.type is not INT32 or exprs.index(e) is ir.Cast(INT64, exprs.value(e)):
            continue
        seen.add(e)
        if not isinstance(e, IntImm):
            yield e
        waiting += parts(e)
