"""Sums in plain loops: gcc 12 gets some wrong where it makes vectors of them."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from halide_core.ir.types import Type
from halide_core.lowering.driver import lower
from halide_core.runtime.codegen.unit import emit_c
from tests.support.checking import variables

x, y, c = variables("x y c")
ROWS = 64


def picture(type: Type, channels: int) -> hl.Buffer:
    values = np.random.default_rng(channels).integers(0, 90, (ROWS, channels)).astype(type.dtype)
    return hl.Buffer(values / 7 if type.is_float() else values)


def stays(f: hl.Func) -> bool:
    return "ONE_BY_ONE;" in emit_c(lower(f._request()))


def same(f: hl.Func, window: list[int]) -> None:
    np.testing.assert_array_equal(np.asarray(f.realize(window)), f.evaluate(window))


@pytest.mark.parametrize("unrolled", [True, False])
@pytest.mark.parametrize("channels", [2, 3, 4, 8])
@pytest.mark.parametrize("type", [hl.Float(32), hl.Float(64)], ids=str)
def test_floats_that_are_added_in_another_order_than_they_lie_in(type: Type, channels: int, unrolled: bool) -> None:
    source, f, r = picture(type, channels), hl.Func("f"), hl.RDom([(0, channels), (0, ROWS)])
    f[()] = hl.cast(type, 0)
    f[()] += source[channels - 1 - r.x, r.y]
    if unrolled:
        f.update().unroll(r.x)
    same(f, [])
    assert stays(f)


@pytest.mark.parametrize("type", [hl.Float(32), hl.Float(64)], ids=str)
def test_floats_that_one_statement_adds(type: Type) -> None:
    source, f, r = picture(type, 3), hl.Func("f"), hl.RDom([(0, ROWS)])
    f[()] = hl.cast(type, 0)
    f[()] = f[()] + source[2, r.x] * 2 + source[1, r.x] + source[0, r.x]
    same(f, [])
    assert stays(f)


@pytest.mark.parametrize("at_root", [True, False])
@pytest.mark.parametrize("channels", [2, 3, 4])
@pytest.mark.parametrize("type", [hl.Int(8), hl.Int(16), hl.Int(32), hl.Int(64), hl.UInt(16)], ids=str)
def test_several_sums_that_are_added_up(type: Type, channels: int, at_root: bool) -> None:
    source, g, f, r = picture(type, channels), hl.Func("g"), hl.Func("f"), hl.RDom([(0, ROWS - 8)])
    g[c, x] = hl.cast(type, 0)
    g[c, x] += source[c, r.x + x]
    f[x] = g[0, x]
    for k in range(1, channels):
        f[x] = f[x] + g[k, x] * hl.cast(type, 2 * k - 1)
    g.bound(c, 0, channels).unroll(c).reorder_storage(x, c)  # side by side, they would be lanes
    g.update().reorder(c, r.x).unroll(c)
    if at_root:
        g.compute_root()
    else:
        g.compute_at(f, x)
    same(f, [5])
    assert stays(f) == type.is_int()


def test_sums_that_gcc_may_make_vectors_of() -> None:
    """One float each, what nothing else loads, what others than sums change, and what each iteration begins anew."""
    r, whole, real = hl.RDom([(0, ROWS)]), picture(hl.Int(32), 4), picture(hl.Float(32), 4)
    small = hl.RDom([(0, 2), (0, 2)])
    f, s, most, each, pairs = (hl.Func(name) for name in ("f", "s", "most", "each", "pairs"))
    f[c] = hl.f32(0)
    f[c] += real[c, r.x]
    s[c] = 0
    s[c] += whole[c, r.x]
    most[c] = 0
    most[c] = hl.max(most[c], whole[c, r.x])
    f2, m2 = hl.Func("f2"), hl.Func("m2")
    f2[()] = f[0] + f[1]
    m2[()] = most[0] - most[1]
    for g in (f, s, most):
        g.compute_root().bound(c, 0, 3)  # two or four would be lanes
        g.update().reorder(c, r.x).unroll(c)
    each[x] = 0
    each[x] += whole[0, x] + whole[1, x]
    each.update().unroll(x, 4)
    pairs[x] = hl.f32(0)
    pairs[x] += real[small.x, x + small.y]
    pairs.update().unroll(small.x).unroll(small.y)
    assert [stays(g) for g in (f2, s, m2, each, pairs)] == [False] * 5
    summed = hl.Func("summed")
    summed[()] = s[0] + s[1]
    assert stays(summed)
