"""Ends of Funcs' values that Params and shapes of buffers are in, and indices made of such values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core.analysis.value_ends import NOTHING, ValueEnds
from halide_core.analysis.value_range import ValueRanges
from tests.support.answered import cpu

x = hl.Var("x")


def _param(name: str, value: int) -> hl.Param:
    return hl.Param(hl.Int(32), name, value)


def _image() -> hl.ImageParam:
    image = hl.ImageParam(hl.UInt(8), 1, "im")
    image.set(np.arange(12, dtype=np.uint8))
    return image


p, q, w = _param("p", 15), _param("q", -2), hl.Param(hl.Float(32), "w", 7.5)
im = _image()


def _ends(value: hl.Expr) -> str:
    f = hl.Func("f")
    f[x] = value
    low, high = ValueEnds(ValueRanges()).of_function(f.function, 0)
    return f"{low} to {high}"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (hl.clamp(x, 10, p), "None to max(int64(p), 10)"),
        (hl.clamp(x, q, p), "int64(q) to max(int64(p), int64(q))"),
        (hl.min(x, p), "None to int64(p)"),
        (hl.clamp(x, 0, im.width() - 1), "None to max(im.extent.0, 1) - 1"),
        (hl.select(x > 0, p, 3), "min(int64(p), 3) to max(int64(p), 3)"),
        (hl.clamp(x, 0, hl.i32(w)), "None to max(int64(int32(w)), 0)"),
        (hl.clamp(x, 0, p + 1), "None to max(int64(p + 1), 0)"),
        (x + p, "None to None"),
        (hl.u32(p) + hl.u32(x), "None to None"),
        (hl.f32(p), "None to None"),
        (hl.i32(hl.u8(hl.min(x, p))), "None to None"),
    ],
)
def test_ends_of_values(value: hl.Expr, expected: str) -> None:
    assert _ends(value) == expected


def test_ends_of_an_update_that_reads_its_own_func() -> None:
    f = hl.Func("f")
    f[x] = 0
    f[x] = hl.min(f[x] + 1, p)
    assert str(ValueEnds(ValueRanges()).of_function(f.function, 0)[1]) == "max(0, int64(p))"
    f[x] += 1
    assert ValueEnds(ValueRanges()).of_function(f.function, 0) == NOTHING
    f, r = hl.Func("f"), hl.RDom([(0, 4)])
    f[x] = hl.clamp(x, 0, p)
    f[r.x] = hl.clamp(f[r.x], q, 3)
    assert str(ValueEnds(ValueRanges()).of_function(f.function, 0)[0]) == "min(0, int64(q))"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (lambda: hl.clamp(x, 10, p), "(10, max(int64(p), 10) - 9)"),
        (lambda: hl.clamp(x, 0, hl.i32(w)), "(0, max(int64(int32(w)), 0) + 1)"),
        (lambda: hl.clamp(x, 0, im.width() - 1), "(0, max(im.extent.0, 1))"),
    ],
)
def test_index_through_a_func_is_bounded_by_params(value: Callable[[], hl.Expr], expected: str) -> None:
    f, g, h = hl.Func("f"), hl.Func("g"), hl.Func("h")
    g[x] = value()
    h[x] = x * 3
    f[x] = h[g[x]]
    g.compute_root()
    h.compute_root()
    assert cpu(f, "h", "x") == expected
    assert np.array_equal(f.realize([20]), np.asarray(f.evaluate([(0, 20)])))
    assert f.certify().ok


def test_table_that_a_param_leads_out_of_is_refused_at_start_up() -> None:
    n = _param("n", 15)
    f, g, table = hl.Func("f"), hl.Func("g"), hl.Buffer(np.arange(20, dtype=np.int32), "table")
    g[x] = hl.clamp(x, 10, n)
    f[x] = table[g[x]]
    g.compute_root()
    assert list(f.realize([14])) == [*[10] * 10, 10, 11, 12, 13]
    n.set(20)
    with pytest.raises(hl.PipelineError, match="only 0 to 19"):
        f.realize([14])
    n.set(-5)
    assert list(f.realize([14])) == [10] * 14


def test_ends_through_several_funcs_and_their_query() -> None:
    f, g, k = hl.Func("f"), hl.Func("g"), hl.Func("k")
    g[x] = hl.clamp(x, q, p)
    k[x] = hl.max(g[x], -1)
    f[x] = im[hl.clamp(k[x], 0, im.width() - 1)] + hl.u8(k[x])
    g.compute_root()
    k.compute_root()
    assert np.array_equal(f.realize([20]), np.asarray(f.evaluate([(0, 20)])))
    assert "gives values" in f.bounds_query().to_smtlib(answered=True)
    assert f.certify().ok


@pytest.mark.parametrize("tagged_below", [False, True])
def test_values_that_are_remembered_have_no_ends_in_params(tagged_below: bool) -> None:
    """They may be of a run with other Params, where a tag says that these make no difference."""
    n = _param("n", 60)
    f, g, h, k = hl.Func("f"), hl.Func("g"), hl.Func("h"), hl.Func("k")
    k[x] = hl.memoize_tag(hl.clamp(x * 7, 0, n), 0)
    g[x] = k[x] if tagged_below else hl.memoize_tag(hl.clamp(x * 7, 0, n), 0)
    h[x] = x * 3
    f[x] = h[g[x]]
    g.compute_root().memoize()
    h.compute_root()
    with pytest.raises(hl.BoundsError, match="which has no bound"):
        f.realize([10])


def test_ends_that_are_sums_of_int64_params_wrap() -> None:
    """They are the user's arithmetic, and no index's."""
    far, f, g = hl.Param(hl.Int(64), "far", 12), hl.Func("f"), hl.Func("g")
    g[x] = hl.min(hl.max(hl.min(hl.i64(x), far - hl.i64(3)), hl.i64(0)), hl.i64(100))
    f[x] = im[hl.i32(g[x])]
    g.compute_root()
    assert f.certify().ok
    np.testing.assert_array_equal(f.realize([20]), f.evaluate([20]))
    far.set(-(2**63) + 2)
    with pytest.raises(hl.PipelineError, match="read from 0 to 100"):
        f.realize([20])
