"""Products that are fused with a sum: their meaning, on which every judge agrees."""

from __future__ import annotations

import ctypes
import math
import struct

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import halide_core as hl
from halide_core import ir
from halide_core.algorithm.fused_products import fused_values
from halide_core.errors import InternalError
from halide_core.ir.types import Float, Int
from halide_core.reference.fma import fused_product
from tests.support.checking import Array, image, numbers, same, variables
from tests.support.interpreted import run_program

checked = settings(derandomize=True, max_examples=200, deadline=None, database=None)
EVERY = st.floats(width=32)
WHOLE = st.floats()


def agree(found: float, wanted: float) -> bool:
    """Equal to the bit; one NaN is as good as another."""
    return struct.pack("d", found) == struct.pack("d", wanted) or (math.isnan(found) and math.isnan(wanted))


def library(name: str, kind: type) -> object:
    """A function of the C library, which is rounded once by the standard."""
    function = getattr(ctypes.CDLL(None), name)
    function.restype, function.argtypes = kind, [kind] * 3
    return function


@checked
@given(EVERY, EVERY, EVERY)
@example(16777215.0, 16777215.0, -281474943156224.0)
@example(2.0**-149, 2.0**-149, 0.0)
@example(2.0**127, 2.0**127, -math.inf)
def test_float32_is_rounded_once(a: float, b: float, c: float) -> None:
    fused, fmaf = fused_product(Float(32)), library("fmaf", ctypes.c_float)
    nearly = ctypes.c_float(-a * b).value  # what is left of a product that cancels is its rounding
    for third in (c, nearly):
        assert agree(fused(a, b, third), fmaf(a, b, third))  # type: ignore[operator]  # a C function


@checked
@given(WHOLE, WHOLE, WHOLE)
@example(1e300, 1e300, -math.inf)
@example(-1e300, 1e300, math.inf)
@example(1e300, 1e300, 0.0)
@example(0.0, -1.0, 0.0)
@example(5e-324, -0.5, 0.0)
def test_float64_is_rounded_once(a: float, b: float, c: float) -> None:
    fused, fma = fused_product(Float(64)), library("fma", ctypes.c_double)
    for third in (c, -a * b):
        assert agree(fused(a, b, third), fma(a, b, third))  # type: ignore[operator]  # a C function


def test_fused_product_of_other_types_has_no_meaning() -> None:
    for type in (Int(32), Float(16), Float(32, 4)):
        with pytest.raises(InternalError, match="no scalar meaning"):
            fused_product(type)


def fused(f: hl.Func) -> str:
    """The last definition's values, as the compiler takes them."""
    function = f.function
    return ", ".join(map(repr, fused_values(function, function.definitions[-1])))


x, y = variables("x y")
r = hl.RDom([(0, 8)], "r")
a, b = hl.ImageParam(hl.Float(32), 1, "a"), hl.ImageParam(hl.Float(32), 1, "b")


def func(first: object = 0.0) -> hl.Func:
    """A Func with its first definition."""
    f = hl.Func("f")
    f[x] = hl.f32(first) if isinstance(first, float) else first
    return f


def test_product_that_is_added_to_its_own_point_is_fused() -> None:
    f = func()
    f[x] += a[x + r] * b[r]
    assert fused(f) == "fma(a[x + r.x], b[r.x], f[x])"
    f[x] = b[x] * 2.0 + f[x]
    assert fused(f) == "fma(b[x], 2.0f, f[x])"
    f[x] -= 2.0 * b[x]
    assert fused(f) == "fma(-2.0f, b[x], f[x])"
    f[x] -= b[x] * 2.0
    assert fused(f) == "fma(b[x], -2.0f, f[x])"
    f[x] -= a[x] * b[x]
    assert fused(f) == "fma(a[x]*-1.0f, b[x], f[x])"


def test_everything_else_stays() -> None:
    pure = func(a[x] * b[x] + 1.0)
    assert pure.function.definitions[0].values[0] is fused_values(pure.function, pure.function.definitions[0])[0]
    scan, sums, minus, narrow, whole = func(), func(), func(), func(hl.cast(hl.Float(16), 0.0)), func(hl.i32(0))
    scan[r] = scan[r - 1] + a[r] * b[r]
    sums[x] += a[x] * b[x] + a[x]
    minus[x] = a[x] * b[x] - minus[x]
    narrow[x] += hl.cast(hl.Float(16), a[x]) * hl.cast(hl.Float(16), b[x])
    whole[x] += hl.i32(a[x]) * hl.i32(b[x])
    for f in (scan, sums, minus, narrow, whole):
        assert "fma" not in fused(f)


def test_each_component_of_a_tuple_is_fused_with_its_own() -> None:
    f = hl.Func("f")
    f[x] = (hl.f32(0.0), hl.f32(0.0))
    f[x] = (f[x][0] + a[x] * b[x], f[x][0] + a[x] * b[x])
    assert fused(f) == "fma(a[x], b[x], f[x].0), f[x].0 + a[x]*b[x]"


def dot(strict: bool = False) -> tuple[hl.Func, Array, Array]:
    """Dot products of windows, whose terms nearly cancel; and what they are with products rounded, and not."""
    left, right = numbers((40,), np.float32, 3), numbers((8,), np.float32, 4)
    f, p, q = hl.Func("f"), image(left, "p"), image(right, "q")
    f[x] = hl.f32(0.0)
    f[x] += p[x + r] * q[r]
    once, twice = np.zeros(32, np.float32), np.zeros(32, np.float32)
    step = fused_product(Float(32))
    for k in range(8):
        pairs = zip(left[k : k + 32].tolist(), once.tolist(), strict=True)
        once = np.array([step(u, float(right[k]), v) for u, v in pairs], np.float32)
        twice += left[k : k + 32] * right[k]
    assert (once != twice).any()
    return f, once, twice


@pytest.mark.parametrize("lanes", [1, 4, 8, 16])
def test_no_schedule_changes_what_is_fused(lanes: int) -> None:
    f, once, _ = dot()
    f.vectorize(x, lanes)
    f.update().reorder(x, r.x).vectorize(x, lanes)
    same(f.realize([32]), once)
    same(f.evaluate([32]), once)
    for name, found in run_program(f, [(0, 32)]).items():
        assert np.array_equal(found, once), name
    assert f.certify().ok


def test_strict_float_fuses_nothing() -> None:
    f, _, twice = dot()
    f.update().vectorize(x, 8)
    same(f.realize([32], hl.Target("host-strict_float")), twice)
    same(f.evaluate([32], strict_float=True), twice)


def test_factored_reduction_fuses_its_partial_results() -> None:
    f, once, _ = dot()
    outer, inner, u = hl.RVar("outer"), hl.RVar("inner"), hl.Var("u")
    part = f.update().split(r.x, outer, inner, 4).rfactor(outer, u)
    part.compute_root()
    assert fused(part).startswith("fma(")
    np.testing.assert_allclose(np.asarray(f.realize([32])), once, rtol=1e-4, atol=1e-3)


def test_range_of_a_fused_product_bounds_an_index() -> None:
    table = image(np.arange(32, dtype=np.int32), "table")
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = hl.f32(1.0)
    f[x] = hl.clamp(f[x], 0.0, 4.0)
    f[x] += hl.f32(hl.cast(hl.UInt(8), x) & 3) * 2.0
    g[x] = table[hl.clamp(hl.i32(f[x]), 0, 31)]
    same(g.realize([8]), np.array([1, 3, 5, 7, 1, 3, 5, 7], np.int32))
    assert ir.Intrinsic.FMA.value == "fma"
