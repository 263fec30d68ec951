"""Positions made of floats and Params: their ends are those of the same expression, and the certificate proves it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core.analysis.constant_ranges import ConstantRanges
from halide_core.bounds.smt.positions import shapes_of
from halide_core.bounds.verify.vc import Status
from halide_core.ir import Cast, index_variable
from halide_core.ir.types import Float, UInt

x, y, xo, yo, xi, yi = map(hl.Var, ("x", "y", "xo", "yo", "xi", "yi"))
p, q = hl.Param(hl.Float(32), "p"), hl.Param(hl.Float(32), "q")
declared = hl.Param(hl.Float(32), "declared")
declared.set_range(0.25, 4.0)
image = hl.ImageParam(hl.Float(32), 2, "image")

POSITIONS: dict[str, Callable[[], hl.Expr]] = {
    "scaled": lambda: (hl.f32(x) + 0.5) * p - 0.5,
    "divided": lambda: (hl.f32(x) + 0.5) / p - 0.5,
    "turned": lambda: hl.f32(x) * p - hl.f32(y) * q,
    "ratio": lambda: 3.0 - hl.f32(x) * (p / q),
    "to the image": lambda: (hl.f32(x) + 0.5) * (hl.f32(image.width()) / p),
    "declared": lambda: hl.f32(x) * declared + q,
    "the lesser": lambda: hl.min(hl.f32(x) * p, hl.f32(y) * q),
    "a root": lambda: hl.sqrt(hl.max(hl.f32(x) * p, 0.0)),
    "a constant": lambda: hl.f32(x) * 0.7 + 0.1,
    "a product": lambda: (hl.f32(x) * 0.5 - 3.0) * (hl.f32(y) + 0.5),
    "the root of a product": lambda: hl.sqrt(hl.f32(x) * 0.5 * 3.0),
    "a product, floored": lambda: hl.floor(hl.f32(x) * (hl.f32(y) - 2.0)) * 0.25 + 1.0,
}


def resampled(position: hl.Expr, at: int) -> hl.Func:
    source, f = hl.Func("source"), hl.Func("f")
    source[x, y] = hl.BoundaryConditions.repeat_edge(image)[x, y] * 2 + hl.f32(x)
    i = hl.i32(hl.floor(position))
    part = position - hl.floor(position)
    f[x, y] = source[i, y] * (1 - part) + source[i + 1, y] * part
    if at == 0:
        source.compute_root()
    elif at == 1:
        f.tile(x, y, xo, yo, xi, yi, 8, 4).vectorize(xi, 4)
        source.compute_at(f, xo).vectorize(x, 4)
    else:
        f.split(y, yo, yi, 4).parallel(yo)
        source.compute_at(f, yo)
    return f


DRAWS = [(name, i % 3) for i, name in enumerate(POSITIONS)]


@pytest.mark.parametrize(("name", "at"), [*DRAWS, ("scaled", 1), ("scaled", 2)])
def test_a_schedule_gives_what_the_definition_says(name: str, at: int) -> None:
    image.set(np.random.default_rng(1).random((13, 17), np.float32))
    declared.set(1.7)
    f = resampled(POSITIONS[name](), at)
    for a, b in ((0.7, 1.3), (-1.3, 0.2), (2.5, -3.0)):
        p.set(a)
        q.set(b)
        assert np.array_equal(f.realize([19, 9]), f.evaluate([19, 9])), (a, b)


@pytest.mark.parametrize(("name", "at"), [*DRAWS, ("scaled", 1), ("scaled", 2)])
def test_the_certificate_proves_the_ends(name: str, at: int) -> None:
    certificate = hl.Pipeline(resampled(POSITIONS[name](), at)).certify()
    assert not [r for r in certificate.results if r.status in (Status.REFUTED, Status.UNDECIDED)], str(certificate)


def test_the_region_of_an_input_is_exact() -> None:
    row, f = hl.ImageParam(hl.Float(32), 1, "row"), hl.Func("f")
    f[x] = row[hl.i32(hl.floor((hl.f32(x) + 0.5) * p - 0.5))]
    for scale, first, last in ((0.5, -1, 31), (-0.5, -33, -1), (0.0, -1, -1)):
        p.set(scale)
        row.reset()
        f.infer_input_bounds([64])
        assert (row.get().dim(0).min(), row.get().dim(0).max()) == (first, last)


def test_a_clamp_around_a_position_is_enough_where_a_param_says_nothing() -> None:
    source, f = hl.Func("source"), hl.Func("f")
    source[x] = x * 3
    f[x] = source[hl.clamp(hl.i32(hl.floor(hl.f32(x) * p)), -4, 20)]
    source.compute_root()
    for value in (0.5, float("inf"), float("nan"), -3e38):
        p.set(value)
        assert np.array_equal(f.realize([11]), f.evaluate([11])), value


@pytest.mark.parametrize("nested", [False, True])
def test_a_square_of_a_coordinate_has_a_region_whatever_its_loops(nested: bool) -> None:
    source, f = hl.Func("source"), hl.Func("f")
    source[x, y] = x + y
    f[x, y] = source[hl.i32((hl.f64(x) - 1.0) * (hl.f64(x) * 0.5)), y]
    f.split(x, xo, xi, 8)
    if nested:
        f.vectorize(xi, 4)
    source.compute_at(f, xo)
    assert np.array_equal(f.realize([19, 3]), f.evaluate([19, 3]))


def test_a_float_of_a_number_that_may_have_wrapped_is_in_no_order() -> None:
    """float32(uint64(x)) falls from 2^64 to 0 where x comes to 0."""
    k = index_variable("k")
    ranges = ConstantRanges().of
    assert len(list(shapes_of(Cast(Float(32), k), ranges))) == 1
    assert not list(shapes_of(Cast(Float(32), Cast(UInt(64), k)), ranges))


APART: dict[str, Callable[[hl.Expr, hl.RVar], hl.Expr]] = {
    "taps": lambda k, r: k - 1 + r,
    "backwards": lambda k, r: y - k + r,
    "every second": lambda k, r: 2 * k + r,
    "shifted": lambda k, r: (k << 1) - r,
    "halved": lambda k, r: (k >> 1) + k // 3 + r,
    "in a period": lambda k, r: k % 8 + (k & 3) + r,
    "clamped": lambda k, r: hl.clamp(k, 0, 20) + hl.min(k, y) + r,
    "either": lambda k, r: hl.select(x > 3, k, k + 1) + r,
    "far": lambda k, r: hl.i32(hl.abs(hl.f32(k) - 4.5)) + r,
    "squared": lambda k, r: hl.i32(hl.floor((hl.f32(y) * 0.3 - 3.0) * (hl.f32(y) * 0.3 - 3.0))) + r,
    "by way of int64": lambda k, r: hl.i32(hl.i64(y) * 3 - hl.i64(k)) + hl.i32(hl.absd(hl.i32(hl.i64(y) + 1), 3)) + r,
    "of a sum": lambda k, r: hl.i32(hl.floor(hl.f32(2 * y + r) * 0.25)),
}


def taps(name: str, factor: hl.Expr, *, tiles: bool) -> hl.Func:
    g, s, f, r = hl.Func("g"), hl.Func("s"), hl.Func("f"), hl.RDom([(0, 4)], "r")
    g[x, y] = hl.BoundaryConditions.repeat_edge(image)[x, y] * 2
    k = hl.i32(hl.floor((hl.f32(y) + 0.5) * factor - 0.5))
    s[x, y] = 0.0
    s[x, y] += g[x, APART[name](k, r.x)]
    f[x, y] = s[x, y]
    if tiles:
        f.tile(x, y, xo, yo, xi, yi, 8, 4)
        s.compute_at(f, xo)
        g.compute_at(f, xo)
    else:
        g.compute_root()
    return f


@pytest.mark.parametrize("tiles", [False, True])
@pytest.mark.parametrize("name", APART)
def test_what_is_read_at_a_distance_from_a_position_has_its_ends(name: str, tiles: bool) -> None:
    image.set(np.random.default_rng(1).random((13, 17), np.float32))
    for factor, values in ((0.37, (1.0,)), (hl.Expr(p), (0.37, -1.3, 2.0))):
        f = taps(name, factor, tiles=tiles)
        for value in values:
            p.set(value)
            assert np.array_equal(f.realize([19, 9]), f.evaluate([19, 9])), (factor, value)


@pytest.mark.parametrize("name", APART)
def test_the_certificate_proves_what_is_read_at_a_distance(name: str) -> None:
    for tiles in (False, True):
        certificate = hl.Pipeline(taps(name, hl.Expr(p), tiles=tiles)).certify()
        assert not [r for r in certificate.results if r.status in (Status.REFUTED, Status.UNDECIDED)], str(certificate)


def test_a_sum_that_may_leave_int32_is_refused_where_the_position_has_no_ends() -> None:
    row, f = hl.ImageParam(hl.Float(32), 1, "row"), hl.Func("f")
    f[x] = hl.BoundaryConditions.constant_exterior(row, 7.0)[hl.i32(hl.floor(hl.f32(x) * p)) + 2**30]
    f.vectorize(x, 4)
    row.set(np.arange(9, dtype=np.float32))
    p.set(0.5)
    assert np.array_equal(f.realize([11]), f.evaluate([11]))
    for value in (3e8, float("inf"), float("nan")):
        p.set(value)
        with pytest.raises(hl.PipelineError, match="bounded only where abs"):
            f.realize([11])


def floor_at(at: hl.Expr | hl.Var | hl.RVar) -> hl.Expr:
    return hl.i32(hl.floor((hl.f32(at) + 0.5) * p - 1.25))


def test_positions_of_positions_are_compared() -> None:
    """The condition on p, under which an end is one, is not a number that must be finite itself."""
    g, s, f = hl.Func("g"), hl.Func("s"), hl.Func("f")
    g[x, y] = hl.BoundaryConditions.repeat_image(image)[x, y]
    s[x, y] = g[x, floor_at(y) - y]
    f[x, y] = s[x, floor_at(y)]
    s.compute_at(f, x)
    g.compute_at(f, x)
    image.set(np.random.default_rng(1).random((13, 17), np.float32))
    p.set(-0.7)
    assert np.array_equal(f.realize([5, 7]), f.evaluate([5, 7]))
    assert f.certify().ok


def test_positions_of_a_reduction_over_numbers_are_compared() -> None:
    """Their ends are made of p alone, and are known where p is within limits, as the positions are."""
    row, g, f, r = hl.ImageParam(hl.Float(32), 1, "row"), hl.Func("g"), hl.Func("f"), hl.RDom([(1, 3)], "r")
    g[x] = hl.BoundaryConditions.repeat_edge(row)[x]
    f[x] = 0.0
    f[r.x] = g[floor_at(r.x) - 2]
    g.compute_root()
    row.set(np.arange(9, dtype=np.float32))
    p.set(1.5)
    assert np.array_equal(f.realize([5]), f.evaluate([5]))
    assert f.certify().ok


def test_a_position_of_numbers_is_one_however_they_are_written() -> None:
    """Its end is made of the number that ``1 // 2`` is, and no condition on p is asked for that varies with nothing."""
    row, g, f = hl.ImageParam(hl.Float(32), 1, "row"), hl.Func("g"), hl.Func("f")
    g[x] = hl.BoundaryConditions.constant_exterior(row, 2.0)[x]
    f[x] = hl.f32(0)
    f[hl.i32(1)] += g[hl.i32(hl.round((hl.f32(hl.i32(1) // 2) + 0.5) * p - 1.25)) - hl.i32(1) // 2]
    g.compute_root()
    row.set(np.arange(9, dtype=np.float32))
    p.set(2.5)
    assert np.array_equal(f.realize([3]), f.evaluate([3]))
    assert f.certify().ok
