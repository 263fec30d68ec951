"""Storage folding beside what ``test_counts`` lists, the first iteration of a slide, and what a chain asks of those
before it."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.ir.printer import format_stmt
from halide_core.ir.visitor import stmt_exprs, subexpressions, walk
from tests.support.checking import Array
from tests.support.counting import counted
from tests.support.sliding import H, W, blur, certified, chain, passes, source, window, x, xi, xo, y, yi, yo

# ---------------------------------------------------------------------------------------------------------
# Storage folding.


def test_a_vector_along_the_window_is_not_folded() -> None:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x - 1, y] + g[x + 2, y]
    f.split(x, xo, xi, 4, hl.TailStrategy.GuardWithIf).vectorize(xi)
    g.store_at(f, y).compute_at(f, xo)
    count = counted(f, window(f))
    assert count.largest["g"] >= W + 3
    certified(f)


def test_vector_of_a_shifted_tail_is_not_folded() -> None:
    g, f = blur()
    f.split(y, yo, yi, 4).vectorize(yi)
    g.store_root().compute_at(f, yo)
    count = counted(f, window(f))
    assert count.largest["g"] == W * (H + 2)
    certified(f)


@pytest.mark.parametrize(("taps", "slots"), [(2, 2), (3, 4), (5, 8)])
def test_a_window_along_dense_points_folds_by_a_power_of_two(taps: int, slots: int) -> None:
    """Each point asks for its slot: a remainder by another number takes long."""
    s, g, f = source(40, 90), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = sum((g[x + k, y] for k in range(1, taps)), g[x, y])
    g.store_at(f, y).compute_at(f, x)
    count = counted(f, window(f))
    assert (count.largest["g"], count.total(g)) == (slots, (W + taps - 1) * H)
    certified(f)


def test_a_run_time_window_folds_by_what_it_is_at_most() -> None:
    s, g, f, p = source(40, 90), hl.Func("g"), hl.Func("f"), hl.Param(hl.Int(32), "p", 2)
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x, y] + g[x, y + hl.clamp(p, 0, 5)]
    g.store_root().compute_at(f, y)
    for value, rows in ((2, H + 2), (5, H + 5), (9, H + 5)):
        p.set(value)
        count = counted(f, window(f))
        # Rows y to y + 5 at most, whatever p is; each row once.
        assert (count.largest["g"], count.total(g)) == (W * 6, W * rows)
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


def test_a_fold_whose_claims_have_more_cases_than_are_looked_at_is_not_made() -> None:
    n = hl.Param(hl.Int(32), "n", 31)
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x + y
    g[3, y] = y
    f[x, y] = g[hl.min(x, 6), hl.min(x, 6) - 3] + g[x - y, x - y - 2]
    xoo, yoo, out, more, t = (hl.Var(name) for name in ("xoo", "yoo", "out", "more", "t"))
    f.tile(y, x, yo, xo, yi, xi, 8, 3)
    case = f.specialize(n == 31).tile(yo, xo, yoo, xoo, hl.Var("yoi"), hl.Var("xoi"), 2, 4)
    case.split(xoo, out, hl.Var("in"), 5).split(out, more, t, 2, hl.TailStrategy.GuardWithIf)
    f.specialize_fail("no case is taken")
    g.compute_at(f, more).fold_storage(y, 320)
    with pytest.warns(hl.IgnoredDirectiveWarning, match=r"fold_storage\(y, 320\).*has more cases than are looked at"):
        found = f.realize([49, 16])
    a, b = np.meshgrid(np.arange(49), np.arange(16))

    def g_at(u: Array, v: Array) -> Array:
        return np.where(u == 3, v, u + v)

    assert np.array_equal(found, g_at(np.minimum(a, 6), np.minimum(a, 6) - 3) + g_at(a - b, a - b - 2))
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
    with pytest.warns(hl.HalideWarning, match="its memory is the caller's"):
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


def asks(stmt: ir.Stmt) -> bool:
    """True where something chooses at run time."""
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
    found = passes(f)
    assert format_stmt(found["warm_up"]) == format_stmt(found["simplify"])
    loops = [s for s in walk(found["warm_up"]) if isinstance(s, ir.For)]
    assert [str(s.loop) for s in loops if asks(s)] == ["f.s0.y"]  # none of those within
    (row,) = (s for s in loops if asks(s))
    assert sum(isinstance(s, ir.Let) and asks(s) for s in walk(row)) == 1


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


def test_a_fold_is_as_long_as_what_is_needed_at_one_time_where_windows_lie_apart() -> None:
    w, m, first, second = (hl.Func(name) for name in ("w", "m", "first", "second"))
    w[x, y] = x + 10 * y
    m[x, y] = w[x, y] + w[x, y + 1]
    first[x, y] = m[x, y]
    second[x, y] = w[x, y] + w[x, y + 1]
    w.compute_at(first, y).fold_storage(y, 2)
    m.compute_at(first, y)
    first.parallel(y)
    second.parallel(y)
    second.compute_with(first, x)
    outputs = [hl.Buffer(hl.Int(32), [3, 4]) for _ in range(2)]
    outputs[0].set_min([0, 9])
    hl.Pipeline([first, second]).realize(outputs)
    for output, low in zip(outputs, (9, 0), strict=True):
        ys, xs = np.mgrid[low : low + 4, 0:3]
        assert np.array_equal(output, 2 * xs + 20 * ys + 10)
