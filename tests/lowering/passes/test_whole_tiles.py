"""Loops over tiles that a guard cuts at the end: all but the last have loops of constant lengths inside."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core.ir import For, IntImm
from halide_core.ir.visitor import walk
from tests.support.checking import computed, image, numbers, same, variables
from tests.support.dumps import after
from tests.support.interpreted import run_program

x, y, xi, yi = variables("x y xi yi")
SOURCE = image(numbers((40, 60), np.uint8), "source")
GUARD = hl.TailStrategy.GuardWithIf


def columns(f: hl.Func) -> hl.Func:
    """Tiles whose producer is as wide as the tile, in a loop along columns."""
    f.tile(x, y, xi, yi, 16, 4, GUARD).vectorize(xi, 8)
    return f


def opening() -> hl.Func:
    """The greatest of what is the least of its neighbours, by two stages for each tile."""
    f, least = hl.Func("f"), hl.Func("least")
    near = hl.BoundaryConditions.mirror_image(SOURCE)
    least[x, y] = hl.min(near[x - 1, y], near[x, y], near[x + 1, y + 1])
    f[x, y] = hl.max(least[x - 1, y], least[x + 1, y])
    least.compute_at(columns(f), x).vectorize(x, 8)
    return f


def in_rows() -> hl.Func:
    """The same, the producer for each row of a tile."""
    f, twice = hl.Func("f"), hl.Func("twice")
    twice[x, y] = SOURCE[x, y] * 2 + SOURCE[x + 1, y]
    f[x, y] = twice[x, y] + twice[x + 2, y]
    twice.compute_at(columns(f), yi).vectorize(x, 4)
    return f


def lengths(f: hl.Func) -> list[list[bool]]:
    """For each of the parts of the loop over tiles, which loops inside have constant lengths."""
    tiles = [s for s in walk(after(f, "partition")) if isinstance(s, For) and (s.loop.func, s.loop.var) == ("f", "x")]
    return [[isinstance(s.bounds.len, IntImm) for s in walk(t.body) if isinstance(s, For)] for t in tiles]


def test_whole_tiles_have_constant_lengths() -> None:
    whole, last = lengths(in_rows())
    assert all(whole) and not all(last)


def test_never_is_never() -> None:
    f = in_rows()
    f.never_partition(x)
    assert len(lengths(f)) == 1


def test_tiles_of_a_constant_length_stay_whole() -> None:
    f, twice = hl.Func("f"), hl.Func("twice")
    twice[x, y] = SOURCE[x, y] * 2
    f[x, y] = twice[x, y] + twice[x + 2, y]
    twice.compute_at(f.tile(x, y, xi, yi, 16, 4), x)
    assert len(lengths(f)) == 1


@pytest.mark.parametrize("make", [opening, in_rows])
@pytest.mark.parametrize(
    "window", [[(0, 1), (0, 1)], [(0, 16), (0, 8)], [(3, 15), (1, 3)], [(1, 50), (2, 9)], [(9, 33), (0, 0)]]
)
def test_the_parts_are_the_loop(make: Callable[[], hl.Func], window: list[tuple[int, int]]) -> None:
    f = make()
    wanted = f.evaluate(window)
    for name, found in run_program(f, window).items():
        assert np.array_equal(found, wanted), name
    sizes = [n for _, n in window]
    same(computed(f, sizes), f.evaluate(sizes))
