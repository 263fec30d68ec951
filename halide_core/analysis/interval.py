"""Intervals of numbers: the domain that all ranges of values are computed in.

In: an operator or a conversion, and the ranges of its operands. Out: a range that holds every result: of integers the
exact one, before anything wraps; of floats what rounding can give, or None where a result may be infinite or NaN.

    of_integers(BinaryOp.MUL, (-2, 3), (0, 4))    ->   (-8, 12)
    of_floats(BinaryOp.MUL, (0.0, 0.1), (1, 3))   ->   (0.0, 0.3000001)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product

from halide_core.ir import BinaryOp
from halide_core.ir.float16 import rounded as rounded_narrow
from halide_core.ir.types import Type
from halide_core.reference.scalar_ops import round_to_float32

Range = tuple[float, float]
"""The least and the greatest value; infinite where nothing bounds them."""

EVERYTHING: Range = (-math.inf, math.inf)
TRUTH: Range = (0, 1)

LARGEST = 1e37
"""Floats beyond this are taken for infinite: float32 reaches 3.4e38."""
EXACT = 1 << 24
"""Every integer up to here is a float of either width."""
_LONG = 1 << 1000
"""Of more bits than any product of values that matters, and of fewer than a float holds."""
_SLACK = 2.0**-22
"""More than a rounding moves a value, relative to it."""
_TINY = 1e-36
"""More than a rounding moves what is less than the least normal number."""
_LEAST_DIVISOR = 1e-30
"""Floats below this are divided by as if they were 0; it is more than rounding takes of the least numbers."""
_NUMBERS = {"float16": 65504.0, "bfloat16": 3.38e38, "float32": 3.4e38, "float64": 1.7e308}
"""The greatest number of each type."""


def hull(ends: Iterable[float]) -> Range:
    """The smallest range that holds some numbers."""
    found = list(ends)
    return (min(found), max(found))


def union(a: Range, b: Range) -> Range:
    """The smallest range around two: what is one of two values lies in it."""
    return (min(a[0], b[0]), max(a[1], b[1]))


def meet(a: Range, b: Range) -> Range:
    """The part that two ranges share; its least is greater than its greatest where they share none."""
    return (max(a[0], b[0]), min(a[1], b[1]))


def magnitude(of: Range) -> Range:
    """The range of an absolute value."""
    low, high = abs(of[0]), abs(of[1])
    return (0 if of[0] <= 0 <= of[1] else min(low, high), max(low, high))


def fits(of: Range, type: Type) -> bool:
    """True where an integer type holds a whole range."""
    least, most = type.range
    return least <= of[0] and of[1] <= most


def type_range(type: Type) -> Range:
    """Every value of a type."""
    return type.range if type.is_integer() else EVERYTHING


def finite_range(type: Type) -> Range:
    """The values of a type that are numbers: a float beyond them is infinite, and what comes of it may be NaN."""
    if type.is_float():
        limit = _NUMBERS[str(type.element_of())]
        return (-limit, limit)
    return type_range(type)


# ---------------------------------------------------------------------------------------------------------
# Integers.


def of_integers(op: BinaryOp, a: Range, b: Range, bits: int = 64) -> Range:
    """The range of an operator's exact result; of shifts by as much as ``bits`` and more nothing is known."""
    match op:
        case BinaryOp.ADD:
            return (a[0] + b[0], a[1] + b[1])
        case BinaryOp.SUB:
            return (a[0] - b[1], a[1] - b[0])
        case BinaryOp.MUL:
            return _of_few_bits(hull(0 if x == 0 or y == 0 else x * y for x, y in product(a, b)))
        case BinaryOp.MIN:
            return (min(a[0], b[0]), min(a[1], b[1]))
        case BinaryOp.MAX:
            return (max(a[0], b[0]), max(a[1], b[1]))
        case BinaryOp.DIV:
            return _quotient(a, b)
        case BinaryOp.MOD:
            return (0, max(abs(b[0]), abs(b[1]), 1) - 1)
        case BinaryOp.BIT_AND if a[0] >= 0 or b[0] >= 0:
            return (0, min(v[1] for v in (a, b) if v[0] >= 0))
        case BinaryOp.BIT_OR | BinaryOp.BIT_XOR if min(a[0], b[0]) >= 0 and max(a[1], b[1]) < math.inf:
            return (0, (1 << max(int(a[1]).bit_length(), int(b[1]).bit_length())) - 1)
        case BinaryOp.SHL if 0 <= b[0] <= b[1] < bits:
            return of_integers(BinaryOp.MUL, a, (1 << int(b[0]), 1 << int(b[1])))
        case BinaryOp.SHR if b[0] >= 0:
            return _quotient(a, (1 << int(min(b[0], 64)), 1 << int(min(b[1], 64))))
        case BinaryOp.LT | BinaryOp.LE | BinaryOp.EQ | BinaryOp.NE | BinaryOp.AND | BinaryOp.OR:
            return TRUTH
    return EVERYTHING


def _of_few_bits(of: Range) -> Range:
    """A range with ends that are short numbers or infinite: those of a square of squares have as many bits as it has
    factors, and say nothing of a value in 64."""
    low, high = of
    if -_LONG < low <= high < _LONG:
        return of
    return (-math.inf if low <= -_LONG else min(low, _LONG), math.inf if high >= _LONG else max(high, -_LONG))


def _quotient(a: Range, b: Range) -> Range:
    """Of Euclid's division: by 0 it gives 0, and by a negative number the opposite of what its magnitude gives."""
    ends: list[float] = []
    if b[1] > 0:
        ends += [_floor(x, y) for x, y in product(a, (max(b[0], 1), b[1]))]
    if b[0] < 0:
        ends += [-_floor(x, y) for x, y in product(a, (max(-b[1], 1), -b[0]))]
    if b[0] <= 0 <= b[1]:
        ends.append(0)
    return hull(ends) if ends else EVERYTHING  # b has no value, as in a loop that never runs


def _floor(x: float, y: float) -> float:
    """``x`` by a positive ``y``, rounded down; either may be infinite."""
    if math.isinf(x):
        return x
    return x // y if y < math.inf else -1 if x < 0 else 0


# ---------------------------------------------------------------------------------------------------------
# Floats.


def of_floats(op: BinaryOp, a: Range, b: Range) -> Range | None:
    """The range of an operator of floats of either width; None where a result may be no finite number."""
    if op in (BinaryOp.LT, BinaryOp.LE, BinaryOp.EQ, BinaryOp.NE):
        return TRUTH
    if any(map(math.isinf, (*a, *b))):
        return None
    match op:
        case BinaryOp.MIN | BinaryOp.MAX:
            return of_integers(op, a, b)
        case BinaryOp.ADD | BinaryOp.SUB | BinaryOp.MUL:
            return rounded(of_integers(op, a, b))
        case BinaryOp.DIV if not b[0] <= 0 <= b[1] and min(map(abs, b)) >= _LEAST_DIVISOR:
            return rounded(hull(x / y for x, y in product(a, b)))
    return None


def square(of: Range) -> Range:
    """The range of a number times itself, exactly."""
    low, high = magnitude(of)
    return (low * low, high * high)


def rounded(of: Range) -> Range | None:
    """Ends moved outwards by more than a rounding, but not over zero; None where one is infinite.

    Rounding is monotone: no value is rounded beyond an end that is a float of either width.
    """
    low, high = of
    if not -LARGEST < low <= high < LARGEST:
        return None
    least, most = _away(low, -1), _away(high, 1)
    return (max(least, 0.0) if low >= 0 else least, min(most, 0.0) if high <= 0 else most)


def _away(end: float, direction: int) -> float:
    return end if round_to_float32(end) == end else end + direction * (abs(end) * _SLACK + _TINY)


def to_float(of: Range, source: Type, target: Type) -> Range | None:
    """The range after conversion to a float."""
    low, high = of
    if not -LARGEST < low <= high < LARGEST:
        return None
    if target.is_narrow_float():  # rounding is monotone
        ends = (rounded_narrow(low, target), rounded_narrow(high, target))
        return None if any(map(math.isinf, ends)) else ends
    if target.bits() == 64:
        return (float(low), float(high))
    if source.is_integer() and max(abs(low), abs(high)) <= EXACT:
        return (low, high)
    return rounded(of)


def truncated(of: Range | None, type: Type) -> Range:
    """The range of floats after conversion to an integer: truncated, and brought to the nearest number that it has.
    A NaN, which may be among them where an end is infinite, becomes 0."""
    least, most = type.range
    if of is None:
        return (least, most)
    low, high = (
        most if end == math.inf else least if end == -math.inf else max(least, min(most, math.trunc(end))) for end in of
    )
    return union((low, high), (0, 0)) if any(map(math.isinf, of)) else (low, high)
