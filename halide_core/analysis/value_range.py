"""Constant ranges of values: of a type, of a clamp, of every value that a Func can have.

In: an expression of any type. Out: its least and greatest value, possibly infinite. A range that leaves its integer
type becomes the whole type: the value wraps.

    value_range(clamp(int32(in[x]), 0, 15))   ->   (0, 15)
"""

from __future__ import annotations

import math

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.float_functions import clamp_ends, function_range
from halide_core.analysis.prover import EVERYTHING, Range
from halide_core.ir import (
    Access,
    Binary,
    BinaryOp,
    Call,
    Cast,
    Expr,
    FloatImm,
    IntImm,
    Intrinsic,
    ParamRef,
    Print,
    Promise,
    Select,
)
from halide_core.ir.float16 import rounded
from halide_core.ir.types import Type
from halide_core.reference.scalar_ops import round_to_float32

_BOOL: Range = (0, 1)
LARGEST = 1e37
"""Floats beyond this are taken for infinite."""
_TINY = 1e-30
"""Floats below this are divided by as if they were 0; it is more than rounding takes of the least numbers."""
_NUMBERS = {"float16": 65504.0, "bfloat16": 3.38e38, "float32": 3.4e38, "float64": 1.7e308}
"""What a number of each type is at most."""


def type_range(type: Type) -> Range:
    """Every value of a type."""
    return type.range if type.is_integer() else EVERYTHING


def _finite_range(type: Type) -> Range:
    """The values of a type that are numbers: a float beyond them is infinite, and what comes of it may be NaN."""
    if type.is_float():
        limit = _NUMBERS[str(type.element_of())]
        return (-limit, limit)
    return type_range(type)


class ValueRanges:
    """Ranges of expressions and Funcs, remembered for one pipeline."""

    def __init__(self) -> None:
        self._known: dict[Expr, Range] = {}
        self._functions: dict[tuple[Function, int], Range] = {}

    def of(self, e: Expr) -> Range:
        """The range of an expression's value."""
        known = self._known.get(e)
        if known is None:
            low, high = self._compute(e)
            least, most = _finite_range(e.type)
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

    def _compute(self, e: Expr) -> Range:
        match e:
            case IntImm(value=value):
                return (value, value)
            case FloatImm():
                return EVERYTHING if math.isnan(e.value) else (e.value, e.value)
            case Cast(a=a, type=type):
                return self._cast(self.of(a), a.type, type)
            case Select(a=a, b=b):
                return _hull(self.of(a), self.of(b))
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

    def _clamped(self, e: Expr) -> Range:
        """A float between two numbers, or anything."""
        ends = clamp_ends(e)
        low, high = (EVERYTHING, EVERYTHING) if ends is None else map(self.of, ends)
        return EVERYTHING if any(map(math.isinf, (*low, *high))) else _hull(low, high)

    def _cast(self, known: Range, from_type: Type, to: Type) -> Range:
        if to.is_bool():
            return _BOOL
        if from_type.is_float() and to.is_integer():
            if math.isinf(known[0]) or math.isinf(known[1]):  # may be NaN, which becomes 0
                return to.range
            low, high = to.range
            return (max(low, min(high, math.trunc(known[0]))), max(low, min(high, math.trunc(known[1]))))
        if to.is_narrow_float():
            return (rounded(known[0], to), rounded(known[1], to))  # rounding is monotone
        if to.is_float() and to.bits() == 64:
            return (float(known[0]), float(known[1]))  # rounding is monotone
        if to.is_float():  # rounding moves an end by less than one unit in the last place
            return (known[0] - abs(known[0]) * 2.0**-20, known[1] + abs(known[1]) * 2.0**-20)
        return known

    def _call(self, function: Intrinsic, args: tuple[Expr, ...]) -> Range:
        known = self.of(args[0])
        if function is Intrinsic.ABS and args[0].type.is_integer():
            low = 0 if known[0] <= 0 <= known[1] else min(abs(known[0]), abs(known[1]))
            return (low, max(abs(known[0]), abs(known[1])))
        return function_range(function, known) or EVERYTHING


def _as_float(end: float, direction: int) -> float:
    """An end of a range as a number of either width, moved outwards by what rounding may take, if any."""
    return end if round_to_float32(end) == end else round_to_float32(end + direction * abs(end) * 2.0**-22)


def _square(of: Range, type: Type) -> Range:
    """The range of a number times itself."""
    low, high = _binary(BinaryOp.MUL, of, of, type)
    return (0 if of[0] <= 0 <= of[1] and not math.isinf(low) else low, high)


def _float_quotient(a: Range, b: Range) -> Range:
    """The range of a quotient of numbers; anything where the divisor may be 0, or is next to it."""
    if b[0] <= 0 <= b[1] or min(map(abs, b)) < _TINY:
        return EVERYTHING
    corners = [x / y for x in a for y in b]
    widen = max(map(abs, corners)) * 2.0**-20 + _TINY
    low = min(corners) - widen
    return (max(low, 0) if min(corners) >= 0 else low, max(corners) + widen)


def _hull(a: Range, b: Range) -> Range:
    return (min(a[0], b[0]), max(a[1], b[1]))


def _binary(op: BinaryOp, a: Range, b: Range, type: Type) -> Range:
    if op in ir.COMPARISONS or op in ir.LOGICAL:
        return _BOOL
    finite = not any(math.isinf(v) for v in (*a, *b))
    if not finite and op not in (BinaryOp.MIN, BinaryOp.MAX, BinaryOp.MOD, BinaryOp.BIT_AND):
        return EVERYTHING
    if type.is_float() and op in (BinaryOp.MIN, BinaryOp.MAX) and not finite:
        return EVERYTHING  # an operand may be NaN, and a NaN can come out
    slack = 0.0
    if type.is_float() and finite:
        slack = max(map(abs, (*a, *b))) * 2.0**-20
    match op:
        case BinaryOp.ADD:
            low, high = (a[0] + b[0] - slack, a[1] + b[1] + slack) if slack else (a[0] + b[0], a[1] + b[1])
            return (max(low, 0), high) if min(a[0], b[0]) >= 0 else (low, high)  # rounding keeps a sign
        case BinaryOp.SUB:
            return (a[0] - b[1] - slack, a[1] - b[0] + slack) if slack else (a[0] - b[1], a[1] - b[0])
        case BinaryOp.MUL:
            corners = [x * y for x in a for y in b]
            widen = max(map(abs, corners)) * 2.0**-20 if type.is_float() else 0
            low = min(corners) - widen
            return (max(low, 0) if min(corners) >= 0 else low, max(corners) + widen)
        case BinaryOp.MIN:
            return (min(a[0], b[0]), min(a[1], b[1]))
        case BinaryOp.MAX:
            return (max(a[0], b[0]), max(a[1], b[1]))
    if type.is_float():
        return _float_quotient(a, b) if op is BinaryOp.DIV else EVERYTHING
    match op:
        case BinaryOp.DIV if b[0] > 0:
            corners = [x // y for x in a for y in b]
            return (min(corners), max(corners))
        case BinaryOp.DIV:
            most = max(abs(a[0]), abs(a[1]))
            return (-most - 1, most + 1)
        case BinaryOp.MOD:
            most = max(abs(b[0]), abs(b[1]))
            return (0, most - 1 if most > 0 else 0)
        case BinaryOp.BIT_AND if a[0] >= 0 or b[0] >= 0:
            return (0, min(v[1] for v in (a, b) if v[0] >= 0))
        case BinaryOp.SHL if b[0] >= 0 and b[1] < type.bits():
            corners = [int(x) << int(y) for x in a for y in b]
            return (min(corners), max(corners))
        case BinaryOp.SHR if b[0] >= 0:
            corners = [int(x) >> int(min(y, 63)) for x in a for y in b]
            return (min(corners), max(corners))
        case BinaryOp.BIT_OR | BinaryOp.BIT_XOR if a[0] >= 0 and b[0] >= 0:
            return (0, (1 << max(int(a[1]).bit_length(), int(b[1]).bit_length())) - 1)
    return EVERYTHING
