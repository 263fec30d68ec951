"""Ranges over a path, by brute force: they hold every value, and are exact for linear expressions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halide_core import ir
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import simplify
from halide_core.analysis.value_range import ValueRanges
from halide_core.bounds.engines.elimination import Elimination
from halide_core.bounds.engines.path_ranges import Extents
from halide_core.bounds.query.query import Define, ForAll, Where
from halide_core.ir import BinaryOp, ExprNode, Interval
from halide_core.ir.types import INT64
from tests.support.integers import expressions, linear_expressions, value
from tests.support.paths import LOOPS, OUTER, PATHS, Drawn, p, q, x, y, z


def _range(drawn: Drawn, e: ExprNode) -> tuple[ExprNode | None, ExprNode | None]:
    top, inside = drawn.path()
    return Extents().of(e, inside, top)


@settings(max_examples=250)
@given(PATHS, expressions((x, y, z, p), 6))
def test_range_holds_every_value(drawn: Drawn, e: ExprNode) -> None:
    low, high = _range(drawn, e)
    for outer in OUTER:
        for at in drawn.points(outer):
            found = value(e, at)
            assert low is None or value(low, outer) <= found, (drawn, e, low, at)
            assert high is None or found <= value(high, outer), (drawn, e, high, at)


@settings(max_examples=150)
@given(PATHS, expressions((x, y, z, p), 6))
def test_range_names_nothing_that_the_path_binds(drawn: Drawn, e: ExprNode) -> None:
    low, high = _range(drawn, e)
    assert low is not None and high is not None, "integer arithmetic on bounded variables has bounds"
    value(low, OUTER[0])
    value(high, OUTER[0])


@settings(max_examples=150)
@given(LOOPS, linear_expressions((x, y, p)), linear_expressions((x, y, z, p)))
def test_range_of_a_linear_expression_is_exact(loops: tuple[ForAll, ...], let: ExprNode, e: ExprNode) -> None:
    drawn = Drawn((*loops, Define(z, let, None)))
    low, high = _range(drawn, e)
    assert low is not None and high is not None
    for outer in OUTER:
        found = [value(e, at) for at in drawn.points(outer)]
        if found:
            assert (value(low, outer), value(high, outer)) == (min(found), max(found)), (drawn, e, low, high, outer)


@settings(max_examples=150)
@given(
    st.integers(1, 6), st.integers(1, 5), st.sampled_from([ir.BinaryOp.DIV, ir.BinaryOp.MIN, ir.BinaryOp.MAX]),
    st.integers(-3, 3), st.integers(1, 5),
)  # fmt: skip
def test_range_of_a_monotone_expression_is_exact(n: int, scale: int, op: ir.BinaryOp, shift: int, k: int) -> None:
    drawn = Drawn((ForAll(x, Interval(p, ir.i64(n))),))
    e = ir.add(ir.binary(op, ir.add(ir.mul(x, ir.i64(scale)), ir.i64(shift)), ir.i64(k)), q)
    low, high = _range(drawn, e)
    assert low is not None and high is not None
    for outer in OUTER:
        found = [value(e, at) for at in drawn.points(outer)]
        assert (value(low, outer), value(high, outer)) == (min(found), max(found))


GUARDED = (ForAll(x, Interval(ir.ZERO, ir.i64(5))), ForAll(y, Interval(ir.ZERO, ir.i64(8))))


@pytest.mark.parametrize(
    ("condition", "e", "expected"),
    [
        (ir.less(y, q), ir.add(ir.mul(x, ir.i64(8)), y), ("0", "min(8, q) + 31")),
        (ir.less_equal(y, x), y, ("0", "4")),
        (ir.less(y, ir.i64(3)), y, ("0", "2")),
        (ir.less_equal(ir.mul(y, ir.i64(2)), x), y, ("0", "2")),
        (ir.less_equal(x, y), ir.sub(y, x), ("0", "7")),
        (ir.equal(y, ir.add(x, ir.ONE)), y, ("1", "5")),
        (ir.conjunction(ir.less(ir.ONE, y), ir.less(y, ir.i64(4))), y, ("2", "3")),
    ],
)
def test_conditions_narrow_the_variable_that_they_are_about(
    condition: ExprNode, e: ExprNode, expected: tuple[str, str]
) -> None:
    low, high = _range(Drawn((*GUARDED, Where(condition))), e)
    assert (repr(low), repr(high)) == expected


def test_guard_of_a_split_cuts_off_at_the_length() -> None:
    split = Define(z, ir.add(ir.mul(x, ir.i64(8)), y), None)
    low, high = _range(Drawn((*GUARDED, split, Where(ir.less(z, q)))), z)
    assert (repr(low), repr(high)) == ("0", "min(40, q) - 1")


def test_split_value_stays_within_the_old_loop() -> None:
    # for xo in (0, ceil(q/8)) for xi in (0, 8): let z = p + min(xo*8, q - 8) + xi within (p, q)
    split = Define(
        z,
        ir.add(ir.add(p, ir.minimum(ir.mul(x, ir.i64(8)), ir.sub(q, ir.i64(8)))), y),
        Interval(p, q),
    )
    count = ir.div(ir.add(q, ir.i64(7)), ir.i64(8))
    drawn = Drawn((ForAll(x, Interval(ir.ZERO, count)), ForAll(y, Interval(ir.ZERO, ir.i64(8))), split))
    top, inside = drawn.path()
    extents = Extents()
    extents.facts.at(top).assume_at_least(q, ir.i64(8))
    low, high = extents.of(z, inside, top)
    assert (repr(low), repr(high)) == ("p", "p + q - 1")
    tile = inside.parent
    assert tile is not None and tile.parent is not None
    low, high = extents.of(z, inside, tile.parent)
    assert low is not None and high is not None
    assert simplify(ir.sub(high, low)) is ir.i64(7)


def test_choices_by_one_condition_are_made_together() -> None:
    """Where a region starts and how long it is are often chosen alike: its end is chosen once."""
    v, n = ir.index_variable("v"), ir.index_variable("n")
    condition = ir.less(ir.ZERO, n)

    def chosen(a: ExprNode, b: ExprNode) -> ExprNode:
        return ir.Select(INT64, condition, a, b)

    low = ir.binary(BinaryOp.MIN, v, ir.ZERO)
    start = chosen(chosen(low, ir.i64(77)), v)
    length = chosen(ir.sub(ir.i64(5), low), ir.sub(ir.i64(3), v))
    found = Elimination({v: (ir.i64(-9), ir.i64(9))}, Facts(), ValueRanges())
    assert found.bound(ir.add(start, length), True) is chosen(ir.i64(5), ir.i64(3))
    same = ir.add(chosen(v, v), chosen(ir.sub(ir.ZERO, v), ir.sub(ir.i64(1), v)))
    assert found.bound(same, True) is chosen(ir.ZERO, ir.i64(1))


def test_what_a_minimum_and_a_maximum_share_cancels() -> None:
    """A point that two guards let through is one point, though neither guard says where it is."""
    v, a, b = (ir.index_variable(n) for n in "vab")
    after = ir.add(v, ir.ONE)
    high = ir.maximum(ir.minimum(after, a), ir.minimum(after, b))
    low = ir.minimum(ir.maximum(v, a), ir.maximum(v, b))
    found = Elimination({v: (ir.i64(-9), ir.i64(9))}, Facts(), ValueRanges()).bound(ir.sub(high, low), True)
    assert found is not None
    assert Facts().proves_le(found, ir.ONE)
