"""Producers are computed where a select lets somebody read them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core.lowering.driver import LoweringTrace, lower
from tests.support import counting

x, y, c, xo, xi = (hl.Var(n) for n in ("x", "y", "c", "xo", "xi"))


def counted(f: hl.Func, window: list[tuple[int, int]], after: str = "trim") -> counting.Count:
    """Counts what runs once loops are trimmed; the answer is compared with the definition, after every pass and run."""
    count = counting.counted(f, window, after=after)
    found = f.realize([extent for _, extent in window])
    np.testing.assert_array_equal(np.asarray(found), f.evaluate([extent for _, extent in window]))
    return count


def halves(at: int = 20) -> tuple[hl.Func, hl.Func, hl.Func]:
    f, g, o = hl.Func("f"), hl.Func("g"), hl.Func("o")
    f[x] = x + 1
    g[x] = x * 2
    o[x] = hl.select(x < at, f[x], g[x - at])
    return f, g, o


def test_each_part_of_a_concatenation_is_computed_once() -> None:
    f, g, o = halves()
    f.compute_root(), g.compute_root()
    count = counted(o, [(0, 50)])
    assert count.of(f) == {(i,): 1 for i in range(20)}
    assert count.of(g) == {(i,): 1 for i in range(30)}


def test_vectors_of_which_a_lane_is_read_are_computed() -> None:
    f, g, o = halves()
    f.compute_root().vectorize(x, 8)
    g.compute_root().split(x, xo, xi, 8).parallel(xo)
    count = counted(o, [(0, 50)])
    assert (count.total(f), count.total(g)) == (24, 40)


@pytest.mark.parametrize("tail", [hl.TailStrategy.ShiftInwards, hl.TailStrategy.GuardWithIf, hl.TailStrategy.RoundUp])
def test_any_tail_is_trimmed(tail: hl.TailStrategy) -> None:
    f, g, o = halves(13)
    f.compute_root().split(x, xo, xi, 8, tail)
    g.compute_root().split(x, xo, xi, 8, tail).vectorize(xi)
    count = counted(o, [(0, 35)])
    assert count.total(f) <= 16 and count.total(g) <= 32


def test_tiles_that_nobody_reads_are_left_out() -> None:
    f, g, o = halves()
    o.split(x, xo, xi, 8)
    f.compute_at(o, xo)
    g.compute_at(o, xo).vectorize(x, 4)
    count = counted(o, [(0, 56)])
    assert (count.total(f), count.total(g)) == (24, 40)


def test_what_a_trimmed_func_reads_is_trimmed_too() -> None:
    p, f, o = hl.Func("p"), hl.Func("f"), hl.Func("o")
    p[x] = x * 7
    f[x] = p[x - 1] + p[x + 1]
    f[x] += p[x]
    o[x] = hl.select((x >= 20) & (x < 30), f[x], 3)
    p.compute_root(), f.compute_root()
    count = counted(o, [(0, 64)])
    assert (count.total(f), count.total(f, 1), count.total(p)) == (10, 10, 12)


def test_boundary_of_a_func_is_computed_inside_alone() -> None:
    f, o = hl.Func("f"), hl.Func("o")
    f[x, y] = x + 3 * y
    o[x, y] = hl.select((x < 2) | (x >= 8) | (y < 0) | (y >= 5), -1, f[x, y])
    f.compute_root()
    assert counted(o, [(0, 12), (0, 9)]).total(f) == 30


def test_branches_by_quotients() -> None:
    f, g, o = hl.Func("f"), hl.Func("g"), hl.Func("o")
    f[x] = x + 1
    g[x] = x * 2
    o[x] = hl.mux(x // 10, [f[x], g[x], 5])
    f.compute_root(), g.compute_root()
    count = counted(o, [(0, 40)])
    assert (count.of(f).keys(), count.of(g).keys()) == (
        {(i,) for i in range(10)},
        {(i,) for i in range(10, 20)},
    )


def test_condition_by_params() -> None:
    p = hl.Param(hl.Int(32), "p", 0)
    f, o = hl.Func("f"), hl.Func("o")
    f[x] = x + 1
    o[x] = hl.select(x < p, f[x], 5)
    f.compute_root()
    for value, computed in ((-(2**31), 0), (0, 0), (7, 7), (2**31 - 1, 16)):
        p.set(value)
        assert counted(o, [(0, 16)]).total(f) == computed


def test_component_of_a_tuple_counts_for_all() -> None:
    f, o = hl.Func("f"), hl.Func("o")
    f[x] = (x + 1, x * 2)
    o[x] = hl.select(x < 5, f[x][0], 1) + hl.select(x < 9, f[x][1], 2)
    f.compute_root()
    assert counted(o, [(0, 16)]).total(f) == 9


def _read_elsewhere(f: hl.Func, o: hl.Func) -> None:
    o[x] = hl.select(x < 5, f[x], 0) + f[x]


def _by_what_it_holds(f: hl.Func, o: hl.Func) -> None:
    o[x] = hl.select((x < 5) | (f[x] > 3), f[x], 0)


def _of_unknown_steps(f: hl.Func, o: hl.Func) -> None:
    o[x] = hl.select(x % 2 == 0, f[x], 0)


@pytest.mark.parametrize("define", [_read_elsewhere, _by_what_it_holds, _of_unknown_steps])
def test_what_is_read_everywhere_is_whole(define: Callable[[hl.Func, hl.Func], None]) -> None:
    f, o = hl.Func("f"), hl.Func("o")
    f[x] = x + 1
    define(f, o)
    f.compute_root()
    assert counted(o, [(0, 16)]).total(f) == 16


def test_what_is_printed_is_whole() -> None:
    """A line shows what it is given, whatever the select around it gives."""
    f, o = hl.Func("f"), hl.Func("o")
    f[x] = x + 1
    o[x] = hl.select(x < 5, hl.print(f[x]), 0)
    f.compute_root()
    assert counting.counted(o, [(0, 16)], after="trim").total(f) == 16


def test_what_a_printed_select_does_not_give_is_trimmed() -> None:
    f, o = hl.Func("f"), hl.Func("o")
    f[x] = x + 1
    o[x] = hl.print(hl.select(x < 5, f[x], 0))
    f.compute_root()
    assert counting.counted(o, [(0, 16)], after="trim").total(f) == 5


def _by_its_own_places(f: hl.Func, r: hl.RDom) -> None:
    table = hl.Func("table")
    table[x] = x * 3 % 10
    table.compute_root()
    f[r.x] = table[hl.clamp(f[r.x], 0, 9)]


def _by_its_own_conditions(f: hl.Func, r: hl.RDom) -> None:
    r.where(f[r.x] > 3)
    f[r.x] += 1


@pytest.mark.parametrize("update", [_by_its_own_places, _by_its_own_conditions])
def test_what_steers_itself_is_whole(update: Callable[[hl.Func, hl.RDom], None]) -> None:
    """The loop of the update is of constant length, and so is whole."""
    f, o = hl.Func("f"), hl.Func("o")
    f[x] = hl.clamp(x, 0, 9)
    update(f, hl.RDom([(0, 9)]))
    o[x] = hl.select(x < 5, f[x], 7)
    f.compute_root()
    assert counted(o, [(0, 12)]).total(f) == 12


def test_what_vectors_beyond_the_end_read_at_is_computed() -> None:
    """The last vector of the update reads the table at what the first stage makes for lanes that nobody reads."""
    table, f, o = hl.ImageParam(hl.Int(32), 1, "table"), hl.Func("f"), hl.Func("o")
    table.set(np.array([2, 0, 1], np.int32))
    f[x] = x % 3
    f[x] = hl.clamp(table[f[x]], 0, 2)
    o[x] = hl.select(x < 20, f[x], 7)
    f.compute_root().update(0).vectorize(x, 8)
    assert counted(o, [(0, 50)]).total(f) == 50


def test_thread_of_its_own_computes_all() -> None:
    f, g, o = halves()
    f.compute_root().async_()
    g.compute_root()
    assert counted(o, [(0, 50)]).total(f) == 50


def test_input_is_asked_for_what_both_cases_read() -> None:
    """Regions are those of bounds inference: lanes load both."""
    im, f, o = hl.ImageParam(hl.Int(32), 1, "im"), hl.Func("f"), hl.Func("o")
    f[x] = im[x] + 1
    o[x] = hl.select(x < 5, f[x], 0)
    f.compute_root()
    o.infer_input_bounds([16])
    assert im.get().width() == 16


def test_select_in_no_loop_of_another_costs_nothing() -> None:
    f, o = hl.Func("f"), hl.Func("o")
    f[x, y] = x + 3 * y
    o[x, y, c] = hl.select(c == 0, f[x, y], 7)
    f.compute_root()
    trace = LoweringTrace()
    lower(o._request(), trace=trace)
    passes = dict(trace.passes)
    assert passes["trim"] is passes["layout_checks"]
