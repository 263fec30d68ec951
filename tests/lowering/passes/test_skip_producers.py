"""Producers are skipped where a condition that is known beforehand says that nobody reads them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.algorithm.model import Algorithm, Function
from halide_core.ir.types import INT32
from halide_core.ir.visitor import walk
from halide_core.lowering.driver import LoweringTrace, lower
from halide_core.lowering.passes.skip_producers import skip_producers
from tests.support import counting

x, y = hl.Var("x"), hl.Var("y")


def counted(f: hl.Func, window: list[tuple[int, int]]) -> counting.Count:
    """Counts what runs once producers may be skipped."""
    return counting.counted(f, window, after="skip")


Built = tuple[hl.Func, list[hl.Func]]


def _one(p: hl.Param) -> Built:
    f, o = hl.Func("f"), hl.Func("o")
    f[x, y] = x + 3 * y
    o[x, y] = hl.select(p != 0, f[x, y], 7)
    f.compute_root()
    return o, [f]


def _chain(p: hl.Param) -> Built:
    _, (f,) = _one(p)
    g, last = hl.Func("g"), hl.Func("last")
    g[x, y] = f[x, y] + f[x + 1, y]
    last[x, y] = hl.select(p != 0, g[x, y], 7)
    g.compute_root()
    return last, [f, g]


def _sliding(p: hl.Param) -> Built:
    f, g, o = hl.Func("f"), hl.Func("g"), hl.Func("o")
    f[x, y] = x + 3 * y
    g[x, y] = f[x, y] + f[x, y - 1]
    o[x, y] = hl.select(p != 0, g[x, y], 7)
    f.store_root().compute_at(g, y)
    g.compute_root()
    return o, [f, g]


def _updated(p: hl.Param) -> Built:
    f, o = hl.Func("f"), hl.Func("o")
    f[x, y] = x + 3 * y
    f[x, y] += 2
    o[x, y] = hl.select(p != 0, f[x, y], 7)
    f.compute_root()
    return o, [f]


def _specialized(p: hl.Param) -> Built:
    o, (f,) = _one(p)
    o.specialize(p != 0)
    return o, [f]


def _in_lanes(p: hl.Param) -> Built:
    o, (f,) = _one(p)
    o.vectorize(x, 4, hl.TailStrategy.GuardWithIf)
    f.vectorize(x, 4)
    return o, [f]


@pytest.mark.parametrize("build", [_one, _chain, _sliding, _updated, _specialized, _in_lanes])
def test_func_is_computed_only_where_its_condition_holds(build: Callable[[hl.Param], Built]) -> None:
    p = hl.Param(hl.Int(32), "p", 0)
    o, producers = build(p)
    for value in (0, 1):
        p.set(value)
        count = counted(o, [(0, 5), (0, 4)])
        assert all((count.total(f) > 0) == bool(value) for f in producers)
        np.testing.assert_array_equal(np.asarray(o.realize([5, 4])), o.evaluate([5, 4]))


def test_two_conditions_are_joined() -> None:
    p, q = hl.Param(hl.Int(32), "p", 0), hl.Param(hl.Int(32), "q", 0)
    f, o = hl.Func("f"), hl.Func("o")
    f[x, y] = x + 3 * y
    o[x, y] = hl.select(p > 0, f[x, y], 1) + hl.select(q > 0, f[x + 1, y], 2)
    f.compute_root()
    for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
        p.set(a), q.set(b)
        assert (counted(o, [(0, 5), (0, 4)]).total(f) > 0) == bool(a or b)


def test_func_that_both_cases_read_stands_under_no_condition() -> None:
    p = hl.Param(hl.Int(32), "p", 0)
    f, o = hl.Func("f"), hl.Func("o")
    f[x, y] = x + 3 * y
    o[x, y] = hl.select(p > 4, f[x, y], f[x + 1, y])
    f.compute_root()
    request = o._request()
    trace = LoweringTrace()
    lower(request, trace=trace)
    passes = dict(trace.passes)
    assert passes["skip"] is passes["layout_checks"], "nothing is to be asked"
    assert counted(o, [(0, 5), (0, 4)]).total(f) > 0


def test_output_in_the_loops_of_a_skipped_func_is_computed() -> None:
    p = hl.Param(hl.Int(32), "p", 0)
    f, g, h = hl.Func("f"), hl.Func("g"), hl.Func("h")
    f[x, y] = x
    g[x, y] = x + y
    h[x, y] = hl.select(p > 0, f[x, y], 3)
    f.compute_root()
    g.compute_with(f, y)
    for value in (0, 1):
        p.set(value)
        a, b = hl.Pipeline([g, h]).realize([4, 3])
        np.testing.assert_array_equal(np.asarray(a), g.evaluate([4, 3]))
        np.testing.assert_array_equal(np.asarray(b), h.evaluate([4, 3]))


def test_condition_of_an_outer_loop_skips_in_it() -> None:
    f, o = hl.Func("f"), hl.Func("o")
    f[x, y] = x + 3 * y
    o[x, y] = hl.select(y % 2 == 0, f[x, y], 7)
    f.compute_at(o, y)
    assert counted(o, [(0, 5), (0, 4)]).total(f) == 10


def test_what_later_iterations_read_is_computed() -> None:
    """A row that is kept for the next iteration can't be skipped by this one's condition."""
    f, o = hl.Func("f"), hl.Func("o")
    f[x, y] = x + 3 * y
    o[x, y] = hl.select(y % 2 == 0, f[x, y] + f[x, y - 1], 7)
    f.store_root().compute_at(o, y)
    counted(o, [(0, 5), (0, 6)])


def test_indices_are_always_computed() -> None:
    """Lanes read both cases of a select, so a place that is read from must be right in both."""
    p = hl.Param(hl.Int(32), "p", 0)
    table, at, o = hl.Func("table"), hl.Func("at"), hl.Func("o")
    table[x] = x * x
    at[x] = hl.clamp(x * 2, 0, 9)
    o[x] = hl.select(p > 0, table[hl.clamp(at[x], 0, 9)], 7)
    table.compute_root(), at.compute_root()
    o.vectorize(x, 4)
    count = counted(o, [(0, 8)])
    assert count.total(at) == 8 and count.total(table) == 0


def test_choices_in_an_index_are_always_computed() -> None:
    """Also where the same condition says that nobody looks there."""
    p = hl.Param(hl.Int(32), "p", 0)
    table, o = hl.Func("table"), hl.Func("o")
    table[x] = hl.clamp(x * 2, 0, 9)
    o[x] = hl.select(p > 0, table[hl.clamp(hl.select(p > 0, table[x], 3), 0, 9)], 7)
    table.compute_root()
    count = counted(o, [(0, 8)])
    assert count.total(table) == 8


def test_what_is_printed_is_always_computed() -> None:
    p, f, o = hl.Param(hl.Int(32), "p", 0), hl.Func("f"), hl.Func("o")
    f[x] = x + 1
    o[x] = hl.select(p != 0, hl.print_when(x > 2, f[x], "at", x), 0)
    f.compute_root()
    assert counted(o, [(0, 16)]).total(f) == 16


def test_lanes_of_a_condition_are_not_taken_for_one() -> None:
    f, o = hl.Func("f"), hl.Func("o")
    f[x, y] = x + 3 * y
    o[x, y] = hl.select(x > 2, f[x, y], 7)
    o.vectorize(x, 4, hl.TailStrategy.GuardWithIf)
    f.compute_at(o, x)
    counted(o, [(0, 6), (0, 3)])


@pytest.mark.parametrize("lanes", [False, True])
def test_tiles_that_an_input_marks_are_computed(lanes: bool) -> None:
    marks, f, o = hl.ImageParam(hl.Bool(), 2, "marks"), hl.Func("f"), hl.Func("o")
    xi, yi = hl.Var("xi"), hl.Var("yi")
    f[xi, yi, x, y] = 4 * x + xi + 100 * (4 * y + yi)
    o[xi, yi, x, y] = hl.select(marks[x, y], f[xi, yi, x, y], 7)
    f.compute_at(o, x)
    if lanes:
        o.vectorize(xi, 4), f.vectorize(xi, 4)
    marked = np.zeros((3, 5), np.bool_)
    marked[1, 3] = marked[2, 0] = True
    marks.set(hl.Buffer(marked))
    window = [(0, 4), (0, 4), (0, 5), (0, 3)]
    assert counted(o, window).total(f) == 2 * 16
    np.testing.assert_array_equal(np.asarray(o.realize([4, 4, 5, 3])), o.evaluate([4, 4, 5, 3]))


@pytest.mark.parametrize("level", ["x", "y"])
def test_what_is_computed_inside_and_kept_is_computed_in_all_iterations(level: str) -> None:
    p, k, g, o = hl.Param(hl.Int(32), "p", 1), hl.Func("k"), hl.Func("g"), hl.Func("o")
    k[x, y] = x + 100 * y
    g[x, y] = k[x, y] + k[x, y + 1]
    o[x, y] = hl.select(p > 0, hl.select(y % 3 != 1, g[x, y], 7), 7)
    g.compute_at(o, y)
    k.store_root().compute_at(g, hl.Var(level))
    np.testing.assert_array_equal(np.asarray(o.realize([4, 9])), o.evaluate([4, 9]))
    assert counted(o, [(0, 4), (0, 9)]).total(g) == 4 * 9
    p.set(0)  # of all rows
    assert counted(o, [(0, 4), (0, 9)]).total(g) == 0


def test_conditions_that_read_what_is_computed_skip_nothing() -> None:
    c, f, o = hl.Func("c"), hl.Func("f"), hl.Func("o")
    c[()] = hl.cast(hl.Int(32), 0)
    f[x] = x * x
    o[x] = hl.select(c[()] > 0, f[x], 7)
    c.compute_root(), f.compute_root()
    assert counted(o, [(0, 6)]).total(f) == 6


def test_threads_of_their_own_count_as_readers() -> None:
    """A read in a thread always counts, whatever the condition of those that read it elsewhere."""
    f, g, o = (Function(name, ("x",), (INT32,)) for name in "fgo")
    p = ir.Variable(INT32, "p")
    read, box = ir.Access(INT32, f, (ir.ZERO,), 0, ir.LAST_STAGE), (ir.Interval(ir.ZERO, ir.ONE),)

    def put(func: Function, value: ir.ExprNode) -> ir.Stmt:
        return ir.Label(func, None, ir.Provide(func, 0, (ir.ZERO,), (value,)))

    zero = ir.const(0, INT32)
    chosen = put(o, ir.Select(INT32, ir.less(zero, p), read, zero))
    memory, made = (ir.Let(p, zero, None), ir.Allocate(f, box), ir.Allocate(g, box)), put(f, zero)
    alone = skip_producers(ir.Block((*memory, made, chosen)), Algorithm((o,), (f, g, o), (), (), ()))
    beside = ir.Block((*memory, made, ir.Fork(put(g, read), ir.NOTHING, ()), chosen))
    assert any(isinstance(s, ir.If) for s in walk(alone))
    assert skip_producers(beside, Algorithm((o,), (f, g, o), (), (), ())) is beside


def test_threads_of_their_own_are_skipped_as_a_whole() -> None:
    p = hl.Param(hl.Int(32), "p", 0)
    f, g, o = hl.Func("f"), hl.Func("g"), hl.Func("o")
    f[x, y] = x + 3 * y
    g[x, y] = hl.select(p > 0, f[x, y] + f[x, y + 1], 5)
    o[x, y] = g[x, y] + g[x, y + 1]
    f.store_root().compute_at(g, y).async_()
    g.compute_root()
    for value in (0, 1):
        p.set(value)
        np.testing.assert_array_equal(np.asarray(o.realize([5, 4])), o.evaluate([5, 4]))
