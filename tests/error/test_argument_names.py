"""Arguments that a call can't have together, lacks, or doesn't know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import halide_core as hl
from tests.support.blame import refused
from tests.support.raising import raised

x, y, xo, yo, xi, yi = (hl.Var(n) for n in ("x", "y", "xo", "yo", "xi", "yi"))
f, g, r = hl.Func("f"), hl.Func("g"), hl.RDom([(0, 3)], "r")
f[x, y] = x + y
g[x, y] = f[x, y]
g[x, y] += r.x
image, level = hl.ImageParam(hl.UInt(8), 2, "image"), hl.LoopLevel(g, y)
anything: Any = f
of_g: Any = g
update: Any = g.update()
a: Any = hl
Case = tuple[Callable[[], Any], type[hl.HalideError], tuple[str, ...]]
Schedule, Definition = hl.ScheduleError, hl.DefinitionError

CASES: list[Case] = [
    (lambda: anything.in_(g, fs=[g]), Schedule, ("in_()", "f or fs", "one argument")),
    (lambda: anything.clone_in(f=g, fs=[g]), Schedule, ("clone_in()", "f or fs")),
    (lambda: anything.clone_in(None), Schedule, ("clone_in()", "a Func that reads this one")),
    (lambda: anything.compute_at(None), Schedule, ("compute_at()", "a Func and one of its Vars or RVars", "LoopLevel")),
    (lambda: anything.compute_at(g), Schedule, ("compute_at()", "Func 'g'", "None")),
    (lambda: anything.compute_at(rvar=y), Schedule, ("compute_at()", "None and Var('y')")),
    (lambda: anything.compute_at(g, y, rvar=y), Schedule, ("compute_at()", "var or rvar")),
    (lambda: anything.compute_at(g, loop_level=level), Schedule, ("compute_at()", "f or loop_level")),
    (lambda: anything.store_at(level, y), Schedule, ("store_at()", "or a hl.LoopLevel, which says both")),
    (lambda: anything.hoist_storage(g.update(), y), Schedule, ("hoist_storage()", "a Func", "g.update(0)")),
    (lambda: of_g.reorder(x, vars=[x, y]), Schedule, ("reorder()", "one by one or as vars")),
    (lambda: of_g.reorder_storage(x, dims=[x, y]), Schedule, ("reorder_storage()", "one by one or as dims")),
    (lambda: of_g.tile(x, y, xi, yi, 8), Schedule, ("tile() takes (x, y, xo, yo, xi, yi, xfactor, yfactor)",)),
    (lambda: of_g.tile(x, y, xi=xi, yi=yi, xfactor=8), Schedule, ("tile()", "(x, y, xi, yi, xfactor, yfactor)")),
    (lambda: of_g.tile(x, y, xi, yi, 8, 4, tails=3), Schedule, ("tile()", "and a tail")),
    (lambda: of_g.tile([x, y], inner=[xi, yi], factors=[8, 4]), Schedule, ("(previous, inners, factors)",)),
    (lambda: of_g.tile([x, y], [xi], [8, 4]), Schedule, ("tile()", "one length")),
    (lambda: of_g.tile(x, y, xo, yo, xi, xi, 8, 4), Schedule, ('tile() names the loop "xi" twice',)),
    (lambda: of_g.prefetch(f, x, y, image=image), Schedule, ("prefetch()", "func or image")),
    (lambda: of_g.prefetch(f, x, y, **{"from": y}), Schedule, ("prefetch()", "from_ or from")),
    (lambda: of_g.prefetch(f, x), Schedule, ("prefetch()", "Vars and RVars", "None")),
    (lambda: update.rfactor(r.x, x, preserved=[(r.x, x)]), Schedule, ("rfactor()", "r or preserved")),
    (lambda: update.rfactor(None), Schedule, ("rfactor()", "a reduction loop and a Var")),
    (lambda: a.Func("h", required_type=hl.Int(8)), Definition, ("Func()", "required_type")),
    (lambda: a.Func(required_type=hl.Int(8)), Definition, ("Func(type, dimensions, name)", "dimensions")),
    (lambda: a.Func("e").define_extern("c", [], hl.Int(8), 1, type=hl.Int(8)), Definition, ("types or type",)),
    (lambda: a.Func("e").define_extern("c", [], type=hl.Int(8)), Definition, ("define_extern()", "dimensions")),
    (lambda: a.RDom([(0, 3)], buffer=hl.Buffer(hl.Int(8), [3])), Definition, ("RDom()", "region or buffer")),
    (lambda: a.RDom(image_param=f), Definition, ("RDom", "ImageParam")),
    (lambda: a.RVar(r, name="rx"), Definition, ("RVar()", "of or name")),
    (lambda: a.sum(rdom=r), Definition, ("sum()", "(rdom, expr)")),
    (lambda: a.argmin(r.x, expr=r.x), Definition, ("argmin()", "(rdom, expr)")),
    (lambda: a.maximum(r.x, rdom=r), Definition, ("maximum()", "(rdom, expr)")),
    (lambda: a.minimum(name="m"), Definition, ("minimum()", "(expr)")),
]


@pytest.mark.parametrize(("call", "error", "named"), CASES)
def test_arguments_that_do_not_go_together(
    call: Callable[[], Any], error: type[hl.HalideError], named: tuple[str, ...]
) -> None:
    before = len(hl.Schedule(g))
    raised(error, call, *named)
    assert len(hl.Schedule(g)) == before


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: anything.compute_at(level, leval=y), "compute_at() got an unexpected keyword argument 'leval'"),
        (lambda: of_g.prefetch(f, x, fro=y), "prefetch() got an unexpected keyword argument 'fro'"),
        (lambda: of_g.split(x, xo, inner=xi), "split() missing 1 required positional argument: 'factor'"),
        (lambda: a.sum(expression=r.x), "sum() got an unexpected keyword argument 'expression'"),
    ],
)
def test_names_that_no_argument_has(call: Callable[[], Any], named: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    assert named in str(caught.value)


# Numbers that a directive takes.


@pytest.mark.parametrize("extent", [0, -3, hl.Expr(2) - 2])
def test_extents_that_are_not_positive(extent: Any) -> None:
    for call in (lambda: f.bound(x, 0, extent), lambda: f.bound_extent(x, extent), lambda: f.fold_storage(x, extent)):
        refused(Schedule, call, "The extent of ", "must be positive, not ", at="for call in (lambda: f.bound(")


def test_constants_that_are_none() -> None:
    refused(Schedule, lambda: f.align_storage(x, hl.Expr(0)), "align_storage()", "a positive integer", at="align_st")
    size: Any = image.width()
    refused(Schedule, lambda: f.align_storage(x, size), "align_storage()", "when compiling", at="f.align_storage(x")


def test_dimension_that_is_none_is_of_a_directive() -> None:
    refused(Schedule, lambda: f.bound(xo, 0, 8), 'bound() of "xo"', 'no dimension "xo"', at="f.bound(xo")
    refused(Schedule, lambda: f.align_storage(xo, 8), 'align_storage() of "xo"', "it has: x, y", at="f.align_storage")
