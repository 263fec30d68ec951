"""Constant ranges of values: of a type, of a clamp, of every value that a Func can have.

In: an expression of any type. Out: its least and greatest value, possibly infinite. A range that leaves its integer
type becomes the whole type: the value wraps.

    value_range(clamp(int32(in[x]), 0, 15))   ->   (0, 15)
"""

from __future__ import annotations

import math

from halide_core.algorithm.model import Function
from halide_core.analysis.bit_counts import counted, spread_of
from halide_core.analysis.float_functions import clamp_ends, function_range
from halide_core.analysis.interval import (
    EVERYTHING,
    LARGEST,
    TRUTH,
    Range,
    finite_range,
    magnitude,
    meet,
    of_floats,
    of_integers,
    rounded,
    square,
    to_float,
    truncated,
    type_range,
    union,
)
from halide_core.ir import (
    Access,
    Binary,
    BinaryOp,
    Call,
    Cast,
    ExprNode,
    FloatImm,
    IntImm,
    Intrinsic,
    ParamRef,
    Print,
    Promise,
    Select,
)
from halide_core.ir.types import Type
from halide_core.reference.scalar_ops import round_to_float32

_NATURAL: Range = (0.0, math.inf)


class ValueRanges:
    """Ranges of expressions and Funcs, remembered for one pipeline."""

    def __init__(self) -> None:
        self._known: dict[ExprNode, Range] = {}
        self._numbers: dict[ExprNode, Range] = {}
        self._functions: dict[tuple[Function, int], Range] = {}

    def of(self, e: ExprNode) -> Range:
        """The range of an expression's value."""
        known = self._known.get(e)
        if known is None:
            low, high = self._compute(e)
            least, most = finite_range(e.type)
            known = (low, high) if least <= low and high <= most else type_range(e.type)
            self._known[e] = known
        return known

    def of_function(self, f: Function, component: int) -> Range:
        """The range of every value that a Func can have at any point and stage."""
        key = (f, component)
        known = self._functions.get(key)
        if known is None:
            self._functions[key] = type_range(f.types[component])  # what an update sees of the Func itself
            ranges = [self.of(d.values[component]) for d in f.definitions]
            if f.keeps:
                ranges.append(type_range(f.types[component]))  # of the caller's values
            known = (min(low for low, _ in ranges), max(high for _, high in ranges))
            if f.types[component].is_float() and -LARGEST < known[0] <= known[1] < LARGEST:
                known = (_as_float(known[0], -1), _as_float(known[1], 1))
            self._functions[key] = known
        return known

    def numbers(self, e: ExprNode) -> Range:
        """The range of a float's value where that is a number, or infinite: what a NaN is left out of, as ``abs`` of
        any float is not negative, and no root is, however it is rounded."""
        known = self._numbers.get(e)
        if known is None:
            known = self.of(e)
            known = self._numbers[e] = meet(known, self._of_numbers(e) or known)
        return known

    def _of_numbers(self, e: ExprNode) -> Range | None:
        """One end that operators give, whatever the other is."""
        match e:
            case Call(function=Intrinsic.ABS, args=(a,)):
                return magnitude(self.numbers(a))
            case Call(function=Intrinsic.SQRT | Intrinsic.EXP):
                return _NATURAL
            case Call(function=Intrinsic.FLOOR | Intrinsic.CEIL | Intrinsic.TRUNC | Intrinsic.ROUND, args=(a,)):
                return _sign(self.numbers(a))
            case Cast(a=a) if a.type.is_float():
                return _sign(self.numbers(a))
            case Select(a=a, b=b):
                return union(self.numbers(a), self.numbers(b))
            case Binary(op=BinaryOp.MUL, a=a, b=b) if a is b:
                return _NATURAL
            case Binary(op=BinaryOp.MUL | BinaryOp.ADD, a=a, b=b):
                return _NATURAL if min(self.numbers(a)[0], self.numbers(b)[0]) >= 0 else None
            case Binary(op=BinaryOp.DIV, a=a, b=b):  # by -0.0 it would be negative
                return _NATURAL if self.numbers(a)[0] >= 0 and self.numbers(b)[0] > 0 else None
            case Binary(op=BinaryOp.MIN | BinaryOp.MAX as op, a=a, b=b):  # of a NaN and a number these give the second
                one, other = self.numbers(a), self.numbers(b)
                both = of_integers(op, one, other)
                return union(both, other) if any(map(math.isinf, self.of(a))) else both
        return None

    def converted(self, e: ExprNode, type: Type) -> Range:
        """The range of a float as an integer, where a NaN is 0."""
        found = truncated(self.numbers(e), type)
        return union(found, (0, 0)) if self._may_be_nan(e) else found

    def _may_be_nan(self, e: ExprNode) -> bool:
        """False where a float is certainly a number, or infinite. Of two that are no numbers ``min`` and ``max`` give
        the second."""
        if not any(map(math.isinf, self.of(e))):
            return False
        match e:
            case FloatImm():
                return math.isnan(e.value)
            case Binary(op=BinaryOp.MIN | BinaryOp.MAX, b=b):
                return self._may_be_nan(b)
            case Select(a=a, b=b):
                return self._may_be_nan(a) or self._may_be_nan(b)
        return True

    def _compute(self, e: ExprNode) -> Range:
        match e:
            case IntImm(value=value):
                return (value, value)
            case FloatImm():
                return EVERYTHING if math.isnan(e.value) else (e.value, e.value)
            case Cast(a=a, type=type) if a.type.is_float() and type.is_integer() and not type.is_bool():
                return self.converted(a, type)
            case Cast(a=a, type=type):
                return self._cast(self.of(a), a.type, type)
            case Select(a=a, b=b):
                return union(self.of(a), self.of(b))
            case Print(a=a):
                return self.of(a)
            case Access(callee=callee, component=component):
                if isinstance(callee, Function):
                    return self.of_function(callee, component)
            case Call(function=Intrinsic.REINTERPRET):
                return type_range(e.type)
            case Call(function=Intrinsic.FMA, args=(a, b, c)):
                return _binary(BinaryOp.ADD, _binary(BinaryOp.MUL, self.of(a), self.of(b), e.type), self.of(c), e.type)
            case Call(function=function, args=args):
                return self._call(function, args)
            case Binary(op=BinaryOp.MUL, a=a, b=b) if a is b:
                return _square(self.of(a), e.type)
            case Binary(op=BinaryOp.ADD) if (bits := counted(e)) is not None:
                return self._count(bits)
            case Binary(op=op, a=a, b=b):
                found = _binary(op, self.of(a), self.of(b), a.type)
                return self._clamped(e) if e.type.is_float() and found == EVERYTHING else found
            case Promise(value=inner, low=first, high=last):
                known = self.of(inner)
                kept = (max(known[0], self.of(first)[0]), min(known[1], self.of(last)[1]))
                return kept if kept[0] <= kept[1] else known
            case ParamRef(param=param):
                low, high = getattr(param, "low", None), getattr(param, "high", None)
                least, most = type_range(e.type)
                return (least if low is None else low, most if high is None else high)
        return type_range(e.type)

    def _clamped(self, e: ExprNode) -> Range:
        """A float between two numbers, or anything."""
        ends = clamp_ends(e)
        low, high = (EVERYTHING, EVERYTHING) if ends is None else map(self.of, ends)
        return EVERYTHING if any(map(math.isinf, (*low, *high))) else union(low, high)

    def _cast(self, known: Range, from_type: Type, to: Type) -> Range:
        if to.is_bool():
            return TRUTH
        if to.is_float():
            return to_float(known, from_type, to) or EVERYTHING
        return known

    def _count(self, e: ExprNode) -> Range:
        """The range of an unsigned integer's population count."""
        spread, width = spread_of(e), e.type.bits()
        low, high = self.of(e if spread is None else spread)
        if spread is None:
            return (0 if low <= 0 else 1, int(high).bit_length())
        return (width - int(high).bit_length(), width - int(low).bit_length())

    def _call(self, function: Intrinsic, args: tuple[ExprNode, ...]) -> Range:
        known = self.of(args[0])
        if function is Intrinsic.ABS and args[0].type.is_integer():
            return magnitude(known)
        return function_range(function, known) or EVERYTHING


def _as_float(end: float, direction: int) -> float:
    """An end of a range as a number of either width, moved outwards by what rounding may take, if any."""
    return end if round_to_float32(end) == end else round_to_float32(end + direction * abs(end) * 2.0**-22)


def _sign(of: Range) -> Range:
    """The sign of a range, which rounding keeps."""
    return (0.0 if of[0] >= 0 else -math.inf, 0.0 if of[1] <= 0 else math.inf)


def _square(of: Range, type: Type) -> Range:
    """The range of a number times itself."""
    if any(map(math.isinf, of)):
        return EVERYTHING
    return (rounded(square(of)) or EVERYTHING) if type.is_float() else square(of)


def _binary(op: BinaryOp, a: Range, b: Range, type: Type) -> Range:
    """The range of an operator's result, before it wraps."""
    if type.is_float():
        return of_floats(op, a, b) or EVERYTHING
    return of_integers(op, a, b, type.bits())
