"""Reductions around rows of vectors go inside of them, and each element has the same updates in the same order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core.ir import For, LoopKind
from halide_core.ir.visitor import walk
from halide_core.lowering.driver import LoweringTrace, lower
from tests.support.interpreted import run_program

x, y, xi, yi = (hl.Var(n) for n in ("x", "y", "xi", "yi"))
Tail = hl.TailStrategy


def source(of: type = np.float32) -> hl.Func:
    """Numbers with fractions where there are such, beyond whose edges are others."""
    image = hl.ImageParam(hl.Buffer(np.zeros(1, of)).type(), 2, "source")
    image.set(hl.Buffer(np.random.default_rng(5).uniform(-90, 90, (24, 70)).astype(of)))
    return hl.BoundaryConditions.repeat_edge(image)


def innermost(f: hl.Func) -> list[str]:
    """The loops in lanes that have no other loop inside, after the pass."""
    trace = LoweringTrace()
    lower(f._request(), trace=trace)
    lanes = [s for s in walk(dict(trace.passes)["interchange"]) if isinstance(s, For) and s.kind is LoopKind.VECTORIZED]
    inside = [s for each in lanes for s in walk(each) if isinstance(s, For)]
    return [s.loop.var for s in inside if not any(isinstance(e, For) for e in walk(s.body))]


def filtered(tail: hl.TailStrategy = Tail.GuardWithIf, of: type = np.float32) -> hl.Func:
    """A filter of nine taps, which the schedule goes through one after the other, a row at a time."""
    near, f, r = source(of), hl.Func("f"), hl.RDom([(0, 3), (-1, 3)], "r")
    f[x, y] = near[x, y] * 2
    tap = near[x + r.x, y + r.y]
    f[x, y] += tap * hl.cast(tap.type(), r.x + 2 * r.y)
    f.update().reorder(x, r.x, r.y, y).vectorize(x, 8, tail)
    return f


def over_pictures() -> hl.Func:
    """Each tap for the whole picture."""
    near, f, r = source(), hl.Func("f"), hl.RDom([(0, 3)], "r")
    f[x, y] = near[x, y]
    f[x, y] = f[x, y] * 0.75 + near[x + r, y]
    f.update().reorder(x, y, r.x).vectorize(x, 8)
    return f


def in_tiles() -> hl.Func:
    near, f, r = source(), hl.Func("f"), hl.RDom([(0, 5)], "r")
    f[x, y] = hl.f32(0)
    f[x, y] = f[x, y] * 0.5 + near[x + r, y]
    f.update().tile(x, y, xi, yi, 20, 3, Tail.GuardWithIf).reorder(xi, r.x, yi, x, y).vectorize(xi, 4, Tail.GuardWithIf)
    return f


def some_taps() -> hl.Func:
    """The reduction's condition follows from it, and stays with it: nothing is moved."""
    near, f, r = source(), hl.Func("f"), hl.RDom([(0, 5)], "r")
    r.where(r.x * 7 % 5 < 3)
    f[x, y] = near[x, y]
    f[x, y] = f[x, y] * 0.5 + near[x + r, y]
    f.update().reorder(x, r.x, y).vectorize(x, 8)
    return f


def shared_elements() -> hl.Func:
    """Two steps of the inner reduction meet in one element: their order with the outer one's steps counts."""
    near, f, r = source(), hl.Func("f"), hl.RDom([(0, 6), (0, 3)], "r")
    f[x, y] = near[x, y]
    f[x, r.x / 2] = f[x, r.x / 2] * 0.5 + near[x + r.y, r.x]
    f.update().reorder(x, r.x, r.y).vectorize(x, 8)
    return f


def scan() -> hl.Func:
    """The vector above is another one: nothing would stay in a register."""
    near, f, r = source(), hl.Func("f"), hl.RDom([(1, 9)], "r")
    f[x, y] = near[x, y]
    f[x, r] = f[x, r - 1] * 0.5 + near[x, r]
    f.update().reorder(x, r.x).vectorize(x, 8)
    return f


def long() -> hl.Func:
    """More steps than lines that a cache keeps."""
    near, f, r = source(), hl.Func("f"), hl.RDom([(0, 129)], "r")
    f[x, y] = near[x, y]
    f[x, y] = f[x, y] * 0.5 + near[x + r.x, y]
    f.update().reorder(x, r.x, y).vectorize(x, 8)
    return f


def of_a_run() -> hl.Func:
    """As many steps as a Param says: none, or thousands."""
    near, f, r = source(), hl.Func("f"), hl.RDom([(0, hl.Param(hl.Int(32), "n", 5))], "r")
    f[x, y] = near[x, y]
    f[x, y] = f[x, y] * 0.5 + near[x + r, y]
    f.update().reorder(x, r.x, y).vectorize(x, 8)
    return f


def promised() -> hl.Func:
    """A value that a run may find to be another than was said is looked at in the order that was asked for."""
    near, f, r = source(np.int32), hl.Func("f"), hl.RDom([(0, 5)], "r")
    f[x, y] = near[x, y]
    f[x, y] += hl.unsafe_promise_clamped(near[x + r, y], -100, 100)
    f.update().reorder(x, r.x, y).vectorize(x, 8)
    return f


def numbers(of: type) -> Callable[[], hl.Func]:
    return lambda: filtered(of=of)


MOVED = [filtered, over_pictures, in_tiles, numbers(np.uint8), numbers(np.int16)]
LEFT = [some_taps, shared_elements, scan, long, of_a_run, promised]


@pytest.mark.parametrize("make", MOVED)
def test_a_vector_is_summed_where_it_is(make: Callable[[], hl.Func]) -> None:
    assert any(name.startswith("r") for name in innermost(make()))


@pytest.mark.parametrize("make", LEFT)
def test_what_would_gain_nothing_or_be_another_order_stays(make: Callable[[], hl.Func]) -> None:
    assert not any(name.startswith("r") for name in innermost(make()))


def test_of_nested_reductions_as_many_go_inside_as_are_short_together() -> None:
    near, f, r = source(), hl.Func("f"), hl.RDom([(0, 13), (0, 10)], "r")
    f[x, y] = near[x, y]
    f[x, y] = f[x, y] * 0.5 + near[x + r.x, y + r.y]
    f.update().reorder(x, r.x, r.y, y).vectorize(x, 8)
    assert innermost(f) == ["r.x"]


@pytest.mark.parametrize("make", MOVED + LEFT)
@pytest.mark.parametrize("window", [[(0, 37), (0, 9)], [(-5, 8), (2, 8)], [(3, 1), (0, 7)]])
def test_the_updates_are_the_same(make: Callable[[], hl.Func], window: list[tuple[int, int]]) -> None:
    f = make()
    wanted = f.evaluate(window)
    for name, got in run_program(f, window).items():
        assert np.array_equal(got, wanted), name
    sizes = [8 * (-(-extent // 8)) for _, extent in window]
    assert np.array_equal(np.asarray(f.realize(sizes)), np.asarray(f.evaluate([(0, n) for n in sizes])))


def test_rounded_up_rows_are_the_same() -> None:
    f = filtered(Tail.RoundUp)
    assert any(name.startswith("r") for name in innermost(f))
    for window in [(0, 40), (0, 9)], [(-5, 8), (2, 8)]:
        for name, got in run_program(f, window).items():
            assert np.array_equal(got, f.evaluate(window)), name
    assert np.array_equal(np.asarray(f.realize([16, 8])), np.asarray(f.evaluate([(0, 16), (0, 8)])))
