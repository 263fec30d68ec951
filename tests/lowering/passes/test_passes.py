"""Passes keep results: small pipelines, compiled, against the reference semantics, where passes have most to do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core import TailStrategy
from halide_core.ir import For, If, LoopKind, Select, Stmt
from halide_core.ir.visitor import stmt_exprs, subexpressions, walk
from tests.support.dumps import after

x, y, xo, xi, yo, yi, t, u = (hl.Var(n) for n in ("x", "y", "xo", "xi", "yo", "yi", "t", "u"))
GUARD, SHIFT, ROUND = TailStrategy.GuardWithIf, TailStrategy.ShiftInwards, TailStrategy.RoundUp
U16 = hl.UInt(16)
rng = np.random.default_rng(5)


def check(f: hl.Func, *window: int) -> None:
    """Compares the compiled Func with its reference semantics, bit for bit."""
    assert np.array_equal(f.realize(list(window)).array, f.evaluate(window))


def image(type: hl.Type, *shape: int) -> hl.ImageParam:
    """An input of random values, numpy axes."""
    found = hl.ImageParam(type, len(shape), "in")
    low, high = (0, 200) if type.is_float() else (max(type.range[0], -(1 << 20)), min(type.range[1], 1 << 20))
    found.set(rng.integers(low, high, shape).astype(type.dtype))
    return found


def stencil(type: hl.Type = U16) -> tuple[hl.Func, hl.Func]:
    """``f[x, y] = g[x - 1, y] + g[x + 1, y + 1]*3`` of ``g[x, y]``, a Func of an image."""
    source = hl.BoundaryConditions.repeat_edge(image(type, 9, 13))
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = source[x, y] * hl.cast(type, 2) + hl.cast(type, x)
    f[x, y] = g[x - 1, y] + g[x + 1, y + 1] * hl.cast(type, 3)
    return g, f


def loops(stmt: Stmt, kind: LoopKind) -> list[For]:
    """The loops of a kind."""
    return [s for s in walk(stmt) if isinstance(s, For) and s.kind is kind]


# -- unroll


@pytest.mark.parametrize("factor", [1, 2, 3, 7])
@pytest.mark.parametrize("tail", [GUARD, SHIFT, ROUND])
def test_unrolled(factor: int, tail: TailStrategy) -> None:
    g, f = stencil()
    f.unroll(x, factor, tail)
    g.compute_at(f, y).unroll(x, factor, tail)
    assert not loops(after(f, "unroll"), LoopKind.UNROLLED)
    check(f, 11, 5)


def test_unrolled_copies_take_one_arm_each() -> None:
    f = hl.Func("f")
    f[x, y] = hl.mux(x, [y * (i + 1) + i for i in range(9)])
    f.bound(x, 0, 8).unroll(x)
    found = [e for s in walk(after(f, "unroll")) for e in subexpressions(stmt_exprs(s)) if isinstance(e, Select)]
    assert not found
    check(f, 8, 3)


def test_choices_that_an_iteration_leaves_open_stay() -> None:
    source, f = image(U16, 9, 13), hl.Func("f")
    f[x, y] = hl.select(source[x, y] > hl.u16(x * 100), source[x, y], hl.u16(y))
    f.bound(x, 0, 4).unroll(x)
    found = {e for s in walk(after(f, "unroll")) for e in subexpressions(stmt_exprs(s)) if isinstance(e, Select)}
    assert len(found) == 4
    check(f, 4, 3)


def test_unrolled_loops_inside_each_other() -> None:
    g, f = stencil()
    f.tile(x, y, xo, yo, xi, yi, 3, 2, GUARD).unroll(xi).unroll(yi)
    g.compute_at(f, xi)
    assert not loops(after(f, "unroll"), LoopKind.UNROLLED)
    check(f, 7, 5)


def test_unrolled_reduction_keeps_its_order() -> None:
    r = hl.RDom([(0, 7)], "r")
    f = hl.Func("f")
    f[x] = hl.f32(1)
    f[x] = f[x] * hl.f32(1.7) - hl.f32(r) * hl.f32(0.3)
    f.update().unroll(r)
    check(f, 6)


def test_unrolled_scan() -> None:
    source = image(hl.Int(32), 20)
    r = hl.RDom([(1, 16)], "r")
    f = hl.Func("f")
    f[x] = source[x]
    f[r] = f[r - 1] + f[r] * 3
    f.update().unroll(r, 5)
    check(f, 20)


# -- hoist


def test_row_guards_leave_the_loop_over_a_row() -> None:
    f = hl.Func("f")
    f[x, y] = x + y * 100
    f.split(y, yo, yi, 4, GUARD)
    (inner,) = [s for s in loops(after(f, "hoist"), LoopKind.SERIAL) if s.loop.var == "x"]
    assert not any(isinstance(s, If) for s in walk(inner))
    check(f, 5, 7)


def test_guards_stay_inside_what_they_depend_on() -> None:
    r = hl.RDom([(0, 6), (0, 5)], "r")
    r.where(r.x + r.y < 7)
    r.where(r.x != 2)
    f = hl.Func("f")
    f[x, y] = 0
    f[x, y] += r.x * (x + 3) + r.y * y
    f.update().split(y, yo, yi, 3, GUARD).split(r.y, hl.RVar("ro"), hl.RVar("ri"), 2).split(x, xo, xi, 4, GUARD)
    check(f, 5, 7)


def test_guard_on_a_producer_moves_with_the_values_it_reads() -> None:
    source = image(hl.Int(32), 8)
    r = hl.RDom([(0, 8)], "r")
    limit, f = hl.Func("limit"), hl.Func("f")
    limit[x] = source[x] % 5 + x
    f[x] = 0
    r.where(source[r] % 3 < limit[x])
    f[x] += r + 1
    limit.compute_at(f, x)
    check(f, 8)


# -- vectorize

WIDTHS = [1, 2, 3, 5, 12, 100]


@pytest.mark.parametrize("tail", [GUARD, SHIFT, ROUND])
@pytest.mark.parametrize("width", WIDTHS)
def test_vectorized_by_any_width(width: int, tail: TailStrategy) -> None:
    g, f = stencil()
    f.vectorize(x, width, tail)
    g.compute_root().vectorize(x, width, tail)
    assert not loops(after(f, "vectorize"), LoopKind.VECTORIZED)
    check(f, 103, 3)


@pytest.mark.parametrize("type", [hl.UInt(8), hl.Int(16), hl.UInt(32), hl.Float(32), hl.Float(64)])
def test_vectorized_by_an_odd_width_in_every_size_of_element(type: hl.Type) -> None:
    g, f = stencil(type)
    f.vectorize(x, 13, GUARD)
    g.compute_at(f, y).vectorize(x, 5, ROUND)
    check(f, 29, 3)


@pytest.mark.parametrize("width", WIDTHS)
def test_vectorized_across_rows(width: int) -> None:
    g, f = stencil()
    f.split(y, yo, yi, width, GUARD).reorder(yi, x).vectorize(yi)
    g.compute_root().reorder(y, x).vectorize(y, width)
    check(f, 5, 11)


@pytest.mark.parametrize(
    ("told", "index"),
    [
        ("strided", lambda v: v * 2),
        ("reversed", lambda v: 30 - v),
        ("halved", lambda v: v // 2),
        ("repeated", lambda v: v % 3),
        ("clamped", lambda v: hl.clamp(v, 2, 9)),
        ("constant", lambda v: hl.Expr(4)),
        ("chosen", lambda v: hl.select(v % 2 == 0, v, 7)),
    ],
)
@pytest.mark.parametrize("width", [3, 8])
def test_vectorized_reads(told: str, index: Callable[[hl.Expr], hl.Expr], width: int) -> None:
    source = image(hl.Int(32), 64)
    f = hl.Func(told)
    f[x] = source[index(x)] + x
    f.vectorize(x, width, GUARD)
    check(f, 21)


def test_vectorized_gather_by_values() -> None:
    source, table = image(hl.UInt(8), 40), hl.Func("table")
    table[x] = x * x
    f = hl.Func("f")
    f[x] = table[hl.i32(source[x]) // 4] + table[source[x + 1]]
    table.compute_root().vectorize(x, 5)
    f.vectorize(x, 12, GUARD)
    check(f, 39)


@pytest.mark.parametrize("window", [1, 2, 7, 8, 9, 16, 31])
def test_nested_splits_around_a_vector(window: int) -> None:
    f = hl.Func("f")
    f[x] = x * 3 + 1
    f.split(x, xo, xi, 12, GUARD).split(xi, xi, t, 5, GUARD).vectorize(t)
    check(f, window)


def test_vector_inside_guards_of_other_loops() -> None:
    g, f = stencil()
    f.tile(x, y, xo, yo, xi, yi, 10, 3, GUARD).vectorize(xi, 4, GUARD).parallel(yo)
    g.compute_at(f, xo).split(y, yo, yi, 2, GUARD).vectorize(x, 3, GUARD)
    check(f, 23, 8)


def test_vectorized_update_with_a_predicate_on_the_lane() -> None:
    r = hl.RDom([(0, 5)], "r")
    f = hl.Func("f")
    f[x] = x
    r.where(r < x % 4)
    f[x] += r * 10 + 1
    f.update().vectorize(x, 8, GUARD)
    check(f, 21)


def test_vectorized_update_with_a_predicate_on_memory() -> None:
    source = image(hl.Int(32), 32)
    r = hl.RDom([(0, 4)], "r")
    f = hl.Func("f")
    f[x] = 0
    r.where(source[x + r] % 2 == 0)
    f[x] += source[x + r]
    f.update().reorder(x, r).vectorize(x, 8, GUARD)
    check(f, 27)


def test_reduction_inside_a_vector() -> None:
    source = image(hl.UInt(8), 12, 40)
    r = hl.RDom([(-1, 3), (0, 3)], "r")
    f = hl.Func("f")
    f[x, y] = hl.u16(0)
    f[x, y] += hl.u16(source[x + r.x + 1, y + r.y])
    f.vectorize(x, 12)
    f.update().vectorize(x, 12, GUARD)
    check(f, 35, 9)


@pytest.mark.parametrize("tail", [GUARD, SHIFT])
@pytest.mark.parametrize("width", [2, 3, 8, 12])
def test_memory_for_each_lane(width: int, tail: TailStrategy) -> None:
    g, f = stencil()
    f.split(x, xo, xi, width, tail).vectorize(xi)
    g.compute_at(f, xi)
    check(f, 29, 4)


@pytest.mark.parametrize("tail", [GUARD, SHIFT])
def test_reduction_into_memory_for_each_lane(tail: TailStrategy) -> None:
    source = image(hl.Int(32), 60)
    r = hl.RDom([(0, 5)], "r")
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = 0
    g[x] = hl.max(g[x], source[x + r])
    f[x] = g[x] * 2 + g[x + 1]
    g.compute_at(f, xi)
    f.split(x, xo, xi, 8, tail).vectorize(xi)
    check(f, 45)


def test_unrolled_inside_vectorized_inside_parallel() -> None:
    g, f = stencil()
    f.tile(x, y, xo, yo, xi, yi, 16, 4, GUARD).unroll(yi, 2).vectorize(xi).parallel(yo)
    g.compute_at(f, yi).unroll(y, 2, GUARD).vectorize(x, 6, SHIFT)
    check(f, 37, 9)


def test_bool_and_select_in_lanes() -> None:
    source = image(hl.Int(16), 50)
    mask, f = hl.Func("mask"), hl.Func("f")
    mask[x] = (source[x] > 5) & (source[x] % 2 == 0)
    f[x] = hl.select(mask[x] | mask[x + 1], hl.f32(source[x]) / 3, hl.sqrt(hl.f32(x)))
    mask.compute_root().vectorize(x, 12)
    f.vectorize(x, 5, GUARD)
    check(f, 41)


# -- flatten


def test_memory_that_starts_below_zero() -> None:
    g, f = stencil()
    f.vectorize(x, 8)
    g.compute_at(f, y)
    out = hl.Buffer(hl.UInt(16), [19, 6])
    out.set_min([-40, -7])
    f.realize(out)
    assert np.array_equal(out.array, f.evaluate([(-40, 19), (-7, 6)]))


@pytest.mark.parametrize("level", ["root", "y", "x"])
@pytest.mark.parametrize("store", ["root", "y", "same"])
def test_storage_apart_from_computation(level: str, store: str) -> None:
    g, f = stencil()
    (g.compute_root() if level == "root" else g.compute_at(f, hl.Var(level)))
    if store == "root":
        g.store_root()
    elif store == "y" and level != "root":
        g.store_at(f, y)
    check(f, 9, 7)


def test_three_dimensions_in_another_order() -> None:
    c = hl.Var("c")
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y, c] = x + y * 10 + c * 100
    f[x, y, c] = g[y, x, 2 - c] + g[x, y, c]
    f.bound(c, 0, 3).reorder(c, x, y).unroll(c).vectorize(x, 3, GUARD)
    g.compute_at(f, y)
    check(f, 7, 5, 3)


def test_fused_and_split_again() -> None:
    g, f = stencil()
    f.fuse(x, y, t).split(t, t, u, 7, GUARD).vectorize(u).parallel(t)
    g.compute_root().fuse(x, y, t).parallel(t, 10, GUARD)
    check(f, 9, 5)


def test_histogram_of_split_and_unrolled_reduction_loops() -> None:
    source = image(hl.UInt(8), 11, 17)
    r = hl.RDom([(0, 17), (0, 11)], "r")
    f = hl.Func("f")
    f[x] = 0
    f[hl.i32(source[r.x, r.y]) // 16] += 1
    f.vectorize(x, 6)
    ro, ri = hl.RVar("ro"), hl.RVar("ri")
    f.update().split(r.x, ro, ri, 5).unroll(ri)
    check(f, 16)


def test_guard_that_reads_what_the_loop_writes_stays_inside() -> None:
    x = hl.Var("x")
    f, r = hl.Func("f"), hl.RDom([(0, 10)], "r")
    f[x] = 0
    r.where(f[x] < 5)
    f[x] += hl.i32(r.x)
    check(f, 4)


def test_loop_names_used_again_keep_their_variables_apart() -> None:
    guard = hl.TailStrategy.GuardWithIf
    x, y, w = hl.Var("x"), hl.Var("y"), hl.Var("w")
    f = hl.Func("f")
    f[x, y] = x * 3 + y
    f.parallel(y, 4, guard).split(y, hl.Var("t"), w, 2, guard)
    check(f, 9, 9)
    g = hl.Func("g")
    g[x] = x * 3
    g.vectorize(x, 8, guard).split(x, hl.Var("v"), w, 4, guard)
    check(g, 40)


def test_loops_named_like_the_ends_of_holes_keep_their_variables_apart() -> None:
    x = hl.Var("x")
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x * 3
    f[x] = g[x - 1] + g[x + 1]
    g.compute_root().split(x, hl.Var("min"), hl.Var("len"), 8, hl.TailStrategy.GuardWithIf)
    check(f, 100)
