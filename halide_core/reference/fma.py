"""The fused multiply-add of single values: ``a*b + c``, rounded once.

In: a type and three of its values. Out: the value that is nearest to the exact result, ties to even.

    fused_product(Float(32))(16777215.0, 16777215.0, -281474943156224.0)   ->   1.0     a*b alone would round to 2**48

float32 is computed in float64, which holds a product exactly. A sum that it does not hold becomes the odd one of the
two numbers around it, so that rounding once more gives what rounding at once does (Boldo and Melquiond 2008).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from ctypes import c_float
from fractions import Fraction

from halide_core.errors import InternalError
from halide_core.ir.types import Type

Ternary = Callable[[float, float, float], float]


def fused_product(type: Type) -> Ternary:
    """The function of three values of ``type``.

    Raises:
        InternalError: not a float32 or a float64.
    """
    if not type.is_float() or type.is_narrow_float() or type.is_vector():
        raise InternalError(f"A fused multiply-add has no scalar meaning on {type}.")
    return _of_float32 if type.bits() == 32 else _of_float64


def _of_float32(a: float, b: float, c: float) -> float:
    product = a * b
    total = product + c
    # What the sum lost (Knuth); NaN where it is infinite or no number.
    share = total - product
    lost = (product - (total - share)) + (c - share)
    if lost and not math.isnan(lost) and math.frexp(total)[0] * 2.0**53 % 2 == 0:
        total = math.nextafter(total, math.copysign(math.inf, lost))
    return c_float(total).value


def _of_float64(a: float, b: float, c: float) -> float:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c  # the product is a number, however large
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if not exact:
        return a * b + c if a == 0 or b == 0 else 0.0  # zeros keep their signs; what cancels is positive
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
