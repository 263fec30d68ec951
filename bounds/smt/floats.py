"""Constant ranges of floating-point values, for indices that are made of them.

In: a float expression, and the ranges of the integers in it. Out: an interval that holds its value, which is then
finite and no NaN; None where that is not sure.

    float32(x)*0.5 + 1    with 0 <= x <= 255   ->   (0.99…, 128.5…)

Arithmetic rounds: an end that is no float is moved outwards by more than a rounding can.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from halide_core import ir
from halide_core.algorithm.model import ScalarParam
from halide_core.analysis.constant_ranges import ConstantRanges
from halide_core.analysis.float_functions import clamp_ends, function_range
from halide_core.ir import BinaryOp, Expr, Intrinsic
from halide_core.ir.float16 import rounded
from halide_core.ir.logic import negation
from halide_core.ir.types import Type
from halide_core.ir.visitor import subexpressions
from halide_core.reference.scalar_ops import round_to_float32

Range = tuple[float, float]

_LARGEST = 1e37
"""Ranges beyond this are given up: what overflows is infinite. float32 reaches 3.4e38."""
_EXACT = 1 << 24
"""Every integer up to here is a float of either width."""
_SLACK = 2.0**-22
_TINY = 1e-36


def float_range(e: Expr, integers: Callable[[Expr], Range], known: Mapping[Expr, Range]) -> Range | None:
    """See the module's docstring. ``known``: the ranges of unknowns."""
    return _Floats(integers, known).of(e)


def declared_ranges(exprs: Iterable[Expr]) -> dict[Expr, Range]:
    """The ranges that the Params in some expressions are declared to have, which start-up checks see to. What passes
    those is no NaN."""
    found: dict[Expr, Range] = {}
    for e in subexpressions(exprs):
        if isinstance(e, ir.ParamRef) and isinstance(e.param, ScalarParam):
            low, high = e.param.low, e.param.high
            if low is not None and high is not None and not e.type.is_bool() and not e.type.is_narrow_float():
                found[e] = (low, high)
    return found


def kept_ranges(e: Expr) -> list[Expr]:
    """The conditions that the Params in an expression are in the ranges that they are declared to have."""
    return _kept(declared_ranges((e,)))


def _kept(declared: Mapping[Expr, Range]) -> list[Expr]:
    ends = [(ir.const(low, p.type), p, ir.const(high, p.type)) for p, (low, high) in declared.items()]
    return [ir.less_equal(*pair) for low, p, high in ends for pair in ((low, p), (p, high))]


def where_declared(
    exprs: Iterable[Expr], given: Mapping[Expr, Range], otherwise: Callable[[Expr], Range]
) -> tuple[Callable[[Expr], Range | None], list[Expr]] | None:
    """Ranges of floats that are made of Params with declared ranges, and the conditions that these are kept; None where
    there are no such Params. ``given``: the ranges of other unknowns; ``otherwise``: those of integers, in any case."""
    declared = declared_ranges(exprs)
    if not declared:
        return None
    known = {**given, **declared}
    integers = ConstantRanges(known)
    inside = _kept(declared)

    def integer_range(e: Expr) -> Range:
        one, other = integers.of(e), otherwise(e)
        return max(one[0], other[0]), min(one[1], other[1])

    return lambda e: float_range(e, integer_range, known), inside


def truncated(found: Range | None, type: Type) -> Range:
    """The range of floats as integers of a type: truncated, and brought to the nearest that it has."""
    least, most = type.range
    if found is None:
        return least, most
    low, high = (min(max(math.trunc(end), least), most) for end in found)
    return low, high


def infinite(e: Expr) -> Range | None:
    """The range of an infinite constant, which arithmetic has none for."""
    return (e.value, e.value) if isinstance(e, ir.FloatImm) and math.isinf(e.value) else None


def order(strict: bool, x: Range | None, y: Range | None) -> bool | None:
    """Whether ``a < b``, or ``a <= b``, for numbers of two ranges; None where that depends."""
    if x is None or y is None:
        return None
    if x[1] < y[0] or (x[1] == y[0] and not strict):
        return True
    if y[1] < x[0] or (y[1] == x[0] and strict):
        return False
    return None


def by_integers(op: BinaryOp, a: Expr, b: Expr) -> Expr | None:
    """``a < b`` or ``a <= b`` of numbers, one of them a constant, by comparisons of what the other is chosen from, down
    to integers; None where it is made of anything else.

        0.5 <= max(float32(n), 0.0)   ->   1 <= n || false
    """
    match a, b:
        case ir.FloatImm(value=x), ir.FloatImm(value=y):
            return ir.TRUE if x < y or (x == y and op is BinaryOp.LE) else ir.FALSE
        case ir.FloatImm(value=c), ir.Cast(a=n) if _exact(n, c, a.type):
            return _at_least(n, math.floor(c) + 1 if op is BinaryOp.LT else math.ceil(c))
        case ir.Cast(a=n), ir.FloatImm(value=c) if _exact(n, c, a.type):
            most = math.ceil(c) - 1 if op is BinaryOp.LT else math.floor(c)
            return negation(_at_least(n, most + 1))
        case ir.FloatImm(), ir.Binary(op=BinaryOp.MIN | BinaryOp.MAX as chosen, a=p, b=q):
            both = by_integers(op, a, p), by_integers(op, a, q)
            return _joined(BinaryOp.OR if chosen is BinaryOp.MAX else BinaryOp.AND, *both)
        case ir.Binary(op=BinaryOp.MIN | BinaryOp.MAX as chosen, a=p, b=q), ir.FloatImm():
            both = by_integers(op, p, b), by_integers(op, q, b)
            return _joined(BinaryOp.OR if chosen is BinaryOp.MIN else BinaryOp.AND, *both)
        case ir.FloatImm(), ir.Select(condition=c, a=p, b=q):
            return _chosen(c, by_integers(op, a, p), by_integers(op, a, q))
        case ir.Select(condition=c, a=p, b=q), ir.FloatImm():
            return _chosen(c, by_integers(op, p, b), by_integers(op, q, b))
    return None


def _exact(n: Expr, c: float, type: Type) -> bool:
    """Whether a float of an integer compares with a constant as the integer does: all that near are floats."""
    return n.type.is_integer() and not n.type.is_bool() and type.bits() >= 32 and abs(c) < _EXACT


def _at_least(n: Expr, least: int) -> Expr:
    low, high = n.type.range
    return ir.TRUE if least <= low else ir.FALSE if least > high else ir.less_equal(ir.const(least, n.type), n)


def _joined(op: BinaryOp, one: Expr | None, other: Expr | None) -> Expr | None:
    return None if one is None or other is None else ir.binary(op, one, other)


def _chosen(condition: Expr, one: Expr | None, other: Expr | None) -> Expr | None:
    return None if one is None or other is None else ir.Select(one.type, condition, one, other)


class _Floats:
    def __init__(self, integers: Callable[[Expr], Range], known: Mapping[Expr, Range]) -> None:
        self._integers = integers
        self._known: dict[Expr, Range | None] = dict(known)

    def of(self, e: Expr) -> Range | None:
        """The range of one expression."""
        if e not in self._known:
            self._known[e] = self._compute(e)
        return self._known[e]

    def _compute(self, e: Expr) -> Range | None:
        match e:
            case ir.FloatImm(value=value):
                return (value, value) if abs(value) < _LARGEST else None
            case ir.Print(a=a):
                return self.of(a)
            case ir.Call(function=Intrinsic.ABS, args=(a,)):
                inner = self.of(a)
                if inner is None:
                    return None
                ends = (abs(inner[0]), abs(inner[1]))
                return (0 if inner[0] <= 0 <= inner[1] else min(ends), max(ends))
            case ir.Cast(a=a) if e.type.is_narrow_float():
                inner = self.of(a)
                return None if inner is None else _coarse(*inner, e.type)
            case ir.Cast(a=a) if a.type.is_float():
                inner = self.of(a)
                if inner is None or (e.type.bits() == 64 and max(map(abs, inner)) < _LARGEST):
                    return inner  # as it was
                return _rounded(*inner)
            case ir.Cast(a=a):
                low, high = self._integers(a)
                if e.type.bits() == 64:
                    return float(low), float(high)  # rounding is monotone
                return (low, high) if max(abs(low), abs(high)) <= _EXACT else _rounded(low, high)
            case ir.Select(a=a, b=b):
                return self._chosen(a, b, lambda x, y: (min(x[0], y[0]), max(x[1], y[1])))
            case ir.Call(function=function, args=(a,)) if a.type.is_float():
                inner = self.of(a)
                found = None if inner is None else function_range(function, inner)
                return None if found is None else _rounded(*found)
            case ir.Binary(op=BinaryOp.DIV, a=a, b=ir.FloatImm(value=divisor)) if abs(divisor) > 1e-6:
                return self._both(a, a, lambda x, _: _hull(end / divisor for end in x))
            case ir.Binary(op=BinaryOp.MIN, a=a, b=b):
                return self._chosen(a, b, lambda x, y: (min(x[0], y[0]), min(x[1], y[1]))) or self._clamped(e)
            case ir.Binary(op=BinaryOp.MAX, a=a, b=b):
                return self._chosen(a, b, lambda x, y: (max(x[0], y[0]), max(x[1], y[1]))) or self._clamped(e)
            case ir.Binary(op=BinaryOp.MUL, a=a, b=b) if a is b:
                return self._both(a, a, lambda x, _: _square(x))
            case ir.Binary(op=op, a=a, b=b) if op in _OPERATORS:
                return self._both(a, b, _OPERATORS[op])
        return None

    def _clamped(self, e: Expr) -> Range | None:
        ends = clamp_ends(e)
        return None if ends is None else self._chosen(*ends, lambda x, y: (min(x[0], y[0]), max(x[1], y[1])))

    def _chosen(self, a: Expr, b: Expr, combined: Callable[[Range, Range], Range]) -> Range | None:
        """The range of what is always one of two values: nothing is rounded."""
        x, y = self.of(a), self.of(b)
        return None if x is None or y is None else combined(x, y)

    def _both(self, a: Expr, b: Expr, combined: Callable[[Range, Range], Range]) -> Range | None:
        x, y = self.of(a), self.of(b)
        return None if x is None or y is None else _rounded(*combined(x, y))


def _hull(ends: Iterable[float]) -> Range:
    found = list(ends)
    return (min(found), max(found))


def _square(x: Range) -> Range:
    """The range of a number times itself."""
    ends = (x[0] * x[0], x[1] * x[1])
    return (0 if x[0] <= 0 <= x[1] else min(ends), max(ends))


_OPERATORS: dict[BinaryOp, Callable[[Range, Range], Range]] = {
    BinaryOp.ADD: lambda x, y: (x[0] + y[0], x[1] + y[1]),
    BinaryOp.SUB: lambda x, y: (x[0] - y[1], x[1] - y[0]),
    BinaryOp.MUL: lambda x, y: _hull(p * q for p in x for q in y),
}


def _rounded(low: float, high: float) -> Range | None:
    """Ends moved outwards by more than a rounding. Zero stays zero: what is rounded to less than the least normal
    number keeps its sign, and zero is the nearest end to it."""
    if not (-_LARGEST < low <= high < _LARGEST):
        return None
    return (_away(low, -1), _away(high, 1))


def _coarse(low: float, high: float, type: Type) -> Range | None:
    """What rounding to a float of 16 bits, which is monotone, makes of a range."""
    ends = rounded(low, type), rounded(high, type)
    return ends if -_LARGEST < ends[0] <= ends[1] < _LARGEST else None


def _away(end: float, direction: int) -> float:
    """Rounding is monotone: no value is rounded beyond an end that is a float of either width."""
    return end if round_to_float32(end) == end else end + direction * (abs(end) * _SLACK + _TINY)
