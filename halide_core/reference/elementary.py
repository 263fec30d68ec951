"""The elementary functions of float32, each written once: the steps that compiled code takes, and the reference.

In: a function. Out: its steps (``steps``). Of exp, log, sin, cos, tanh and pow all is float32; the others are
computed in float64, which leaves one rounding. The errors, over every float32, are those of
``tests/runtime/codegen/vector/test_elementary``; the coefficients come from ``benchmarks/minimax``.

    steps_of(EXP)   ->   n = round(x/ln 2), r = x - n*ln 2, (1 + r + r*r*p(r)) * 2**n

Arguments that hardly ever come (an angle of many turns, the logarithm of 0) go to the C library's function of float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from halide_core.ir.expr_nodes import Intrinsic
from halide_core.reference.steps import (
    Lookup,
    Step,
    Tape,
    bits,
    fused,
    greater_of,
    greatest,
    horner,
    least,
    lesser_of,
    lookup,
    narrow,
    real,
    select,
    sqrt,
    trace,
    unless,
    widen,
)

_INFINITE = math.inf
_SIGN, _SIZE = 0x80000000, 0x7FFFFFFF
_MAGIC, _MAGIC_BITS = 12582912.0, 0x4B400000
"""1.5 * 2**23: what is added to it is rounded to an integer, which its low bits then are."""
_NORMAL = 2.0**-126
"""The least number that is not subnormal."""
_MAGIC64 = 6755399441055744.0
"""1.5 * 2**52."""


def _size(x: Step) -> Step:
    return real(bits(x) & _SIZE)


def _with_sign(size: Step, sign: Step) -> Step:
    return real(bits(size) ^ sign)


def _both_powers(n: Step) -> tuple[Step, Step]:
    """Two float32s, whose product is 2**n of a word n in [-252, 254]: one alone may be no float32."""
    half = n >> 1
    return real((half + 127) << 23), real((n - half + 127) << 23)


# ---------------------------------------------------------------------------------------------------------
# exp, log, and hyperbolic functions.

_LOG2E = float.fromhex("0x1.715476p+0")
_LN2_HIGH, _LN2_LOW = float.fromhex("0x1.62e4p-1"), float.fromhex("0x1.7f7d1cp-20")
"""The first has 15 bits: its products with exponents are exact."""
_EXP = (0.4999999403953552, 0.1666652113199234, 0.04166826978325844, 0.008368685841560364, 0.0013820473104715347)


def _exp(x: Step) -> Step:
    y = least(89.0, greatest(-104.0, x))
    turned = fused(y, _LOG2E, _MAGIC)
    n = turned - _MAGIC
    r = fused(n, -_LN2_LOW, fused(n, -_LN2_HIGH, y))
    value = fused(r * r, horner(r, _EXP), r) + 1.0
    first, second = _both_powers(bits(turned) - _MAGIC_BITS)
    return value * first * second


_LOG = (0.3333333134651184, -0.2500081956386566, 0.20001238584518433, -0.1662340611219406, 0.1420167088508606,
        -0.13159747421741486, 0.1276155710220337, -0.07635179162025452)  # fmt: skip
_ROOT_HALF = 0x3F3504F3
"""The bits of sqrt(0.5)."""


def _parts(x: Step, start: int) -> tuple[Step, Step, Step]:
    """A normal number as m and e, both float32: m*2**e, with m from the number of the bits ``start`` to twice as much;
    and in which eighth of these float32s m is."""
    word = bits(x) - start
    return real((word & 0x7FFFFF) + start), real((word >> 23) + _MAGIC_BITS) - _MAGIC, word >> 20 & 7


def _log(x: Step) -> Step:
    m, e, _ = _parts(x, _ROOT_HALF)
    f = m - 1.0
    z = f * f
    low = fused(z, -0.5, fused(horner(f, _LOG), f * z, e * _LN2_LOW))
    return unless((x >= _NORMAL) & (x < _INFINITE), fused(e, _LN2_HIGH, low + f), "log", x)


_TANH = (-0.33333277702331543, 0.13331322371959686, -0.05372936651110649, 0.020604295656085014, -0.0056650638580322266)
_TANH_SMALL = 0.625


def _tanh(x: Step) -> Step:
    size = _size(x)
    square = size * size
    near = fused(horner(square, _TANH), size * square, size)
    far = 1.0 - 2.0 / (_exp(least(10.0, size) * 2.0) + 1.0)
    return _with_sign(select(size < _TANH_SMALL, near, far), bits(x) & _SIGN)


# ---------------------------------------------------------------------------------------------------------
# sin and cos.

_TURNS = float.fromhex("0x1.45f306p-1")
"""2/pi."""
_QUARTER = tuple(map(float.fromhex, ("0x1.921fb6p+0", "-0x1.777a5cp-25", "-0x1.ee59dap-50")))
"""pi/2 as a sum; what is left of a difference from a multiple of the first is a float32."""
_SIN = (-0.16666653752326965, 0.008332115598022938, -0.00019509934645611793)
_COS = (0.04166664555668831, -0.0013887308305129409, 2.443210905767046e-05)
_FEW_TURNS = 65536.0


def _angle(size: Step) -> tuple[Step, Step, Step]:
    """The number of quarters of a turn, a word, and the sine and the cosine of what is left."""
    turned = fused(size, _TURNS, _MAGIC)
    n = turned - _MAGIC
    r = size
    for part in _QUARTER:
        r = fused(n, -part, r)
    s = r * r
    sine = fused(horner(s, _SIN), r * s, r)
    cosine = fused(horner(s, _COS), s * s, fused(s, -0.5, 1.0))
    return bits(turned), sine, cosine


def _quadrant(n: Step, even: Step, odd: Step) -> Step:
    """One of two values, negative in the last two quarters of a turn."""
    return _with_sign(select((n & 1).equals(0), even, odd), (n & 2) << 30)


def _sin(x: Step) -> Step:
    size = _size(x)
    n, sine, cosine = _angle(size)
    value = _with_sign(_quadrant(n, sine, cosine), bits(x) & _SIGN)
    return unless(size < _FEW_TURNS, value, "sin", x)


def _cos(x: Step) -> Step:
    size = _size(x)
    n, sine, cosine = _angle(size)
    return unless(size < _FEW_TURNS, _quadrant(n + 1, sine, cosine), "cos", x)


# ---------------------------------------------------------------------------------------------------------
# pow.

_EXP2_LESS_1 = (0.6931471824645996, 0.24022647738456726, 0.05550359562039375, 0.009618500247597694,
                0.0013390976237133145, 0.00015328907466027886)  # fmt: skip
"""After the first term."""
_WHOLE = 8388608.0
"""2**23: all floats from there on are integers, from 2**24 on even ones."""
_NORMAL_POWERS, _NO_POWER = 125.0, -151.0
"""Powers of 2 up to so far are normal numbers; from there on down, they are 0."""
_START = 0x3F380000
"""The bits of 0.71875. An eighth of the float32s from there to 1.4375 has a reciprocal in common: its products with
them differ from 1 by float32s, of at most 0.0704."""
_RECIPROCALS = Lookup("log2_reciprocal", (21 / 16, 5 / 4, 9 / 8, 17 / 16, 1.0, 7 / 8, 13 / 16, 23 / 32))
_HIGH = Lookup("log2_high", tuple(k / 65536 for k in (-25711, -21098, -11136, -5732, 0, 12625, 19632, 31224)))
_LOW = Lookup("log2_low", (
    1.3028071634835214e-06, 1.8367533130003721e-06, -3.1264423796528718e-06, 5.376559215619636e-07, 0.0,
    2.8660283533099573e-06, -2.650160979555949e-07, -2.3857444375607884e-06,
))  # fmt: skip
"""Their logarithms, negated, as sums: with an exponent, the first is still a float32."""
_LOG2E_LOW = float.fromhex("0x1.4ae0cp-26")
_LOG2 = (0.48089835047721863, -0.3606714606285095, 0.2885344624519348, -0.24178703129291534, 0.20766814053058624)
"""From the third power on."""


def _log2(x: Step) -> tuple[Step, Step]:
    """The logarithm of a normal float32, as a sum; its error is 2**-33 of it."""
    m, e, part = _parts(x, _START)
    f = fused(m, lookup(_RECIPROCALS, part), -1.0)
    half = f * -0.5
    g = fused(f, half, f)
    high = g * _LOG2E
    low = fused(g, _LOG2E, high * -1.0)
    low = fused(fused(f, half, f - g), _LOG2E, fused(g, _LOG2E_LOW, low))
    square = f * f
    low = fused(square * f, horner(f, _LOG2), low)
    whole = e + lookup(_HIGH, part)
    total = whole + high
    return total, whole - total + high + low + lookup(_LOW, part)


def _pow(x: Step, y: Step) -> Step:
    size, power = _size(x), _size(y)
    high, low = _log2(size)
    product = y * high
    rest = fused(y, low, fused(y, high, product * -1.0))
    turned = product + rest + _MAGIC
    r = product - (turned - _MAGIC) + rest
    found = real(bits(fused(r, horner(r, _EXP2_LESS_1), 1.0)) + (bits(turned) << 23))
    large = power >= _WHOLE
    shifted = power + _WHOLE
    whole = large | (shifted - _WHOLE).equals(power)
    last = select(large, bits(power), bits(shifted)) << 31
    sign = select(whole & (power < 2.0 * _WHOLE), last & bits(x), 0)
    normal, within = size >= _NORMAL, _size(product) < _NORMAL_POWERS
    simple = normal & (size < _INFINITE) & (within | (product < _NO_POWER)) | size.equals(0.0) & (y > 0.0)
    usual = simple & (power < _INFINITE) & (whole | x.equals(size))
    return unless(usual, _with_sign(select(normal & within, found, 0.0), sign), "pow", x, y)


# ---------------------------------------------------------------------------------------------------------
# Functions that are computed in float64.


_EXP2 = (0.9999999999613807, 0.6931471807298953, 0.24022651201127346, 0.05550410349991461, 0.009618026850963872,
         0.001333392433979092, 0.0001546942129251551, 1.5201740830044771e-05)  # fmt: skip


def _exp64(x: Step) -> Step:
    """Of a float64 between -252*ln(2) and 254*ln(2)."""
    turned = x * (1.0 / math.log(2.0))
    n = (turned + _MAGIC64) - _MAGIC64
    first, second = _both_powers(bits(narrow(n) + _MAGIC) - _MAGIC_BITS)
    return horner(turned - n, _EXP2) * widen(first) * widen(second)


_TURNS64 = 2.0 / math.pi
_QUARTER64 = tuple(map(float.fromhex, ("0x1.921fb544p+0", "0x1.0b4611a626331p-34")))
_SIN64 = (0.9999999999953577, -0.16666666629858964, 0.008333328633928057, -0.00019839161541664879,
          2.7169985019095266e-06)  # fmt: skip
_COS64 = (0.9999999999427663, -0.49999999564465636, 0.041666612572859286, -0.0013886509802297701,
          2.4370932959151515e-05)  # fmt: skip


def _tan(x: Step) -> Step:
    wide = widen(x)
    n = (wide * _TURNS64 + _MAGIC64) - _MAGIC64
    r = wide - n * _QUARTER64[0] - n * _QUARTER64[1]
    s = r * r
    sine, cosine = horner(s, _SIN64) * r, horner(s, _COS64)
    even = (bits(narrow(n) + _MAGIC) & 1).equals(0)
    value = select(even, narrow(sine / cosine), narrow((0.0 - cosine) / sine))
    return unless(_size(x) < _FEW_TURNS, select(x.equals(0.0), x, value), "tan", x)


_ATAN = (0.9999999999992712, -0.3333333327837396, 0.19999993183680384, -0.14285390930465705, 0.11103527001598096,
         -0.08993128857186074, 0.06976542619358914, -0.03769257523887562)  # fmt: skip
"""Of arguments up to tan(pi/8)."""
_EIGHTH = float.fromhex("0x1.a8279ap-2")
"""tan(pi/8)."""


def _angle_of(over: Step, under: Step) -> Step:
    """The angle in [0, pi/4] whose tangent is a quotient of two float32s, as a float64."""
    turned = select(over < under * _EIGHTH, under * 0.0, 1.0)
    k, a, b = widen(turned), widen(over), widen(under)
    t = (a - b * k) / (b + a * k)
    return horner(t * t, _ATAN) * t + k * (math.pi / 4)


def _turned(angle: Step, test: Step, by: float) -> Step:
    """``by - angle`` where the test holds."""
    return widen(select(test, 1.0, 0.0)) * by + angle * widen(select(test, -1.0, 1.0))


def _atan(x: Step) -> Step:
    size = _size(x)
    bounded = least(2.0**60, size)
    steep = bounded > 1.0
    angle = _angle_of(select(steep, 1.0, bounded), select(steep, bounded, 1.0))
    return _with_sign(select(size.equals(0.0), 0.0, narrow(_turned(angle, steep, math.pi / 2))), bits(x) & _SIGN)


def _atan2(y: Step, x: Step) -> Step:
    up, along = _size(y), _size(x)
    steep = along < up
    over, under = lesser_of(up, along), greater_of(up, along)
    endless, nowhere = under.equals(_INFINITE), under.equals(0.0)
    over = select(endless, select(over.equals(_INFINITE), 1.0, 0.0), over)
    under = select(endless | nowhere, 1.0, under)
    scale = select(under < 2.0**-60, 2.0**64, 1.0)  # of subnormal numbers not even the quotient's size would be known
    angle = _turned(_turned(_angle_of(over * scale, under * scale), steep, math.pi / 2), _negative(x), math.pi)
    found = _with_sign(narrow(angle), bits(y) & _SIGN)
    return select(x.equals(x) & y.equals(y), found, math.nan)


def _negative(x: Step) -> Step:
    """True where the sign of a number is negative, also a zero's."""
    return (bits(x) & _SIGN).equals(_SIGN)


_ASIN = (1.000000000000918, 0.16666666608452532, 0.07500006066128029, 0.044640432040846556, 0.030430222581424967,
         0.021837643577082864, 0.020767538569522043, 0.0017018900796554575, 0.03317274656159265)  # fmt: skip
"""Of arguments up to 0.5."""


def _half_angle(size: Step) -> tuple[Step, Step]:
    """A mask of sines above 0.5, and the angle of each, or else half of the angle of its complement's; a float64."""
    far = size > 0.5
    wide = widen(size)
    square = widen(select(far, 0.5, 0.0)) + wide * (widen(select(far, -0.5, 0.0)) + wide * widen(select(far, 0.0, 1.0)))
    return far, horner(square, _ASIN) * sqrt(square)


def _asin(x: Step) -> Step:
    size = _size(x)
    far, angle = _half_angle(size)
    found = widen(select(far, 1.0, 0.0)) * (math.pi / 2) + angle * widen(select(far, -2.0, 1.0))
    return _with_sign(narrow(found), bits(x) & _SIGN)


def _acos(x: Step) -> Step:
    far, angle = _half_angle(_size(x))
    negative = _negative(x)
    start = select(far, select(negative, 2.0, 0.0), 1.0)
    factor = select(far, select(negative, -2.0, 2.0), select(negative, 1.0, -1.0))
    return narrow(widen(start) * (math.pi / 2) + angle * widen(factor))


_SINH = (1.0000000000459757, 0.16666666430249197, 0.008333352591507255, 0.0001983581281158459, 2.8185216388180036e-06)
"""Of arguments up to 1."""


def _sinh(x: Step) -> Step:
    size = _size(x)
    wide = widen(least(100.0, size))
    power = _exp64(wide)
    square = widen(least(1.0, size)) * widen(least(1.0, size))
    near, far = horner(square, _SINH) * wide, (power - 1.0 / power) * 0.5
    return _with_sign(select(size < 1.0, narrow(near), narrow(far)), bits(x) & _SIGN)


def _cosh(x: Step) -> Step:
    power = _exp64(widen(least(100.0, _size(x))))
    return narrow((power + 1.0 / power) * 0.5)


_STEPS: dict[Intrinsic, tuple[Callable[..., Step], int]] = {
    Intrinsic.EXP: (_exp, 1),
    Intrinsic.LOG: (_log, 1),
    Intrinsic.SIN: (_sin, 1),
    Intrinsic.COS: (_cos, 1),
    Intrinsic.TANH: (_tanh, 1),
    Intrinsic.SINH: (_sinh, 1),
    Intrinsic.COSH: (_cosh, 1),
    Intrinsic.TAN: (_tan, 1),
    Intrinsic.ASIN: (_asin, 1),
    Intrinsic.ACOS: (_acos, 1),
    Intrinsic.ATAN: (_atan, 1),
    Intrinsic.ATAN2: (_atan2, 2),
    Intrinsic.POW: (_pow, 2),
}


@cache
def steps_of(function: Intrinsic) -> Tape | None:
    """The steps of a function of float32s; None of one that is a single operation."""
    known = _STEPS.get(function)
    return None if known is None else trace(*known)
