"""Fixed-point and bit functions against plain Python arithmetic, by the reference semantics and compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from tests.support.raising import raised

x = hl.Var("x")
I8, I16, I32, I64 = (hl.Int(b) for b in (8, 16, 32, 64))
U8, U16, U32, U64 = (hl.UInt(b) for b in (8, 16, 32, 64))
INTEGERS = (I8, U8, I16, U16, I32, U32, I64, U64)


def _values(type: hl.Type) -> list[int]:
    """Numbers of a type, its extremes among them."""
    low, high = type.range
    some = (low, low + 1, -7, -1, 0, 1, 2, 3, 5, 7, 100, high // 2, high // 2 + 1, high - 1, high)
    return [v for v in some if v >= low]


def _buffer(type: hl.Type, values: list[int]) -> hl.Buffer:
    return hl.Buffer(np.array(values, type.dtype))


Column = tuple[hl.Type, list[int]]
Build = Callable[..., hl.Expr]


def _tables(builds: Mapping[str, Build], *operands: Column) -> dict[str, list[int]]:
    """Values of expressions on columns of operands: compiled together, and the same by the reference semantics."""
    columns = [_buffer(type, values)[x] for type, values in operands]
    funcs = []
    for name, build in builds.items():
        f = hl.Func(name)
        f[x] = build(*columns)
        funcs.append(f)
    count = len(operands[0][1])
    buffers = hl.Pipeline(funcs).realize([count])
    found = {}
    for f, buffer in zip(funcs, buffers if isinstance(buffers, tuple) else (buffers,), strict=True):
        compiled = np.asarray(buffer).tolist()
        assert compiled == np.asarray(f.evaluate([count])).tolist()
        found[f.name()] = [int(v) for v in compiled]
    return found


def _results(build: Build, *operands: Column) -> list[int]:
    return _tables({"f": build}, *operands)["f"]


def _wrap(value: int, type: hl.Type) -> int:
    low, high = type.range
    return (value - low) % (high - low + 1) + low


def _saturate(value: int, type: hl.Type) -> int:
    low, high = type.range
    return max(low, min(high, value))


def _toward_zero(a: int, b: int) -> int:
    if b == 0:
        return 0
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


BINARY: dict[str, Callable[[int, int, hl.Type], int]] = {
    "halving_add": lambda a, b, t: (a + b) >> 1,
    "rounding_halving_add": lambda a, b, t: (a + b + 1) >> 1,
    "halving_sub": lambda a, b, t: _wrap((a - b) >> 1, t),
    "saturating_add": lambda a, b, t: _saturate(a + b, t),
    "saturating_sub": lambda a, b, t: _saturate(a - b, t),
    "div_round_to_zero": lambda a, b, t: _wrap(_toward_zero(a, b), t),
    "mod_round_to_zero": lambda a, b, t: 0 if b == 0 else a - b * _toward_zero(a, b),
}


def _columns(type: hl.Type) -> tuple[list[tuple[int, int]], Column, Column]:
    pairs = [(p, q) for p in _values(type) for q in _values(type)]
    return pairs, (type, [p for p, _ in pairs]), (type, [q for _, q in pairs])


@pytest.mark.parametrize("type", INTEGERS, ids=str)
def test_binary_functions_on_extremes(type: hl.Type) -> None:
    pairs, a, b = _columns(type)
    found = _tables({name: getattr(hl, name) for name in BINARY}, a, b)
    assert found == {name: [of(p, q, type) for p, q in pairs] for name, of in BINARY.items()}


@pytest.mark.parametrize("type", INTEGERS[:6], ids=str)
def test_widening_functions_lose_nothing(type: hl.Type) -> None:
    pairs, a, b = _columns(type)
    found = _tables({"add": hl.widening_add, "sub": hl.widening_sub, "mul": hl.widening_mul}, a, b)
    assert found["add"] == [p + q for p, q in pairs]
    assert found["sub"] == [p - q for p, q in pairs]
    assert found["mul"] == [p * q for p, q in pairs]


@pytest.mark.parametrize("type", INTEGERS, ids=str)
def test_rounding_shift_when_counts_have_both_signs(type: hl.Type) -> None:
    bits = type.bits()
    pairs = [(a, n) for a in _values(type) for n in (-128, -3, -1, 0, 1, 2, bits - 1, bits, bits + 5)]
    a, n = (type, [p for p, _ in pairs]), (I8, [q for _, q in pairs])

    def rounded(value: int, count: int) -> int:
        if count <= 0:
            return _wrap(value << -count, type) if -count < type.bits() else 0
        return _wrap((value + (1 << (count - 1))) >> count, type)

    found = _tables({"right": hl.rounding_shift_right, "left": hl.rounding_shift_left}, a, n)
    assert found["right"] == [rounded(p, q) for p, q in pairs]
    assert found["left"] == [rounded(p, -q) for p, q in pairs]


def test_rounding_shift_by_the_least_count_there_is() -> None:
    for type in (I8, hl.Int(16), I32, hl.Int(64)):
        least = int(type.range[0])
        values, counts = (type, [-5, least, 7] * 2), (type, [least] * 3 + [least + 1] * 3)
        found = _tables({"right": hl.rounding_shift_right, "left": hl.rounding_shift_left}, values, counts)
        assert found == {"right": [0] * 6, "left": [0] * 6}


@pytest.mark.parametrize("count", [127, 255, 256, 257, 2**40])
def test_shift_by_a_constant_that_the_type_of_counts_has_not(count: int) -> None:
    values = (I8, [-128, -1, 5, 127])
    shifts: dict[str, Build] = {
        "left": lambda a: a << count,
        "right": lambda a: a >> count,
        "back": lambda a: a << -count,
    }
    found = _tables(shifts, values)
    assert found == {"left": [0] * 4, "right": [-1, -1, 0, 0], "back": [-1, -1, 0, 0]}
    assert _results(lambda a: hl.extract_bits(U8, a, count), (U8, [1, 255])) == [0, 0]


@pytest.mark.parametrize("type", INTEGERS[:6], ids=str)
def test_mul_shift_right_saturates(type: hl.Type) -> None:
    pairs, a, b = _columns(type)
    counts = (0, 1, 4, 8)
    plain = _tables({str(n): lambda p, q, n=n: hl.mul_shift_right(p, q, n) for n in counts}, a, b)
    rounded = _tables({str(n): lambda p, q, n=n: hl.rounding_mul_shift_right(p, q, n) for n in counts}, a, b)
    for n in counts:
        assert plain[str(n)] == [_saturate((p * q) >> n, type) for p, q in pairs]
        assert rounded[str(n)] == [_saturate((p * q + ((1 << n) >> 1)) >> n, type) for p, q in pairs]


@pytest.mark.parametrize("type", INTEGERS, ids=str)
def test_counting_bits(type: hl.Type) -> None:
    values, bits = _values(type), type.bits()
    rows = [format(v % (1 << bits), f"0{bits}b") for v in values]
    builds = {"set": hl.popcount, "leading": hl.count_leading_zeros, "trailing": hl.count_trailing_zeros}
    found = _tables(builds, (type, values))
    assert found["set"] == [r.count("1") for r in rows]
    assert found["leading"] == [len(r) - len(r.lstrip("0")) for r in rows]
    assert found["trailing"] == [len(r) - len(r.rstrip("0")) for r in rows]


def test_bits_of_a_truth_value() -> None:
    truth = hl.Expr(x) > 0
    assert hl.evaluate(hl.popcount(hl.Expr(True))) == 1
    assert [f(truth).type() for f in (hl.popcount, hl.count_leading_zeros, hl.count_trailing_zeros)] == [hl.Bool()] * 3
    assert [hl.evaluate(hl.count_leading_zeros(hl.Expr(b))) for b in (False, True)] == [1, 0]


def test_bits_joined_and_cut_out() -> None:
    low, high = (U8, [0x34, 0, 255, 1]), (U8, [0x12, 255, 255, 0])
    assert _results(lambda a, b: hl.concat_bits([a, b]), low, high) == [0x1234, 0xFF00, 0xFFFF, 1]
    assert _results(lambda a: hl.extract_bits(U8, a, 8), (U32, [0x12345678, 0xFFFFFFFF])) == [0x56, 0xFF]
    assert _results(lambda a: hl.extract_bits(I8, a, 4), (I16, [0x0F80, -1])) == [-8, -1]
    assert _results(lambda a: hl.extract_bits(U32, a, 4), (U8, [0xAB])) == [0x0A]
    assert hl.concat_bits([hl.i8(1), hl.i8(2)]).type() is I16


def test_bits_cut_out_of_floats() -> None:
    assert _results(lambda a: hl.extract_bits(U8, a, 15), (hl.Float(32), [0, 1, 3, 7])) == [0, 0, 128, 192]
    assert _results(lambda a: hl.extract_bits(U16, a, 48), (hl.Float(64), [1, -2])) == [0x3FF0, 0xC000]
    narrow = (hl.Float(32), [1, -2])
    assert _results(lambda a: hl.extract_bits(I8, hl.cast(hl.Float(16), a), 8), narrow) == [0x3C, -0x40]
    assert _results(lambda a: hl.extract_bits(hl.Float(32), a, 32), (U64, [0x3F800000 << 32])) == [1]
    raised(hl.TypeMismatchError, lambda: hl.extract_bits(U8, hl.f32(x), hl.f32(x)), "float32")


def test_reinterpretation_of_integers() -> None:
    assert _results(lambda a: hl.reinterpret(U8, a), (I8, [-1, -128, 5])) == [255, 128, 5]
    assert _results(lambda a: hl.reinterpret(I64, a), (U64, [2**64 - 1])) == [-1]
    raised(hl.TypeMismatchError, lambda: hl.reinterpret(U8, hl.i32(x)), "int32", "uint8", "hl.cast")
    raised(hl.TypeMismatchError, lambda: hl.reinterpret(U64, hl.f32(x)), "float32", "uint64")
    raised(hl.TypeMismatchError, lambda: hl.reinterpret(hl.f32(x), hl.f32(x)), "reinterpret() needs a type")  # type: ignore[arg-type]


def test_wide_count_widens_what_is_shifted() -> None:
    """As Halide has it: the operands become as wide as the count, and only then are there twice the bits."""
    assert _results(lambda a: hl.widening_shift_left(hl.u8(200), a), (hl.Int(32), [30])) == [200 << 30]
    assert _results(lambda a: hl.mul_shift_right(hl.u8(255), hl.u8(255), a), (U16, [3])) == [255 * 255 >> 3]
    assert _results(lambda a: hl.mul_shift_right(hl.u8(255), hl.u8(255), a), (U8, [3])) == [255]


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: hl.widening_sub(hl.u8(x), hl.u8(x)), I16),
        (lambda: hl.widening_mul(hl.i16(x), hl.u16(x)), I32),
        (lambda: hl.widening_add(hl.f32(x), hl.f32(x)), hl.Float(64)),
        (lambda: hl.widening_shift_left(hl.u8(x), 3), U16),
        (lambda: hl.widening_shift_right(hl.i16(x), 3), I32),
        (lambda: hl.widening_shift_left(hl.u8(x), hl.u16(x)), U32),
        (lambda: hl.widening_shift_right(hl.i8(x), x), I64),
        (lambda: hl.mul_shift_right(hl.u8(x), hl.u8(x), hl.u16(x)), U16),
        (lambda: hl.rounding_mul_shift_right(hl.i16(x), hl.u8(x), hl.u8(3)), I16),
        (lambda: hl.widening_add(hl.u8(x), 3), I64),
        (lambda: hl.halving_add(hl.u8(x), 3), I32),
        (lambda: hl.saturating_sub(hl.u8(x), hl.u16(x)), U16),
        (lambda: hl.widen_right_add(hl.u16(x), hl.u8(x)), U16),
        (lambda: hl.widen_right_sub(hl.i32(x), hl.i16(x)), I32),
        (lambda: hl.widen_right_mul(hl.i32(x), hl.i16(x)), I32),
        (lambda: hl.rounding_shift_right(hl.u8(x), 1), U8),
        (lambda: hl.rounding_shift_left(hl.u8(x), hl.u8(x)), U8),
        (lambda: hl.rounding_shift_left(hl.u8(x), hl.i16(x)), U16),
        (lambda: hl.u8(x) << x, U32),
        (lambda: 3 << hl.u8(x), I32),
        (lambda: hl.i16(x) >> hl.u8(x), I16),
        (lambda: hl.strict_float(hl.u8(x)), U8),
        (lambda: hl.unsafe_promise_clamped(hl.u8(x), 0, 200), U8),
        (lambda: hl.fast_pow(hl.u8(x), hl.u8(x)), hl.Float(32)),
        (lambda: hl.fast_sin(hl.f64(x)), hl.Float(64)),
        (lambda: hl.acosh(x), hl.Float(32)),
    ],
)
def test_type_when_called(build: Callable[[], hl.Expr], expected: hl.Type) -> None:
    assert build().type() is expected


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: hl.popcount(hl.f32(x)), ("popcount", "float32")),
        (lambda: hl.widening_add(hl.i64(x), hl.i64(x)), ("widening_add", "128 bits")),
        (lambda: hl.widening_mul(hl.f64(x), hl.f64(x)), ("widening_mul", "float64")),
        (lambda: hl.halving_add(hl.f32(x), hl.f32(x)), ("halving_add", "float32")),
        (lambda: hl.saturating_add(hl.f32(x), 1), ("saturating_add", "float32")),
        (lambda: hl.div_round_to_zero(hl.f32(x), hl.f32(x)), ("div_round_to_zero", "float32")),
        (lambda: hl.widen_right_add(hl.u8(x), hl.u8(x)), ("widen_right_add", "uint8")),
        (lambda: hl.widen_right_mul(hl.i16(x), hl.u8(x)), ("widen_right_mul", "int16", "uint8")),
        (lambda: hl.mul_shift_right(hl.u8(x), hl.u8(x), 300), ("mul_shift_right", "300")),
        (lambda: hl.mul_shift_right(hl.u8(x), hl.u8(x), hl.i8(x)), ("mul_shift_right", "unsigned", "int8")),
        (lambda: hl.mul_shift_right(hl.i64(x), hl.i64(x), 3), ("mul_shift_right", "128 bits")),
        (lambda: hl.concat_bits([hl.u8(x), hl.u16(x)]), ("concat_bits", "uint8", "uint16")),
        (lambda: hl.concat_bits([hl.u32(x)] * 4), ("concat_bits", "128")),
        (lambda: hl.fast_exp(hl.f64(x)), ("fast_exp", "float64")),
        (lambda: hl.fast_inverse(hl.u8(x)), ("fast_inverse", "uint8")),
        (lambda: hl.unsafe_promise_clamped(hl.u8(x), 0, 300), ("300", "uint8")),
        (lambda: hl.u8(x) & hl.i8(x), ('"&"', "uint8", "int8", "hl.u8(")),
        (lambda: hl.i16(x) | hl.u32(x), ('"|"', "int16", "uint32", "hl.i32(")),
        (lambda: hl.select(hl.u8(x), 1, 2), ("select", "uint8", "comparison")),
        (lambda: hl.select(hl.Expr(x) > 0, hl.u8(x), hl.i16(x)), ("select", "uint8", "int16")),
        (lambda: hl.logical_not(x), ("logical_not", "int32")),
    ],
)
def test_wrong_types_are_refused(call: Callable[[], Any], named: tuple[str, ...]) -> None:
    raised(hl.TypeMismatchError, call, *named)


@pytest.mark.parametrize("values", [[], [hl.u8(x)] * 3], ids=["none", "three"])
def test_concat_bits_of_a_wrong_number(values: list[Any]) -> None:
    raised(hl.DefinitionError, lambda: hl.concat_bits(values), "1, 2, 4 or 8")


@pytest.mark.parametrize("bits", [32, 64])
def test_inverse_hyperbolic_functions_are_exact(bits: int) -> None:
    points = [-40.0, -3.0, -1.0, -0.5, -0.125, -1e-3, -1e-9, 0.0, 1e-12, 1e-4, 0.1249, 0.125, 0.7, 1.5, 20.0, 1e9, 1e30]
    data = np.array(points, f"f{bits // 8}")
    at = hl.Buffer(data)[x]
    expected = {"asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh}
    for name, exact in expected.items():
        f = hl.Func("f")
        f[x] = getattr(hl, name)(at)
        with np.errstate(all="ignore"):
            wanted = exact(data.astype(np.float64)).astype(data.dtype)
        found = np.asarray(f.realize([len(points)]))
        assert found.dtype == data.dtype
        np.testing.assert_array_max_ulp(found[~np.isnan(wanted)], wanted[~np.isnan(wanted)], 16)
        assert np.isnan(found[np.isnan(wanted)]).all()


def test_fast_functions_are_the_exact_ones() -> None:
    v = hl.f32(x) + 1
    for fast, exact in (
        (hl.fast_exp(v), hl.exp(v)),
        (hl.fast_log(v), hl.log(v)),
        (hl.fast_sin(v), hl.sin(v)),
        (hl.fast_cos(v), hl.cos(v)),
        (hl.fast_pow(v, 3), hl.pow(v, 3)),
        (hl.fast_inverse(v), 1 / v),
        (hl.fast_inverse_sqrt(v), 1 / hl.sqrt(v)),
    ):
        assert repr(fast) == repr(exact)


def test_literal_that_needs_64_bits_stays_an_int64() -> None:
    assert (hl.i32(x) + 2**31).type() is I64
    assert (hl.u8(x) + 2**40).type() is I64
    assert (hl.u64(x) + 2**63).type() is U64
    raised(hl.TypeMismatchError, lambda: hl.i32(x) + 2**63, str(2**63))


def test_undefined_expression_can_only_be_asked() -> None:
    nothing = hl.Expr()
    assert not nothing.defined()
    assert hl.Expr(3).defined()
    assert repr(nothing) == "(undefined)"
    raised(hl.DefinitionError, lambda: nothing + 1, "undefined")
    raised(hl.DefinitionError, lambda: hl.Expr(1, 2), "one value")


def test_type_answers_about_limits() -> None:
    assert (U8.is_max(255), U8.is_max(254), I8.is_min(-128), I8.is_min(0)) == (True, False, True, False)
    assert (hl.Float(32).is_max(255), U8.is_bfloat(), U8.same_handle_type(I16)) == (False, False, True)


def test_promise_of_one_end() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = x
    f.compute_root()
    for low, high in ((0, hl.Expr()), (hl.Expr(), 20), (None, None)):
        g = hl.Func("g")
        g[x] = f[hl.unsafe_promise_clamped(x * 2, low, high)]
        assert np.asarray(g.realize([8])).tolist() == g.evaluate([8]).tolist() == list(range(0, 16, 2))
    assert repr(hl.unsafe_promise_clamped(hl.u8(x), 3)) == "unsafe_promise_clamped(uint8(x), 3:uint8, 255:uint8)"
    assert repr(hl.unsafe_promise_clamped(hl.f32(x), None, 3.0)) == repr(hl.min(hl.f32(x), 3.0))


def test_type_without_arguments_is_of_no_value() -> None:
    assert (str(hl.Type()), hl.Type().is_handle(), hl.Type().bits()) == ("handle0", True, 0)
    assert hl.Type(hl.TypeCode.Int, 16) is hl.Int(16)
