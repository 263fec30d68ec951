"""Narrow vectors side by side become one that fills a register: where they may, and that every value stays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core.ir import Ramp, Store
from halide_core.ir.visitor import walk
from halide_core.lowering.driver import LoweringTrace, lower
from tests.support.checking import computed, image, numbers, same, variables
from tests.support.interpreted import run_program
from tests.support.targets import WIDE

x, y, xo, xi, yi = variables("x y xo xi yi")
BYTES = image(numbers((8, 400), np.uint8), "bytes")
REALS = image(numbers((8, 200), np.float32), "reals")
WIDTH, HEIGHT = 150, 5


def widest(f: hl.Func) -> int:
    """The lanes of the widest store into the Func, for registers of 64 bytes."""
    trace = LoweringTrace()
    lower(f._request(target=WIDE), trace=trace)
    stores = [s for s in walk(dict(trace.passes)["vectorize"]) if isinstance(s, Store) and s.buffer == f.name()]
    return max([s.index.type.lanes() for s in stores if isinstance(s.index, Ramp)], default=1)


def of(value: Callable[[], hl.Expr]) -> hl.Func:
    f = hl.Func("f")
    f[x, y] = value()
    return f


DENSE: dict[str, Callable[[], hl.Expr]] = {
    "bytes": lambda: BYTES[x, y] / 2 + BYTES[x + 1, y],
    "bytes to int32": lambda: hl.i32(BYTES[x + 2, y]) * 3 - y,
    "floats": lambda: REALS[x, y] * 0.5 + hl.f32(x),
    "backwards": lambda: REALS[180 - x, y] + REALS[x, y],
    "every second": lambda: BYTES[x, y] + BYTES[2 * x, y],
    "one for all": lambda: BYTES[3, y] + BYTES[x, y],
}
SPARSE: dict[str, Callable[[], hl.Expr]] = {
    "looked up": lambda: REALS[hl.i32(BYTES[x, y]) % 200, y],
    "halves": lambda: REALS[x / 2, y],
    "printed": lambda: hl.print_when(x < 0, BYTES[x, y], "never"),
}
TAILS = [hl.TailStrategy.ShiftInwards, hl.TailStrategy.GuardWithIf, hl.TailStrategy.RoundUp]
SCHEDULES: dict[str, Callable[[hl.Func], hl.Func]] = {
    **{tail.name: (lambda f, tail=tail: f.vectorize(x, 4, tail)) for tail in TAILS},
    "rows in threads": lambda f: f.vectorize(x, 4).parallel(y),
    "tiles": lambda f: f.tile(x, y, xi, yi, 50, 2).vectorize(xi, 2),
    "several rows": lambda f: f.split(y, y, yi, 2).reorder(x, yi, y).vectorize(x, 4).unroll(yi),
}


@pytest.mark.parametrize("name", DENSE)
def test_dense_vectors_fill_a_register(name: str) -> None:
    f = of(DENSE[name]).vectorize(x, 4)
    assert widest(f) == 64 // f.type().bytes()


@pytest.mark.parametrize("name", SPARSE)
def test_others_stay(name: str) -> None:
    assert widest(of(SPARSE[name]).vectorize(x, 4)) <= 4


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", [*DENSE, *SPARSE])
def test_values_stay(name: str, schedule: str) -> None:
    f = SCHEDULES[schedule](of({**DENSE, **SPARSE}[name]))
    height, width = (4, 152) if schedule == "RoundUp" else (HEIGHT, WIDTH)
    wanted = f.evaluate([width, height])
    for found in run_program(f, [(0, width), (0, height)], after="vectorize").values():
        same(found, wanted)
    same(computed(f, [width, height]), wanted)


@pytest.mark.parametrize("length", [1, 3, 15, 16, 17, 31, 64, 100, 129])
def test_any_length(length: int) -> None:
    f = of(DENSE["bytes"]).vectorize(x, 2, hl.TailStrategy.GuardWithIf)
    same(computed(f, [length, 3]), f.evaluate([length, 3]))


@pytest.mark.parametrize(("tile", "lanes"), [(64, 64), (24, 8), (100, 32), (40, 32), (8, 8), (4, 64)])
def test_a_constant_number_takes_the_fewest_steps(tile: int, lanes: int) -> None:
    """100 bytes are three vectors of 32 and one of 4, or one of 64 and nine of 4. Tiles of one vector are side
    by side themselves."""
    f = of(DENSE["bytes"]).split(x, xo, xi, tile).vectorize(xi, 4)
    assert widest(f) == lanes


def test_rows_that_are_no_neighbours_stay() -> None:
    """Lanes of one row and the next: the loop's variable goes by a whole row."""
    f = of(DENSE["bytes"])
    f.bound(x, 0, 4).vectorize(x)
    assert widest(f) == 4
    same(computed(f, [4, HEIGHT]), f.evaluate([4, HEIGHT]))


def test_what_the_step_before_made_is_there() -> None:
    """Lanes that side by side read what those of the iteration before wrote."""
    f, r = hl.Func("f"), hl.RDom([(0, 4), (1, 12)], "r")
    f[x] = x
    f[r.x + 4 * r.y] += f[r.x + 4 * r.y - 4]
    f.compute_root().update().allow_race_conditions().vectorize(r.x)
    wanted = f.evaluate([52])
    for found in run_program(f, [(0, 52)]).values():
        same(found, wanted)
    same(computed(f, [52]), wanted)


def test_an_update_of_each_point_by_itself() -> None:
    f = of(DENSE["bytes"]).vectorize(x, 4)
    f[x, y] = f[x, y] * 2 + BYTES[x, y]
    f.update().vectorize(x, 4)
    same(computed(f, [WIDTH, HEIGHT]), f.evaluate([WIDTH, HEIGHT]))


DOWN = hl.RDom([(0, 3), (0, 2)], "down")
ORDERS: dict[str, list[hl.Var | hl.RVar]] = {
    "lanes outside": [DOWN.x, DOWN.y, xi, xo],
    "lanes between": [DOWN.x, xi, DOWN.y, xo],
    "lanes inside": [xi, DOWN.x, DOWN.y, xo],
}


@pytest.mark.parametrize("order", ORDERS)
def test_sums_fill_a_register(order: str) -> None:
    """Each byte takes in its rows in their order, whichever loops stand around the lanes."""
    f = of(lambda: hl.u8(x))
    f[x, y] = f[x, y] * 3 + BYTES[x, y + DOWN.x + 2 * DOWN.y]
    f.update().split(x, xo, xi, 4, hl.TailStrategy.RoundUp).reorder(*ORDERS[order]).vectorize(xi)
    f.bound(y, 0, 2)
    assert widest(f) == 64
    for width in (4, 60, 152):
        wanted = f.evaluate([width, 2])
        for found in run_program(f, [(0, width), (0, 2)], after="vectorize").values():
            same(found, wanted)
        same(computed(f, [width, 2]), wanted)


def test_tiles_of_rows_fill_a_register() -> None:
    f = of(DENSE["bytes"]).tile(x, y, xi, yi, 4, 3, hl.TailStrategy.RoundUp).vectorize(xi)
    assert widest(f) == 64
    same(computed(f, [WIDTH + 2, 6]), f.evaluate([WIDTH + 2, 6]))
