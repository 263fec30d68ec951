"""Quotients of floats by constants, without a division.

In: a division of floats. Out: the two parts of the reciprocal that give the same bits, or None.

    x/3.0f   ->   fma(x, 0x1.555554p-2, x*0x1.555556p-26)

The first part is 1/y without the digits that don't fit, the second what these come to: both have y's sign, so that
zeros, infinities and NaNs become what division makes of them. Both products together are off by at most 2**(3 - digits)
of the quotient's last digit. A quotient of two such numbers is never in the middle between two others; how near it may
come is known, and the few that come nearer than that are tried. All this holds as long as nothing is so small that
digits are lost below the least number: of whole numbers nothing is, of other lanes it is asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from halide_core import ir
from halide_core.ir import BinaryOp, ExprNode, Intrinsic
from halide_core.ir.types import Int, Type, UInt
from halide_core.runtime.codegen.names import integer, tag
from halide_core.runtime.codegen.vector.fma import fused_product
from halide_core.runtime.codegen.vector.prelude import Prelude, either
from halide_core.runtime.codegen.vector.scalar_bodies import float_literal
from halide_core.runtime.codegen.vector.wide_quotients import any_lane
from halide_core.runtime.codegen.vector.x86_builtins import has_bits

_DIGITS = {32: 24, 64: 53}
_MACRO = {32: "__FP_FAST_FMAF", 64: "__FP_FAST_FMA"}
_DIVISORS = (2.0**-30, 2.0**30)
"""Divisors between these have parts, and quotients by them, that are far from the least number that there is."""
_DOUBT = 17
"""Quotients that are this near to a middle may be rounded to the other side, in parts of (2*y)/2**digits."""
_WHOLE = frozenset({BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.MIN, BinaryOp.MAX})
_ROUNDED = frozenset({Intrinsic.FLOOR, Intrinsic.CEIL, Intrinsic.ROUND, Intrinsic.TRUNC})
_KEEPING = frozenset({Intrinsic.ABS, Intrinsic.FMA})
"""Functions that make whole numbers of others, and of whole numbers alone."""
_DEPTH = 8


class Reciprocal(NamedTuple):
    """Both parts of ``1/y``."""

    first: float
    rest: float
    small: bool
    """True where what is divided may be too small, and has to be looked at."""


def reciprocal(e: ir.Binary) -> Reciprocal | None:
    """Both parts of the reciprocal that a quotient is as well computed with; None where it is to be divided."""
    if e.op is not BinaryOp.DIV or e.type.bits() not in _DIGITS or not e.type.is_float():
        return None
    by = e.b.a if isinstance(e.b, ir.Broadcast) else e.b
    parts = _parts(e.type.bits(), by.value, _width(e.a)) if isinstance(by, ir.FloatImm) else None
    if parts is None:
        return None
    small = not _is_whole(e.a, _DEPTH)
    return None if small and not _is_asked(e.type) else Reciprocal(*parts, small)


def _width(e: ExprNode) -> int:
    """The most digits that a float has, as far as is known."""
    digits = _DIGITS[e.type.bits()]
    return min(e.a.type.bits(), digits) if isinstance(e, ir.Cast) and e.a.type.is_integer() else digits


def _is_asked(type: Type) -> bool:
    """True of lanes that fill registers: whether one of them is small is soon known."""
    bits = type.bits() * type.lanes()
    return bits >= 128 and bits & (bits - 1) == 0


def _is_whole(e: ExprNode, depth: int) -> bool:
    """True of floats without a fraction, or infinite, or none at all: rounding makes no fraction."""
    if depth == 0:
        return False
    match e:
        case ir.FloatImm():
            return e.value.is_integer()
        case ir.Broadcast(a=a):
            return _is_whole(a, depth)
        case ir.Cast(a=a):
            return a.type.is_integer() or a.type.is_bool()
        case ir.Binary(op=op, a=a, b=b) if op in _WHOLE:
            return _is_whole(a, depth - 1) and _is_whole(b, depth - 1)
        case ir.Select(a=a, b=b):
            return _is_whole(a, depth - 1) and _is_whole(b, depth - 1)
        case ir.Call(function=function, args=args) if function in _KEEPING:
            return all(_is_whole(a, depth - 1) for a in args)
        case ir.Call(function=function):
            return function in _ROUNDED
    return False


@lru_cache(maxsize=1024)
def _parts(bits: int, divisor: float, width: int) -> tuple[float, float] | None:
    """Both parts, where they give the bits of every quotient of numbers of up to ``width`` digits."""
    low, high = _DIVISORS
    if not low <= abs(divisor) <= high or math.frexp(divisor)[0] in (0.5, -0.5):
        return None  # a power of two is no division anyway
    digits, number = _DIGITS[bits], abs(Fraction(divisor))
    first = _rounded(1 / number, digits, math.floor)
    rest = _rounded(1 / number - first, digits)
    last = _unit(rest, digits)
    mantissa = int(number / _unit(number, digits))
    doubtful = [found for found in _doubtful(mantissa, digits) if found[0] % (1 << (digits - width)) == 0]
    for near in (rest, rest + last, rest - last):
        if all(_is_right(x * number / mantissa, first, near, digits, nearest, above) for x, nearest, above in doubtful):
            return math.copysign(float(first), divisor), math.copysign(float(near), divisor)
    return None


def _is_right(x: Fraction, first: Fraction, rest: Fraction, digits: int, middle: Fraction, above: bool) -> bool:
    """True where both products come to the same side of a middle as the quotient."""
    made = x * first + _rounded(x * rest, digits)
    return made > middle if above else made < middle


def _doubtful(y: int, digits: int) -> Iterator[tuple[int, Fraction, bool]]:
    """The x, with digits as y has, whose quotient by y is about as near to the middle between two numbers as both
    products may be off; that middle; and whether the quotient is above it.

    Let 2*m + 1 be twice the middle, in units of the quotient's last digit, which are 2**-s. How near it is, tells
    n = 2**(s + 1)*x - (2*m + 1)*y, which is as often divisible by 2 as y is: x is found from n, by the inverse of
    2**(s + 1).
    """
    twos = (y & -y).bit_length() - 1
    odd, least = y >> twos, 1 << (digits - 1)
    for s in (digits - 1, digits):
        power = 1 << (s + 1 - twos)
        inverse = pow(power, -1, odd) if odd > 1 else 0
        for n in range(-(_DOUBT >> twos) | 1, (_DOUBT >> twos) + 1, 2):
            first = n * inverse % odd
            for x in range(first + (least - first + odd - 1) // odd * odd, 2 * least, odd):
                if (x >= y) is (s == digits - 1):
                    yield x, Fraction((power * x - n) // odd, 1 << (s + 1)), n > 0


def _unit(number: Fraction, digits: int) -> Fraction:
    """The last digit of a positive number of so many."""
    power = number.numerator.bit_length() - number.denominator.bit_length()  # 2**power is above the number, or below
    return Fraction(2) ** (power - digits + (number >= Fraction(2) ** power))


def _rounded(number: Fraction, digits: int, to: Callable[[Fraction], int] = round) -> Fraction:
    """A positive number in so many digits."""
    unit = _unit(number, digits)
    return to(number / unit) * unit


def quotient(prelude: Prelude, type: Type, parts: Reciprocal) -> str:
    """The name of ``f(x, y)``: x/y, where the parts are those of 1/y."""

    def head() -> tuple[str, str, list[str]]:
        c = prelude.type(type)
        names = [float_literal(part, type) for part in parts[:2]]
        first, rest = names if type.is_scalar() else [f"{prelude.splat(type)}({name})" for name in names]
        made = f"return {fused_product(prelude, type)}(x, {first}, rest);"
        asked = [_asked(prelude, type)] if parts.small else []
        fused = [f"const {c} rest = x * {rest};", *asked, made]
        return c, f"{c} x, {c} y", either(f"defined({_MACRO[type.bits()]})", fused, ["return x / y;"])

    digits = "_".join(part.hex().replace("-", "n").replace("+", "").replace(".", "_") for part in parts[:2])
    return prelude.define(f"{'any_' if parts.small else ''}quotient_{tag(type)}_{digits}", head)


def _asked(prelude: Prelude, type: Type) -> str:
    """The division of lanes one of which is so small that its rest loses digits: not 0, and the rest has no exponent.
    Other rests without one are of zeros."""
    bits = type.bits()
    signed, unsigned = (of(bits, type.lanes()) for of in (Int, UInt))
    s, u, splat = prelude.type(signed), prelude.type(unsigned), prelude.splat(unsigned)
    exponent = f"{splat}({integer((1 << (bits - 1)) - (1 << (_DIGITS[bits] - 1)), unsigned.element_of())})"
    small = f"({s})((({u})rest & {exponent}) == 0) & ({s})(x != 0)"
    rare = f"!{_all_have(prelude, unsigned)}(({u})rest, {exponent})"
    return f"if (__builtin_expect({rare}, 0) && {any_lane(prelude, signed)}({small})) return x / y;"


def _all_have(prelude: Prelude, type: Type) -> str:
    """``f(a, b)``: whether every lane of ``a`` has some bit of ``b``."""

    def head() -> tuple[str, str, list[str]]:
        c, signed = prelude.type(type), Int(type.bits(), type.lanes())
        generic = [f"return !{any_lane(prelude, signed)}(({prelude.type(signed)})((a & b) == 0));"]
        builtin = has_bits(type)
        if builtin is not None:
            every = (1 << type.lanes()) - 1
            generic = either(builtin.condition, [f"return {prelude.call_builtin(builtin, type)} == {every};"], generic)
        return "bool", f"{c} a, {c} b", generic

    return prelude.define(f"all_have_{tag(type)}", head)
