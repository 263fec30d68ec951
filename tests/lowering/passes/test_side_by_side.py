"""Copies that are side by side become lanes, and iterations that call functions: where they may, to the same values."""

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

x, y, c, xi = variables("x y c xi")
REALS = image(np.abs(numbers((8, 200), np.float32)) % 3, "reals")
BYTES = image(numbers((8, 200), np.uint8), "bytes")


def lanes(f: hl.Func) -> int:
    """The most lanes of a store into the Func, for registers of 64 bytes."""
    trace = LoweringTrace()
    lower(f._request(target=WIDE), trace=trace)
    stores = [s for s in walk(dict(trace.passes)["vectorize"]) if isinstance(s, Store) and s.buffer == f.name()]
    return max([s.index.type.lanes() for s in stores if isinstance(s.index, Ramp)], default=1)


def of(value: hl.Expr) -> hl.Func:
    f = hl.Func("f")
    f[x, y] = value
    return f


def wrapped(*, folded: bool, reordered: bool) -> hl.Func:
    """A producer of another layout, whose consumer is unrolled."""
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = hl.i32(BYTES[x, y]) * 3
    f[x, y] = g[x, y] + g[x, y + 1]
    f.unroll(x, 4)
    g.compute_root().unroll(x, 4)
    if reordered:
        g.reorder_storage(y, x)
    if folded:
        g.store_root().compute_at(f, y).fold_storage(y, 2)
    return f


DENSE: dict[str, Callable[[], hl.Expr]] = {
    "bytes": lambda: BYTES[x, y] / 2 + BYTES[x + 1, y],
    "functions": lambda: hl.exp(REALS[x, y]) * 0.5 + hl.log(1.0 + REALS[x + 2, y]),
    "one for all": lambda: BYTES[3, y] + hl.u8(x),
    "chosen by memory": lambda: hl.select(BYTES[x, y] < 100, BYTES[x, y], hl.u8(7)),
}
OTHERS: dict[str, Callable[[], hl.Expr]] = {
    "columns": lambda: BYTES[y, x % 8],
    "chosen by the number": lambda: hl.select(x % 4 == 0, BYTES[x, y], hl.u8(7)),
    "printed": lambda: hl.print_when(x < 0, BYTES[x, y], "never"),
}
SCHEDULES: dict[str, Callable[[hl.Func], object]] = {
    "four": lambda f: f.unroll(x, 4),
    "two": lambda f: f.unroll(x, 2, hl.TailStrategy.RoundUp),
    "guarded": lambda f: f.unroll(x, 4, hl.TailStrategy.GuardWithIf),
    "threads": lambda f: f.unroll(x, 8).parallel(y),
    "rows": lambda f: f.unroll(y, 2),
    "in lanes": lambda f: f.split(x, x, xi, 8).vectorize(xi).unroll(x, 2),
    "nothing": lambda f: f,
}


@pytest.mark.parametrize("name", DENSE)
def test_copies_side_by_side_are_lanes(name: str) -> None:
    f = of(DENSE[name]())
    f.unroll(x, 4)
    assert lanes(f) >= 16


@pytest.mark.parametrize("name", OTHERS)
def test_other_copies_stay(name: str) -> None:
    f = of(OTHERS[name]())
    f.unroll(x, 4)
    assert lanes(f) == 1


def test_copies_of_three_stay() -> None:
    """Channels of pixels that are side by side."""
    f = of(DENSE["bytes"]())
    f.bound(x, 0, 3).unroll(x)
    assert lanes(f) == 1


@pytest.mark.parametrize("folded", [False, True])
@pytest.mark.parametrize("reordered", [False, True])
def test_layouts(folded: bool, reordered: bool) -> None:
    f = wrapped(folded=folded, reordered=reordered)
    assert (lanes(f) > 1) is not reordered
    same(computed(f, [40, 5]), f.evaluate([40, 5]))


def test_arguments_that_are_not_dense() -> None:
    source, f = hl.ImageParam(hl.UInt(8), 2, "source"), hl.Func("f")
    source.dim(0).set_stride(3)
    f[x, y] = source[x, y] + 1
    f.unroll(x, 4)
    assert lanes(f) == 1


def test_iterations_that_call_functions_are_lanes() -> None:
    assert lanes(of(DENSE["functions"]())) == 16
    assert lanes(of(DENSE["bytes"]())) == 1
    assert lanes(of(hl.sqrt(REALS[x, y]))) == 1
    assert lanes(of(hl.exp(hl.f64(REALS[x, y])))) == 1


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", [*DENSE, *OTHERS])
def test_values_stay(name: str, schedule: str) -> None:
    f = of({**DENSE, **OTHERS}[name]())
    SCHEDULES[schedule](f)
    for width in (50, 70) if schedule == "two" else (45, 71):
        wanted = f.evaluate([width, 6])
        for found in run_program(f, [(0, width), (0, 6)], after="vectorize").values():
            same(found, wanted)
        same(computed(f, [width, 6]), wanted)


def test_reductions_keep_their_order() -> None:
    f, r = hl.Func("f"), hl.RDom([(1, 12)], "r")
    f[x] = hl.f32(x)
    f[r] += hl.sin(f[r - 1])
    f[x] += hl.exp(f[x] * 0.01)
    f.update(0).unroll(r.x, 4)
    f.update(1).unroll(x, 4)
    same(computed(f, [24]), f.evaluate([24]))
