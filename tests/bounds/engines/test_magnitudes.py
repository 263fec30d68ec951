"""Bounds of absolute values, roots and counts of bits of coordinates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl

x = hl.Var("x")
WINDOWS = ((0, 10), (-7, 20), (-20, 5), (-9, 3), (3, 2))

EXACT: dict[str, Callable[[], hl.Expr]] = {
    "abs": lambda: hl.i32(hl.abs(x - 5)),
    "absd": lambda: hl.i32(hl.absd(x, 4)),
    "abs of abs": lambda: hl.i32(hl.abs(hl.i32(hl.abs(x)) - 3)),
    "less an abs": lambda: 5 - hl.i32(hl.abs(x)),
    "root": lambda: hl.i32(hl.sqrt(hl.f32(x))),
    "rounded root": lambda: hl.i32(hl.ceil(hl.sqrt(x * 0.5 + 1))),
    "hypot": lambda: hl.i32(hl.hypot(hl.f32(x), 3.0)),
    "less a hypot": lambda: 5 - hl.i32(hl.hypot(hl.f32(x), 3.0)),
}
WITHIN: dict[str, tuple[Callable[[], hl.Expr], tuple[int, int]]] = {
    "popcount": (lambda: hl.popcount(x), (0, 32)),
    "popcount of bytes": (lambda: hl.i32(hl.popcount(hl.u8(x))), (0, 8)),
    "popcount of a few": (lambda: hl.popcount(hl.clamp(x, 1, 6)), (1, 3)),
    "leading zeros": (lambda: hl.i32(hl.count_leading_zeros(hl.u16(x))), (0, 16)),
    "leading zeros of a few": (lambda: hl.count_leading_zeros(hl.clamp(x, 1, 100)), (25, 31)),
    "trailing zeros": (lambda: hl.i32(hl.count_trailing_zeros(hl.u64(x))), (0, 64)),
}


def _asked(e: hl.Expr, window: tuple[int, int]) -> tuple[int, int]:
    source, f = hl.ImageParam(hl.UInt(8), 1, "source"), hl.Func("f")
    f[x] = source[e]
    out = hl.Buffer(hl.UInt(8), [window[1]])
    out.set_min([window[0]])
    f.infer_input_bounds(out)
    dim = source.get().dim(0)
    return dim.min(), dim.max()


def _values(e: hl.Expr, window: tuple[int, int]) -> np.ndarray:
    g = hl.Func("g")
    g[x] = e
    return np.asarray(g.evaluate([window]))


@pytest.mark.parametrize("name", EXACT)
def test_ends_are_the_least_and_the_greatest_value(name: str) -> None:
    for window in WINDOWS:
        values = _values(EXACT[name](), window)
        assert _asked(EXACT[name](), window) == (values.min(), values.max())


@pytest.mark.parametrize("name", WITHIN)
def test_counts_have_as_many_values_as_bits(name: str) -> None:
    make, (least, most) = WITHIN[name]
    assert _asked(make(), (-7, 20)) == (least, most)
    values = _values(make(), (-300, 600))
    assert least <= values.min() and values.max() <= most


def test_bits_of_signed_numbers_are_counted_by_nobody() -> None:
    """Shifted to the right they keep their sign: all sixteen bits of -1 are set."""
    x, t, o = hl.Var("x"), hl.Func("t"), hl.Func("o")
    a = hl.i16(x)
    b = (a & 0x5555) + ((a >> 1) & 0x5555)
    c = (b & 0x3333) + ((b >> 2) & 0x3333)
    d = (c & 0x0F0F) + ((c >> 4) & 0x0F0F)
    t[x] = x * 3
    t.compute_root()
    o[x] = t[hl.i32((d & 0xFF) + ((d >> 8) & 0xFF))]
    out = hl.Buffer(hl.Int(32), [4])
    out.set_min([-2])
    o.realize(out)
    np.testing.assert_array_equal(np.asarray(out), o.evaluate([(-2, 4)]))


def test_truth_values_have_no_ends_of_their_own() -> None:
    """A number is not 0 at both ends of -3 to 3, and is 0 between them."""
    x, t, o = hl.Var("x"), hl.Func("t"), hl.Func("o")
    t[x] = x * 3 + 1
    t.compute_root()
    o[x] = t[hl.i32(hl.f32(hl.cast(hl.Bool(), hl.f32(x) * 0.5)) * 2.0)]
    out = hl.Buffer(hl.Int(32), [7])
    out.set_min([-3])
    o.realize(out)
    np.testing.assert_array_equal(np.asarray(out), o.evaluate([(-3, 7)]))
