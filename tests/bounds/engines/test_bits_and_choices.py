"""Coordinates by way of bits, and of floats that are chosen between: their ends, values and certificates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core.bounds.verify.vc import Status

x, xo, xi = hl.Var("x"), hl.Var("xo"), hl.Var("xi")
n = hl.Param(hl.Int(32), "n", 2)
p, q = hl.Param(hl.Float(32), "p", 1.5), hl.Param(hl.Float(32), "q", -0.5)
WINDOWS = ((0, 10), (-7, 20), (-20, 5), (-9, 3), (3, 2))

EXACT: dict[str, Callable[[], hl.Expr]] = {
    "cleared": lambda: x & -4,
    "set": lambda: x | 3,
    "turned": lambda: x ^ 1,
    "a complement": lambda: ~x,
    "by a Param": lambda: x >> hl.clamp(n, 0, 3),
    "up by a Param": lambda: x << hl.clamp(n, 0, 3),
    "set and cleared": lambda: ((x | 1) & -8) - 3,
    "of a magnitude": lambda: hl.i32(hl.f32(hl.abs(x - 3)) * q),
    "of a distance": lambda: hl.i32(hl.f32(hl.absd(x, n)) * 0.5),
    "by way of a byte": lambda: hl.i32(hl.i8(hl.floor(hl.f32(x) * p))) + 1,
    "by way of two": lambda: hl.i32(hl.f32(hl.u16(hl.u8(hl.f32(x) * p))) * 2.0),
    "by way of unsigned numbers": lambda: hl.i32(hl.u32(x) * 3 - hl.u32(n)) + hl.i32(hl.absd(x + 1, x + 1)),
    "scaled by a square": lambda: hl.i32(hl.floor(hl.f32(x) * (q * q))),
    "divided by a square": lambda: hl.i32(hl.floor(hl.f32(x) / (q * q))),
    "by a condition on a Param": lambda: hl.i32(hl.select(p > 1.0, hl.f32(x) * p, hl.f32(x) * q + 3.0)),
    "a rounded root": lambda: hl.i32(hl.floor(hl.sqrt(hl.f32(x) * p))),
    "a root of a sum": lambda: hl.i32(hl.sqrt(hl.f32(x) * 0.5 + 3.0)),
    "a square": lambda: hl.i32(hl.f32(x) * hl.f32(x)),
    "a square at a distance": lambda: hl.i32((hl.f32(x) * p - 3.0) * (hl.f32(x) * p - 3.0)),
}
WITHIN: dict[str, Callable[[], hl.Expr]] = {
    "turned in eights": lambda: x ^ 7,
    "of a byte": lambda: hl.i32(hl.f32(hl.u8(hl.clamp(x, 0, 40))) * p),
    "either of two floats": lambda: hl.i32(hl.floor(hl.select(x > 2, hl.f32(x) * p, hl.f32(x) * q))),
    "by a float": lambda: hl.i32(hl.select(hl.f32(x) * 0.5 > 2.0, p, 0.0) + 1.0),
    "one of three": lambda: hl.i32(hl.select(x % 3 == 0, p, x % 3 == 1, q * 4.0, hl.f32(x))),
    "a count": lambda: hl.i32(hl.popcount(x)) + hl.i32(hl.count_leading_zeros(hl.u16(x))),
}
ALL = {**EXACT, **WITHIN}


def values(e: hl.Expr, window: tuple[int, int]) -> np.ndarray:
    g = hl.Func("g")
    g[x] = e
    return np.asarray(g.evaluate([window]))


def asked(e: hl.Expr, window: tuple[int, int]) -> tuple[int, int]:
    source, f = hl.ImageParam(hl.UInt(8), 1, "source"), hl.Func("f")
    f[x] = source[e]
    out = hl.Buffer(hl.UInt(8), [window[1]])
    out.set_min([window[0]])
    f.infer_input_bounds(out)
    dim = source.get().dim(0)
    return dim.min(), dim.max()


def reader(e: hl.Expr, *, tiles: bool) -> hl.Func:
    source, f = hl.Func("source"), hl.Func("f")
    source[x] = x * 3 + 1
    f[x] = source[e] + source[x]
    if tiles:
        f.split(x, xo, xi, 4)
        source.compute_at(f, xo)
    else:
        source.compute_root()
    return f


@pytest.mark.parametrize("name", ALL)
def test_ends_hold_every_value(name: str) -> None:
    for window in WINDOWS:
        there, (low, high) = values(ALL[name](), window), asked(ALL[name](), window)
        assert low <= there.min() and there.max() <= high
        if name in EXACT:
            assert (low, high) == (there.min(), there.max()), window


@pytest.mark.parametrize("tiles", [False, True])
@pytest.mark.parametrize("name", ALL)
def test_what_is_read_there_is_right_and_certified(name: str, tiles: bool) -> None:
    f = reader(ALL[name](), tiles=tiles)
    for scale in (1.5, -0.75):
        p.set(scale)
        np.testing.assert_array_equal(f.realize([13]), f.evaluate([13]))
    p.set(1.5)
    open_ = [r for r in f.certify().results if r.status in (Status.REFUTED, Status.UNDECIDED)]
    assert not open_, [r.claim.told() for r in open_]


@pytest.mark.parametrize("tiles", [False, True])
def test_a_factor_may_be_negative_where_what_it_is_made_of_is_large(tiles: bool) -> None:
    """``2^29 - p`` is kept small, and ``p`` is not: that it is no more than 2^28 is no reason for a sign."""
    f = reader(hl.i32(hl.f32(x) * (2.0**29 - p)), tiles=tiles)
    for scale in (2.0**29 + 64, 2.0**29 - 64):
        p.set(scale)
        np.testing.assert_array_equal(f.realize([3]), f.evaluate([3]))
    p.set(1.5)
    assert f.certify().ok
