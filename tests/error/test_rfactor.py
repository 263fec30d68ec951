"""Factorings that are refused: no reduction, no associative operator, a changed order; and what is legal instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import halide_core as hl
from tests.support.blame import refused

x, y, u, v = (hl.Var(n) for n in "x y u v".split())
ro, ri = hl.RVar("ro"), hl.RVar("ri")
Make = Callable[[Any, Any], Any]


INT = hl.Int(32)


def reduction(step: Make = lambda f, r: f + r.x * r.y, type: hl.Type = INT) -> tuple[hl.Func, hl.RDom]:
    """``f[x] = 1``, and an update by a step over two loops."""
    r = hl.RDom([(0, 6), (0, 4)], "r")
    f = hl.Func("f")
    f[x] = hl.cast(type, 1)
    f[x] = step(f[x], r)
    return f, r


def test_pure_definition_has_nothing_to_factor() -> None:
    f, _ = reduction()
    refused(hl.ScheduleError, lambda: f.rfactor(x, u), "f.rfactor(x, u)", "no reduction loop", at="f.rfactor(x, u)")


def test_loop_that_is_not_there() -> None:
    f, _ = reduction()
    refused(hl.ScheduleError, lambda: f.update().rfactor(ro, u), '"ro"', "r.x, r.y", at="rfactor(ro, u)")
    refused(hl.ScheduleError, lambda: f.update().rfactor(x, u), '"x"', "r.x, r.y", at="rfactor(x, u)")


STEPS: dict[str, Make] = {
    "not associative": lambda f, r: f * 2 + r.x,
    "reversed difference": lambda f, r: r.x - f,
    "no neutral element": lambda f, r: hl.max(f, r.x) + 1,
    "quotient": lambda f, r: f / (r.x + 1),
    "overwritten": lambda f, r: r.x + r.y,
    "in another type": lambda f, r: hl.i32(hl.u8(f) + hl.u8(r.x)),
}


@pytest.mark.parametrize("name", STEPS)
def test_operator_without_the_law(name: str) -> None:
    f, r = reduction(STEPS[name])
    named = ("f.update().rfactor(r.y, u)", "no reduction by an associative operator", "argmin")
    refused(hl.ScheduleError, lambda: f.update().rfactor(r.y, u), *named, at="f.update().rfactor(r.y, u)")


def test_update_that_reads_its_func_elsewhere() -> None:
    r = hl.RDom([(0, 6), (0, 4)], "r")
    f = hl.Func("f")
    f[x] = x
    f[x] = f[x] + f[x]
    scan = hl.Func("scan")
    scan[x] = 0
    scan[r.x] = scan[r.x] + scan[r.x - 1] * r.y
    refused(hl.ScheduleError, lambda: scan.update().rfactor(r.y, u), '"scan"', at="scan.update().rfactor(r.y, u)")
    refused(hl.ScheduleError, lambda: f.update().rfactor(r.y, u), "no reduction loop", at="f.update().rfactor(r.y, u)")


def test_predicate_that_reads_its_func() -> None:
    r = hl.RDom([(0, 6), (0, 4)], "r")
    f = hl.Func("f")
    f[x] = 0
    r.where(f[r.x] < 5)
    f[r.x] += r.y
    refused(hl.ScheduleError, lambda: f.update().rfactor(r.y, u), "associative", at="f.update().rfactor(r.y, u)")


def test_changed_order_of_an_operator_that_does_not_commute() -> None:
    r = hl.RDom([(0, 6), (0, 4)], "r")
    f = hl.Func("f")
    f[()] = (0, 100)
    less = r.x * r.y % 7 < f[()][1]
    f[()] = (hl.select(less, r.x, f[()][0]), hl.select(less, r.x * r.y % 7, f[()][1]))
    named = ("not commutative", "outermost reduction loops (r.y)")
    refused(hl.ScheduleError, lambda: f.update().rfactor(r.x, u), *named, at="f.update().rfactor(r.x, u)")
    f.update().rfactor(r.y, u)


def test_operator_that_samples_take_for_associative() -> None:
    f, r = reduction(lambda f, r: f ^ hl.select(f == 777, 1, 0) ^ r.x)
    f.update().rfactor(r.y, u)
    named = ("f.update().rfactor(r.y, u)", "is false", "min, max")
    refused(hl.ScheduleError, lambda: f.realize([2]), *named, at="f.update().rfactor(r.y, u)")


@pytest.mark.parametrize(
    ("directive", "text"),
    [
        (lambda s, r: s.unroll(r.x), "f.update().unroll(r.x)"),
        (lambda s, r: s.reorder(x, r.x), "f.update().reorder(x, r.x)"),
        (lambda s, r: s.split(r.x, ro, ri, hl.Param(hl.Int(32), "n", 4)), "no constant"),
        (lambda s, r: s.specialize(hl.Param(hl.Bool(), "p")), "specialize(p)"),
    ],
    ids=["unroll", "reorder", "factor", "specialize"],
)
def test_directive_before_it_that_is_no_part_of_it(directive: Callable[[Any, Any], Any], text: str) -> None:
    f, r = reduction()
    directive(f.update(), r)
    refused(hl.ScheduleError, lambda: f.update().rfactor(r.y, u), text, at="f.update().rfactor(r.y, u)")


def test_specialization_is_no_stage() -> None:
    f, r = reduction()
    case = f.update().specialize(hl.Param(hl.Bool(), "p"))
    refused(hl.ScheduleError, lambda: case.rfactor(r.y, u), "before it is specialized", at="case.rfactor(r.y, u)")


def test_wrong_arguments() -> None:
    f, r = reduction()
    bad: Any = 3
    stage = f.update()
    refused(hl.ScheduleError, lambda: stage.rfactor(bad, u), "3", at="stage.rfactor(bad, u)")
    refused(hl.ScheduleError, lambda: stage.rfactor([(r.y, u, v)]), "pairs", at="stage.rfactor([(r.y, u, v)])")
    refused(hl.ScheduleError, lambda: stage.rfactor(r.y, x), '"x" is taken', at="stage.rfactor(r.y, x)")
    refused(hl.ScheduleError, lambda: stage.rfactor(r.y, r.x), "Var", at="stage.rfactor(r.y, r.x)")
    refused(hl.ScheduleError, lambda: stage.rfactor([(r.y, u), (r.y, v)]), "r.y", at="[(r.y, u), (r.y, v)]")


def test_floats_under_strict_float() -> None:
    f, r = reduction(lambda f, r: f + hl.f32(r.x), hl.Float(32))
    f.update().rfactor(r.y, u)
    target = hl.Target("host-strict_float")
    named = ("strict_float", "f.update().rfactor(r.y, u)", "legal choices")
    refused(hl.ScheduleError, lambda: f.realize([2], target=target), *named, at="f.update().rfactor(r.y, u)")
    f.realize([2])


def test_directive_about_a_loop_that_is_gone() -> None:
    f, r = reduction()
    f.update().rfactor(r.y, u)
    f.update().unroll(r.x)
    refused(hl.ScheduleError, lambda: f.realize([2]), '"r.x"', "r.y, x", at="f.update().unroll(r.x)")
