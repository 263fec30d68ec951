"""Lanes that lie apart in memory, around iterations side by side: these become lanes, and every value stays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core.ir import IntImm, Ramp, Store
from halide_core.ir.visitor import walk
from halide_core.lowering.driver import LoweringTrace, lower
from tests.support.checking import computed, image, numbers, same, variables
from tests.support.interpreted import run_program
from tests.support.targets import WIDE

c, x, y, xi, yi = variables("c x y xi yi")
PIXELS = image(numbers((9, 40, 16), np.uint8), "pixels")
ROW = image(numbers((80,), np.uint8), "row")


def tile(value: Callable[[], hl.Expr], channels: int, schedule: Callable[[hl.Func], object]) -> hl.Func:
    """A tile of channels that is computed where it is read, and what reads it."""
    f, g = hl.Func("f"), hl.Func("g")
    f[c, x, y] = value()
    g[c, x, y] = f[c, x, y] + f[c, x + 1, y]
    g.bound(c, 0, channels).split(x, x, xi, 8)
    f.compute_at(g, x)
    schedule(f)
    return g


def strides(g: hl.Func) -> set[object]:
    """The distances of lanes in stores into the tile."""
    trace = LoweringTrace()
    lower(g._request(target=WIDE), trace=trace)
    stores = [s for s in walk(dict(trace.passes)["vectorize"]) if isinstance(s, Store) and s.buffer.startswith("f")]
    return {s.index.stride.value for s in stores if isinstance(s.index, Ramp) and isinstance(s.index.stride, IntImm)}


VALUES: dict[str, Callable[[], hl.Expr]] = {
    "a constant": lambda: hl.i32(7),
    "read side by side": lambda: hl.i32(PIXELS[c, x, y]) * 3,
    "one element for all": lambda: hl.i32(ROW[x + y]) - 5,
    "of coordinates": lambda: x * 10 + c,
}
SCHEDULES: dict[str, Callable[[hl.Func], object]] = {
    "columns": lambda f: f.vectorize(x, 8),
    "rows": lambda f: f.vectorize(y, 4, hl.TailStrategy.RoundUp),
    "threads": lambda f: f.vectorize(x, 8).parallel(y),
    "several": lambda f: f.vectorize(x, 8).unroll(c, 2),
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("channels", [4, 8, 16])
def test_lanes_follow_memory(name: str, channels: int) -> None:
    assert strides(tile(VALUES[name], channels, SCHEDULES["columns"])) == {1}


@pytest.mark.parametrize("channels", [1, 3])
def test_short_loops_stay(channels: int) -> None:
    assert strides(tile(VALUES["a constant"], channels, SCHEDULES["columns"])) <= {1, channels}


def test_reads_that_would_lie_apart_stay() -> None:
    assert strides(tile(lambda: hl.i32(PIXELS[x % 16, c, y]), 8, SCHEDULES["columns"])) == {8}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("channels", [1, 5, 8, 12, 16])
@pytest.mark.parametrize("name", VALUES)
def test_values_stay(name: str, channels: int, schedule: str) -> None:
    g = tile(VALUES[name], channels, SCHEDULES[schedule])
    wanted = g.evaluate([channels, 17, 5])
    for found in run_program(g, [(0, channels), (0, 17), (0, 5)], after="vectorize").values():
        same(found, wanted)
    same(computed(g, [channels, 17, 5]), wanted)


def test_updates_keep_their_order() -> None:
    """Sums of a reduction around the lanes, and steps along the dimension itself."""
    f, r = hl.Func("f"), hl.RDom([(1, 7), (0, 3)], "r")
    f[c, x] = c * 3 + x
    f[c, x] += hl.i32(PIXELS[c, x + r.y, 0]) * r.x
    f[r.x, x] += f[r.x - 1, x]
    f.bound(c, 0, 8)
    f.update(0).reorder(c, r.x, r.y, x).vectorize(x, 8)
    f.update(1).vectorize(x, 8)
    same(computed(f, [8, 16]), f.evaluate([8, 16]))
