"""The hyperbolic tangent of float64, within 1.5 units in the last place; the C library's is wrong by up to 2.2.

    tanh(0.2335337181126165)   ->   0.2293788468620202

tanh(u) is t/(t + 2), where t = expm1(2u). What the sum and the quotient lost by rounding is found exactly, or nearly,
and put back, so that the error of expm1 and one rounding are left.
"""

from __future__ import annotations

import math

from halide_core.ir.types import Float
from halide_core.reference.fma import fused_product

ONE_FROM = 22.0
"""From here on it rounds to 1."""

_fused = fused_product(Float(64))


def tanh(a: float) -> float:
    """Of any float64."""
    if math.isnan(a):
        return a
    t = math.expm1(2.0 * min(abs(a), ONE_FROM))
    below = t + 2.0
    lost = (t - below) + 2.0 if t > 2.0 else (2.0 - below) + t
    quotient = t / below
    rest = _fused(-quotient, below, t) - quotient * lost
    return math.copysign(quotient + rest / below, a)
