"""Expressions of int64 for int32 operations: their values are the same, or the exact ones."""

from __future__ import annotations

import itertools

import pytest

from halide_core import ir
from halide_core.algorithm.model import ScalarParam
from halide_core.bounds.engines.widening import exact_value, widened
from halide_core.errors import UNKNOWN_LOCATION
from halide_core.ir import Binary, BinaryOp, Cast, ExprNode, IntImm, Select
from halide_core.ir.types import INT32, UInt
from halide_core.reference.scalar_ops import binary_function, cast_function

LEAST, MOST = (int(end) for end in INT32.range)
NUMBERS = (LEAST, LEAST + 1, -1000, -8, -3, -1, 0, 1, 3, 7, 8, 1000, MOST - 1, MOST)
BY_NUMBERS = [BinaryOp.DIV, BinaryOp.SHR, BinaryOp.SHL, BinaryOp.BIT_AND, BinaryOp.BIT_OR, BinaryOp.BIT_XOR]
BY_ANY = [BinaryOp.MIN, BinaryOp.MAX, BinaryOp.MOD, BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL]


def value(e: ExprNode) -> int:
    """The value of an expression of numbers."""
    match e:
        case IntImm(value=k):
            return k
        case Cast(type=to, a=a):
            return int(cast_function(a.type, to)(value(a)))
        case Binary(op=op, a=a, b=b):
            return int(binary_function(op, a.type)(value(a), value(b)))
        case Select(condition=condition, a=a, b=b):
            return value(a) if value(condition) else value(b)
    raise AssertionError(e)


@pytest.mark.parametrize("op", BY_NUMBERS + BY_ANY)
def test_values_are_those_of_the_operation(op: BinaryOp) -> None:
    stands = 0
    for a, b in itertools.product(NUMBERS, NUMBERS):
        if op in (BinaryOp.SHL, BinaryOp.SHR) and not 0 <= b < INT32.bits():
            continue
        e = Binary(INT32, op, ir.const(a, INT32), ir.const(b, INT32))
        if (same := widened(e)) is not None:
            assert value(same) == value(e), e
            stands += 1
        elif (exact := exact_value(e)) is not None:
            assert value(e) == (value(exact) - LEAST) % 2 ** INT32.bits() + LEAST, e
            stands += 1
    assert stands > 0


def test_an_int64_is_the_exact_value_of_what_is_left_of_it() -> None:
    for a in (*NUMBERS, MOST + 1, 2**40 + 3, LEAST - 1):
        e = Cast(INT32, ir.i64(a))
        exact = exact_value(e)
        assert exact is not None and value(e) == (value(exact) - LEAST) % 2 ** INT32.bits() + LEAST


def test_an_int32_of_unsigned_arithmetic_has_an_exact_value() -> None:
    for a, b, op in itertools.product(NUMBERS, NUMBERS, (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL)):
        one, other = (Cast(UInt(32), ir.const(v, INT32)) for v in (a, b))
        e = Cast(INT32, Binary(UInt(32), op, one, Binary(UInt(32), BinaryOp.ADD, other, ir.const(2**32 - 3, UInt(32)))))
        exact = exact_value(e)
        assert exact is not None and value(e) == (value(exact) - LEAST) % 2 ** INT32.bits() + LEAST


def test_either_of_two_is_widened() -> None:
    a, b = ir.const(LEAST, INT32), ir.const(7, INT32)
    for condition in (ir.less_equal(a, b), ir.less_equal(b, a)):
        e = Select(INT32, condition, a, b)
        same = widened(e)
        assert same is not None and value(same) == value(e)


@pytest.mark.parametrize("op", [BinaryOp.SHL, BinaryOp.SHR])
def test_a_shift_by_one_of_a_few_amounts_is_a_choice(op: BinaryOp) -> None:
    for a, k in itertools.product(NUMBERS, range(-1, 6)):
        low = Binary(INT32, BinaryOp.MAX, ir.const(k, INT32), ir.const(0, INT32))
        amount = Binary(INT32, BinaryOp.MIN, low, ir.const(3, INT32))
        e = Binary(INT32, op, ir.const(a, INT32), amount)
        found = widened(e) if op is BinaryOp.SHR else exact_value(e)
        assert found is not None
        assert value(e) == (value(found) - LEAST) % 2 ** INT32.bits() + LEAST, e


def test_a_shift_by_any_amount_is_none() -> None:
    n = ir.ParamRef(INT32, ScalarParam("n", INT32, UNKNOWN_LOCATION))
    for op in (BinaryOp.SHL, BinaryOp.SHR):
        e = Binary(INT32, op, ir.const(3, INT32), n)
        assert widened(e) is None
        assert exact_value(e) is None
