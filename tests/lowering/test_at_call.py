"""Directives that are refused at their call: by their stage's own loops, and only where a compile would, too."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections.abc import Callable

import pytest

import halide_core as hl

x, y, z, xo, xi = hl.vars("x y z xo xi")


def two_stages() -> tuple[hl.Func, hl.RDom]:
    """``f[x, y] = x + y; f[x, r] = f[x, r - 1] + 1``."""
    f, r = hl.Func("f"), hl.RDom([(1, 9)], "r")
    f[x, y] = x + y
    f[x, r] = f[x, r - 1] + 1
    return f, r


def refused(call: Callable[[], object], text: str) -> None:
    with pytest.raises(hl.ScheduleError) as caught:
        call()
    assert text in caught.value.message
    assert caught.value.location.file == __file__


def test_refused_at_the_call_and_not_recorded() -> None:
    f, r = two_stages()
    f.split(x, xo, xi, 4)
    recorded = list(f.function.directives)
    refused(lambda: f.reorder(x, y), 'has no loop "x". Its loops, innermost first: xi, xo, y.')
    refused(lambda: f.tile(xi, y, xi, y, z, z, 2, 2), '"z"')
    refused(lambda: f.rename(xi, y), '"y" already names a loop')
    refused(lambda: f.update().parallel(r), "two iterations may meet")
    refused(lambda: f.update().split(x, xo, xi, 4, hl.TailStrategy.ShiftInwards), "repeats iterations")
    refused(lambda: f.split(xi, z, x, 3, hl.TailStrategy.RoundUp), "which the factor does not divide")
    assert f.function.directives == recorded
    assert f.realize([8, 10])[3, 5] == f.evaluate([8, 10])[5, 3]


def test_loop_that_atomic_cannot_help_is_refused_at_the_call() -> None:
    f, r = two_stages()
    stage = f.update().atomic()
    refused(lambda: stage.parallel(r), "nowhere else")
    assert f.realize([8, 10])[3, 5] == f.evaluate([8, 10])[5, 3]


def test_specializations_have_the_loops_of_their_making() -> None:
    f, _ = two_stages()
    n = hl.Param(hl.Int(32), "n", 3)
    f.split(x, xo, xi, 4)
    case = f.specialize(n > 2)
    f.fuse(xi, xo, z)
    case.parallel(xo)
    refused(lambda: f.parallel(xo), "innermost first: z, y")
    refused(lambda: case.parallel(z), "innermost first: xi, xo, y")
    f.loop_nest()


def test_schedules_that_are_cleared_and_given_again() -> None:
    f, _ = two_stages()
    f.split(x, xo, xi, 4)
    schedule = hl.Schedule(f)
    schedule.clear()
    refused(lambda: f.parallel(xo), "innermost first: x, y")
    f.parallel(x)
    schedule.clear()
    schedule.apply()
    f.parallel(xo)
    refused(lambda: f.parallel(x), "innermost first: xi, xo, y")


def test_updates_that_come_later() -> None:
    f = hl.Func("f")
    f[x] = x
    f.split(x, xo, xi, 4)
    f[x] += 1
    f.update().vectorize(x, 4)
    refused(lambda: f.update().vectorize(xo), "innermost first: hl.Var")


def test_a_func_in_between_may_show_what_a_compile_then_takes() -> None:
    """``g`` is inlined, and with it one sees that iterations keep apart."""
    f, g, r = hl.Func("f"), hl.Func("g"), hl.RDom([(0, 6)], "r")
    g[x] = x + 1
    f[x] = x
    f[g[r]] += 1
    f.update().parallel(r)
    f.loop_nest()
    g.compute_root()
    refused(f.loop_nest, "two iterations may meet")


def test_partial_results_are_left_to_the_compile() -> None:
    f, r, u = hl.Func("f"), hl.RDom([(0, 8), (0, 4)], "r"), hl.Var("u")
    f[x] = 0
    f[x] += r.x * r.y
    f.update().rfactor(r.y, u)
    f.update().unroll(r.x)
    refused(f.loop_nest, '"r.x"')


def test_what_is_kept_goes_with_the_func() -> None:
    f, _ = two_stages()
    f.split(x, xo, xi, 4)
    again = pickle.loads(pickle.dumps(f))
    refused(lambda: again.parallel(x), "innermost first: xi, xo, y")
    twin = copy.deepcopy(f)
    refused(lambda: twin.parallel(x), "innermost first: xi, xo, y")
    gone = weakref.ref(f.function)
    del f
    gc.collect()
    assert gone() is None


def test_deep_definitions_are_checked() -> None:
    f = hl.Func("f")
    f[x, y] = hl.mux(x, [y * (i + 1) + i for i in range(500)])
    f.bound(x, 0, 500).unroll(x)
    refused(lambda: f.unroll(z), 'has no loop "z"')
