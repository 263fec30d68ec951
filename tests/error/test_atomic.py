"""Atomic updates that are refused: operators whose order shows, reads of other points, values of several numbers."""

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
    refused(hl.ScheduleError, lambda: f.update().atomic(), "order of steps shows", at="f.update().atomic()")


def test_another_point_is_no_part_of_a_step() -> None:
    f = hl.Func("f")
    f[x] = x
    f[r.x] = f[r.x] + f[r.y]
    refused(hl.ScheduleError, lambda: f.update().atomic(True), "nowhere else", at="f.update().atomic(True)")


def test_pure_definition_has_no_steps() -> None:
    f = hl.Func("f")
    f[x] = x
    f.atomic()  # it may be inlined, where this is told as being without effect
    refused(hl.ScheduleError, f.loop_nest, "f.atomic()", "where it writes it", at="f.atomic()")


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
