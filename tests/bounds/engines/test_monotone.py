"""Directions are true of every value, and known where a sum, a min, a max, a quotient or a select allows it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from halide_core import ir
from halide_core.analysis.simplify import simplify
from halide_core.bounds.engines.monotone import Direction, Directions
from halide_core.ir import BinaryOp, ExprNode, Select
from halide_core.ir.types import INT64
from halide_core.ir.visitor import Substitution

x, y = ir.index_variable("x"), ir.index_variable("y")
seven, three = ir.i64(7), ir.i64(3)
CONSTANT, GROWS, FALLS, UNKNOWN = Direction.CONSTANT, Direction.GROWS, Direction.FALLS, Direction.UNKNOWN
falling = ir.sub(seven, x)
half = ir.div(x, three)


@pytest.mark.parametrize(
    ("e", "wanted"),
    [
        (x, GROWS),
        (y, CONSTANT),
        (seven, CONSTANT),
        (ir.add(x, y), GROWS),
        (falling, FALLS),
        (ir.sub(x, y), GROWS),
        (ir.sub(y, x), FALLS),
        (ir.mul(x, three), GROWS),
        (ir.mul(x, ir.i64(-2)), FALLS),
        (ir.mul(x, y), UNKNOWN),
        (ir.mul(x, x), UNKNOWN),
        (ir.mul(y, ir.add(y, ir.ONE)), CONSTANT),
        (ir.add(half, x), GROWS),
        (ir.sub(half, x), UNKNOWN),
        (ir.add(half, ir.mul(ir.i64(-1), half)), CONSTANT),
        (ir.minimum(x, seven), GROWS),
        (ir.maximum(x, seven), GROWS),
        (ir.minimum(falling, y), FALLS),
        (ir.maximum(falling, y), FALLS),
        (ir.minimum(x, falling), UNKNOWN),
        (ir.maximum(falling, x), UNKNOWN),
        (half, GROWS),
        (ir.div(falling, three), FALLS),
        (ir.binary(BinaryOp.DIV, x, ir.i64(-3)), FALLS),
        (ir.binary(BinaryOp.DIV, falling, ir.i64(-3)), GROWS),
        (ir.binary(BinaryOp.DIV, x, y), UNKNOWN),
        (ir.mod(x, three), UNKNOWN),
        (ir.mod(y, three), CONSTANT),
        (Select(INT64, ir.less(y, three), x, seven), GROWS),
        (Select(INT64, ir.less(y, three), x, falling), UNKNOWN),
        (Select(INT64, ir.less(x, three), x, seven), UNKNOWN),
        (ir.sub(ir.maximum(ir.sub(x, y), three), x), FALLS),
        (ir.sub(ir.maximum(ir.sub(ir.minimum(x, y), ir.maximum(x, three)), seven), ir.minimum(x, y)), FALLS),
        (ir.sub(x, ir.minimum(ir.sub(x, y), seven)), GROWS),
        (ir.sub(ir.mul(ir.minimum(ir.sub(x, y), seven), three), ir.mul(x, three)), FALLS),
        (ir.sub(ir.minimum(ir.mul(x, three), y), x), UNKNOWN),
        (ir.sub(ir.minimum(ir.mul(x, three), ir.add(x, y)), x), GROWS),
    ],
)
def test_direction(e: ExprNode, wanted: Direction) -> None:
    assert Directions(x).of(e) is wanted
    values = [_value(e, at) for at in range(-9, 10)]
    if wanted is CONSTANT:
        assert len(set(values)) == 1
    if wanted is GROWS:
        assert all(a <= b for a, b in pairwise(values))
    if wanted is FALLS:
        assert all(a >= b for a, b in pairwise(values))


def _value(e: ExprNode, at: int) -> int:
    found = simplify(Substitution({x: ir.i64(at), y: ir.i64(2)}).expr(e))
    assert isinstance(found, ir.IntImm)
    return found.value
