"""Loops that are divided where the user says so: whatever it says, values stay."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core.ir import For, LoopKind
from halide_core.ir.visitor import walk
from tests.support.dumps import after

x, y, xo, xi, yo, yi, t = (hl.Var(n) for n in ("x", "y", "xo", "xi", "yo", "yi", "t"))
GUARD = hl.TailStrategy.GuardWithIf
NEVER, ALWAYS = hl.Partition.Never, hl.Partition.Always


def edge() -> hl.Func:
    """A stencil in both dimensions that repeats its input's edge."""
    data = np.random.default_rng(3).integers(0, 255, (13, 29)).astype(np.uint8)
    source, f = hl.BoundaryConditions.repeat_edge(hl.Buffer(data)), hl.Func("f")
    f[x, y] = hl.u16(source[x - 1, y]) + source[x + 2, y] + source[x, y - 1] * 3
    return f


def loops(f: hl.Func, var: str) -> list[For]:
    """The loops of a Func's own over a dimension, or what a split made of it."""
    found = [s for s in walk(after(f, "partition")) if isinstance(s, For)]
    return [s for s in found if (s.loop.func, s.loop.var) == (f.name(), var)]


SCHEDULES: dict[str, tuple[Callable[[hl.Func], hl.Func], dict[str, int]]] = {
    "auto": (lambda f: f, {"y": 1, "x": 3}),
    "never x": (lambda f: f.never_partition(x), {"y": 1, "x": 1}),
    "never, a list": (lambda f: f.never_partition([x, y]), {"y": 1, "x": 1}),
    "never all": (lambda f: f.never_partition_all(), {"y": 1, "x": 1}),
    "always y": (lambda f: f.always_partition(y), {"y": 3, "x": 9}),
    "always y, never x": (lambda f: f.always_partition(y).never_partition(x), {"y": 3, "x": 3}),
    "always all": (lambda f: f.always_partition_all(), {"y": 3, "x": 9}),
    "parallel rows": (lambda f: f.parallel(y).partition(y, ALWAYS), {"y": 3, "x": 9}),
    "said again": (lambda f: f.partition(x, NEVER).partition(x, hl.Partition.Auto), {"y": 1, "x": 3}),
    "all, then one": (lambda f: f.never_partition_all().partition(x, ALWAYS), {"y": 1, "x": 3}),
    "split later": (lambda f: f.never_partition(x).split(x, xo, xi, 8, GUARD).vectorize(xi), {"xo": 1}),
    "split before": (lambda f: f.split(x, xo, xi, 8, GUARD).vectorize(xi).never_partition(xo), {"xo": 1}),
    "fused later": (lambda f: f.never_partition(y).fuse(x, y, t), {"t": 1}),
    "renamed later": (lambda f: f.never_partition(x).rename(x, t), {"t": 1}),
    "a short loop": (lambda f: f.bound(x, 0, 4).partition(x, ALWAYS), {"x": 2}),
    "tiles": (
        lambda f: f.tile(x, y, xo, yo, xi, yi, 8, 4, GUARD).vectorize(xi).always_partition(xo, yo), {"yo": 3, "xo": 6}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(SCHEDULES))
def test_loops_are_divided_as_said_and_values_stay(name: str) -> None:
    given, wanted = SCHEDULES[name]
    f = given(edge())
    width = 4 if name == "a short loop" else 29
    assert {var: len(loops(f, var)) for var in wanted} == wanted
    assert np.array_equal(f.realize([width, 13]).array, edge().realize([width, 13]).array)


def test_parts_of_a_parallel_loop_are_parallel() -> None:
    assert {s.kind for s in loops(edge().parallel(y).always_partition(y), "y")} == {LoopKind.PARALLEL}


def test_the_first_iteration_of_a_slide_stays_in_a_loop_that_is_never_divided() -> None:
    def chain() -> tuple[hl.Func, hl.Func]:
        g, f = hl.Func("g"), hl.Func("f")
        g[x] = x * x
        f[x] = g[x - 1] + g[x + 1]
        g.store_root().compute_at(f, x)
        return g, f

    (rest,) = loops(chain()[1], "x")
    f = chain()[1].never_partition(x)
    (whole,) = loops(f, "x")
    assert (repr(rest.bounds.min), repr(whole.bounds.min)) == ("f.min.0 + 1", "f.min.0")
    assert np.array_equal(f.realize([20]).array, chain()[1].realize([20]).array)


def test_every_case_of_a_specialized_stage_is_divided_as_said() -> None:
    f, n = edge(), hl.Param(hl.Int(32), "n", 3)
    f.specialize(n == 3).never_partition(x)
    assert [len(loops_of_case(f, case)) for case in (0, 1)] == [3, 1]


def loops_of_case(f: hl.Func, case: int) -> list[For]:
    """The loops over x of one case."""
    return [s for s in loops(f, "x") if s.loop.specialization == case]


def test_updates_have_policies_of_their_own() -> None:
    def windowed() -> tuple[hl.Func, hl.RDom]:
        r, f = hl.RDom([(0, 20)], "r"), edge()
        f[x, y] += hl.u16(hl.select((r.x > 3) & (r.x < 15), r.x, 0))
        return f, r

    assert len(loops(windowed()[0], "r.x")) == 3
    f, r = windowed()
    f.update().never_partition(r.x)
    assert (len(loops(f, "r.x")), len(loops(f, "x"))) == (1, 4)
