"""Atomic updates that are refused where iterations that may meet run at once: operators whose order shows, reads of
other points, values of several numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import halide_core as hl
from halide_core.schedule.access_directives import Atomic
from tests.support.blame import refused

x, y = hl.Var("x"), hl.Var("y")
r = hl.RDom([(0, 9), (0, 7)], "r")


def updated(start: object, update: Callable[[hl.Func], object]) -> hl.Func:
    """A Func over x with one update of a point."""
    f = hl.Func("f")
    f[x] = start
    f[x] = update(f)
    return f


def test_operator_whose_order_shows() -> None:
    f = updated(hl.i32(0), lambda f: f[x] * 2 + r.x * r.y)
    named = ("f.update().atomic()", "associative and commutative", "f.update().atomic(True)")
    refused(hl.ScheduleError, lambda: f.update().atomic().parallel(r.y), *named, at="f.update().atomic().parallel(r.y)")


def test_first_of_equal_values_counts() -> None:
    f = hl.Func("f")
    f[x] = (hl.i32(0), hl.i32(0))
    here = f[x][0] >= r.x * r.y
    f[x] = (hl.select(here, f[x][0], r.x * r.y), hl.select(here, f[x][1], r.x))
    stage = f.update().atomic()
    named = ("order of steps shows", "f.update().atomic()", "f.update().atomic(True)")
    for way in (stage.parallel, stage.vectorize):
        refused(hl.ScheduleError, lambda way=way: way(r.x), *named, at="way(r.x)")
    refused(hl.ScheduleError, lambda: stage.vectorize(r.y, 4), *named, at="stage.vectorize(r.y, 4)")


def test_components_that_trade_places() -> None:
    f, q = hl.Func("f"), hl.RDom([(0, 9)], "q")
    f[x, y] = (x, y)
    f[x, y] = (f[x, y][1] + q, f[x, y][0] * 2)
    stage = f.update().parallel(y).atomic()
    named = ("f.update().parallel(q.x): ", "the update is not known to be associative and commutative")
    refused(hl.ScheduleError, lambda: stage.parallel(q), *named, at="stage.parallel(q)")
    assert f.certify().ok


def test_another_order_of_loops_needs_the_law_too() -> None:
    f = updated(hl.i32(0), lambda f: f[x] * 2 + r.x * r.y)
    stage = f.update().atomic()
    refused(hl.ScheduleError, lambda: stage.reorder(r.y, r.x), "They must stay", at="stage.reorder(r.y, r.x)")


def test_order_in_which_threads_meet_needs_the_law_too() -> None:
    """Iterations of r.x meet in those of another r.y alone: while that one is outside."""
    f = hl.Func("f")
    f[x, y] = x + y
    f[r.x, r.y] = f[r.x + 1, r.y - 1] * 2
    stage = f.update().atomic().parallel(r.x)
    refused(hl.ScheduleError, lambda: stage.reorder(r.y, r.x), at="stage.reorder(r.y, r.x)")


def test_races_that_were_allowed_before_are_no_steps() -> None:
    f = updated(hl.i32(0), lambda f: f[x] * 2 + r.x * r.y)
    f.update().allow_race_conditions().parallel(r.y)
    refused(hl.ScheduleError, lambda: f.update().atomic(), "order of steps shows", at="f.update().atomic()")


def test_allowed_races_of_an_atomic_stage_need_the_law_all_the_same() -> None:
    f = updated(hl.i32(0), lambda f: f[x] * 2 + r.x * r.y)
    stage = f.update().atomic().allow_race_conditions()
    refused(hl.ScheduleError, lambda: stage.parallel(r.y), "order of steps shows", at="stage.parallel(r.y)")


def test_value_that_reads_nothing_is_no_step() -> None:
    f, q = hl.Func("f"), hl.RDom([(0, 9)], "q")
    f[x] = x
    f[q % 3] = q
    stage = f.update().atomic(True)
    refused(hl.ScheduleError, lambda: stage.parallel(q), "nowhere else", at="stage.parallel(q)")


def test_another_point_is_no_part_of_a_step() -> None:
    f = hl.Func("f")
    f[x] = x
    f[r.x] = f[r.x] + f[r.y]
    stage = f.update().atomic(True)
    refused(hl.ScheduleError, lambda: stage.parallel(r.x), "nowhere else", at="stage.parallel(r.x)")


def test_loop_before_it_is_told_of_it() -> None:
    f = updated(hl.i32(0), lambda f: f[x] + r.x * r.y)
    named = ('"r.y" is a reduction loop', "f.update().atomic()", "allow_race_conditions()")
    refused(hl.ScheduleError, lambda: f.update().parallel(r.y).atomic(), *named, at="f.update().parallel(r.y).atomic()")


def test_floats_under_strict_float() -> None:
    f = updated(hl.f32(0), lambda f: f[x] + hl.f32(r.x))
    f.update().atomic().parallel(r.y)
    strict = hl.get_host_target().with_feature(hl.TargetFeature.StrictFloat)
    named = ("strict_float", "no atomic")
    refused(hl.ScheduleError, lambda: f.compile_jit(strict), *named, at="f.update().atomic().parallel(r.y)")


def test_update_that_there_is_none_of() -> None:
    """Stages check that they are there; a list of directives that was made by hand need not be right."""
    f = updated(hl.i32(0), lambda f: f[x] + r.x * r.y)
    f.update().atomic()
    directives = f.function.directives
    directives[:] = [replace(d, stage=2) for d in directives if isinstance(d, Atomic)]
    refused(hl.ScheduleError, f.loop_nest, '"f" has 1 update definitions', at="f.update().atomic()")
