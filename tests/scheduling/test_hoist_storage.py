"""``hoist_storage``: where memory is allocated, how much of it, and that no value depends on it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.ir import AllocateFlat, For, Stmt
from halide_core.ir.visitor import sub_stmts
from halide_core.lowering.passes.memory.hoist_storage import _larger
from tests.support.checking import check, image, numbers
from tests.support.dumps import traced
from tests.support.interpreted import run_program

x, y, xo, yo, xi, yi = (hl.Var(n) for n in "x y xo yo xi yi".split())
GUARD = hl.TailStrategy.GuardWithIf


def pair() -> tuple[hl.Func, hl.Func]:
    """g, and f, which sums three points of it."""
    im = image(numbers((24, 24), np.int32), "im")
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = im[x, y] * 3
    f[x, y] = g[x, y] + g[x, y + 1] + g[x + 2, y]
    return g, f


def allocations(f: hl.Func) -> dict[str, tuple[str, str]]:
    """For each buffer the loop that it is allocated in, and its size."""
    found: dict[str, tuple[str, str]] = {}

    def visit(stmt: Stmt, loop: str) -> None:
        if isinstance(stmt, AllocateFlat):
            assert stmt.buffer not in found
            found[stmt.buffer] = (loop, repr(stmt.size))
        for inner in sub_stmts(stmt):
            visit(inner, str(stmt.loop) if isinstance(stmt, For) else loop)

    visit(traced(f).passes[-1][1], "")
    return found


def expected(f: hl.Func, window: list[int]) -> None:
    """The compiled result is that of the reference."""
    check(f, window, np.asarray(f.evaluate(window)))


@pytest.mark.parametrize(
    ("level", "loop"),
    [
        (lambda g, f: g.hoist_storage(f, yo), "f.s0.yo"),
        (lambda g, f: g.hoist_storage(f, xo), "f.s0.xo"),
        (lambda g, f: g.hoist_storage_root(), ""),
    ],
    ids=["yo", "xo", "root"],
)
def test_memory_of_a_tile(level: Callable[[hl.Func, hl.Func], hl.Func], loop: str) -> None:
    g, f = pair()
    f.tile(x, y, xo, yo, xi, yi, 8, 4, hl.TailStrategy.ShiftInwards)
    level(g.compute_at(f, xo), f)
    assert allocations(f) == {"g": (loop, "50")}
    expected(f, [17, 11])


def test_size_is_the_largest() -> None:
    triangle = hl.Func("triangle")
    r = hl.RDom([(0, 9)], "r")
    k = hl.Func("k")
    k[x] = x * 5 % 7
    triangle[y] = 0
    triangle[y] += hl.select(r.x <= y, k[hl.min(r.x, y)], 0)
    k.compute_at(triangle, y).hoist_storage_root()
    # A row y needs min(0, y) to min(8, y), one point where y is negative: nine at most.
    assert allocations(triangle) == {"k": ("", "9")}
    for window in ([12], [5], [1]):
        expected(triangle, window)


def test_tiles_of_different_sizes_share_memory() -> None:
    g, f = pair()
    f.split(y, yo, yi, 4, GUARD)
    g.compute_at(f, yo).hoist_storage_root()
    # Tiles have four rows, or what is left.
    assert allocations(f) == {"g": ("", "max(g.s0.x.len*5, g.s0.x.len*(f.extent.1 - f.extent.1/4*4 + 1))")}
    expected(f, [9, 11])
    expected(f, [9, 3])


def test_parallel_loop_has_memory_of_its_own() -> None:
    g, f = pair()
    f.tile(x, y, xo, yo, xi, yi, 8, 4, GUARD).parallel(yo)
    g.compute_at(f, xo).hoist_storage(f, yo).vectorize(x, 4)
    assert allocations(f)["g"][0] == "f.s0.yo"
    expected(f, [17, 11])


def test_sliding_window_is_hoisted_with_its_fold() -> None:
    g, f = pair()
    f.split(x, xo, xi, 8)
    f.reorder(xi, y, xo)
    g.store_at(f, xo).compute_at(f, y).hoist_storage_root()
    assert allocations(f)["g"][0] == ""
    expected(f, [17, 9])


def test_memory_stays_around_all_that_uses_it() -> None:
    g, f = pair()
    g.compute_at(f, y).vectorize(x, 2, hl.TailStrategy.ShiftInwards).hoist_storage(f, y)
    assert allocations(f)["g"][0] == "f.s0.y"
    expected(f, [9, 4])


def test_values_of_a_tuple() -> None:
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = (x, x * 3)
    f[x, y] = g[x + y][0] + g[x][1]
    g.compute_at(f, y).hoist_storage_root()
    assert [loop for loop, _ in allocations(f).values()] == ["", ""]
    expected(f, [9, 4])


def test_last_one_counts() -> None:
    g, f = pair()
    f.tile(x, y, xo, yo, xi, yi, 8, 4, GUARD)
    f.never_partition(yo)  # else whole rows of tiles and the last one have memory each
    g.compute_at(f, xo).hoist_storage(f, xo).hoist_storage(f, yo)
    assert allocations(f)["g"][0] == "f.s0.yo"


def test_loop_of_one_iteration_is_no_loop_any_more() -> None:
    g, f, h = hl.Func("g"), hl.Func("f"), hl.Func("h")
    g[x, y] = x + y
    f[x, y] = g[x, y] * g[x + 1, y]
    h[x, y] = f[x, y]
    f.compute_at(h, x)
    g.compute_at(f, x).store_at(f, y).hoist_storage(f, y)
    assert allocations(h) == {"f": ("h.s0.x", "1"), "g": ("h.s0.x", "2")}
    expected(h, [6, 5])


@pytest.mark.parametrize("limits", [(4, 7), (7, 4), (None, 7), (7, None), (None, None)])
def test_memory_for_two_is_limited_where_both_are(limits: tuple[int | None, int | None]) -> None:
    a, b = (AllocateFlat("g", hl.Int(32), ir.ONE, limit) for limit in limits)
    assert _larger(a, b).limit == (None if None in limits else 7)


def test_memory_of_a_peeled_first_iteration_is_the_loops() -> None:
    """The slide of w peels the first x: p is allocated once, around both, and not inside its own memory."""
    w, p, o, x = hl.Func("w"), hl.Func("p"), hl.Func("o"), hl.Var("x")
    w[x] = x * 3
    p[x] = w[x] + 1
    o[x] = p[x] * 3 + w[x] + w[x + 1]
    p.compute_at(o, x).hoist_storage_root()
    w.compute_at(o, x).store_root()
    for name, found in run_program(o, [(2, 4)]).items():
        np.testing.assert_array_equal(found, o.evaluate([(2, 4)]), err_msg=name)


def test_first_iteration_that_is_peeled_has_its_memory_where_the_others_have_it() -> None:
    """The first x is no loop any more: its w is asked for further out, and the loop of the others has none."""
    s, w, o, x = hl.Func("s"), hl.Func("w"), hl.Func("o"), hl.Var("x")
    s[x] = x * 3
    w[x] = x + 1
    w[0] = s[0]
    o[x] = w[0] + x
    w.hoist_storage(o, x)
    s.compute_at(o, x).store_root()
    for name, found in run_program(o, [(2, 4)]).items():
        np.testing.assert_array_equal(found, o.evaluate([(2, 4)]), err_msg=name)


@pytest.mark.parametrize("factor", [hl.f32(0.37), hl.Param(hl.Float(32), "factor", 0.37)])
@pytest.mark.parametrize("second", [lambda at: at + 1, lambda at: hl.i32(hl.floor(hl.f32(at)) + 1.0)])
def test_rows_of_a_resampler(factor: hl.Expr, second: Callable[[hl.Expr], hl.Expr]) -> None:
    """A row of f needs two of g, wherever they are: how many is known over all rows."""
    im = image(numbers((24, 24), np.float32), "im")
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = hl.BoundaryConditions.repeat_edge(im)[x, y] * 3
    at = hl.i32(hl.floor((hl.f32(y) + 0.5) * factor - 0.5))
    f[x, y] = g[x, at] + g[x, second(at)]
    f.split(y, yo, yi, 8, GUARD)
    g.compute_at(f, yi).hoist_storage(f, yo)
    assert allocations(f)["g"][0] == "f.s0.yo"
    expected(f, [9, 20])


@pytest.mark.parametrize("first", [-40, -3, 0, 9])
def test_one_of_the_sizes_of_which_the_greatest_is_taken_may_be_less_than_nothing(first: int) -> None:
    """A distance between two places that are read: which of the two is the lower one depends on the window."""
    w, o = hl.Func("w"), hl.Func("o")
    w[x, y] = x + y
    o[x, y] = w[hl.i32(hl.floor((hl.f32(x) + 0.5) * 0.5)) - x, y + 1] + w[x, y] * 2
    w.compute_at(o, x).hoist_storage(o, y)
    out = hl.Buffer(hl.Int(32), [2, 4])
    out.set_min([first, 0])
    o.realize(out)
    np.testing.assert_array_equal(out, o.evaluate([(first, 2), (0, 4)]))


def test_hoisted_memory_is_no_larger_than_each_iteration_was_known_to_need() -> None:
    """A rounded length is a difference of quotients, whose ends over the loop are found one by one."""
    w, o = hl.Func("w"), hl.Func("o")
    w[x] = x * 10
    o[x] = w[2 - x] - w[4 - x] * 2
    w.align_bounds(x, 3, 1)
    w.compute_at(o, x).hoist_storage_root()
    for first in (2, -5):
        window = [(first, 13)]
        for name, got in run_program(o, window).items():  # refuses memory that is larger than its limit
            assert np.array_equal(got, o.evaluate(window)), name
    expected(o, [13])
