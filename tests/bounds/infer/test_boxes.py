"""The union of two regions holds the points of both, and of each alone where only that one has points."""

from __future__ import annotations

from itertools import product

import pytest

from halide_core import ir
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import simplify
from halide_core.bounds.infer.boxes import Box, Side, union
from halide_core.ir import ExprNode
from halide_core.ir.types import BOOL, INT64
from halide_core.ir.visitor import Substitution

p, q = ir.Variable(BOOL, "p"), ir.Variable(BOOL, "q")
ENDS = [(0, 5), (3, 9), (-2, 7), (1, 2)]


def value(e: ExprNode, truths: dict[ExprNode, ExprNode]) -> int:
    """The value of an expression where p and q are known."""
    found = simplify(Substitution(truths).expr(e))
    assert isinstance(found, ir.IntImm)
    return found.value


def region(ends: tuple[int, int], when: ExprNode) -> Box:
    """One dimension, under a condition."""
    return Box((Side(ir.i64(ends[0]), ir.i64(ends[1])),), when)


@pytest.mark.parametrize("conditions", [(p, q), (p, ir.TRUE), (ir.TRUE, q), (ir.TRUE, ir.TRUE)])
def test_union_is_as_small_as_the_conditions_allow(conditions: tuple[ExprNode, ExprNode]) -> None:
    for ends in product(ENDS, ENDS):
        boxes = [region(e, when) for e, when in zip(ends, conditions, strict=True)]
        whole = union(boxes[0], boxes[1], Facts())
        (side,) = whole.whole()
        for truths in product((ir.FALSE, ir.TRUE), repeat=2):
            at = dict(zip((p, q), truths, strict=True))
            there = [e for e, when in zip(ends, conditions, strict=True) if value(when, at)]
            assert value(whole.when, at) == bool(there)
            if there:
                wanted = (min(low for low, _ in there), max(high for _, high in there))
                assert (value(side.low, at), value(side.high, at)) == wanted


def test_regions_of_one_condition_are_chosen_together() -> None:
    """However many there are, each end is written once, and no condition inside itself."""
    ends = [ir.Variable(INT64, f"a{i}") for i in range(8)]
    whole: Box | None = None
    for i, end in enumerate(ends):
        whole = union(whole, Box((Side(end, end),), ir.TRUE if i == 0 else p), Facts())
    assert whole is not None
    (side,) = whole.whole()
    least: ExprNode = ends[0]
    for end in ends[1:]:
        least = ir.minimum(least, end)
    assert side.low is ir.Select(INT64, p, least, ends[0])


def test_dimension_that_one_says_nothing_of_stays() -> None:
    (side,) = union(region((0, 5), ir.TRUE), Box((None,)), Facts()).whole()
    assert (side.low, side.high) == (ir.i64(0), ir.i64(5))


def test_first_region_is_the_union() -> None:
    first = region((0, 5), p)
    assert union(None, first, Facts()).sides == first.sides


def test_a_region_that_never_has_points_asks_for_nothing() -> None:
    """A reduction over nothing, in a stage whose own loops may have none either."""
    never = ir.conjunction(p, ir.FALSE)
    whole = union(region((0, 6), p), region((0, 7), never), Facts())
    (side,) = whole.whole()
    assert (value(side.low, {}), value(side.high, {})) == (0, 6)
    assert whole.when is p
