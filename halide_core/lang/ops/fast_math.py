"""Halide's fast functions, the inverse hyperbolic ones, and two promises about values.

In: operands. Out: Exprs of other functions. A fast function may be less exact than the plain one; none is here.

    fast_inverse(f32 4)   ->   0.25
    acosh(x)              ->   asinh(sqrt(x - 1)*sqrt(x + 1))
"""

from __future__ import annotations

import math
from functools import cache

from halide_core import ir
from halide_core.errors import TypeMismatchError, user_location
from halide_core.ir.types import Float, Type
from halide_core.lang.expr import Expr, ExprLike, as_node, power, whole_exponent
from halide_core.lang.ops.math import abs, bound_in, clamp, cos, exp, log, select, sin, sqrt
from halide_core.lang.ops.math import max as greater
from halide_core.lang.ops.math import min as lesser

_FLOAT32, _FLOAT64 = Float(32), Float(64)


def _as_float32(*numbers: float) -> tuple[float, ...]:
    """Numbers as a float32 has them, so that they are not told to lose digits at a user's line."""
    return tuple(node.value for n in numbers if isinstance(node := ir.const(n, _FLOAT32), ir.FloatImm))


_ERF = _as_float32(0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
"""Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26; the error is below 1.5e-7."""
_ERF_STEP, _ERF_SCALE = _as_float32(0.3275911, 2 / math.sqrt(math.pi))

_ERF_NEAR = _as_float32(-1 / 1320, 1 / 216, -1 / 42, 1 / 10, -1 / 3, 1.0)
"""The Taylor series of erf over x and its scale, which keeps the digits of what is small."""


def erf(value: ExprLike) -> Expr:
    """The error function of a float32; its error is below 1e-6 of its value."""
    x = _float32("erf", value)
    squared = x * x
    near: Expr = squared * _ERF_NEAR[0] + _ERF_NEAR[1]
    for coefficient in _ERF_NEAR[2:]:
        near = near * squared + coefficient
    t = 1.0 / (1.0 + _ERF_STEP * abs(x))
    series: Expr = t * _ERF[-1]
    for coefficient in reversed(_ERF[:-1]):
        series = t * (series + coefficient)
    positive = 1.0 - series * exp(-x * x)
    return select(abs(x) < 0.5, x * near * _ERF_SCALE, x < 0.0, -positive, positive)


# ---------------------------------------------------------------------------------------------------------
# Fast functions.


def _float32(name: str, value: ExprLike) -> Expr:
    node = as_node(value)
    if node.type is not _FLOAT32:
        raise TypeMismatchError(f"{name}() needs a float32, not {node.type}.")
    return Expr.of(node)


def fast_exp(value: ExprLike) -> Expr:
    """``exp`` of a float32; it may be less exact there, and isn't here."""
    return exp(_float32("fast_exp", value))


def fast_log(value: ExprLike) -> Expr:
    """``log`` of a float32; it may be less exact there, and isn't here."""
    return log(_float32("fast_log", value))


def fast_pow(base: ExprLike, exponent: ExprLike) -> Expr:
    """``pow`` in float32 of a base that is not negative: ``exp(log(base)*exponent)``, whose last digits are lost where
    that product is large; 0 of 0. For a constant integer exponent the base multiplied, in its own type."""
    if whole_exponent(exponent) is not None:
        return power(base, exponent)
    x, y = (Expr.of(ir.cast(_FLOAT32, as_node(v))) for v in (base, exponent))
    return select(x == 0.0, 0.0, exp(log(x) * y))


def fast_sin(value: ExprLike) -> Expr:
    """``sin``."""
    return sin(value)


def fast_cos(value: ExprLike) -> Expr:
    """``cos``."""
    return cos(value)


def fast_inverse(value: ExprLike) -> Expr:
    """``1/value`` of a float32."""
    return 1.0 / _float32("fast_inverse", value)


def fast_inverse_sqrt(value: ExprLike) -> Expr:
    """``1/sqrt(value)`` of a float32."""
    return 1.0 / sqrt(_float32("fast_inverse_sqrt", value))


def strict_float(value: ExprLike) -> Expr:
    """The value itself: no compile changes how floats are rounded, so all of them are strict, but for sums that a
    schedule's ``rfactor`` brackets in another way; the target feature ``strict_float`` forbids these."""
    return Expr(value)


def unsafe_promise_clamped(value: ExprLike, low: ExprLike | None = None, high: ExprLike | None = None) -> Expr:
    """A value that the user promises to lie in [low, high]. Nothing checks it, and bounds rely on it: a certificate
    calls what follows from it assumed, and ``evaluate`` raises a PromiseError where it is broken; a compiled pipeline
    that breaks it may read or write beyond its memory. The promise is about every point that is computed, also where
    a schedule computes more than the window. Of floats, and of truth values, it is ``clamp``.
    An end that is None, or an undefined Expr, is that of the type.
    """
    node = as_node(value)
    low, high = (None if isinstance(end, Expr) and not end.defined() else end for end in (low, high))
    if not node.type.is_integer() or node.type.is_bool():
        if low is not None and high is not None:
            return clamp(value, low, high)
        at_least = value if low is None else greater(value, low)
        return Expr(at_least) if high is None else lesser(at_least, high)
    least, most = (
        bound_in(end if end is not None else limit, node.type)
        for end, limit in zip((low, high), node.type.range, strict=True)
    )
    return Expr.of(ir.Promise(node.type, node, least, most, user_location()))


# ---------------------------------------------------------------------------------------------------------
# Inverse hyperbolic functions, in float64 inside. Near 0 a logarithm would lose digits: there it is a power series.

_SMALL = 0.125
_LARGE = 2.0**28  # from here on 1 is nothing to the square


def asinh(value: ExprLike) -> Expr:
    """The inverse hyperbolic sine."""
    x, type = _in_float64(value)
    size = abs(x)
    exact = log(size + sqrt(size * size + 1.0))
    far = log(size) + math.log(2.0)
    odd = _odd(x, select(size < _LARGE, exact, far))
    return _back(select(size < _SMALL, _series(x, _asinh_coefficients()), odd), type)


def acosh(value: ExprLike) -> Expr:
    """The inverse hyperbolic cosine; not a number below 1."""
    x, type = _in_float64(value)
    return _back(asinh(sqrt(x - 1.0) * sqrt(x + 1.0)), type)


def atanh(value: ExprLike) -> Expr:
    """The inverse hyperbolic tangent; not a number outside of [-1, 1]."""
    x, type = _in_float64(value)
    size = abs(x)
    odd = _odd(x, log((1.0 + size) / (1.0 - size)) * 0.5)
    return _back(select(size < _SMALL, _series(x, _atanh_coefficients()), odd), type)


def _in_float64(value: ExprLike) -> tuple[Expr, Type]:
    node = as_node(value)
    return Expr.of(ir.cast(_FLOAT64, node)), node.type if node.type.is_float() else _FLOAT32


def _back(value: Expr, type: Type) -> Expr:
    return Expr.of(ir.cast(type, value._node()))


def _odd(x: Expr, positive: Expr) -> Expr:
    return select(x < 0.0, -positive, positive)


def _series(x: Expr, coefficients: tuple[float, ...]) -> Expr:
    """``x*(c0 + c1*x**2 + c2*x**4 + …)``."""
    square = x * x
    total = Expr.of(ir.const(coefficients[-1], _FLOAT64))
    for c in reversed(coefficients[:-1]):
        total = total * square + Expr.of(ir.const(c, _FLOAT64))
    return total * x


# Powers up to 19: 0.125**20 is 2**-60, below the last digit of a float64.
_TERMS = 10


@cache
def _asinh_coefficients() -> tuple[float, ...]:
    return tuple((-0.25) ** k * math.comb(2 * k, k) / (2 * k + 1) for k in range(_TERMS))


@cache
def _atanh_coefficients() -> tuple[float, ...]:
    return tuple(1.0 / (2 * k + 1) for k in range(_TERMS))
