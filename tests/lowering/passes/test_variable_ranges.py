"""Constant ranges of coordinates: whatever else is known of an end, the better limit counts."""

from __future__ import annotations

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.analysis.linear import linear_of
from halide_core.ir import For, LoopKind, Select, Stmt
from halide_core.ir.types import INT64
from halide_core.ir.visitor import free_variables, stmt_exprs, subexpressions, walk
from halide_core.lowering.driver import LoweringTrace, lower
from halide_core.lowering.passes.variable_ranges import CoordinateRanges
from tests.support.checking import variables

x, y = variables("x y")
low, length, other = (ir.index_variable(name) for name in ("low", "length", "other"))
MOST = 1 << 30


def window() -> CoordinateRanges:
    """A window that start-up checks keep within 2^30."""
    ranges = CoordinateRanges()
    ranges.learn(ir.less(ir.ZERO, length))
    ranges.learn(ir.less_equal(ir.i64(-MOST), low))
    ranges.learn(ir.less_equal(ir.sub(ir.add(low, length), ir.ONE), ir.i64(MOST)))
    return ranges


def test_length_that_is_rounded_up_ends_near_the_window() -> None:
    rounded = ir.maximum(length, ir.i64(15))
    ranges = window()
    assert ranges.of(linear_of(ir.add(low, rounded))) == (-MOST + 15, MOST + 15)
    ranges.learn(ir.less_equal(ir.add(low, rounded), ir.add(other, ir.i64(2**31))))  # and nothing is known of the other
    assert ranges.of(linear_of(ir.add(low, rounded))) == (-MOST + 15, MOST + 15)


def test_limit_of_the_greater_of_two_counts() -> None:
    rounded = ir.maximum(length, other)
    ranges = window()
    ranges.learn(ir.less_equal(ir.add(low, rounded), ir.i64(MOST + 7)))
    assert ranges.of(linear_of(ir.add(low, rounded)))[1] == MOST + 7


def test_choices_by_one_condition_are_made_alike() -> None:
    """Where a vector starts, and by how much it is shifted, are one choice each: both by the part that it is in."""
    part, start = ir.index_variable("part"), ir.index_variable("start")
    last, first = ir.sub(length, ir.i64(8)), ir.less_equal(part, ir.ZERO)
    ranges = window()
    ranges.define(ir.Let(start, ir.Select(INT64, first, ir.ZERO, ir.sub(last, ir.i64(3))), None))
    shifted = ir.add(start, ir.Select(INT64, first, ir.ZERO, ir.sub(last, start)))
    assert ranges.of(linear_of(ir.add(ir.add(low, shifted), ir.i64(7))))[1] == MOST + 7
    assert ranges.of(linear_of(ir.add(low, ir.Select(INT64, first, ir.i64(5), length))))[1] == MOST + 5


def choices(loop: Stmt) -> int:
    """Counts choices, by the column, between a picture and what is around it."""
    selects = (e for e in subexpressions([e for s in walk(loop) for e in stmt_exprs(s)]) if isinstance(e, Select))
    names = ([v.name for v in free_variables(e.condition)] for e in selects)
    return sum(any(name.startswith("f.s0.x") for name in each) for each in names)


@pytest.mark.parametrize("condition", ["mirror_interior", "mirror_image", "repeat_edge", "constant_exterior"])
def test_taps_of_a_vector_that_is_shifted_inwards_have_a_steady_part(condition: str) -> None:
    """Its Func is read by one whose rows may be shorter than the vector."""
    source, f, g = hl.ImageParam(hl.Int(32), 2, "in"), hl.Func("f"), hl.Func("g")
    exterior = (0,) if condition == "constant_exterior" else ()
    around = getattr(hl.BoundaryConditions, condition)(source, *exterior)
    f[x, y] = around[x, y] + around[x - 1, y] + around[x + 1, y]
    g[x, y] = f[x, y] + f[x + 1, y]
    f.compute_root().vectorize(x, 16, hl.TailStrategy.ShiftInwards)
    trace = LoweringTrace()
    lower(g._request(), trace=trace)
    loops = [s for s in walk(dict(trace.passes)["partition"]) if isinstance(s, For) and s.kind is LoopKind.VECTORIZED]
    assert min(map(choices, loops)) == 0
