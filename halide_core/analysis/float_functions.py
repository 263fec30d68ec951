"""Ranges of functions of floating-point numbers: those that round, that grow, that swing, and clamps.

In: a function and the range of its argument. Out: the range of its values, which are numbers then; None where that is
not sure.

    exp of (0, 1)   ->   (0.9999995, 2.7182831)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from halide_core.analysis.interval import Range, magnitude
from halide_core.ir import Binary, BinaryOp, ExprNode, Intrinsic

_OFF = 2.0**-21
"""More than functions are off: those of float32 by 1.6 units in the last place (``halide_core.reference.elementary``),
which is
2**-22.3 of the value. Relative to a value or, below one, in all."""

_ROUNDING: dict[Intrinsic, Callable[[float], float]] = {
    Intrinsic.FLOOR: math.floor,
    Intrinsic.CEIL: math.ceil,
    Intrinsic.TRUNC: math.trunc,
    Intrinsic.ROUND: round,
}


@dataclass(frozen=True, slots=True)
class _Growing:
    """A function that grows, between two arguments."""

    function: Callable[[float], float]
    least: float
    most: float


_GROWING = {
    Intrinsic.SQRT: _Growing(math.sqrt, 0.0, 1e30),
    Intrinsic.EXP: _Growing(math.exp, -80.0, 80.0),
    Intrinsic.LOG: _Growing(math.log, 1e-30, 1e30),
    Intrinsic.ATAN: _Growing(math.atan, -1e30, 1e30),
    Intrinsic.TANH: _Growing(math.tanh, -1e30, 1e30),
}
_SWINGING = (Intrinsic.SIN, Intrinsic.COS)


def function_range(function: Intrinsic, of: Range) -> Range | None:
    """See the module's docstring."""
    low, high = of
    if not (math.isfinite(low) and math.isfinite(high)):
        return None  # the result may be NaN
    if function is Intrinsic.ABS:
        return magnitude(of)
    if function in _ROUNDING:
        return (_ROUNDING[function](low), _ROUNDING[function](high))
    if function in _SWINGING:
        return (-1 - _OFF, 1 + _OFF)
    growing = _GROWING.get(function)
    if growing is None or low < growing.least or high > growing.most:
        return None
    low, high = growing.function(low), growing.function(high)
    return (low - _OFF * max(abs(low), 1.0), high + _OFF * max(abs(high), 1.0))


def clamp_ends(e: ExprNode) -> tuple[ExprNode, ExprNode] | None:
    """The ends that a float is clamped between, the lower one first. Where these are numbers so is the result, whatever
    is clamped: of a NaN and a number, ``min`` and ``max`` give the second."""
    match e:
        case Binary(op=BinaryOp.MAX, a=Binary(op=BinaryOp.MIN, b=high), b=low):
            return low, high
        case Binary(op=BinaryOp.MAX, a=low, b=Binary(op=BinaryOp.MIN, b=high)):
            return low, high
        case Binary(op=BinaryOp.MIN, a=Binary(op=BinaryOp.MAX, b=low), b=high):
            return low, high
        case Binary(op=BinaryOp.MIN, a=high, b=Binary(op=BinaryOp.MAX, b=low)):
            return low, high
    return None
