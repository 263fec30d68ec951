"""Vectorized loops inside one another: the innermost has the lanes, and no value depends on it."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from halide_core.ir import For, Ramp, Store
from halide_core.ir.visitor import walk
from tests.support.checking import image, numbers
from tests.support.dumps import traced

x, y, z, xi, yi, t = (hl.Var(n) for n in "x y z xi yi t".split())
GUARD = hl.TailStrategy.GuardWithIf


def expected(f: hl.Func, window: list[int]) -> None:
    """The compiled result is that of the reference."""
    np.testing.assert_array_equal(np.asarray(f.realize(window)), f.evaluate(window), strict=True)


def summed() -> hl.Func:
    """Sums of two points of an image, and an update."""
    im = image(numbers((30, 30), np.int32), "im")
    f = hl.Func("f")
    f[x, y] = im[x, y] + im[y, x]
    f[x, y] += f[x, y] * y
    return f


@pytest.mark.parametrize("tail", [hl.TailStrategy.ShiftInwards, GUARD, hl.TailStrategy.RoundUp])
def test_tile_of_vectors(tail: hl.TailStrategy) -> None:
    f = summed()
    f.tile(x, y, xi, yi, 8, 2, tail).vectorize(xi).vectorize(yi)
    f.update().vectorize(y, 2, GUARD).vectorize(x, 4, GUARD)
    stores = [s for s in walk(traced(f).passes[-1][1]) if isinstance(s, Store) and isinstance(s.index, Ramp)]
    places = hl.get_host_target().natural_vector_size(hl.Int(64))  # which im[y, x] differs in
    assert {s.index.type.lanes() for s in stores} >= {min(8, places), 4}  # and longer ones, where some are narrow
    expected(f, [17, 9])


def test_order_of_the_directives_does_not_matter() -> None:
    f, g = summed(), summed()
    f.tile(x, y, xi, yi, 4, 2).vectorize(xi).vectorize(yi)
    g.tile(x, y, xi, yi, 4, 2).vectorize(yi).vectorize(xi)
    assert f.loop_nest() == g.loop_nest()
    expected(g, [9, 5])


def test_three_in_one_another_and_a_loop_between() -> None:
    f = hl.Func("f")
    f[x, y, z] = x * y - z
    f.vectorize(z, 2).vectorize(y, 3).vectorize(x, 4).reorder(hl.Var("x.v"), hl.Var("y.v"), z, hl.Var("z.v"), x, y)
    assert not [s for s in walk(traced(f).passes[-1][1]) if isinstance(s, For) and s.loop.var == "z.v"]
    expected(f, [9, 7, 5])


def test_vectors_of_a_producer_inside_lanes_of_its_consumer() -> None:
    im = image(numbers((30, 30), np.int32), "im")
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = im[x, y] * 2
    f[x, y] = g[x, y] + g[x + 3, y]
    f.split(x, x, xi, 4, GUARD).vectorize(xi)
    g.compute_at(f, xi).vectorize(x, 4)
    expected(f, [9, 5])


def test_outer_vectors_need_a_constant_length_too() -> None:
    f = summed()
    f.vectorize(x, 4).vectorize(y)
    with pytest.raises(hl.ScheduleError, match=r"f\.vectorize\(y\): the length of the loop is not a constant"):
        f.realize([9, 5])
