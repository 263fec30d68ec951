"""Quotients of floats by constants, without a division: of what was an integer of 8 or 16 bits.

In: a division of float32. Out: the two parts of the reciprocal that give the same bits, or None.

    f32(u8)/255.0   ->   fma(x, 0x1.010102p-8, x*-0x1.fdfdfep-33)

A reciprocal that is rounded once gives another last digit for some numbers: 126 of the 256 above. What rounding left
of it is a second part. So few numbers have the type that each is tried; where one of them differs, it is a division.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from halide_core import ir
from halide_core.ir import BinaryOp, ExprNode
from halide_core.ir.types import Float, Type
from halide_core.runtime.codegen.names import tag
from halide_core.runtime.codegen.vector.fma import fused_product
from halide_core.runtime.codegen.vector.prelude import Prelude
from halide_core.runtime.codegen.vector.scalar_bodies import float_literal

_MOST_BITS = 16
_BELOW_HALF, _HALF = np.uint64(0x1FFFFFFF), np.uint64(0x10000000)
"""The digits of a float64 that a float32 has not, and where they are exactly half of its last one."""


def reciprocal(e: ir.Binary) -> tuple[float, float] | None:
    """Both parts of the reciprocal that a quotient is as well computed with; None where it is to be divided."""
    match e:
        case ir.Binary(op=BinaryOp.DIV, a=ir.Cast(a=number), b=b) if e.type.element_of() is Float(32):
            divisor = b.a if isinstance(b, ir.Broadcast) else b
            small = number.type.is_integer() and 8 <= number.type.bits() <= _MOST_BITS
            return _parts(number.type.element_of(), divisor) if small and isinstance(divisor, ir.FloatImm) else None
    return None


@lru_cache(maxsize=256)
def _parts(numbers: Type, divisor: ExprNode) -> tuple[float, float] | None:
    assert isinstance(divisor, ir.FloatImm)
    by = np.float32(divisor.value)
    x = np.arange(numbers.range[0], numbers.range[1] + 1).astype(np.float32)
    with np.errstate(all="ignore"):
        first = np.float32(1) / by
        rest = np.float32(1 / np.float64(by) - np.float64(first))
        product, small = x.astype(np.float64) * np.float64(first), (x * rest).astype(np.float64)
        found, wanted = product + small, x / by
        # The product is exact. The sum may not be, and is then rounded twice here: once is the same off the middle.
        middle = (found.view(np.uint64) & _BELOW_HALF) == _HALF
        same = found.astype(np.float32).view(np.int32) == wanted.view(np.int32)
    safe = np.isfinite(wanted) & ((wanted == 0) | (np.abs(wanted) >= np.finfo(np.float32).tiny))
    return (float(first), float(rest)) if bool((same & ~middle & safe).all()) else None


def quotient(prelude: Prelude, type: Type, parts: tuple[float, float]) -> str:
    """The name of ``f(x, y)``: x/y, where the parts are those of 1/y."""

    def head() -> tuple[str, str, list[str]]:
        c = prelude.type(type)
        names = [float_literal(part, type) for part in parts]
        first, rest = names if type.is_scalar() else [f"{prelude.splat(type)}({name})" for name in names]
        made = f"return {fused_product(prelude, type)}(x, {first}, x * {rest});"
        return c, f"{c} x, {c} y", ["#ifdef __FP_FAST_FMAF", made, "#else", "return x / y;", "#endif"]

    digits = "_".join(part.hex().replace("-", "n").replace("+", "").replace(".", "_") for part in parts)
    return prelude.define(f"quotient_{tag(type)}_{digits}", head)
