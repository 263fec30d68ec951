"""Sliding windows beside those that ``test_counts`` lists: walks that turn, stand still, or do not slide.

Counts are of the program after bounds inference; the certificate speaks of the same program.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.bounds.verify import by_cases
from halide_core.ir.visitor import subexpressions, walk
from tests.lowering.report.test_explain import of_slides
from tests.support.checking import check
from tests.support.counting import counted
from tests.support.interpreted import run_program
from tests.support.sliding import H, W, blur, certified, chain, passes, source, window, x, xi, xo, y, yi, yo


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


def test_windows_apart_are_computed_whole() -> None:
    s, g, f = source(40, 60), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x, 3 * y] + g[x, 3 * y + 1]
    g.store_root().compute_at(f, y)
    assert counted(f, window(f)).total(g) == W * H * 2
    assert "windows do not overlap" in str(f.explain())


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
    assert count.total(g) == W * (2 + 4 + 4)
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
    count = counted(f, window(f))
    # A row of f asks for three rows of g, and the scan for 0 to 5: -2 for -3 to 5, -1 for -2 to 5, … 6 for 0 to 7.
    assert count.total(g) == W * (9 + 8 + 7 + 4 * 6 + 7 + 8)
    assert count.total(g, 1) == W * 6 * H
    assert of_slides(f) == ['"y" does not slide: stage 1 writes at r.x, not at y']
    certified(f)


def test_vectors_on_both_sides() -> None:
    g, f = blur()
    f.vectorize(x, 4)
    g.store_root().compute_at(f, y).vectorize(x, 4)
    count = counted(f, window(f))
    assert {p[1] for p in count.of(g)} == set(range(-3, -3 + H + 2))
    assert count.total(g) == 8 * (H + 2)
    certified(f)


def pyramid() -> tuple[hl.Func, hl.Func]:
    """Four rows of the result need seven or five of the level below, at quarters of them, rounded both ways."""
    level, down, up, f = (hl.Func(name) for name in ("level", "down", "up", "f"))
    level[x, y] = source(24, 60)[x, y] * 2
    down[x, y] = level[x, 2 * y - 1] + level[x, 2 * y + 1]
    up[x, y] = down[x, y / 2] + down[x, (y + 1) / 2]
    f[x, y] = up[x, y / 2] + up[x, (y + 1) / 2]
    f.split(y, y, yi, 4)
    level.store_root().compute_at(f, y)
    down.compute_at(f, y)
    up.compute_at(f, y)
    return level, f


def test_a_level_of_a_pyramid_slides() -> None:
    level, f = pyramid()
    assert of_slides(f) == ['"y" slides along f.s0.y']
    count = counted(f, window(f))
    assert count.total(level) == len(count.of(level))
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
    # Three rows of f need five of g, and then three new ones, rounded up to eight and four.
    assert counted(f, window(f)).total(g) == W * (8 + 4 + 4)
    assert of_slides(f) == ['"y" slides along f.s0.yo']
    certified(f)


@pytest.mark.parametrize("tail", [hl.TailStrategy.GuardWithIf, hl.TailStrategy.RoundUp, hl.TailStrategy.ShiftInwards])
def test_a_loop_of_one_iteration_moves_nothing(tail: hl.TailStrategy) -> None:
    g, f = blur()
    f.split(y, yo, yi, 1, tail)
    g.store_root().compute_at(f, yi)
    count = counted(f, window(f))
    assert count.once(g)
    assert of_slides(f) == ['"y" slides along f.s0.yo']
    certified(f)


@pytest.mark.parametrize("rounds", [False, True])
def test_what_is_read_one_row_at_a_time_slides_along_the_rows_around_it(*, rounds: bool) -> None:
    """The rows of h that g is computed in are its loop too: its own has one iteration."""
    s, f, g, h = source(), hl.Func("f"), hl.Func("g"), hl.Func("h")
    f[x, y] = s[x, y] * 3
    g[x, y] = f[x, y] + f[x, y + 1]
    h[x, y] = g[x, y] * 2
    g.compute_at(h, y)
    f.store_root().compute_at(g, y)
    if rounds:
        f.vectorize(x, 4, hl.TailStrategy.RoundUp)
    count = counted(h, window(h))
    assert count.once(f)
    assert count.total(f) == (8 if rounds else W) * (H + 1)
    assert of_slides(h) == ['"y" slides along h.s0.y']
    certified(h)


def test_a_chain_of_stencils_inside_one_another_slides() -> None:
    s, a, b, c, d = source(), hl.Func("a"), hl.Func("b"), hl.Func("c"), hl.Func("d")
    a[x, y] = s[x, y] * 3
    b[x, y] = a[x, y - 1] + a[x, y + 1]
    c[x, y] = b[x, y - 1] + b[x, y + 1]
    d[x, y] = c[x - 1, y] + c[x + 1, y]
    c.compute_at(d, y)
    b.store_root().compute_at(c, y)
    a.compute_at(b, y)
    count = counted(d, window(d))
    assert count.once(b)
    assert count.total(b) == (W + 2) * (H + 2)
    certified(d)


def test_a_shifted_split_along_the_window_is_not_left_out() -> None:
    g, f = blur()
    g.store_root().compute_at(f, y).split(y, yo, yi, 3)
    assert counted(f, window(f)).total(g) == W * H * 3
    assert of_slides(f) == ['"y" does not slide along f.s0.y: a shifted split needs all of it']
    certified(f)


SHIFTED: dict[str, tuple[Callable[[hl.Func], object], int, int]] = {
    "split": (lambda g: g.split(y, yo, yi, 2), 3, 6 + 4 + 4),
    "unrolled": (lambda g: g.unroll(y, 2), 3, 6 + 4 + 4),
    "vectors": (lambda g: g.vectorize(y, 2, hl.TailStrategy.ShiftInwards), 3, 6 + 4 + 4),
    "longer than what is new": (lambda g: g.split(y, yo, yi, 4), 3, 8 + 4 + 4),
    "of a split": (lambda g: g.split(y, yo, yi, 2, hl.TailStrategy.GuardWithIf).vectorize(yo, 2), 3, 7 + 3 + 3),
    "in a last tile": (lambda g: g.split(y, yo, yi, 2), 2, 4 + 2 + 2 + 2 + 2),
}


@pytest.mark.parametrize(("schedule", "tile", "rows"), SHIFTED.values(), ids=SHIFTED)
def test_a_shifted_split_computes_some_of_what_is_kept_again(
    schedule: Callable[[hl.Func], object], tile: int, rows: int
) -> None:
    """Five rows for the first three of f, in two steps of a split; then three that are new, of which one is computed
    twice by two steps of two, and which one of four has one that was kept with."""
    g, f = blur()
    f.split(y, yo, yi, tile, hl.TailStrategy.GuardWithIf)
    schedule(g.store_root().compute_at(f, yo))
    count = counted(f, window(f))
    lines = {at for _, at in count.of(g)}
    assert lines == set(range(-3, -3 + H + 2))
    assert of_slides(f) == ['"y" slides along f.s0.yo']
    certified(f)
    assert count.total(g) == W * rows


def test_a_shifted_split_of_a_case_says_nothing_of_the_others() -> None:
    """Two producers of one consumer: what the second is long in a case that is not taken is no length of the first."""
    p, w, m, o = hl.Param(hl.Int(32), "p", 1), hl.Func("w"), hl.Func("m"), hl.Func("o")
    w[x, y] = x + 10 * y
    m[x, y] = w[x, 0]
    o[x, y] = m[x, 4 - y] + w[x, y] + w[x + 2, y]
    m.compute_at(o, x).store_at(o, y).specialize(p <= 0).split(x, x, xi, 3)
    w.compute_at(o, x)
    certified(o)
    for taken in (1, 0):
        p.set(taken)
        np.testing.assert_array_equal(o.realize([4, 3]), o.evaluate([4, 3]))


def test_a_window_with_a_shifted_split_in_one_case() -> None:
    p, (g, f) = hl.Param(hl.Int(32), "p", 1), blur()
    f.split(y, yo, yi, 3, hl.TailStrategy.GuardWithIf)
    g.store_root().compute_at(f, yo).specialize(p > 0).split(y, yo, yi, 4)
    certified(f)
    for taken in (1, 0):
        p.set(taken)
        assert {at for _, at in counted(f, window(f)).of(g)} == set(range(-3, -3 + H + 2))
        np.testing.assert_array_equal(f.realize([W, H]), f.evaluate([W, H]))


def test_vectors_slide_along_vectors() -> None:
    s, g, f = source(40, 28), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x - 1, y] + g[x + 1, y]
    f.vectorize(x, 4)
    g.store_at(f, y).compute_at(f, x).vectorize(x, 4)
    count = counted(f, window(f, 14, 2))
    assert count.total(g) == 2 * (8 + 4 + 4 + 4)  # six columns are two vectors
    assert '"x" slides along f.s0.x' in of_slides(f)
    certified(f)


def test_windows_that_go_down_compute_again_what_is_above() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x, 5 - y] + g[x, 7 - y]
    g.store_root().compute_at(f, y).unroll(y, 2)
    count = counted(f, window(f))
    assert count.total(g) == W * (4 + 2 * (H - 1))
    assert of_slides(f) == ['"y" slides along f.s0.y']
    certified(f)


@pytest.mark.parametrize("tile", [1, 3, 4])
def test_aligned_bounds_slide(tile: int) -> None:
    """Rows -4 to 7 hold the rows -3 to 7 that nine rows of f need."""
    g, f = blur()
    f.split(y, yo, yi, tile)
    g.store_root().compute_at(f, yo).align_bounds(y, 2)
    count = counted(f, window(f))
    assert count.once(g)
    assert count.total(g) == W * 12
    certified(f)


def test_a_diagonal_does_not_slide() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x + y, y] + g[x + y + 1, y + 1]
    g.store_root().compute_at(f, y)
    assert counted(f, window(f)).total(g) == (W + 1) * 2 * H  # the box around two diagonal rows
    certified(f)
    assert of_slides(f) == [
        '"x" does not slide along f.s0.y: "y" moves with it',
        '"y" does not slide along f.s0.y: "x" moves with it',
    ]


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
        count = counted(f, window(f))
        # Each case has a producer of its own: the one that runs has each row once, and keeps three.
        assert sum(n for (name, _, _), n in count.points.items() if name != "f") == W * (H + 2)
        assert sum(count.largest.values()) == W * 3
    certified(f)


def test_a_condition_over_memory_does_not_stop_a_slide() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    r = hl.RDom([(0, 6)], "r")
    r.where(s[r.x, 0] > 0)
    g[x] = s[x, 0] * 3
    f[x] = 0
    f[x] += g[x + r.x] * g[x + r.x + 2]
    g.store_root().compute_at(f, r.x)
    # g is computed whatever the condition says: at each x three points, and then one new for each other step of r.x.
    assert counted(f, window(f)).total(g) == W * (3 + 5)
    assert of_slides(f) == ['"x" slides along f.s1.r.x']
    certified(f)


def test_an_empty_loop_between() -> None:
    g, f = blur()
    g.store_root().compute_at(f, y)
    check(f, [(0, 3), (0, 1)], f.evaluate([(0, 3), (0, 1)]))
    check(f, [(0, 1), (0, 6)], f.evaluate([(0, 1), (0, 6)]))


def test_whole_dimensions_that_unroll_do_not_slide() -> None:
    """#4158: a length that is a constant stays one."""
    s, g, f = source(60, 9), hl.Func("g"), hl.Func("f")
    g[x] = s[x, 0]
    f[x] = g[x] + g[x - 1]
    f.split(x, xo, xi, 5)
    g.store_root().compute_at(f, xo).unroll(x)
    assert counted(f, [(0, 20)]).total(g) == 4 * (5 + 1)
    assert of_slides(f) == ['"x" does not slide: the unrolled loop "x" rests on its length']
    certified(f)


def shifted(factor: int) -> tuple[hl.Func, hl.Func, hl.Func]:
    s, a, b, c = source(60, 60), hl.Func("a"), hl.Func("b"), hl.Func("c")
    a[x, y] = s[x, y] * 2
    b[x, y] = a[x - 1, y]
    c[x, y] = b[x // 2 - 2, y] - b[x, y] * 3
    c.split(x, xo, xi, factor, hl.TailStrategy.ShiftInwards).reorder(xo, y, xi)
    b.store_at(c, xi).compute_at(c, xo)
    a.compute_at(c, xi)
    return a, b, c


def test_a_step_that_may_need_nothing_asks_for_nothing_more() -> None:
    a, b, c = shifted(1)
    count = counted(c, [(1, W), (0, 2)])
    assert count.total(a) == count.total(b) == 10 * 2
    assert {(px + 1, py) for px, py in count.of(a)} == set(count.of(b))
    certified(c)


def test_a_slide_that_is_not_proven_is_not_taken() -> None:
    """A shifted last step may stand still, and of two windows that grow apart each end is the lesser of two."""
    a, b, c = shifted(2)
    count = counted(c, [(1, W), (0, 2)])
    assert count.total(a) == 2 * 9 * 2 < count.total(b)
    assert "does not slide: it was not proven that, of b" in of_slides(c)[0]
    certified(c)


def test_a_slide_with_more_cases_than_are_looked_at_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    level, f = pyramid()
    monkeypatch.setattr(by_cases, "_STEPS", 3)
    assert "has more cases than are looked at" in of_slides(f)[0]
    count = counted(f, window(f))
    assert count.total(level) > len(count.of(level))
    certified(f)


@pytest.mark.parametrize("reads", [(lambda w: w[0, 0]), (lambda w: w[0, y] + w[0, y + 1]), (lambda w: w[x, y + 1])])
@pytest.mark.parametrize("level", [x, y])
def test_a_dimension_that_another_follows_does_not_slide(reads: Callable[[hl.Func], hl.Expr], level: hl.Var) -> None:
    """The x that stage 0 computes are those of the y that are: fewer where fewer are new, and named after them."""
    w, o = hl.Func("w"), hl.Func("o")
    w[x, y] = x + 10 * y
    w[0, y] = w[y, y] + 1
    o[x, y] = reads(w) + x
    w.store_root().compute_at(o, level)
    for name, found in run_program(o, [(-1, 4), (2, 4)]).items():
        np.testing.assert_array_equal(found, o.evaluate([(-1, 4), (2, 4)]), err_msg=name)
    certified(o)
    assert any('"x" of stage 1 follows from what it covers' in told for told in of_slides(o))


@pytest.mark.parametrize("level", ["root", "tile"])
def test_a_walk_that_turns_back_reads_no_more_than_it_needs(level: str) -> None:
    """Rows from both ends: where nothing is new the loop is empty, and its bounds are no region of the input."""
    image = hl.ImageParam(hl.Int(32), 2, "image")
    work, out = hl.Func("work"), hl.Func("out")
    work[x, y] = image[x, y] + 1
    out[x, y] = work[15 - x, y] + work[x, 11 - y]
    xi, yi = hl.Var("xi"), hl.Var("yi")
    if level == "root":
        work.store_root().compute_at(out, y)
    else:
        out.tile(x, y, xi, yi, 8, 3)
        work.store_at(out, y).compute_at(out, yi)
    image.set(np.arange(12 * 16, dtype=np.int32).reshape(12, 16))
    assert np.array_equal(out.realize([16, 12]), out.evaluate([16, 12]))


PLANES = 3


def planes(reads: Callable[[hl.Func], hl.Expr]) -> tuple[hl.Func, hl.Func]:
    """A producer of two dimensions, and planes of a third one, in each of which all of it is needed."""
    s, g, f, c = source(), hl.Func("g"), hl.Func("f"), hl.Var("c")
    g[x, y] = s[x, y] * 3
    g[x, y] += x
    f[x, y, c] = reads(g) + c
    g.store_root()
    return g, f


def in_planes(f: hl.Func) -> list[tuple[int, int]]:
    return [*window(f), (0, PLANES)]


def test_what_no_plane_moves_is_computed_for_the_first_alone() -> None:
    g, f = planes(lambda g: g[x, y])
    g.compute_at(f, y).vectorize(x, 4)  # a shifted split needs points of a row, so that there are no rows
    count = counted(f, in_planes(f))
    assert count.total(g) == (W + 1) * H
    assert count.largest["g"] == W * H
    assert of_slides(f) == ['"y" slides along f.s0.c']
    certified(f)


def test_rows_that_slide_are_computed_for_the_first_plane_alone() -> None:
    g, f = planes(lambda g: g[x, y] + g[x, y + 1])
    g.compute_at(f, y)
    count = counted(f, in_planes(f))
    assert count.once(g)
    assert count.total(g) == W * (H + 1)
    assert of_slides(f) == ['"x" slides along f.s0.c', '"y" slides along f.s0.y']
    certified(f)


@pytest.mark.parametrize("asked", ["fold", "async", "round"])
def test_planes_keep_nothing_where_memory_or_a_thread_or_rounding_is_in_the_way(asked: str) -> None:
    g, f = planes(lambda g: g[x, y])
    g.compute_at(f, y)
    if asked == "fold":
        g.fold_storage(y, 2)
    elif asked == "async":
        g.async_()
    else:
        g.split(y, yo, yi, 4, hl.TailStrategy.RoundUp)
    check(f, in_planes(f), f.evaluate(in_planes(f)))
    assert of_slides(f) == ['"y" does not slide along f.s0.y: windows do not overlap']
    assert counted(f, in_planes(f)).total(g) >= PLANES * W * H


def test_rows_that_begin_elsewhere_in_each_plane_are_computed_for_each() -> None:
    """The rows of a producer in the loops of another one: nothing of them moves, but where their loop begins does."""
    g, f = planes(lambda g: g[x, y])
    h = hl.Func("h")
    c = hl.Var("c")
    h[x, y, c] = f[x, y + c, 0]
    f.compute_at(h, c)
    g.compute_at(f, y)
    check(h, in_planes(h), h.evaluate(in_planes(h)))
    assert '"y" does not slide along f.s0.y: windows do not overlap' in of_slides(h)
