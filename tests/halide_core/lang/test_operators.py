"""Types of operators and functions: the table of PEER.md, checked against Halide 21."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from tests.support.raising import raised

x, y = hl.Var("x"), hl.Var("y")
I8, I16, I32, I64 = hl.Int(8), hl.Int(16), hl.Int(32), hl.Int(64)
U8, U16, U32, U64 = hl.UInt(8), hl.UInt(16), hl.UInt(32), hl.UInt(64)
F32, F64, B = hl.Float(32), hl.Float(64), hl.Bool()


def of(type: hl.Type) -> hl.Expr:
    """Some expression of a type."""
    return hl.cast(type, x)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (I16, U8, I16), (U16, I16, I16), (U8, U16, U16), (U8, F32, F32), (F32, F64, F64), (U8, I32, I32),
        (U32, I32, I32), (I64, U32, I64), (B, I32, I32), (U64, I8, I64), (I64, F32, F32),
    ],
)  # fmt: skip
def test_operator_type_when_operands_differ(a: hl.Type, b: hl.Type, expected: hl.Type) -> None:
    assert (of(a) + of(b)).type() is expected
    assert (of(b) * of(a)).type() is expected
    assert (of(a) < of(b)).type() is B


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: of(U8) + 1, U8),
        (lambda: 1 - of(U8), U8),
        (lambda: of(U8) * 0.5, F32),
        (lambda: of(F64) * 0.5, F64),
        (lambda: of(U8) << 1, U8),
        (lambda: of(I16) >> 2, I16),
        (lambda: of(I16) ** 2, I16),
        (lambda: of(U8) & 3, U8),
        (lambda: ~of(U8), U8),
        (lambda: -of(U8), U8),
        (lambda: (x > 0) & (x < 5), B),
        (lambda: hl.Expr(2**40), I64),
        (lambda: hl.Expr(1), I32),
        (lambda: hl.Expr(1.0), F32),
        (lambda: hl.Expr(True), B),
        (lambda: of(U8) + np.int16(3), I16),
        (lambda: np.float64(3) * of(F32), F64),
        (lambda: of(U8) / 2, U8),
        (lambda: of(F32) // 2, F32),
    ],
)
def test_operator_type_when_one_operand_is_a_number(build: Callable[[], hl.Expr], expected: hl.Type) -> None:
    assert build().type() is expected


def test_literal_error_when_the_value_would_change() -> None:
    raised(hl.TypeMismatchError, lambda: of(U8) + 300, "300", "uint8")
    raised(hl.TypeMismatchError, lambda: of(U8) - -1, "-1", "uint8")


def test_float_literal_warns_at_the_users_line_when_digits_are_lost() -> None:
    with pytest.warns(RuntimeWarning, match="1e.300") as caught:
        hl.Expr(1e300)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "use",
    [
        lambda: bool(x > 0),
        lambda: x > 0 and y > 0,
        lambda: not x,
        lambda: 0 < x < 5,
        lambda: 1 if x > 0 else 2,
    ],
)
def test_truth_value_error_when_an_expression_is_tested(use: Callable[[], object]) -> None:
    raised(hl.DefinitionError, use, "hl.select", "&")


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: hl.abs(of(I16)), U16),
        (lambda: hl.abs(of(I64)), U64),
        (lambda: hl.abs(of(F64)), F64),
        (lambda: hl.absd(of(U8), of(U8)), U8),
        (lambda: hl.absd(of(I16), of(U8)), U16),
        (lambda: hl.absd(x, 2), U32),
        (lambda: hl.absd(of(F32), x), F32),
        (lambda: hl.sqrt(of(U8)), F32),
        (lambda: hl.sqrt(of(I64)), F32),
        (lambda: hl.sqrt(of(F64)), F64),
        (lambda: hl.floor(x), F32),
        (lambda: hl.round(of(F64)), F64),
        (lambda: hl.fract(of(F32)), F32),
        (lambda: hl.is_nan(of(F64)), B),
        (lambda: hl.is_inf(of(F32)), B),
        (lambda: hl.atan2(of(F32), of(F64)), F32),
        (lambda: hl.atan2(of(F64), of(F32)), F64),
        (lambda: hl.pow(of(U8), of(U8)), F32),
        (lambda: hl.pow(x, 3), I32),
        (lambda: hl.pow(x, -2), I32),
        (lambda: hl.pow(of(F32), of(F64)), F32),
        (lambda: hl.hypot(of(F32), of(F64)), F64),
        (lambda: hl.min(of(U8), 1), I32),
        (lambda: hl.max(of(U8), of(I16), x), I32),
        (lambda: hl.clamp(of(U8), 0, 200), U8),
        (lambda: hl.clamp(of(F32), 0, 10), F32),
        (lambda: hl.select(x > 0, of(U8), 1), U8),
        (lambda: hl.select(x > 0, 1, 2.5), F32),
        (lambda: hl.select(x > 0, of(U8), x > 1, 7, 9), U8),
        (lambda: hl.mux(x, [of(U8), of(U8)]), U8),
        (lambda: hl.lerp(of(U8), of(U8), 0.5), U8),
        (lambda: hl.lerp(0, of(U8), 0.5), U8),
        (lambda: hl.lerp(hl.u8(1), hl.i16(2), 0.5), U8),
        (lambda: hl.u8_sat(x), U8),
        (lambda: hl.likely(of(U8)), U8),
    ],
)
def test_function_type_when_called(build: Callable[[], hl.Expr], expected: hl.Type) -> None:
    assert build().type() is expected


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: hl.select(x < 0, 0, x > 9, 9, x), "select(x < 0, 0, select(9 < x, 9, x))"),
        (lambda: hl.min(1, 2, x), "min(1, min(2, x))"),
        (lambda: hl.clamp(x, 0, 9), "max(min(x, 9), 0)"),
        (lambda: hl.mux(x, [1, 2, 3]), "select(x == 0, 1, select(x == 1, 2, 3))"),
        (lambda: hl.u8_sat(x), "uint8(min(max(x, 0), 255))"),
        (lambda: hl.i16_sat(of(U32)), "int16(min(uint32(x), 32767:uint32))"),
        (lambda: hl.u8(300), "44:uint8"),
        (lambda: hl.f64(0.1), "0.1"),
        (lambda: hl.pow(x, -1), "1/x"),
        (lambda: hl.fract(of(F32)), "float32(x) - trunc(float32(x))"),
    ],
)
def test_expression_when_a_function_is_made_of_others(build: Callable[[], hl.Expr], text: str) -> None:
    assert repr(build()) == text


def test_function_error_when_arguments_do_not_go_together() -> None:
    raised(hl.TypeMismatchError, lambda: hl.clamp(of(U8), 0, 300), "300", "uint8")
    raised(hl.TypeMismatchError, lambda: hl.clamp(x, 0, 2.5), "float32")
    raised(hl.TypeMismatchError, lambda: hl.mux(x, [of(U8), of(I16)]), "uint8", "int16")
    raised(hl.TypeMismatchError, lambda: hl.is_nan(x), "int32")
    raised(hl.TypeMismatchError, lambda: hl.lerp(of(U8), of(U8), hl.i32(5)), "int32")
    raised(hl.TypeMismatchError, lambda: hl.lerp(of(U8), of(U8), 1.5), "1.5")
    raised(hl.DefinitionError, lambda: hl.select(x > 0, 1), "2")
    raised(hl.DefinitionError, lambda: hl.min(x), "1")


def test_abs_warns_when_the_type_is_unsigned() -> None:
    with pytest.warns(hl.HalideWarning, match="uint8"):
        hl.abs(of(U8))


def value(e: hl.Expr) -> int | float:
    """The value of a constant expression by the reference semantics."""
    found: int | float = hl.Func(e).evaluate([]).item()
    return found


@pytest.mark.parametrize(
    ("zero", "one", "weight", "expected"),
    [  # as Halide 21 gives them
        (hl.u8(0), hl.u8(255), 0.5, 127), (hl.u8(3), hl.u8(250), hl.f32(0.3), 77),
        (hl.u8(0), hl.u8(255), hl.u8(128), 128),
        (hl.u8(10), hl.u8(200), hl.u8(255), 200), (hl.i8(-100), hl.i8(100), 0.25, -51),
        (hl.i16(-100), hl.i16(100), hl.u8(77), -40), (hl.u16(100), hl.u16(65000), hl.f32(0.9), 58510),
        (hl.i32(-5), hl.i32(1000000), hl.f32(0.7), 699998), (hl.u8(1), hl.u8(2), hl.Expr(True), 2),
        (hl.u8(1), hl.i16(2), 0.5, 1), (hl.u8(0), 255, 0.5, 127), (0, hl.u8(255), 0.5, 127),
        (hl.u32(1), hl.u32(4000000000), 0.5, 2000000000), (hl.f32(1.0), hl.f32(2.0), 0.25, 1.25),
        (hl.f32(1.0), hl.f32(2.0), hl.u8(128), 1.5019607543945312),
        (hl.cast(B, 0), hl.cast(B, 1), hl.u8(127), 0), (hl.cast(B, 0), hl.cast(B, 1), hl.u8(128), 1),
        (hl.cast(B, 0), hl.cast(B, 1), hl.u32(2**31 - 1), 0), (hl.cast(B, 0), hl.cast(B, 1), hl.u32(2**31), 1),
        (hl.cast(B, 0), hl.cast(B, 1), 0.5, 0), (hl.cast(B, 0), 1, hl.f64(0.51), 1), (hl.cast(B, 1), 0, hl.u16(9), 1),
    ],
)  # fmt: skip
def test_lerp_value_when_compared_with_halide(zero: hl.Expr, one: hl.Expr, weight: hl.Expr, expected: float) -> None:
    assert value(hl.lerp(zero, one, weight)) == expected


@pytest.mark.parametrize(
    ("base", "exponent", "expected"),
    [  # as Halide 21 gives them
        (hl.f32(1.37) * 3, 10, np.float32(1375366.375)),
        (hl.f32(1.37) * 3, 23, np.float32(131329505099776.0)), (hl.f32(1.37) * 3, 13, np.float32(95486912.0)),
        (hl.u32(3), 100, 3476558801), (hl.u8(3), 300, 113), (hl.u64(3), 65, 7752514261426648835),
        (hl.u8(17), hl.i8(2), 33), (hl.u8(17), np.uint8(2), 33), (hl.u8(17), hl.u8(2), 289.0), (hl.u32(2), 4096, 0),
    ],
)  # fmt: skip
def test_power_is_halide_s_product(base: hl.Expr, exponent: int, expected: float) -> None:
    assert value(base**exponent) == pytest.approx(expected, rel=1e-7 if isinstance(exponent, hl.Expr) else 0)
    assert (base**exponent).type() is (F32 if isinstance(expected, float) else base.type())


def test_fast_power_of_a_constant_exponent_is_of_the_base_s_type() -> None:
    assert [hl.fast_pow(of(t), 2).type() for t in (U8, I32, F32, F64)] == [U8, I32, F32, F64]
    assert [hl.fast_pow(of(t), hl.u8(2)).type() for t in (U8, F64)] == [F32, F32]
    assert value(hl.fast_pow(hl.u8(17), 2)) == 33


def test_large_integers_stand_beside_floats_that_have_them() -> None:
    assert value(hl.f32(1.0) * 2**30) == 2.0**30
    assert value(hl.clamp(hl.f32(1e30), 0, 2**31)) == 2.0**31
    assert value(hl.f64(1.0) * -(2**62)) == -(2.0**62)
    assert [F32.can_represent(n) for n in (2**24 + 1, 2**24 + 2, 2**127, 2**128)] == [False, True, True, False]
    raised(hl.TypeMismatchError, lambda: of(F32) + (2**24 + 1), "16777217", "float32")


@pytest.mark.parametrize(("type", "low", "high"), [(U8, 0, 255), (I8, -128, 127), (F32, -np.inf, np.inf), (B, 0, 1)])
def test_type_limits_when_asked(type: hl.Type, low: float, high: float) -> None:
    assert value(type.min()) == low
    assert value(type.max()) == high
    assert type.max().type() is type
