"""Comparisons of floats that are made of integers: exactly those of the values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halide_core import ir
from halide_core.bounds.smt.floats import by_integers
from halide_core.ir import Binary, BinaryOp, Cast, ExprNode, Select, Variable
from halide_core.ir.types import BOOL, INT32, Float, Type
from halide_core.reference.concrete import evaluate

N, M, B = Variable(INT32, "n"), Variable(INT32, "m"), Variable(BOOL, "b")
CONSTANTS = (-3.5, -1.0, 0.0, 0.25, 7.0, 16777215.0)
INTEGERS = st.sampled_from([*range(-5, 9), 16777214, 16777215, 16777216, 16777217, -(1 << 31), (1 << 31) - 1])


def made(type: Type, shape: int) -> ExprNode:
    """A float made of two integers and a choice."""
    n, m = Cast(type, N), Cast(type, M)
    least, most = Binary(type, BinaryOp.MIN, n, m), Binary(type, BinaryOp.MAX, m, ir.const(0.5, type))
    return (n, least, most, Select(type, B, least, m), Binary(type, BinaryOp.MAX, least, most))[shape]


def value(type: Type, shape: int, n: int, m: int, b: bool) -> float:
    """The value in numpy's arithmetic."""
    number = np.float32 if type is Float(32) else np.float64
    x, y = number(n), number(m)
    least, most = min(x, y), max(y, number(0.5))
    return float((x, least, most, least if b else y, max(least, most))[shape])


@pytest.mark.parametrize("type", [Float(32), Float(64)])
@pytest.mark.parametrize("op", [BinaryOp.LT, BinaryOp.LE])
@given(shape=st.integers(0, 4), n=INTEGERS, m=INTEGERS, b=st.booleans(), c=st.sampled_from(CONSTANTS))
def test_comparison_is_that_of_the_values(
    type: Type, op: BinaryOp, shape: int, n: int, m: int, b: bool, c: float
) -> None:
    e, constant, found = made(type, shape), ir.const(c, type), value(type, shape, n, m, b)
    for left, right, holds in (
        (constant, e, c < found or (c == found and op is BinaryOp.LE)),
        (e, constant, found < c or (c == found and op is BinaryOp.LE)),
    ):
        condition = by_integers(op, left, right)
        assert condition is not None
        assert bool(evaluate(condition, {N: n, M: m, B: b})) == holds


def test_what_is_not_made_of_integers_is_left() -> None:
    n, one = Cast(Float(32), N), ir.const(1.0, Float(32))
    assert by_integers(BinaryOp.LE, one, Variable(Float(32), "x")) is None
    assert by_integers(BinaryOp.LE, one, Binary(Float(32), BinaryOp.ADD, n, one)) is None
    assert by_integers(BinaryOp.LE, n, Cast(Float(32), M)) is None
    assert by_integers(BinaryOp.LE, ir.const(16777216.0, Float(32)), n) is None
    assert by_integers(BinaryOp.LE, ir.const(2050.0, Float(16)), Cast(Float(16), N)) is None
    assert by_integers(BinaryOp.LE, one, ir.const(2.0, Float(32))) is ir.TRUE
