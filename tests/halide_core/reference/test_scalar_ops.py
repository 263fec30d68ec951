"""Scalar operators against numpy's typed arithmetic, and against exact definitions over the integers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halide_core.errors import InternalError
from halide_core.ir import COMPARISONS, BinaryOp, Intrinsic
from halide_core.ir.types import BOOL, Float, Int, Type, TypeCode, UInt
from halide_core.reference.scalar_ops import (
    binary_function,
    call_function,
    cast_function,
    logical_not,
    round_to_float32,
    select,
    value_of,
)

F32, F64 = Float(32), Float(64)
INTEGERS = [Int(8), Int(16), Int(32), Int(64), UInt(8), UInt(16), UInt(32), UInt(64)]
FLOATS = [F32, F64]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, math.inf, -math.inf, math.nan, 3e38, -3e38, 1e-45]

checked = settings(derandomize=True, max_examples=60, deadline=None, database=None)


def integers(type: Type) -> st.SearchStrategy[int]:
    """Values of an integer type, its ends and small numbers often among them."""
    low, high = type.range
    near = [v for v in (low, low + 1, -2, -1, 0, 1, 2, high - 1, high) if low <= v <= high]
    return st.one_of(st.sampled_from(near), st.integers(low, high))


def floats(type: Type) -> st.SearchStrategy[float]:
    """Values of a floating-point type, specials among them."""
    return st.one_of(
        st.sampled_from([round_to_float32(v) for v in SPECIAL]), st.floats(width=32 if type is F32 else 64)
    )


def numbers(type: Type) -> st.SearchStrategy[Any]:
    return floats(type) if type.is_float() else integers(type)


def same(a: float, b: float) -> bool:
    """Equal in value and in the sign of zero; one NaN is as good as another."""
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b and math.copysign(1, a) == math.copysign(1, b)


def wrapped(value: int, type: Type) -> int:
    """The integer of ``type`` that is congruent to ``value``, by the definition."""
    low = type.range[0]
    return (value - low) % (1 << type.bits()) + low


def as_numpy(value: Any, type: Type) -> Any:
    return np.array(value, type.dtype)[()]


NUMPY = {
    BinaryOp.ADD: np.add,
    BinaryOp.SUB: np.subtract,
    BinaryOp.MUL: np.multiply,
    BinaryOp.EQ: np.equal,
    BinaryOp.NE: np.not_equal,
    BinaryOp.LT: np.less,
    BinaryOp.LE: np.less_equal,
}
NUMPY_INTEGER = {
    **NUMPY,
    BinaryOp.MIN: np.minimum,
    BinaryOp.MAX: np.maximum,
    BinaryOp.BIT_AND: np.bitwise_and,
    BinaryOp.BIT_OR: np.bitwise_or,
    BinaryOp.BIT_XOR: np.bitwise_xor,
}
NUMPY_FLOAT = {**NUMPY, BinaryOp.DIV: np.divide}


@pytest.mark.parametrize("type", INTEGERS, ids=str)
def test_integer_operators_agree_with_numpy(type: Type) -> None:
    @checked
    @given(integers(type), integers(type))
    def check(a: int, b: int) -> None:
        for op, ufunc in NUMPY_INTEGER.items():
            with np.errstate(all="ignore"):
                expected = ufunc(as_numpy(a, type), as_numpy(b, type)).item()
            assert binary_function(op, type)(a, b) == expected, op

    check()


@pytest.mark.parametrize("type", FLOATS, ids=str)
def test_float_operators_agree_with_numpy(type: Type) -> None:
    @checked
    @given(floats(type), floats(type))
    def check(a: float, b: float) -> None:
        for op, ufunc in NUMPY_FLOAT.items():
            with np.errstate(all="ignore"):
                result = ufunc(as_numpy(a, type), as_numpy(b, type))
            assert op in COMPARISONS or result.dtype == type.dtype
            assert same(binary_function(op, type)(a, b), result.item()), op

    check()


@pytest.mark.parametrize("type", INTEGERS, ids=str)
def test_division_is_euclidean(type: Type) -> None:
    quotient, remainder = binary_function(BinaryOp.DIV, type), binary_function(BinaryOp.MOD, type)

    @checked
    @given(integers(type), integers(type))
    def check(a: int, b: int) -> None:
        q, r = quotient(a, b), remainder(a, b)
        if b == 0:
            assert (q, r) == (0, 0)
            return
        assert 0 <= r < abs(b)
        exact, rest = divmod(a - r, b)
        assert rest == 0
        assert q == wrapped(exact, type)

    check()


@pytest.mark.parametrize(
    ("a", "b", "quotient", "remainder"),
    [(7, 2, 3, 1), (-7, 2, -4, 1), (7, -2, -3, 1), (-7, -2, 4, 1), (-128, -1, -128, 0), (5, 0, 0, 0), (-5, 0, 0, 0)],
)
def test_division_by_example(a: int, b: int, quotient: int, remainder: int) -> None:
    assert binary_function(BinaryOp.DIV, Int(8))(a, b) == quotient
    assert binary_function(BinaryOp.MOD, Int(8))(a, b) == remainder


@pytest.mark.parametrize("type", INTEGERS, ids=str)
def test_shifts_are_scaling_by_a_power_of_two(type: Type) -> None:
    left, right = binary_function(BinaryOp.SHL, type), binary_function(BinaryOp.SHR, type)
    bits = type.bits()
    counts = st.one_of(st.integers(-bits - 1, bits + 1), integers(type.with_code(TypeCode.Int)))

    def shifted_left(a: int, count: int) -> int:
        if count >= bits:
            return 0
        if count >= 0:
            return wrapped(a * 2**count, type)
        return a // 2**-count if -count < bits else min(a, 0) and -1

    @checked
    @given(integers(type), counts)
    def check(a: int, count: int) -> None:
        assert left(a, count) == shifted_left(a, count)
        assert right(a, count) == shifted_left(a, -count)

    check()


def test_shift_by_the_least_count_shifts_the_other_way() -> None:
    assert binary_function(BinaryOp.SHL, Int(8))(-5, -128) == -1
    assert binary_function(BinaryOp.SHR, Int(8))(-5, -128) == 0
    assert binary_function(BinaryOp.SHR, UInt(8))(255, 8) == 0


@pytest.mark.parametrize("type", FLOATS, ids=str)
def test_float_remainder_rounds_each_operation(type: Type) -> None:
    remainder = binary_function(BinaryOp.MOD, type)

    @checked
    @given(floats(type), floats(type))
    def check(a: float, b: float) -> None:
        with np.errstate(all="ignore"):
            x, y = as_numpy(a, type), as_numpy(b, type)
            expected = x - y * np.floor(x / y)
        assert expected.dtype == type.dtype
        assert same(remainder(a, b), expected.item())

    check()


@pytest.mark.parametrize("type", FLOATS, ids=str)
def test_float_minimum_is_the_second_operand_when_unordered(type: Type) -> None:
    least, greatest = binary_function(BinaryOp.MIN, type), binary_function(BinaryOp.MAX, type)
    for f in (least, greatest):
        assert same(f(math.nan, 2.0), 2.0)
        assert same(f(2.0, math.nan), math.nan)
        assert same(f(0.0, -0.0), -0.0)
        assert same(f(-0.0, 0.0), 0.0)
    assert (least(1.0, 2.0), greatest(1.0, 2.0)) == (1.0, 2.0)


def test_float_division_by_zero_is_ieee() -> None:
    divide = binary_function(BinaryOp.DIV, F32)
    assert divide(1.0, 0.0) == math.inf
    assert divide(1.0, -0.0) == -math.inf
    assert math.isnan(divide(0.0, 0.0))
    assert math.isnan(divide(math.nan, 0.0))
    assert divide(math.inf, -0.0) == -math.inf


@pytest.mark.parametrize("source", [*INTEGERS, BOOL], ids=str)
@pytest.mark.parametrize("target", [*INTEGERS, *FLOATS, BOOL], ids=str)
def test_cast_of_integers_agrees_with_numpy(source: Type, target: Type) -> None:
    convert = cast_function(source, target)

    @settings(checked, max_examples=25)
    @given(integers(source))
    def check(a: int) -> None:
        expected = np.array([a], source.dtype).astype(target.dtype)[0].item()
        assert same(convert(a), expected)
        assert isinstance(convert(a), float) == target.is_float()

    check()


def test_cast_of_int64_to_float32_rounds_once() -> None:
    # Through float64 this would first become a tie, and then go to even, downwards.
    value = (1 << 60) + (1 << 36) + 1
    assert cast_function(Int(64), F32)(value) == float((1 << 60) + (1 << 37))
    assert cast_function(Int(64), F32)(-value) == -float((1 << 60) + (1 << 37))


@pytest.mark.parametrize("source", FLOATS, ids=str)
@pytest.mark.parametrize("target", INTEGERS, ids=str)
def test_cast_of_floats_truncates_and_saturates(source: Type, target: Type) -> None:
    convert = cast_function(source, target)
    low, high = target.range

    @settings(checked, max_examples=25)
    @given(st.one_of(floats(source), st.integers(-300, 300).map(lambda v: v / 2)))
    def check(a: float) -> None:
        result = convert(a)
        assert type(result) is int
        if math.isnan(a):
            assert result == 0
        elif a <= low - 1:
            assert result == low
        elif a >= high + 1:
            assert result == high
        else:
            assert result == math.trunc(a)

    check()


def test_cast_to_bool_compares_with_zero() -> None:
    assert cast_function(F32, BOOL)(0.25) is True
    assert cast_function(F32, BOOL)(-0.0) is False
    assert cast_function(F32, BOOL)(math.nan) is True
    assert cast_function(Int(32), BOOL)(256) is True


def test_cast_of_float64_to_float32_rounds_and_overflows() -> None:
    convert = cast_function(F64, F32)
    for value in (0.1, 1e300, -1e300, 3.4028235677973366e38, 1e-46, 5e-324, math.nan, -0.0):
        with np.errstate(all="ignore"):
            assert same(convert(value), np.float32(value).item())


WHOLE = {
    Intrinsic.FLOOR: np.floor,
    Intrinsic.CEIL: np.ceil,
    Intrinsic.ROUND: np.rint,
    Intrinsic.TRUNC: np.trunc,
    Intrinsic.ABS: np.abs,
    Intrinsic.SQRT: np.sqrt,
}


@pytest.mark.parametrize("type", FLOATS, ids=str)
def test_exact_functions_agree_with_numpy(type: Type) -> None:
    @checked
    @given(st.one_of(floats(type), st.integers(-20, 20).map(lambda v: v / 4)))
    def check(a: float) -> None:
        for function, ufunc in WHOLE.items():
            with np.errstate(all="ignore"):
                expected = ufunc(as_numpy(a, type)).item()
            assert same(call_function(function, type, type)(a), expected), function
        assert call_function(Intrinsic.IS_NAN, type, BOOL)(a) is math.isnan(a)

    check()


SMOOTH = {
    Intrinsic.EXP: np.exp,
    Intrinsic.LOG: np.log,
    Intrinsic.SIN: np.sin,
    Intrinsic.COS: np.cos,
    Intrinsic.TAN: np.tan,
    Intrinsic.ASIN: np.arcsin,
    Intrinsic.ACOS: np.arccos,
    Intrinsic.ATAN: np.arctan,
    Intrinsic.SINH: np.sinh,
    Intrinsic.COSH: np.cosh,
    Intrinsic.TANH: np.tanh,
    Intrinsic.ATAN2: np.arctan2,
    Intrinsic.POW: np.power,
}


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize("function", SMOOTH, ids=lambda f: str(f.value))
def test_transcendental_functions_are_close_to_numpy_and_never_raise(function: Intrinsic, type: Type) -> None:
    arity = 2 if function in (Intrinsic.ATAN2, Intrinsic.POW) else 1
    call = call_function(function, type, type)

    @settings(checked, max_examples=40)
    @given(st.lists(st.one_of(floats(type), st.floats(-8, 8, width=32)), min_size=arity, max_size=arity))
    def check(args: list[float]) -> None:
        result = call(*args)
        with np.errstate(all="ignore"):
            expected = round_to_float32(SMOOTH[function](*args)) if type is F32 else float(SMOOTH[function](*args))
        assert result == round_to_float32(result) or math.isnan(result) or type is F64
        if math.isfinite(expected) and expected != 0:
            assert result == pytest.approx(expected, rel=1e-6 if type is F32 else 1e-12, abs=1e-45)
        else:
            assert same(result, expected)

    check()


@pytest.mark.parametrize(
    ("function", "args", "expected"),
    [
        (Intrinsic.LOG, (0.0,), -math.inf),
        (Intrinsic.LOG, (-1.0,), math.nan),
        (Intrinsic.EXP, (1000.0,), math.inf),
        (Intrinsic.SIN, (math.inf,), math.nan),
        (Intrinsic.ASIN, (2.0,), math.nan),
        (Intrinsic.SINH, (-1000.0,), -math.inf),
        (Intrinsic.SQRT, (-1.0,), math.nan),
        (Intrinsic.SQRT, (-0.0,), -0.0),
        (Intrinsic.POW, (0.0, -1.0), math.inf),
        (Intrinsic.POW, (-8.0, 1 / 3), math.nan),
        (Intrinsic.POW, (-10.0, 309.0), -math.inf),
        (Intrinsic.POW, (math.nan, 0.0), 1.0),
        (Intrinsic.ROUND, (2.5,), 2.0),
        (Intrinsic.ROUND, (-0.5,), -0.0),
    ],
)
def test_special_values_are_those_of_ieee(function: Intrinsic, args: tuple[float, ...], expected: float) -> None:
    assert same(call_function(function, F64, F64)(*args), expected)
    assert same(call_function(function, F32, F32)(*args), expected)


def test_abs_of_the_least_integer_is_unsigned() -> None:
    assert call_function(Intrinsic.ABS, Int(8), UInt(8))(-128) == 128
    assert call_function(Intrinsic.ABS, Int(64), UInt(64))(-(2**63)) == 2**63
    assert call_function(Intrinsic.ABS, UInt(8), UInt(8))(200) == 200


def test_logic_gives_truth_values() -> None:
    both, either = binary_function(BinaryOp.AND, BOOL), binary_function(BinaryOp.OR, BOOL)
    assert [both(a, b) for a in (False, True) for b in (False, True)] == [False, False, False, True]
    assert [either(a, b) for a in (False, True) for b in (False, True)] == [False, True, True, True]
    assert logical_not(False) is True
    assert select(True, 1, 2) == 1
    assert select(False, 1, 2) == 2


def test_nan_is_unequal_to_itself() -> None:
    assert binary_function(BinaryOp.EQ, F32)(math.nan, math.nan) is False
    assert binary_function(BinaryOp.NE, F32)(math.nan, math.nan) is True
    assert binary_function(BinaryOp.LE, F32)(math.nan, 0.0) is False


def test_a_float32_sum_is_rounded_after_each_operation() -> None:
    add = binary_function(BinaryOp.ADD, F32)
    assert add(add(16777216.0, 1.0), 1.0) == 16777216.0
    assert binary_function(BinaryOp.ADD, F64)(16777216.0, 1.0) == 16777217.0


@pytest.mark.parametrize(
    ("number", "type", "expected"),
    [
        (3, Int(32), 3),
        (np.uint8(200), UInt(8), 200),
        (3.0, Int(32), 3),
        (3.5, Int(32), None),
        (math.inf, Int(32), None),
        (256, UInt(8), None),
        (-1, UInt(8), None),
        (1, BOOL, True),
        (0.1, F32, round_to_float32(0.1)),
        (np.float32(0.1), F64, round_to_float32(0.1)),
        (7, F32, 7.0),
        (10**400, F64, math.inf),
        ("3", Int(32), None),
    ],
)
def test_value_of_keeps_a_number_or_refuses_it(number: object, type: Type, expected: object) -> None:
    assert value_of(number, type) == expected


def test_an_operator_without_a_meaning_is_an_internal_error() -> None:
    with pytest.raises(InternalError, match="int32x4"):
        binary_function(BinaryOp.ADD, Int(32, 4))
    with pytest.raises(InternalError, match="sqrt"):
        call_function(Intrinsic.SQRT, Int(32), Int(32))
    with pytest.raises(InternalError, match="<<"):
        binary_function(BinaryOp.SHL, F32)
