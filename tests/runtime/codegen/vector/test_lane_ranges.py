"""Constants between which lanes are, and the factors with which a sum of them stays in int32."""

from __future__ import annotations

import numpy as np
import pytest

from halide_core import ir
from halide_core.ir import BinaryOp, ExprNode
from halide_core.ir.types import BOOL, INT32, INT64, Type, UInt
from halide_core.runtime.codegen.vector.lane_ranges import greatest_factor, range_of_lanes

LANES = 8
EIGHT = INT32.with_lanes(LANES)
ANY = ir.Variable(EIGHT, "v")
STRIDE = ir.Variable(INT64, "s")
LEAST, MOST = INT32.range


def all_lanes(value: int, type: Type = EIGHT) -> ExprNode:
    return ir.Broadcast(type, ir.const(value, type.element_of()))


def binary(op: BinaryOp, a: ExprNode, b: ExprNode) -> ExprNode:
    return ir.Binary(a.type, op, a, b)


def between(low: int, high: int) -> ExprNode:
    return binary(BinaryOp.MAX, binary(BinaryOp.MIN, ANY, all_lanes(high)), all_lanes(low))


def test_ranges_are_those_of_the_operators() -> None:
    assert range_of_lanes(between(3, 999)) == (3, 999)
    assert range_of_lanes(binary(BinaryOp.SUB, between(3, 999), all_lanes(4))) == (-1, 995)
    assert range_of_lanes(ir.Cast(EIGHT, ir.Variable(UInt(8, LANES), "u"))) == (0, 255)
    chosen = ir.Select(EIGHT, ir.Variable(BOOL.with_lanes(LANES), "c"), between(0, 9), all_lanes(-1))
    assert range_of_lanes(chosen) == (-1, 9)
    assert range_of_lanes(ANY) == (LEAST, MOST)


def test_sum_that_may_wrap_has_the_range_of_its_type() -> None:
    assert range_of_lanes(binary(BinaryOp.ADD, ANY, all_lanes(1))) == (LEAST, MOST)
    assert range_of_lanes(ir.Cast(UInt(8, LANES), between(0, 256))) == (0, 255)
    assert range_of_lanes(binary(BinaryOp.MUL, between(0, 1 << 20), all_lanes(1 << 20))) == (LEAST, MOST)


def test_shared_operands_are_looked_at_a_few_times() -> None:
    e = between(0, 1)
    for _ in range(200):
        e = binary(BinaryOp.ADD, e, e)
    assert range_of_lanes(e) == (LEAST, MOST)


@pytest.mark.parametrize("seed", range(40))
def test_factor_is_the_greatest_or_near_to_it(seed: int) -> None:
    random = np.random.default_rng(seed)
    low, high = sorted(int(k) for k in random.integers(-(1 << int(random.integers(1, 31))), 1 << 20, 2))
    below, above = sorted(int(k) for k in random.integers(-(1 << 9), 1 << int(random.integers(1, 30)), 2))
    factor = greatest_factor((between(low, high), between(below, above), STRIDE))
    ends = [a + b * factor for a in (low, high) for b in (below, above)]
    assert LEAST <= min(ends) <= max(ends) <= MOST
    more = [a + b * (factor + 1) for a in (0, low, high) for b in (below, above)]
    assert factor == MOST or not LEAST <= min(more) <= max(more) <= MOST


def test_no_factor_of_lanes_that_may_be_anything() -> None:
    assert greatest_factor((between(0, 9), ANY, STRIDE)) == 0
    assert greatest_factor((ANY, between(1, 9), STRIDE)) == 0
    assert greatest_factor((between(0, 9), between(0, 9), STRIDE, between(0, 9), ir.Variable(INT64, "t"))) == 0
    assert greatest_factor((between(0, 9), STRIDE)) == MOST // 9
