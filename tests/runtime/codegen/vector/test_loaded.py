"""Lanes that several operations use are loaded once: gcc would load them for each."""

from __future__ import annotations

import re

import numpy as np
import pytest

import halide_core as hl
from halide_core.ir.types import Type
from halide_core.lowering.driver import lower
from halide_core.runtime.codegen.unit import emit_c
from tests.support.checking import variables

x, y = variables("x y")
EXACT = hl.TailStrategy.GuardWithIf


def _picture(type: Type) -> hl.Buffer:
    return hl.Buffer(np.random.default_rng(8).integers(0, 100, (9, 70)).astype(type.dtype))


def _median(type: Type, lanes: int) -> hl.Func:
    """Of three neighbours: two of them are used twice. Columns of vectors are no neighbours, and so as long as said."""
    data, f = _picture(type), hl.Func("f")
    a, b, c = (data[x + k, y] for k in range(3))
    f[x, y] = hl.max(hl.min(a, b), hl.min(hl.max(a, b), c))
    return f.vectorize(x, lanes, EXACT).reorder(y, x)


def _kept(f: hl.Func) -> set[str]:
    """The macros that keep what was loaded, by which size of vectors differ."""
    return set(re.findall(r"\b(LOADED\w*)\(t\d", emit_c(lower(f._request()))))


@pytest.mark.parametrize(
    ("type", "lanes", "macro"),
    [
        (hl.UInt(16), 8, "LOADED"),
        (hl.UInt(16), 16, "LOADED_32"),
        (hl.Float(32), 16, "LOADED_64"),
        (hl.Int(64), 2, "LOADED"),
        (hl.UInt(8), 32, "LOADED_32"),
    ],
)
def test_lanes_that_are_used_twice_stay_in_their_register(type: Type, lanes: int, macro: str) -> None:
    f = _median(type, lanes)
    assert _kept(f) == {macro}
    np.testing.assert_array_equal(f.realize([67, 9]), f.evaluate([67, 9]))


def test_vectors_that_fill_no_register_stay_as_they_are() -> None:
    f = _median(hl.UInt(8), 4)
    assert not _kept(f)
    np.testing.assert_array_equal(f.realize([67, 9]), f.evaluate([67, 9]))


def test_lanes_that_are_used_once_or_not_next_to_each_other_stay_as_they_are() -> None:
    data, f, g = _picture(hl.Int(32)), hl.Func("f"), hl.Func("g")
    f[x, y] = data[x, y] + data[x + 1, y]
    g[x, y] = data[x * 3, y] * data[x * 3, y] + data[hl.clamp(data[x, y], 0, 60), y]
    for func in (f, g):
        func.vectorize(x, 8, EXACT)
        assert not _kept(func)
        np.testing.assert_array_equal(func.realize([20, 9]), func.evaluate([20, 9]))


@pytest.mark.parametrize(("rows", "ordered"), [(4, True), (2, False)])
def test_sums_that_fill_the_registers_are_added_in_order(rows: int, ordered: bool) -> None:
    """A tile of three vectors by so many rows."""
    a, b, r = _picture(hl.Int(32)), _picture(hl.Int(32)), hl.RDom([(0, 9)], "r")
    f, g, xi, yi = hl.Func("f"), hl.Func("g"), hl.Var("xi"), hl.Var("yi")
    f[x, y] = 0
    f[x, y] += a[r, y] * b[x, r]
    g[x, y] = f[x, y]
    g.bound(x, 0, 48).bound(y, 0, 8).tile(x, y, xi, yi, 24, rows).vectorize(xi, 8).unroll(xi).unroll(yi)
    f.compute_at(g, x).vectorize(x, 8).unroll(x).unroll(y)
    f.update().reorder(x, y, r).vectorize(x, 8).unroll(x).unroll(y)
    target = hl.Target("x86-64-linux-avx-avx2-fma-sse41")
    assert ("IN_ORDER;" in emit_c(lower(g._request(target=target)))) is ordered
    np.testing.assert_array_equal(g.realize([48, 8], target), g.evaluate([48, 8]))
