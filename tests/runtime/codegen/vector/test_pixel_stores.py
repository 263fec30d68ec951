"""The channels of pixels that are stored as a whole: side by side, further apart, backwards, and one on the other."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from halide_core.lowering.driver import lower
from halide_core.runtime.codegen.unit import emit_c

c, x, y = hl.Var("c"), hl.Var("x"), hl.Var("y")
TYPES = (hl.UInt(8), hl.Int(16), hl.Float(32), hl.Float(64), hl.Bool())
TARGETS = ("x86-64-linux", "x86-64-linux-sse41", "x86-64-linux-avx-avx2-f16c-fma-sse41", "")
WIDTH = 37


def pixels(type: hl.Type, channels: int, lanes: int, tail: hl.TailStrategy = hl.TailStrategy.Auto) -> hl.Func:
    """Every channel of every pixel has a number of its own, for as long as the type has some."""
    f = hl.Func("f")
    f[c, x] = hl.cast(type, (x * 7 + c * 50) % (2 if type.is_bool() else 127))
    f.bound(c, 0, channels).reorder(c, x).unroll(c).vectorize(x, lanes, tail)
    return f


def in_memory(type: hl.Type, channels: int, distance: int) -> tuple[np.ndarray, np.ndarray]:
    """An array that holds the pixels, and the view of it that is written."""
    held = np.full((WIDTH + 2, abs(distance)), 77 if not type.is_bool() else False, type.dtype)
    view = held[1:-1, :channels]
    return held, view[::-1] if distance < 0 else view


@pytest.mark.parametrize("lanes", [4, 8, 16, 32])
@pytest.mark.parametrize("type", TYPES, ids=str)
def test_pixels_are_what_they_were(type: hl.Type, lanes: int) -> None:
    for channels in (2, 3, 4, 5):
        f = pixels(type, channels, lanes)
        wanted = f.evaluate([(0, channels), (0, WIDTH)])
        for distance in (channels, channels + 1, channels + 4, -channels):
            held, view = in_memory(type, channels, distance)
            f.realize(hl.Buffer(view))
            np.testing.assert_array_equal(view, wanted, err_msg=f"{channels} channels, {distance} apart")
            view[...] = 77 if not type.is_bool() else False
            assert (held == held[0, 0]).all(), "something else was written"


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("tail", [hl.TailStrategy.GuardWithIf, hl.TailStrategy.ShiftInwards], ids=str)
def test_on_other_machines(name: str, tail: hl.TailStrategy) -> None:
    target = hl.Target(name) if name else hl.get_jit_target_from_environment()
    if target.arch is not hl.get_host_target().arch:
        pytest.skip(f"{name} is not for this machine")
    for type in TYPES[:3]:
        f = pixels(type, 3, 16, tail)
        np.testing.assert_array_equal(
            np.asarray(f.realize([3, WIDTH], target)), f.evaluate([(0, 3), (0, WIDTH)]), err_msg=str(type)
        )


def test_channels_are_put_together() -> None:
    text = emit_c(lower(pixels(hl.UInt(8), 3, 16)._request()))
    assert "store_pixels_u8x16_3(" in text
    assert "store_pixels" not in emit_c(lower(pixels(hl.UInt(8), 3, 1)._request()))


def test_what_one_store_changes_another_reads() -> None:
    """The channels of a pixel, each made of the one before."""
    f, r = hl.Func("f"), hl.RDom([(0, 2)], "r")
    f[c, x] = hl.cast(hl.Int(32), c + x)
    f[r + 1, x] = f[r, x] * 3 + 1
    f.bound(c, 0, 3).reorder(c, x).unroll(c).vectorize(x, 8)
    f.update(0).reorder(r.x, x).unroll(r.x).vectorize(x, 8, hl.TailStrategy.GuardWithIf)
    for distance in (3, 4):
        _, view = in_memory(hl.Int(32), 3, distance)
        f.realize(hl.Buffer(view))
        np.testing.assert_array_equal(view, f.evaluate([(0, 3), (0, WIDTH)]))


def test_points_of_an_inner_func_that_are_a_constant_apart() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[c, x] = hl.cast(hl.UInt(16), x * 3 + c)
    g[c, x] = f[c, x] + f[c, x + 1]
    f.compute_root().bound(c, 0, 4).reorder(c, x).unroll(c).vectorize(x, 8)
    g.bound(c, 0, 4).reorder(c, x).unroll(c).vectorize(x, 8)
    assert "store_pixels_u16x8_4(" in emit_c(lower(g._request()))
    np.testing.assert_array_equal(np.asarray(g.realize([4, 21])), g.evaluate([(0, 4), (0, 21)]))
