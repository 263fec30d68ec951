"""Programs as people write them, which were refused or crashed once: the schedule must be taken, and change nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core.ir import ExprNode
from halide_core.ir.visitor import stmt_exprs, walk
from tests.support.dumps import scheduled

x, y, u, v = (hl.Var(n) for n in "x y u v".split())
a, b, c, d = (hl.RVar(n) for n in "abcd")
ROUND = hl.TailStrategy.RoundUp


def same(f: hl.Func, *extents: int) -> None:
    """The values are the reference's, and the certificate has no gap."""
    assert np.array_equal(f.realize(list(extents)).array, f.evaluate([(0, n) for n in extents]))
    assert f.certify().failures == ()


NEW_DIMENSIONS: dict[str, Callable[[hl.Func], hl.Func | hl.Stage]] = {
    "vectors": lambda p: p.update().vectorize(u, 8), "rounded up": lambda p: p.update().vectorize(u, 8, ROUND),
    "unrolled": lambda p: p.update().unroll(u, 4), "tasks": lambda p: p.update().parallel(u, 4),
    "vectors of zeros": lambda p: p.vectorize(u, 8),
}  # fmt: skip


@pytest.mark.parametrize("name", list(NEW_DIMENSIONS))
def test_rounding_a_dimension_that_was_a_reduction_reads_nothing_beyond_it(name: str) -> None:
    im, r, f = hl.Buffer(np.arange(93, dtype=np.int32).reshape(3, 31)), hl.RDom([(0, 31), (0, 3)]), hl.Func("f")
    f[()] = 0
    f[()] += im[r.x, r.y]
    partial = f.update().rfactor(r.x, u)
    partial.compute_root()
    NEW_DIMENSIONS[name](partial)
    same(f)


def test_every_loop_of_a_reduction_becomes_a_dimension() -> None:
    r, f = hl.RDom([(0, 8), (0, 6)]), hl.Func("f")
    r.where(r.x != r.y)
    f[x] = 0
    f[x] += x * r.x + r.y
    partial = f.update().rfactor([(r.x, u), (r.y, v)])
    partial.compute_root().update().vectorize(u, 8)
    same(f, 4)


def test_loops_trade_places_before_they_are_factored() -> None:
    r, f = hl.RDom([(0, 8), (0, 6)]), hl.Func("f")
    f[()] = 0
    f[()] += r.x * r.y
    stage = f.update().split(r.x, a, b, 4).split(r.y, c, d, 3).reorder(b, d, a, c)
    stage.rfactor(c, u).compute_root()
    same(f)


def test_order_that_shows_is_not_traded_before_factoring() -> None:
    r, f = hl.RDom([(0, 8), (0, 6)]), hl.Func("f")
    f[()] = (0, 0)
    better = r.x * r.y % 5 > f[()][0]
    f[()] = (hl.select(better, r.x * r.y % 5, f[()][0]), hl.select(better, r.x + r.y * 8, f[()][1]))
    with pytest.raises(hl.ScheduleError, match="would change the order"):
        f.update().reorder(r.y, r.x).rfactor(r.x, u)


@pytest.mark.parametrize("type", [hl.Int(32), hl.Float(32)], ids=str)
def test_a_choice_between_taking_in_and_leaving_is_a_sum(type: hl.Type) -> None:
    def conditional() -> tuple[hl.Func, hl.RDom]:
        r, f = hl.RDom([(0, 13)]), hl.Func("f")
        f[()] = hl.cast(type, 0)
        f[()] = hl.select(r.x % 3 == 0, f[()] + hl.cast(type, r.x), f[()])
        return f, r

    f, r = conditional()
    f.update().split(r.x, a, b, 4).rfactor(b, u).compute_root()
    same(f)
    f, r = conditional()
    f.update().atomic().vectorize(r.x, 4)
    same(f)


def test_a_choice_that_looks_at_the_sum_is_none() -> None:
    r, f = hl.RDom([(0, 13)]), hl.Func("f")
    f[()] = 0
    f[()] = hl.select(f[()] < 20, f[()] + r.x, f[()])
    with pytest.raises(hl.ScheduleError, match="no reduction by an associative operator"):
        f.update().split(r.x, a, b, 4).rfactor(b, u)


@pytest.mark.parametrize("type", [hl.UInt(8), hl.Int(32), hl.Float(32), hl.Int(64)], ids=str)
def test_lanes_that_share_the_element_they_store(type: hl.Type) -> None:
    r, f = hl.RDom([(0, 32)]), hl.Func("f")
    f[x] = hl.cast(type, 0)
    f[r.x // 4] = hl.cast(type, 7)
    f.update().allow_race_conditions().vectorize(r.x, 8)
    assert f.realize([10]).array.tolist() == [7] * 8 + [0] * 2


def test_components_of_which_one_alone_differs_between_lanes() -> None:
    r, f = hl.RDom([(0, 8)]), hl.Func("f")
    f[x] = (0, 0)
    f[r.x] = (r.x + f[r.x][1], 5)
    f.update().vectorize(r.x, 4)
    first, second = f.realize([8])
    assert (first.array.tolist(), second.array.tolist()) == (list(range(8)), [5] * 8)


def test_a_stage_whose_specialization_was_cleared_says_so() -> None:
    n, f = hl.Param(hl.Int(32), "n", 3), hl.Func("f")
    f[x] = x * n
    stage, schedule = f.specialize(n > 1), hl.Schedule(f)
    schedule.clear()
    for call in (lambda: stage.vectorize(x, 4), lambda: stage.specialize(n > 2), lambda: stage.specialize_fail("no")):
        with pytest.raises(hl.ScheduleError, match=r"\.specialize\(1 < n\) was cleared"):
            call()
    assert not f._function.directives
    f.specialize(n == 1)
    schedule.apply()
    stage.vectorize(x, 4)
    assert np.array_equal(f.realize([9]).array, np.arange(9) * 3)


def test_a_case_that_learns_nothing_keeps_its_definition() -> None:
    """So that the certificate has nothing to compare: the general case of a picture of any width."""
    im, f = hl.ImageParam(hl.UInt(8), 2, "im"), hl.Func("f")
    mirrored = hl.BoundaryConditions.mirror_interior(im)
    f[x, y] = mirrored[x + 2, hl.i32(mirrored[x - 3, y]) % 9]
    (plain,) = assignments(f)
    f.specialize(im.dim(0).extent() == 5)
    special, general = assignments(f)
    assert general == plain != special


def assignments(f: hl.Func) -> list[list[tuple[ExprNode, ...]]]:
    """The assignments of each case of a Func: values and points."""
    program = scheduled(f)
    keys = program.keys(program.named[f.name()])
    return [[stmt_exprs(s) for s in walk(program.nests[key].core)] for key in keys]


def test_lanes_whose_inner_loops_start_apart_and_need_memory_of_different_sizes() -> None:
    """Each lane of ``f`` runs a loop of ``g`` from a place of its own, in which ``a`` takes 4 points or 8."""
    a, g, f = hl.Func("a"), hl.Func("g"), hl.Func("f")
    a[x, y] = x * 5 + y
    g[x, y] = 0
    g[x, y] += a[x + 2, y + 1] - a[x + 4, y + 1] * 3
    f[x, y] = 0
    f[x, y] += g[x, y] + g[x + 2, y]
    a.compute_at(g, x).align_bounds(x, 4)
    f.update(0).vectorize(x, 2, hl.TailStrategy.GuardWithIf)
    same(f, 6, 5)


@pytest.mark.parametrize("given", [0, 1, 2, 6])
def test_a_predicate_over_a_reduction_that_a_param_splits(given: int) -> None:
    """The predicate's fact about ``r.y`` by way of a loop of ``r.x``, times the Param, ends with that loop."""
    p, q, f = hl.Param(hl.Int(32), "p", given), hl.Param(hl.Int(32), "q", 2), hl.Func("f")
    p.set_range(0, 6)
    r = hl.RDom([(0, hl.clamp(q, 0, 3)), (1, 2)], "r")
    r.where(r.x <= r.y)
    f[x, y] = x
    f[x, r.y] += f[x, r.x] * 2 + r.x
    f.update(0).split(r.x, a, b, hl.max(p, 1))
    same(f, 5, 4)
