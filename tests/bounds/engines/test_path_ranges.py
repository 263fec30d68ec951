"""Ranges along paths whose lets are kept within an interval, and of remainders by what may be negative."""

from __future__ import annotations

import pytest

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.bounds.engines.path_ranges import Extents, _covers_all
from halide_core.bounds.query.query import Define, ForAll
from halide_core.ir import BinaryOp, ExprNode, HoleKind, Interval
from halide_core.ir.types import INT32, INT64, Float
from halide_core.loop_nest import hole
from halide_core.reference.concrete import evaluate
from tests.support.integers import value
from tests.support.paths import Drawn, p, x, y, z

FLOAT = Float(32)


def ends(drawn: Drawn, e: ExprNode) -> tuple[int, int]:
    """The range of an expression, where it is constant."""
    top, inside = drawn.path()
    low, high = Extents().of(e, inside, top)
    assert low is not None and high is not None
    return value(low, {p: 100}), value(high, {p: 100})


@pytest.mark.parametrize(
    ("within", "wanted"), [((6, 5), (1, 2)), ((0, 20), (0, 4)), ((0, 9), (0, 2)), ((9, 11), (2, 4)), ((7, 1), (1, 1))]
)
def test_interval_of_a_let_narrows_the_loops_that_it_is_made_of(
    within: tuple[int, int], wanted: tuple[int, int]
) -> None:
    split = Define(z, ir.add(ir.mul(x, ir.i64(4)), y), Interval(ir.i64(within[0]), ir.i64(within[1])))
    loops = (ForAll(x, Interval(ir.ZERO, ir.i64(5))), ForAll(y, Interval(ir.ZERO, ir.i64(4))))
    assert ends(Drawn((*loops, split)), x) == wanted


@pytest.mark.parametrize(
    ("low", "length", "wanted"), [(-5, 4, 4), (2, 4, 4), (-3, 9, 4), (-6, 12, 5), (-1, 1, 0), (1, 1, 0), (-1, 3, 0)]
)
def test_remainder_is_below_the_size_of_the_modulus(low: int, length: int, wanted: int) -> None:
    modulus = ForAll(y, Interval(ir.i64(low), ir.i64(length)))
    assert ends(Drawn((modulus,)), ir.mod(p, y)) == (0, wanted)


@pytest.mark.parametrize("factor", [0.5, -0.5, 2.0, -3.0])
@pytest.mark.parametrize("written", ["times", "times from the left", "over"])
def test_coordinate_that_is_scaled_as_a_float_has_the_ends_of_its_values(written: str, factor: float) -> None:
    real, scale = ir.Cast(FLOAT, ir.Cast(INT32, x)), ir.const(factor, FLOAT)
    op, a, b = {
        "times": (BinaryOp.MUL, real, scale),
        "times from the left": (BinaryOp.MUL, scale, real),
        "over": (BinaryOp.DIV, real, scale),
    }[written]
    e = ir.Cast(INT64, ir.Cast(INT32, ir.Binary(FLOAT, op, a, b)))
    top, inside = Drawn((ForAll(x, Interval(ir.i64(-4), ir.i64(11))),)).path()
    low, high = Extents().of(e, inside, top)
    assert low is not None and high is not None
    values = [evaluate(e, {x: at}) for at in range(-4, 7)]
    assert (evaluate(low, {}), evaluate(high, {})) == (min(values), max(values))


def test_quotient_of_what_is_further_out_covers_nothing() -> None:
    inner, n = ir.index_variable("inner"), ir.index_variable("n")
    three = ir.i64(3)
    assert _covers_all(ir.mod(inner, three), {inner}, {})
    assert _covers_all(ir.div(inner, three), {inner}, {})
    assert not _covers_all(ir.div(ir.add(inner, n), three), {inner}, {})
    for outer in (ir.mod(n, three), ir.div(n, three)):
        assert not _covers_all(outer, {inner}, {})
        assert _covers_all(ir.add(outer, ir.mod(inner, three)), {inner}, {})


def test_range_is_told_anew_once_more_is_known() -> None:
    holes = hole(HoleKind.CPU, Function("f", ("x",)), 0, 0)
    top, inside = Drawn((ForAll(x, Interval(holes.min, ir.i64(9))),)).path()
    extents, asked = Extents(), ir.add(x, ir.minimum(p, ir.i64(8)))
    first = extents.ends(asked, inside, top)
    assert extents.ends(asked, inside, top) is first
    extents.facts.at(inside).assume_at_most(p, ir.i64(3))
    assert extents.ends(asked, inside, top).low is ir.add(holes.min, p) is not first.low
    extents.record(holes.min, ir.i64(5))
    assert extents.ends(asked, inside, top).low is ir.add(p, ir.i64(5))
