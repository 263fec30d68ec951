"""Sliding windows: each point is computed as often as derived by hand, and every answer is the definition's.

Counts are of the program after bounds inference; the certificate speaks of the same program.
"""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.visit import stmt_exprs, subexpressions, walk
from lowering.driver import Trace, lower
from tests.apps.checking import check, numbers, variables
from tests.lowering.counting import counted

x, y, xo, yo, xi, yi = variables("x y xo yo xi yi")
W, H = 7, 9


def source(width: int = 24, height: int = 28) -> hl.ImageParam:
    """An input that reaches four points beyond the window on every side."""
    param = hl.ImageParam(hl.Int(32), 2, "source")
    buffer = hl.Buffer(np.ascontiguousarray(numbers((height, width), np.int32)))
    buffer.set_min([-6, -8])
    param.set(buffer)
    return param


def blur() -> tuple[hl.Func, hl.Func]:
    """A producer of three columns, and a consumer of three rows of it."""
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x - 1, y] + s[x, y] + s[x + 1, y]
    f[x, y] = g[x, y - 1] + g[x, y] * 2 + g[x, y + 1]
    return g, f


def window(f: hl.Func, width: int = W, height: int = H) -> list[tuple[int, int]]:
    """The window of all tests: it does not start at zero."""
    return [(1, width), (-2, height)][: f.dimensions()]


def certified(f: hl.Func) -> None:
    """The certificate has no open end."""
    certificate = f.certify()
    assert certificate.ok, str(certificate)


def test_rows_are_computed_once() -> None:
    g, f = blur()
    g.store_root().compute_at(f, y)
    count = counted(f, window(f))
    assert count.once(g)
    assert count.total(g) == W * (H + 2)
    certified(f)


def test_without_outer_storage_rows_are_computed_again() -> None:
    g, f = blur()
    g.compute_at(f, y)
    assert counted(f, window(f)).total(g) == W * H * 3


def test_columns_are_computed_once() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x - 1, y] + g[x + 2, y]
    g.store_at(f, y).compute_at(f, x)
    count = counted(f, window(f))
    assert count.total(g) == (W + 3) * H
    assert count.once(g)
    certified(f)


def test_two_dimensions_slide_along_two_loops() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x - 1, y] + g[x + 1, y - 1] + g[x, y + 2]
    g.store_root().compute_at(f, x)
    count = counted(f, window(f))
    assert count.total(g) == (W + 2) * (H + 3)
    assert count.once(g)
    certified(f)


def chain() -> list[hl.Func]:
    """Three stencils, one after the other."""
    s, a, b, c = source(), hl.Func("a"), hl.Func("b"), hl.Func("c")
    a[x, y] = s[x, y - 1] + s[x, y] * 2
    b[x, y] = a[x, y - 1] + a[x, y + 1]
    c[x, y] = b[x, y - 1] + b[x, y] + b[x, y + 2]
    return [a, b, c]


def test_a_chain_slides_together() -> None:
    a, b, c = chain()
    for each in (a, b):
        each.store_root().compute_at(c, y)
    count = counted(c, window(c))
    assert count.total(b) == W * (H + 3)
    assert count.total(a) == W * (H + 5)
    assert count.once(a)
    assert count.once(b)
    certified(c)


def test_a_chain_asks_each_iteration_once_whether_it_is_the_first() -> None:
    a, b, c = chain()
    for each in (a, b):
        each.store_root().compute_at(c, y)
    lets = [s.value for s in walk(passes(c)["simplify"]) if isinstance(s, ir.Let)]
    asked = [sum(isinstance(e, ir.Select) for e in subexpressions([value])) for value in lets]
    assert max(asked) == 1


def test_several_consumers() -> None:
    a, b, c = chain()
    d = hl.Func("d")
    d[x, y] = c[x, y] + a[x, y - 3] + b[x, y + 1]
    for each in (a, b):
        each.store_root().compute_at(d, y)
    c.compute_at(d, y)
    count = counted(d, window(d))
    assert count.once(a)
    assert count.once(b)
    assert count.total(b) == W * (H + 3)
    certified(d)


def test_tiles_slide_inside_and_start_anew() -> None:
    g, f = blur()
    f.split(y, yo, yi, 4, hl.TailStrategy.GuardWithIf)
    g.store_at(f, yo).compute_at(f, yi)
    # Tiles of 4, 4 and 1 rows: 6, 6 and 3 rows of g.
    assert counted(f, window(f)).total(g) == W * (6 + 6 + 3)
    certified(f)


def test_a_shifted_tail_needs_no_old_row_again() -> None:
    g, f = blur()
    f.split(y, yo, yi, 4)  # shifts inwards: tiles at rows 0, 4 and 5 of 9
    g.store_root().compute_at(f, yo)
    count = counted(f, window(f))
    assert count.once(g)
    assert count.total(g) == W * (H + 2)
    certified(f)


def test_a_guarded_tail_slides_over_tiles() -> None:
    g, f = blur()
    f.split(y, yo, yi, 4, hl.TailStrategy.GuardWithIf)
    g.store_root().compute_at(f, yo)
    count = counted(f, window(f))
    assert count.once(g)
    certified(f)


def test_a_walk_backwards() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x, 2 - y] + g[x, 4 - y]
    g.store_root().compute_at(f, y)
    count = counted(f, window(f))
    assert count.once(g)
    assert count.total(g) == W * (H + 2)
    certified(f)


def test_a_window_that_skips_rows() -> None:
    s, g, f = source(40, 60), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x, 2 * y - 1] + g[x, 2 * y + 2]
    g.store_root().compute_at(f, y)
    count = counted(f, window(f))
    assert count.once(g)
    assert count.total(g) == W * (2 * (H - 1) + 4)
    certified(f)


def test_windows_apart_are_computed_whole() -> None:
    s, g, f = source(40, 60), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x, 3 * y] + g[x, 3 * y + 1]
    g.store_root().compute_at(f, y)
    assert counted(f, window(f)).total(g) == W * H * 2
    assert "windows do not overlap" in str(f.explain())


def test_upsampling_needs_nothing_new_in_every_other_row() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x, y // 2] + g[x, y // 2 + 1]
    g.store_root().compute_at(f, y)
    count = counted(f, window(f))
    assert count.once(g)
    assert count.total(g) == W * 6  # rows -1 to 4
    certified(f)


def test_a_stride_of_run_time_in_both_directions() -> None:
    s, g, f, p = source(40, 90), hl.Func("g"), hl.Func("f"), hl.Param(hl.Int(32), "p", 1)
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x, p * y] + g[x, p * y + 3]
    g.store_root().compute_at(f, y)
    for stride, rows in ((1, H + 3), (2, 2 * (H - 1) + 4), (-1, H + 3), (0, 4)):
        p.set(stride)
        count = counted(f, [(1, W), (0, H)] if stride >= 0 else [(1, W), (-8, H)])
        assert count.total(g) == W * rows, stride
        assert count.once(g)
    certified(f)


def test_a_walk_that_turns_back() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x, hl.max(y, -y)] + g[x, hl.max(y, -y) + 1]
    g.store_root().compute_at(f, y)
    count = counted(f, [(1, W), (-4, H)])
    # Rows 4 5, then one new row in each iteration down to 0, and up again to 5 as each is forgotten on the way back.
    assert count.total(g) <= W * (2 + 4 + 4)
    certified(f)


def test_a_reduction_is_run_once_for_each_point() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    r = hl.RDom([(-2, 5)], "r")
    g[x, y] = 0
    g[x, y] += s[x + r.x, y]
    f[x, y] = g[x, y - 1] + g[x, y + 1]
    g.store_root().compute_at(f, y)
    count = counted(f, window(f))
    assert count.once(g)
    assert count.total(g) == W * (H + 2)
    assert count.total(g, 1) == 5 * W * (H + 2)
    certified(f)


def test_along_a_reduction_loop_of_the_consumer() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    r = hl.RDom([(0, 6)], "r")
    g[x] = s[x, 0] * 3
    f[x] = 0
    f[x] += g[x + r.x] * g[x + r.x + 2]
    g.store_root().compute_at(f, r.x)
    count = counted(f, window(f))
    # Six steps of three points that move by one: 8 in each of the W executions of the loop.
    assert count.total(g) == W * 8
    certified(f)


def test_a_producer_that_reads_itself_in_the_other_dimension() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    r = hl.RDom([(1, 6)], "r")
    g[x, y] = s[x, y]
    g[r.x, y] += g[r.x - 1, y]
    f[x, y] = g[x, y - 1] + g[x, y + 1]
    g.store_root().compute_at(f, y)
    count = counted(f, window(f))
    assert count.once(g, 1)
    certified(f)


def test_a_scan_along_the_loop_does_not_slide() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    r = hl.RDom([(1, 6)], "r")
    g[x, y] = s[x, y]
    g[x, r.x] += g[x, r.x - 1]
    f[x, y] = g[x, y - 1] + g[x, y + 1]
    g.store_root().compute_at(f, y)
    counted(f, window(f))
    certified(f)


def test_vectors_on_both_sides() -> None:
    g, f = blur()
    f.vectorize(x, 4)
    g.store_root().compute_at(f, y).vectorize(x, 4)
    count = counted(f, window(f))
    assert {p[1] for p in count.of(g)} == set(range(-3, -3 + H + 2))
    assert count.total(g) == 8 * (H + 2)
    certified(f)


def test_rounding_up_beside_the_window() -> None:
    g, f = blur()
    f.vectorize(x, 4, hl.TailStrategy.GuardWithIf)
    g.store_root().compute_at(f, y).vectorize(x, 4, hl.TailStrategy.RoundUp)
    count = counted(f, window(f))
    assert count.total(g) == 8 * (H + 2)
    certified(f)


def test_rounding_up_along_the_window() -> None:
    g, f = blur()
    f.split(y, yo, yi, 3)
    g.store_root().compute_at(f, yo).split(y, yo, yi, 4, hl.TailStrategy.RoundUp)
    counted(f, window(f))
    certified(f)


def test_a_shifted_split_along_the_window_is_not_left_out() -> None:
    g, f = blur()
    g.store_root().compute_at(f, y).split(y, yo, yi, 3)
    assert counted(f, window(f)).total(g) == W * H * 3
    certified(f)


def test_unrolled_consumer() -> None:
    g, f = blur()
    f.split(y, yo, yi, 3).unroll(yi)
    g.store_at(f, yo).compute_at(f, yi)
    assert counted(f, window(f)).total(g) == W * 3 * 5
    certified(f)


def test_parallel_strips() -> None:
    g, f = blur()
    f.split(y, yo, yi, 3).parallel(yo)
    g.store_at(f, yo).compute_at(f, yi)
    assert counted(f, window(f)).total(g) == W * 3 * 5
    certified(f)


def test_a_diagonal_does_not_slide() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x + y, y] + g[x + y + 1, y + 1]
    g.store_root().compute_at(f, y)
    counted(f, window(f))
    certified(f)
    assert "does not slide along f.s0.y" in str(f.explain())


def test_a_point_that_stands_still_is_computed_once() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x] = s[x, 0] * 3
    f[x, y] = g[x] + y
    g.store_root().compute_at(f, y)
    count = counted(f, window(f))
    assert count.once(g)
    assert count.total(g) == W
    certified(f)


def test_specialized_consumer() -> None:
    g, f = blur()
    p = hl.Param(hl.Int(32), "p", 1)
    f.specialize(p > 0).vectorize(x, 4)
    g.store_root().compute_at(f, y)
    for value in (0, 1):
        p.set(value)
        counted(f, window(f))
    certified(f)


def test_a_guard_over_memory_stops_a_slide() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    r = hl.RDom([(0, 6)], "r")
    r.where(s[r.x, 0] > 0)
    g[x] = s[x, 0] * 3
    f[x] = 0
    f[x] += g[x + r.x] * g[x + r.x + 2]
    g.store_root().compute_at(f, r.x)
    counted(f, window(f))
    certified(f)


def test_an_empty_loop_between() -> None:
    g, f = blur()
    g.store_root().compute_at(f, y)
    check(f, [(0, 3), (0, 1)], f.evaluate([(0, 3), (0, 1)]))
    check(f, [(0, 1), (0, 6)], f.evaluate([(0, 1), (0, 6)]))


# ---------------------------------------------------------------------------------------------------------
# What has been wrong in other compilers: numbers are those of Halide's tracker.


def test_loops_of_one_step_around_two_slides() -> None:
    """#8140: no loop starts earlier than it did, so nothing is read that no iteration wrote."""
    a, b, c = hl.Func("a"), hl.Func("b"), hl.Func("c")
    a[x, y] = hl.BoundaryConditions.repeat_edge(source())[x, y]
    b[x, y] = (a[x + 1, y + 1] + a[x - 1, y - 1]) * 2
    c[x, y] = a[x + 1, y + 1] + a[x - 1, y - 1] + b[x + 1, y + 1] + b[x - 1, y - 1]
    c.split(y, yo, yi, 1, hl.TailStrategy.RoundUp)
    a.store_at(c, yo).compute_at(c, x)
    b.store_root().compute_at(c, x)
    for size in (1, 5):
        counted(c, window(c, size, size))
    certified(c)


@pytest.mark.parametrize("tail", [hl.TailStrategy.RoundUp, hl.TailStrategy.ShiftInwards, hl.TailStrategy.GuardWithIf])
def test_no_vector_of_a_walk_backwards_writes_over_what_is_kept(tail: hl.TailStrategy) -> None:
    """#7819: what is above the window is still needed."""
    s, a, g, f = source(60, 9), hl.Func("a"), hl.Func("g"), hl.Func("f")
    a[x] = s[x, 0]
    g[x] = a[x]
    f[x] = g[30 - x] + g[31 - x] + g[32 - x]
    a.compute_root()
    g.store_root().compute_at(f, x).vectorize(x, 4, tail)
    counted(f, [(0, 30)])
    certified(f)


def test_a_producer_inside_a_producer_that_slides() -> None:
    """#7909: a chain in which the second slide is along a loop of the first Func that slides."""
    a, b, c = hl.Func("a"), hl.Func("b"), hl.Func("c")
    r = hl.RDom([(-2, 3), (-2, 3)], "r")
    a[x, y] = 2 * x + 5 * y
    b[x, y] = 0
    b[x, y] += a[x + r.x, y + r.y]
    c[x, y] = b[x, y] // 9
    c.split(y, yo, yi, 1)
    b.compute_at(c, yo).store_root()
    a.compute_at(b, x).store_root()
    counted(c, window(c))
    certified(c)


def test_whole_dimensions_that_unroll_do_not_slide() -> None:
    """#4158: a length that is a constant stays one."""
    s, g, f = source(60, 9), hl.Func("g"), hl.Func("f")
    g[x] = s[x, 0]
    f[x] = g[x] + g[x - 1]
    f.split(x, xo, xi, 5)
    g.store_root().compute_at(f, xo).unroll(x)
    counted(f, [(0, 20)])
    certified(f)


# ---------------------------------------------------------------------------------------------------------
# Storage folding.


def test_memory_of_rows_folds_to_what_is_needed_at_one_time() -> None:
    g, f = blur()
    g.store_root().compute_at(f, y)
    count = counted(f, window(f))
    assert count.largest["g"] == W * 3
    certified(f)


def test_memory_of_columns_folds() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x - 1, y] + g[x + 2, y]
    g.store_at(f, y).compute_at(f, x)
    count = counted(f, window(f))
    assert count.largest["g"] == 4
    assert count.total(g) == (W + 3) * H
    certified(f)


def test_memory_of_two_sliding_dimensions_folds_in_the_outer_one() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x - 1, y] + g[x + 1, y - 1] + g[x, y + 2]
    g.store_root().compute_at(f, x)
    count = counted(f, window(f))
    assert count.largest["g"] == (W + 2) * 4
    assert count.once(g)
    certified(f)


def test_memory_of_a_chain_folds() -> None:
    a, b, c = chain()
    for each in (a, b):
        each.store_root().compute_at(c, y)
    count = counted(c, window(c))
    # The first iteration asks for four rows of b, and so for six of a: what it starts with must have room.
    assert count.largest == {"c": W * H, "b": W * 4, "a": W * 6} or count.largest == {"b": W * 4, "a": W * 6}
    certified(c)


def test_memory_of_a_shifted_tail_folds() -> None:
    g, f = blur()
    f.split(y, yo, yi, 4)
    g.store_root().compute_at(f, yo)
    count = counted(f, window(f))
    assert count.largest["g"] == W * 6
    certified(f)


def test_memory_of_a_walk_backwards_folds() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x, 2 - y] + g[x, 4 - y]
    g.store_root().compute_at(f, y)
    assert counted(f, window(f)).largest["g"] == W * 3
    certified(f)


def test_a_vector_along_the_window_is_not_folded() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x - 1, y] + g[x + 2, y]
    f.split(x, xo, xi, 4, hl.TailStrategy.GuardWithIf).vectorize(xi)
    g.store_at(f, y).compute_at(f, xo)
    count = counted(f, window(f))
    assert count.largest["g"] >= W + 3
    certified(f)


def test_a_vector_over_part_of_the_window_is_not_folded() -> None:
    g, f = blur()
    f.split(y, yo, yi, 4, hl.TailStrategy.GuardWithIf)
    g.store_root().compute_at(f, yo).split(y, yo, yi, 2, hl.TailStrategy.GuardWithIf).vectorize(yi)
    count = counted(f, window(f))
    assert count.largest["g"] == W * (H + 2)
    certified(f)


def test_a_run_time_window_does_not_fold_by_itself() -> None:
    s, g, f, p = source(40, 90), hl.Func("g"), hl.Func("f"), hl.Param(hl.Int(32), "p", 2)
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x, y] + g[x, y + hl.clamp(p, 0, 5)]
    g.store_root().compute_at(f, y)
    count = counted(f, window(f))
    assert count.largest["g"] in (W * (H + 2), W * 6)
    certified(f)


def test_a_fold_that_was_asked_for() -> None:
    g, f = blur()
    g.store_root().compute_at(f, y).fold_storage(y, 4)
    count = counted(f, window(f))
    assert count.largest["g"] == W * 4
    certified(f)


def test_a_fold_of_what_does_not_slide() -> None:
    g, f = blur()
    g.compute_root().fold_storage(y, H + 2, fold_forward=False)
    f.bound(y, -2, H)
    count = counted(f, window(f))
    assert count.largest["g"] == W * (H + 2)
    certified(f)


def test_a_fold_along_a_vector_is_right() -> None:
    g, f = blur()
    f.vectorize(x, 4)
    g.compute_at(f, y).vectorize(x, 4).fold_storage(x, 16)
    counted(f, window(f))
    certified(f)


def test_each_func_has_the_fold_that_was_asked_for_last() -> None:
    a, b, c = chain()
    for each, first, last in ((a, 9, 10), (b, 7, 8)):
        each.store_root().compute_at(c, y).fold_storage(y, first).fold_storage(y, last)
    b.fold_storage(x, 11)
    count = counted(c, window(c))
    assert (count.largest["a"], count.largest["b"]) == (W * 10, 11 * 8)
    certified(c)


def test_a_fold_known_at_start_up_is_checked_there() -> None:
    g, f = blur()
    p = hl.Param(hl.Int(32), "p", 3)
    g.store_root().compute_at(f, y).fold_storage(y, p)
    assert counted(f, window(f)).largest["g"] == W * 3
    p.set(2)
    with pytest.raises(hl.HalideError, match=r'fold_storage\(y, p\) gives "g" too few places in "y": 2 for 3'):
        f.realize([4, 4])
    certified(f)


def test_a_fold_that_is_too_small() -> None:
    g, f = blur()
    g.store_root().compute_at(f, y).fold_storage(y, 2)
    with pytest.raises(hl.ScheduleError, match=r'3 points of "y" count at one time'):
        f.realize([4, 4])


def test_a_fold_where_rounding_up_writes_more() -> None:
    g, f = blur()
    g.store_root().compute_at(f, y).split(y, yo, yi, 2, hl.TailStrategy.RoundUp).fold_storage(y, 8)
    with pytest.raises(hl.ScheduleError, match="rounding up may write beyond what is needed"):
        f.realize([4, 4])


def test_a_fold_where_an_update_scatters() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    r = hl.RDom([(0, 6)], "r")
    g[x, y] = s[x, y]
    g[x, r.x] += 1
    f[x, y] = g[x, y - 1] + g[x, y + 1]
    g.compute_root().fold_storage(y, 30)
    with pytest.raises(hl.ScheduleError, match="stage 1 writes wherever its coordinates say"):
        f.realize([4, 4])


def test_a_fold_of_an_output() -> None:
    _, f = blur()
    f.fold_storage(y, 8)
    with pytest.raises(hl.ScheduleError, match="its memory is the caller's"):
        f.realize([4, 4])


def test_a_fold_in_the_inner_of_two_dimensions() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x - 1, y] + g[x + 1, y - 1] + g[x, y + 2]
    g.store_root().compute_at(f, x).fold_storage(x, 8)
    with pytest.raises(hl.ScheduleError, match=r'"x" can\'t fold: it moves along f.s0.x too'):
        f.realize([4, 4])


# ---------------------------------------------------------------------------------------------------------
# The first iteration.


def passes(f: hl.Func) -> dict[str, ir.Stmt]:
    """The program after each pass."""
    trace = Trace()
    lower(f._request(), trace=trace)
    return dict(trace.passes)


def asks(stmt: ir.Stmt) -> bool:
    """Whether something chooses at run time."""
    return any(isinstance(e, ir.Select) for s in walk(stmt) for e in subexpressions(stmt_exprs(s)))


def test_the_first_iteration_of_an_innermost_loop_stands_apart() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x - 1, y] + g[x + 2, y]
    g.store_at(f, y).compute_at(f, x)
    assert asks(passes(f)["simplify"])
    assert not asks(passes(f)["warm_up"])
    for width in (1, 2, 7):
        counted(f, window(f, width, 2))


def test_a_row_asks_once_and_stays_in_one_loop() -> None:
    g, f = blur()
    g.store_root().compute_at(f, y)
    assert passes(f)["warm_up"] is passes(f)["simplify"] or asks(passes(f)["warm_up"])
    rows = [s for s in walk(passes(f)["warm_up"]) if isinstance(s, ir.For) and s.loop.func == "f" and s.loop.var == "y"]
    assert len(rows) == 1


# ---------------------------------------------------------------------------------------------------------
# What a chain asks of those before it.


def test_a_chain_asks_its_input_for_no_more_than_without_slides() -> None:
    needed = []
    for slides in (False, True):
        s, a, b, c, d = hl.ImageParam(hl.Int(32), 2, "s"), *(hl.Func(n) for n in "abcd")
        a[x, y] = s[x, y] * 2
        b[x, y] = a[x, y] + a[x + 2, y + 2]
        c[x, y] = a[x, y + 2] - a[x + 2, y]
        d[x, y] = b[x, y] * c[x, y + 2] + b[x + 2, y + 2] * c[x, y]
        d.split(y, yo, yi, 32)
        for each in (a, b, c):
            each.store_at(d, yo).compute_at(d, yi)
            if not slides:
                each.store_at(d, yi)
        text = str(d.explain())
        needed.append(text[text.index("input s needs") :].splitlines()[0])
        if slides:
            assert "a folds y by 5" in text
    assert needed[0] == needed[1]
