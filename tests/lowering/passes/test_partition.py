"""Innermost loops in parts: what the steady part is without, and that the parts together are the loop."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.ir import BinaryOp, For, If, Interval, IntImm, LoopKind, LoopName, Provide, Select, Stmt
from halide_core.ir.types import INT32
from halide_core.ir.visitor import stmt_exprs, subexpressions, walk
from halide_core.lowering.driver import LoweringTrace, lower
from halide_core.lowering.passes.partition.partition import partition_loops
from tests.support.interpreted import run_program

x, y, xo, xi, yi = (hl.Var(n) for n in ("x", "y", "xo", "xi", "yi"))


def after(f: hl.Func, name: str) -> Stmt:
    """The tree that a pass left."""
    trace = LoweringTrace()
    lower(f._request(), trace=trace)
    return dict(trace.passes)[name]


def clamps(stmt: Stmt) -> int:
    """Counts distinct clamps, selects and guards stand inside a statement, thresholds of inner loops apart."""
    inside = [s for s in walk(stmt) if not isinstance(s, For)]
    exprs = list(subexpressions([e for s in inside for e in stmt_exprs(s)]))
    choices = [e for e in exprs if getattr(e, "op", None) in (BinaryOp.MIN, BinaryOp.MAX) or isinstance(e, Select)]
    return len(choices) + sum(isinstance(s, If) for s in inside)


def parts(f: hl.Func, var: str = "x") -> list[For]:
    """The serial loops over a variable."""
    found = [s for s in walk(after(f, "partition")) if isinstance(s, For)]
    return [s for s in found if s.kind is LoopKind.SERIAL and s.loop.var == var]


def image(width: int = 29, height: int = 7) -> hl.ImageParam:
    """An input with numbers in it."""
    p = hl.ImageParam(hl.UInt(8), 2, "src")
    p.set(hl.Buffer(np.random.default_rng(3).integers(0, 255, (height, width)).astype(np.uint8)))
    return p


def edge() -> hl.Func:
    """A stencil that repeats its input's edge."""
    source = hl.BoundaryConditions.repeat_edge(image())
    f = hl.Func("f")
    f[x, y] = hl.u16(source[x - 1, y]) + source[x + 2, y]
    return f


def test_the_steady_part_of_an_edge_has_no_clamp() -> None:
    """Three loops; the middle one reads as if there were no edge."""
    head, steady, tail = parts(edge())
    assert clamps(head) and clamps(tail)
    assert clamps(steady) < clamps(head)
    exprs = subexpressions([e for s in walk(steady.body) for e in stmt_exprs(s)])
    minima = [e for e in exprs if getattr(e, "op", None) is BinaryOp.MIN]
    assert not [e for e in minima if steady.var in subexpressions([e])]


@pytest.mark.parametrize("moved", [0, 1, 4])
def test_choice_that_thresholds_of_clamps_make(moved: int) -> None:
    """One comparison makes no threshold of its own: it stays where it changes behind that of the clamp."""
    source, f = image(), hl.Func("f")
    f[x, y] = hl.select(x < moved, hl.u8(1), hl.u8(0)) + source[hl.max(x - 1, 0), y]
    steady = parts(f)[-1]
    exprs = subexpressions([e for s in walk(steady.body) for e in stmt_exprs(s)])
    assert any(isinstance(e, Select) for e in exprs) == (moved > 1)
    assert np.array_equal(np.asarray(f.realize([25, 7])), np.asarray(f.evaluate([25, 7])))


def many_taps() -> hl.Func:
    """A stencil of eleven taps along x, each of which clamps at both ends."""
    source = hl.BoundaryConditions.repeat_edge(image())
    f = hl.Func("f")
    f[x, y] = sum((hl.u16(source[x + k, y]) * (k + 7) for k in range(-5, 6)), hl.u16(0))
    return f


def test_taps_that_differ_by_a_constant_share_their_thresholds() -> None:
    """As many clamps as a stencil has taps need no more thresholds than one has; only the extreme ones count."""
    head, steady, _ = parts(many_taps())
    assert clamps(head) > clamps(steady)
    exprs = subexpressions([e for s in walk(steady.body) for e in stmt_exprs(s)])
    assert not [e for e in exprs if getattr(e, "op", None) is BinaryOp.MAX and steady.var in subexpressions([e])]


def test_a_guarded_tail_is_a_loop_of_its_own() -> None:
    """split with GuardWithIf: only the last part tests."""
    f = hl.Func("f")
    f[x, y] = x + y * 100
    f.split(x, xo, xi, 8, hl.TailStrategy.GuardWithIf).vectorize(xi)
    steady, tail = parts(f, "xo")
    assert clamps(steady) == 0
    assert clamps(tail) == 1


def test_what_a_guard_leaves_out_is_no_part() -> None:
    """Rows in pieces, the last of which a guard leaves out in part: one loop, which ends where the guard fails."""
    f = hl.Func("f")
    f[x, y] = x + y * 100
    f.split(x, xo, xi, 32, hl.TailStrategy.GuardWithIf)
    (row,) = parts(f, "xi")
    assert clamps(row.body) == 0
    for name, got in run_program(f, [(3, 17), (-4, 11)]).items():
        assert np.array_equal(got, np.add.outer(np.arange(-4, 7) * 100, np.arange(3, 20))), name


def seven_taps() -> hl.Func:
    """A stencil with a long body that repeats its input's edge."""
    source = hl.BoundaryConditions.repeat_edge(image())
    f = hl.Func("f")
    f[x, y] = sum((hl.u16(source[x + k, y]) * (k + 5) for k in range(-3, 4)), hl.u16(0))
    return f


def test_a_long_body_is_written_once_for_both_ends() -> None:
    """A loop of three turns has the steady part, and one loop for the head and the tail."""
    turns, steady, ends = parts(seven_taps())
    assert turns.bounds == Interval(ir.ZERO, ir.i64(3))
    assert [s for s in walk(turns.body) if isinstance(s, For)] == [steady, ends]
    assert clamps(steady) < clamps(ends)


@pytest.mark.parametrize("window", [(-9, 50), (3, 20), (-20, 9), (28, 30), (0, 1), (5, 0), (-1, 6)])
def test_ends_with_one_body_are_the_loop(window: tuple[int, int]) -> None:
    """Windows with all parts, without a head, a tail, or a steady part, and an empty one."""
    f = seven_taps()
    want = f.evaluate([window, (0, 2)])
    for name, got in run_program(f, [window, (0, 2)]).items():
        assert np.array_equal(got, want), name


def test_ends_with_one_body_go_in_order() -> None:
    """A scan, whose iterations read what the one before wrote."""
    source = hl.BoundaryConditions.repeat_edge(image())
    f, r = hl.Func("f"), hl.RDom([(1, 40)])
    f[x] = hl.i32(source[x, 0])
    f[r] = f[r - 1] + sum((hl.i32(source[r + k, 1]) * (k + 5) for k in range(-3, 4)), hl.i32(0))
    want = f.evaluate([(0, 41)])
    for name, got in run_program(f, [(0, 41)]).items():
        assert np.array_equal(got, want), name


def test_a_shifted_tail_is_a_loop_of_its_own() -> None:
    """split with ShiftInwards: the steady part doesn't shift."""
    f = hl.Func("f")
    f[x, y] = x + y * 100
    f.split(x, xo, xi, 8, hl.TailStrategy.ShiftInwards).vectorize(xi)
    steady, tail = parts(f, "xo")
    assert clamps(steady) == 0
    assert tail.bounds.min is not steady.bounds.min


def test_short_loops_and_outer_loops_stay_whole() -> None:
    """A loop of four steps has no steady part worth finding; an outer loop is not copied with all that is inside."""
    f = edge()
    f.bound(x, 0, 4)
    assert len(parts(f)) == 1
    g = edge()
    assert len(parts(g, "y")) == 1


def test_values_from_memory_decide_nothing() -> None:
    """A clamp of what is read differs from point to point."""
    f, source = hl.Func("f"), image()
    f[x, y] = source[hl.clamp(hl.i32(source[x, y]), 0, 9), y]
    assert len(parts(f)) == 1


def mirrored() -> hl.Func:
    f = hl.Func("f")
    f[x, y] = hl.BoundaryConditions.mirror_image(image())[-x, y] + hl.u16(1)
    return f


def exterior() -> hl.Func:
    f = hl.Func("f")
    f[x, y] = hl.BoundaryConditions.constant_exterior(image(), 7)[x * 2 - 9, y - 1] + hl.u16(0)
    return f


def halves() -> hl.Func:
    f = hl.Func("f")
    source = image()
    f[x, y] = source[hl.clamp(x // 2 + hl.min(x, 5), 0, 28), hl.clamp(y, 0, 6)]
    return f


def scan() -> hl.Func:
    f, r = hl.Func("f"), hl.RDom([(0, 11)], "r")
    f[x, y] = hl.i32(0)
    f[r.x, y] = f[hl.max(r.x - 1, 0), y] + hl.i32(image()[hl.min(r.x * 3, 28), hl.clamp(y, 0, 6)])
    return f


def guarded() -> hl.Func:
    f, r = hl.Func("f"), hl.RDom([(-3, 11)], "r")
    f[x, y] = hl.i32(0)
    r.where(r.x * 2 < x + 4)
    f[x, y] += r.x * y
    return f


def outside() -> hl.Func:
    f = hl.Func("f")
    f[x, y] = hl.select((x < 3) | (x > 8), hl.i32(-1), x * y)
    return f


def unrolled() -> hl.Func:
    """Four copies of one body, each with thresholds of its own."""
    f = hl.Func("f")
    f[x, y] = hl.BoundaryConditions.repeat_edge(image())[x + 2, y] + hl.u16(0)
    f.split(x, xo, xi, 4, hl.TailStrategy.GuardWithIf).unroll(xi)
    return f


def unrolled_producer() -> hl.Func:
    """Copies of a body with a producer inside: its lets are bound once a copy, too."""
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = hl.BoundaryConditions.repeat_edge(image())[x - 1, y] + hl.u16(y)
    g[x, y] = f[x, y] + f[x + 1, y]
    g.split(x, xo, xi, 3, hl.TailStrategy.GuardWithIf).unroll(xi)
    f.compute_at(g, xi).split(x, xo, yi, 2, hl.TailStrategy.GuardWithIf).unroll(yi).unroll(xo)
    f.bound_extent(x, 2)
    return g


def inner_rows() -> hl.Func:
    """Rows of a constant length inside a tile, whose last vector is shifted inwards and reads beyond an edge."""
    f, g = hl.Func("f"), hl.Func("g")
    g[x, y] = hl.BoundaryConditions.repeat_edge(image())[x - 1, y] + hl.u16(y)
    f[x, y] = g[x - 4, y] + g[x + 5, y]
    f.split(x, xo, xi, 64)
    g.compute_at(f, xo).vectorize(x, 8, hl.TailStrategy.ShiftInwards)
    return f


def test_loop_of_a_constant_length_is_cut_where_constants_end_clamps() -> None:
    """5 <= i <= 12 of i in [2, 20); where ``min(i, n)`` ends, only the run knows."""
    f, i, n = hl.Func("f"), ir.index_variable("i"), ir.index_variable("n")
    f[x] = 0
    fixed = ir.maximum(ir.minimum(i, ir.i64(12)), ir.i64(5))
    point = Provide(f.function, 0, (ir.add(fixed, ir.minimum(i, n)),), (ir.const(0, INT32),))
    bounds = Interval(ir.i64(2), ir.i64(18))
    tree = partition_loops(For(LoopName("f", 0, 0, "x"), i, bounds, LoopKind.SERIAL, True, point), {})
    starts = [s.bounds.min for s in walk(tree) if isinstance(s, For)]
    assert {start.value for start in starts if isinstance(start, IntImm)} == {2, 5, 13}


def test_parts_cut_at_constants_are_the_loop() -> None:
    f, window = inner_rows(), [(0, 64), (0, 1)]
    want = f.evaluate(window)
    for name, got in run_program(f, window).items():
        assert np.array_equal(got, want), name


def test_a_shifted_last_vector_asks_once_for_all_lanes() -> None:
    """Loops of constants are cut at constant places; the last vector has a version without the input's clamps."""
    chosen = [s for s in walk(after(inner_rows(), "partition")) if isinstance(s, If) and s.otherwise is not None]
    assert chosen and all(clamps(s.then) < clamps(s.otherwise) for s in chosen if s.otherwise is not None)


@pytest.mark.parametrize("window", [[(-70, 140), (0, 2)], [(0, 64), (0, 2)], [(-40, 100), (-1, 3)]])
def test_rows_inside_tiles_are_the_loop(window: list[tuple[int, int]]) -> None:
    f, want = inner_rows(), inner_rows().evaluate(window)
    for name, got in run_program(f, window).items():
        assert np.array_equal(got, want), name
    out = hl.Buffer(f.type(), [n for _, n in window])
    out.set_min([low for low, _ in window])
    f.realize(out)
    assert np.array_equal(np.asarray(out), want)


def columns_of_tiles(exterior: bool = False) -> hl.Func:
    """Tiles of a producer whose lanes are columns, in rows that are as many as the run says."""
    f, g, inner = hl.Func("f"), hl.Func("g"), image(70, 20)
    source = hl.BoundaryConditions.constant_exterior(inner, 9) if exterior else hl.BoundaryConditions.repeat_edge(inner)
    g[x, y] = hl.u16(source[x - 1, y]) * 3 + source[x + 2, y]
    f[x, y] = g[x, y / 2] + g[x, (y + 1) / 2]
    f.tile(x, y, hl.Var("xi"), hl.Var("yi"), 16, 5)
    g.compute_at(f, x).vectorize(x, 8)
    return f


@pytest.mark.parametrize("exterior", [False, True])
def test_tiles_inside_of_an_input_have_no_clamps_in_lanes(exterior: bool) -> None:
    """They ask once, around the rows."""
    tree = after(columns_of_tiles(exterior), "partition")
    chosen = [s for s in walk(tree) if isinstance(s, If) and s.otherwise is not None]
    assert len(chosen) == 1
    inside, outside = (
        [s for s in walk(side) if isinstance(s, For) and s.kind is LoopKind.VECTORIZED]
        for side in (chosen[0].then, chosen[0].otherwise or chosen[0].then)
    )
    assert len(inside) == len(outside) == 1 and clamps(inside[0]) <= clamps(outside[0]) - 4


@pytest.mark.parametrize("exterior", [False, True])
@pytest.mark.parametrize("window", [[(0, 70), (0, 40)], [(-20, 110), (-14, 70)], [(17, 32), (2, 6)]])
def test_tiles_inside_and_not_are_the_loop(exterior: bool, window: list[tuple[int, int]]) -> None:
    f, want = columns_of_tiles(exterior), columns_of_tiles(exterior).evaluate(window)
    for name, got in run_program(f, window).items():
        assert np.array_equal(got, want), name
    out = hl.Buffer(f.type(), [n for _, n in window])
    out.set_min([low for low, _ in window])
    f.realize(out)
    assert np.array_equal(np.asarray(out), want)


PLAIN: list[Callable[[], hl.Func]] = [edge, many_taps, mirrored, exterior, halves, scan, guarded, outside]
MAKERS = [*PLAIN, unrolled, unrolled_producer]


@pytest.mark.parametrize("make", MAKERS, ids=lambda m: m.__name__)
@pytest.mark.parametrize("lanes", [0, 4, 8])
@pytest.mark.parametrize("window", [[(-3, 1), (0, 1)], [(-5, 45), (-1, 3)], [(2, 9), (1, 2)], [(40, 13), (0, 2)]])
def test_the_parts_are_the_loop(make: Callable[[], hl.Func], lanes: int, window: list[tuple[int, int]]) -> None:
    """Windows inside, across and beyond the steady part; also where it is empty."""
    if make is scan:  # its output is written where the RDom is, whatever the window
        window = [(-1, 14), (0, 3)]
    f = make()
    want = make().evaluate(window)
    if lanes and "unrolled" not in make.__name__:
        f.vectorize(x, lanes)
    for name, got in run_program(f, window).items():
        assert np.array_equal(got, want), name
    out = hl.Buffer(f.type(), [n for _, n in window])
    out.set_min([low for low, _ in window])
    if window[0][1] >= lanes:
        f.realize(out)
        assert np.array_equal(np.asarray(out), want)


@pytest.mark.parametrize("tail", ["RoundUp", "GuardWithIf", "ShiftInwards"])
@pytest.mark.parametrize("extent", [4, 29, 30, 31, 32, 33, 37])
def test_unrolled_copies_have_thresholds_of_their_own(tail: str, extent: int) -> None:
    source = hl.ImageParam(hl.Int(32), 1, "in")
    source.set(np.arange(31, dtype=np.int32))
    f = hl.Func("f")
    f[x] = hl.BoundaryConditions.repeat_edge(source)[x + 2]
    f.unroll(x, 4, hl.TailStrategy[tail])
    assert np.array_equal(np.asarray(f.realize([extent])), f.evaluate([(0, extent)]))


# -- comparisons in int32, quotients, and loops around short ones

KINDS = ("repeat_edge", "constant_exterior", "repeat_image", "mirror_image", "mirror_interior")


def bounded(kind: str) -> hl.Func:
    """An input of 29 by 7 behind a boundary condition."""
    source = image()
    extents = [(0, 29), (0, 7)]
    made = getattr(hl.BoundaryConditions, kind)
    return made(source, hl.u8(9), extents) if kind == "constant_exterior" else made(source, extents)


def neighbours(kind: str) -> hl.Func:
    """The pixels at both sides, behind a boundary condition."""
    source, f = bounded(kind), hl.Func("f")
    f[x, y] = hl.u16(source[x - 1, y]) + source[x + 1, y - 1] * 3
    return f


@pytest.mark.parametrize("kind", KINDS)
def test_neighbours_are_read_as_if_there_were_no_edge(kind: str) -> None:
    f = neighbours(kind)
    f.vectorize(x, 8, hl.TailStrategy.GuardWithIf)
    _, steady, _ = parts(f)
    x_clamps = [e for e in subexpressions(stmt_exprs_in(steady)) if isinstance(e, Select) and mentions(e, "f.s0.x")]
    assert not x_clamps


def stmt_exprs_in(stmt: Stmt) -> list[ir.ExprNode]:
    """All expressions of a statement."""
    return [e for s in walk(stmt) for e in stmt_exprs(s)]


def mentions(e: ir.ExprNode, name: str) -> bool:
    """True where a variable of a name stands in an expression's condition."""
    assert isinstance(e, Select)
    return any(isinstance(v, ir.Variable) and v.name.startswith(name) for v in subexpressions([e.condition]))


SCHEDULES: dict[str, Callable[[hl.Func], object]] = {
    "vectors": lambda f: f.vectorize(x, 8, hl.TailStrategy.GuardWithIf),
    "shifted": lambda f: f.vectorize(x, 4),
    "tiles": lambda f: f.tile(x, y, xi, yi, 8, 3, hl.TailStrategy.GuardWithIf).vectorize(xi, 4),
    "small tiles": lambda f: f.tile(x, y, xi, yi, 5, 2).unroll(xi),
    "plain": lambda f: f,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_parts_are_the_loop_behind_every_edge(kind: str, schedule: str) -> None:
    f = neighbours(kind)
    SCHEDULES[schedule](f)
    window = [(-9, 42), (-2, 5)]
    want = f.evaluate(window)
    for name, got in run_program(f, window).items():
        assert np.array_equal(got, want), name


def shifted_in_tiles(kind: str) -> hl.Func:
    """Tiles of a producer that are a point longer than its vector, the last of which is shifted inwards."""
    f, g, source = hl.Func("f"), hl.Func("g"), bounded(kind)
    g[x, y] = hl.u16(source[x, y]) * 3
    f[x, y] = g[x, y] + g[x - 1, y]
    f.tile(x, y, xi, yi, 8, 3)
    g.compute_at(f, x).vectorize(x, 8)
    return f


@pytest.mark.parametrize("kind", KINDS)
def test_tiles_of_a_shifted_last_vector_are_divided(kind: str) -> None:
    """Its distance from the vector before it is another one, and none is decided for both."""
    tiles = [loop for loop in parts(shifted_in_tiles(kind)) if loop.loop.func == "f"]
    assert len(tiles) == 3
    before, steady, behind = (
        max(clamps(s) for s in walk(tile) if isinstance(s, For) and s.kind is LoopKind.VECTORIZED) for tile in tiles
    )
    assert steady < min(before, behind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("window", [[(-9, 48), (-2, 6)], [(1, 40), (0, 3)], [(3, 8), (2, 4)]])
def test_tiles_of_a_shifted_last_vector_are_the_loop(kind: str, window: list[tuple[int, int]]) -> None:
    f = shifted_in_tiles(kind)
    want = f.evaluate(window)
    for name, got in run_program(f, window).items():
        assert np.array_equal(got, want), name


def test_a_quotient_inside_a_clamp_is_no_multiple_of_itself() -> None:
    """The threshold of y counts what lanes are at least: half of 8, not 7, where the other end of the clamp is more."""
    f, near, of = hl.Func("f"), image(21, 1), hl.ImageParam(hl.UInt(8), 1, "of")
    of.set(hl.Buffer(np.arange(7, dtype=np.uint8)))
    f[x, y] = near[hl.clamp(y + hl.min(x / 2, of.dim(0).extent() - 1) - 6, 0, 20), 0] + of[0]
    f.bound(x, 8, 8).vectorize(x, 8)
    window = [(8, 8), (-10, 40)]
    want = f.evaluate(window)
    for name, got in run_program(f, window).items():
        assert np.array_equal(got, want), name


def taps_at_a_level(kind: str) -> hl.Func:
    """Sums of taps in vectors, computed for each row of what reads them: their rows are no shorter than a vector."""
    f, g, r = hl.Func("f"), hl.Func("g"), hl.RDom([(-2, 5)], "r")
    g[x, y] = hl.sum(hl.i32(bounded(kind)[x + r, y]))
    f[x, y] = g[x, y] * 2
    f.vectorize(x, 4)
    g.compute_at(f, y).vectorize(x, 8)
    return f


@pytest.mark.parametrize("kind", KINDS)
def test_taps_at_a_level_are_read_as_if_there_were_no_edge(kind: str) -> None:
    """A coordinate is in int32 with a tap's distance, too: it begins where an output does that ends in it."""
    _, steady, _ = [loop for loop in parts(taps_at_a_level(kind)) if loop.loop.func == "g"]
    assert not [e for e in subexpressions(stmt_exprs_in(steady)) if isinstance(e, Select) and mentions(e, "g.s0.x")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("window", [[(-9, 48), (-2, 6)], [(1, 5), (0, 3)]])
def test_taps_at_a_level_are_the_loop(kind: str, window: list[tuple[int, int]]) -> None:
    f = taps_at_a_level(kind)
    want = f.evaluate(window)
    for name, got in run_program(f, window).items():
        assert np.array_equal(got, want), name


def taps() -> hl.Func:
    """Tiles of two vectors, each point of which sums five taps."""
    source, f, r = bounded("repeat_edge"), hl.Func("f"), hl.RDom([(-2, 5)], "r")
    f[x, y] = hl.sum(hl.i32(source[x + r, y]))
    f.tile(x, y, xi, yi, 8, 2, hl.TailStrategy.GuardWithIf).vectorize(xi, 4)
    return f


def test_a_tile_of_few_vectors_is_divided_around_them() -> None:
    found = [s for s in walk(after(taps(), "partition")) if isinstance(s, For) and s.kind is LoopKind.SERIAL]
    tiles = [s for s in found if (s.loop.func, s.loop.var) == ("f", "x")]
    assert len(tiles) == 3
    head, steady, tail = map(clamps, tiles)
    assert steady < min(head, tail)


def test_lanes_are_not_divided_each_by_itself() -> None:
    """A loop over taps inside of lanes would have other ends for each of them."""
    tree = after(taps(), "partition")
    lanes = [s for s in walk(tree) if isinstance(s, For) and s.kind is LoopKind.VECTORIZED]
    assert lanes and all(len([s for s in walk(each.body) if isinstance(s, For)]) <= 1 for each in lanes)


def test_tiles_of_taps_are_the_loop() -> None:
    f = taps()
    for window in ([(-9, 40), (-1, 4)], [(0, 29), (0, 3)]):
        want = f.evaluate(window)
        for name, got in run_program(f, window).items():
            assert np.array_equal(got, want), name


def sums_of_a_guarded_tile() -> hl.Func:
    """Tiles of no whole number of vectors, each lane of which has a sum of its own."""
    source, f, r = hl.Func("source"), hl.Func("f"), hl.RDom([(0, 5)], "r")
    source[x, y] = x * x + y
    source.compute_root()
    f[x, y] = hl.sum(source[x, y + r])
    return f.tile(x, y, xi, yi, 28, 2).vectorize(xi, 8, hl.TailStrategy.GuardWithIf)


def test_vectors_of_a_tile_that_no_guard_cuts_are_a_loop_of_their_own() -> None:
    """Constants say that it is the last vector alone: none of the others asks."""
    found = [s for s in walk(after(sums_of_a_guarded_tile(), "partition")) if isinstance(s, For)]
    rows = [s for s in found if s.kind is LoopKind.SERIAL and (s.loop.func, s.loop.var) == ("f", "xi")]
    assert [row.bounds.len for row in rows] == [ir.i64(3)] and not any(isinstance(s, If) for s in walk(rows[0]))
    f = sums_of_a_guarded_tile()
    for window in ([(-9, 60), (-1, 4)], [(0, 28), (0, 3)]):
        for name, got in run_program(f, window).items():
            assert np.array_equal(got, f.evaluate(window)), name


def nested(levels: int, guarded: bool) -> hl.Func:
    """A reduction over so many dimensions, with a clamp, or a guard, of each of them."""
    f, r = hl.Func("f"), hl.RDom([(0, 7)] * levels, "r")
    f[x] = 0
    f[x] += hl.i32(bounded("repeat_edge")[sum((hl.clamp(r[i], 1, 5) for i in range(levels)), x), 0])
    for i in range(levels if guarded else 0):
        f.update().split(r[i], hl.RVar(f"o{i}"), hl.RVar(f"i{i}"), 3)
    return f


@pytest.mark.parametrize("guarded", [False, True])
def test_loops_inside_of_each_other_do_not_multiply(guarded: bool) -> None:
    few, many = (sum(isinstance(s, For) for s in walk(after(nested(n, guarded), "partition"))) for n in (4, 8))
    assert many < 4 * few


def rows_of_taps() -> hl.Func:
    """Rows of points, each of which sums five taps behind an edge."""
    source, f, r = bounded("mirror_image"), hl.Func("f"), hl.RDom([(-2, 5)], "r")
    f[x, y] = hl.sum(hl.i32(source[x + r, y]))
    return f


def test_a_row_is_divided_around_its_taps() -> None:
    """The taps of a point are no row: those at the ends of one stay whole, and those of its steady part don't ask."""
    found = [s for s in walk(after(rows_of_taps(), "partition")) if isinstance(s, For)]
    _, steady, ends = (s for s in found if s.loop.var == "x")
    taps = [s for s in found if s.loop.var == "r.x"]
    assert len(taps) == 2 and all(s.bounds.len == IntImm(ir.INT64, 5) for s in taps)
    assert clamps(steady) < clamps(ends)


@pytest.mark.parametrize("schedule", ["", ".tile(x, y, xi, yi, 8, 2)", ".tile(x, y, xi, yi, 16, 3).vectorize(xi, 4)"])
def test_rows_of_taps_are_the_loop(schedule: str) -> None:
    for window in ([(-9, 43), (-1, 4)], [(2, 25), (0, 3)]):
        f = rows_of_taps()
        want = f.evaluate(window)
        eval(f"f{schedule}")  # noqa: S307  # it is above
        for name, got in run_program(f, window).items():
            assert np.array_equal(got, want), name


@pytest.mark.parametrize("lanes", [1, 4])
def test_rows_of_half_the_length_have_a_steady_part(lanes: int) -> None:
    source, f = bounded("repeat_edge"), hl.Func("f")
    f[x, y] = hl.u16(source[x / 2 - 1 + 2 * (x % 2), y]) + source[x / 2, y]
    if lanes > 1:
        f.vectorize(x, lanes)
    assert len(parts(f)) == 3
    for window in ([(-9, 80), (0, 2)], [(5, 41), (0, 1)]):
        want = f.evaluate(window)
        for name, got in run_program(f, window).items():
            assert np.array_equal(got, want), name


def weighed(taps: int, tail: hl.TailStrategy) -> hl.Func:
    """Vectors of a sum over so many neighbours."""
    f, source = hl.Func("f"), image(64)
    f[x, y] = sum((hl.u16(source[x + k, y]) * (k + 3) for k in range(1, taps)), hl.u16(source[x, y]))
    f.vectorize(x, 8, tail)
    return f


def test_a_long_body_stands_once() -> None:
    """The last vector runs in the loop of the others; a short body is written twice, and has no clamps in the first."""
    assert len(parts(weighed(2, hl.TailStrategy.ShiftInwards))) == 2
    around, inside = parts(weighed(12, hl.TailStrategy.ShiftInwards))
    assert inside in list(walk(around.body))
    assert clamps(inside.body) == 0


@pytest.mark.parametrize("width", [8, 9, 15, 16, 17, 31, 50])
@pytest.mark.parametrize("tail", [hl.TailStrategy.ShiftInwards, hl.TailStrategy.GuardWithIf, hl.TailStrategy.RoundUp])
def test_a_long_body_of_vectors(width: int, tail: hl.TailStrategy) -> None:
    """Each pass, and C, leave the definition's answer for whole vectors and for some points more."""
    f = weighed(12, tail)
    window = [(0, width), (0, 3)]
    if tail is hl.TailStrategy.RoundUp:
        window = [(0, width // 8 * 8), (0, 3)]
    wanted = f.evaluate(window)
    for name, values in run_program(f, window).items():
        np.testing.assert_array_equal(values, wanted, err_msg=name)
    np.testing.assert_array_equal(np.asarray(f.realize([n for _, n in window])), wanted)


def test_several_iterations_behind_the_steady_part() -> None:
    """Reads that stop moving: each iteration from there on has a shift of its own."""
    f, source = hl.Func("f"), image(64)
    at = hl.min(2 * x, 9)
    f[x, y] = sum((hl.u16(source[at + k, y]) * (k + 3) for k in range(1, 12)), hl.u16(source[at, y]))
    window = [(0, 11), (0, 3)]
    around, inside = parts(f)
    assert inside in list(walk(around.body))
    for name, values in run_program(f, window).items():
        np.testing.assert_array_equal(values, f.evaluate(window), err_msg=name)
