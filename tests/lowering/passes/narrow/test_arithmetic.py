"""Narrow arithmetic: what is found, what is left alone, and that every value stays."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.ir import Intrinsic, Store
from halide_core.ir.types import Float, Int, Type, UInt
from halide_core.ir.visitor import subexpressions, walk
from halide_core.lowering.passes.narrow.limits import narrow_limits
from halide_core.reference.scalar_ops import call_function
from tests.support.checking import computed, image, same, variables
from tests.support.dumps import after
from tests.support.interpreted import run_program

x, y = variables("x y")
MIN, MAX = ir.BinaryOp.MIN, ir.BinaryOp.MAX
Formula = Callable[[hl.Expr, hl.Expr], hl.Expr]


def pairs(type: Type) -> tuple[hl.ImageParam, hl.ImageParam]:
    """All pairs of difficult numbers of a type."""
    low, high = type.range
    random = np.random.default_rng(3)
    some = [low, low + 1, -2, -1, 0, 1, 2, 3, high // 2, high - 1, high, *random.integers(low, high, 21).tolist()]
    values = np.array([v if low <= v <= high else low + 5 for v in some], type.dtype)
    return image(np.repeat(values, 32), "a"), image(np.tile(values, 32), "b")


def stored_value(f: hl.Func) -> ir.ExprNode:
    """The value stored after the pass."""
    return next(s.value for s in walk(after(f, "narrow")) if isinstance(s, Store))


def found(f: hl.Func) -> list[Intrinsic]:
    """The functions in what is stored."""
    return [e.function for e in subexpressions((stored_value(f),)) if isinstance(e, ir.Call)]


def of(type: Type, formula: Formula, lanes: int = 16) -> hl.Func:
    """A Func of the formula on all pairs, vectorized."""
    a, b = pairs(type)
    f = hl.Func("f")
    f[x] = formula(hl.Expr(a[x]), hl.Expr(b[x]))
    return f.vectorize(x, lanes)


def wide(type: Type) -> Type:
    return type.with_bits(2 * type.bits())


def mean(type: Type) -> Formula:
    """A mean that is rounded up, in twice the bits."""
    return lambda a, b: hl.cast(type, (hl.cast(wide(type), a) + hl.cast(wide(type), b) + 1) >> 1)


NARROW = [UInt(8), Int(8), UInt(16), Int(16), UInt(32), Int(32)]


@pytest.mark.parametrize("lanes", [1, 8, 32, 64])
@pytest.mark.parametrize("type", NARROW[:-1], ids=str)  # int64 is for indices
def test_mean_in_twice_the_bits(type: Type, lanes: int) -> None:
    f = of(type, mean(type), lanes)
    a, b = (np.asarray(p.get()).astype(object) for p in pairs(type))
    wanted = ((a + b + 1) >> 1).astype(type.dtype)
    assert found(f) == [Intrinsic.ROUNDING_HALVING_ADD]
    assert not any(isinstance(e, ir.Cast) for e in subexpressions((stored_value(f),)))
    same(computed(f, [1024]), wanted)


@pytest.mark.parametrize("type", NARROW, ids=str)
def test_mean_bit_by_bit(type: Type) -> None:
    f = of(type, hl.rounding_halving_add)
    assert found(f) == [Intrinsic.ROUNDING_HALVING_ADD]
    same(computed(f, [1024]), f.evaluate([1024]))


@pytest.mark.parametrize("type", NARROW, ids=str)
def test_absolute_difference(type: Type) -> None:
    f = of(type, hl.absd)
    value = stored_value(f)
    assert not any(isinstance(e, ir.Select) for e in subexpressions((value,)))
    same(computed(f, [1024]), f.evaluate([1024]))


def test_means_of_means_stay_narrow() -> None:
    u8, u16 = UInt(8), UInt(16)
    f = of(u8, lambda a, b: mean(u8)(mean(u8)(a, b), b), 64)
    assert {e.type for e in subexpressions((stored_value(f),)) if isinstance(e, ir.Call)} == {u8}
    assert not any(e.type is u16 for e in subexpressions((stored_value(f),)))
    same(computed(f, [1024]), f.evaluate([1024]))
    for name, values in run_program(f, [(0, 64)]).items():
        assert np.array_equal(values, f.evaluate([64])), name


BOTH_SIDES: list[Formula] = [
    lambda a, b: mean(UInt(8))(a, b) * a,
    lambda a, b: a * mean(UInt(8))(a, b),
]


def test_means_are_found_on_both_sides_of_an_operator() -> None:
    for formula in BOTH_SIDES:
        assert found(of(UInt(8), formula)) == [Intrinsic.ROUNDING_HALVING_ADD]


def test_means_on_both_sides_of_an_operator_are_right() -> None:
    for formula in BOTH_SIDES:
        f = of(UInt(8), formula)
        same(computed(f, [1024]), f.evaluate([1024]))


def test_mean_that_stays_wide() -> None:
    u8, i32 = UInt(8), Int(32)
    f = of(u8, lambda a, b: (hl.cast(i32, a) + 1 + hl.cast(i32, b)) / 2)
    assert found(f) == [Intrinsic.ROUNDING_HALVING_ADD]
    same(computed(f, [1024]), f.evaluate([1024]))


@pytest.mark.parametrize(
    "formula",
    [
        lambda a, b: (hl.u16(a) + hl.u16(b)) >> 1,  # rounded down
        lambda a, b: (hl.u16(a) + hl.u16(b) + 2) >> 1,
        lambda a, b: (hl.u16(a) + hl.u16(b) + 1) >> 2,
        lambda a, b: (hl.u16(a) + hl.u16(b) + hl.u16(a) + 1) >> 1,
        lambda a, b: (a + b + 1) >> 1,  # wraps
        lambda a, b: (hl.u16(hl.i8(a)) + hl.u16(hl.i8(b)) + 1) >> 1,  # negative numbers become large ones
        lambda a, b: (hl.i32(hl.u16(a) * 3) + hl.i32(b) + 1) >> 1,  # of two types
        lambda a, b: (a | b) - ((a ^ b) >> 2),
        lambda a, b: hl.select(a < b, b - a, b - a + 1),
        lambda a, b: hl.select(a < b, a - b, b - a),
        lambda a, b: hl.u8(hl.i16(hl.i8(a)) * 3),
        lambda a, b: hl.u16(hl.i8(a)),  # not the value of a
    ],
)
def test_formulas_that_look_alike_stay_what_they_are(formula: Formula) -> None:
    f = of(UInt(8), formula)
    assert Intrinsic.ROUNDING_HALVING_ADD not in found(f)
    same(computed(f, [1024]), f.evaluate([1024]))


def test_mean_of_values_is_exact() -> None:
    for type in NARROW:
        low, high = type.range
        meant = call_function(Intrinsic.ROUNDING_HALVING_ADD, type, type)
        assert [meant(high, high), meant(low, low), meant(low, high), meant(high, high - 1)] == [
            high, low, (low + high + 1) // 2, high,
        ]  # fmt: skip


def test_limits_of_an_index_are_those_of_the_number() -> None:
    """Both are one expression, which C evaluates once; what int32 can't hold stays as it is."""
    table = image(np.arange(900, dtype=np.int32), "table")
    which = image(np.array([-5, 3, 9, 2**31 - 1], np.int32), "which")
    number, f = hl.clamp(which[x], 0, 6), hl.Func("f")
    f[x] = table[number * 7] + (hl.i32(1) << number)
    (store,) = [s for s in walk(after(f, "limits")) if isinstance(s, Store)]
    limits = [e for e in subexpressions((store.value,)) if isinstance(e, ir.Binary) and e.op in (MIN, MAX)]
    assert [e.type for e in limits] == [Int(32)] * 2
    for got in run_program(f, [(0, 4)]).values():
        assert np.array_equal(got, [1, 21 + 8, 42 + 64, 42 + 64])
    same(computed(f, [4]), f.evaluate([4]))


@pytest.mark.parametrize(("k", "inside"), [(2**31 - 1, True), (2**31, False), (-(2**31), True), (-(2**31) - 1, False)])
def test_limit_that_int32_can_not_hold_stays(k: int, inside: bool) -> None:
    n = ir.Variable(Int(32), "n")
    for op in (MIN, MAX):
        e = ir.Binary(ir.INT64, op, ir.cast(ir.INT64, n), ir.i64(k))
        (store,) = [s for s in walk(narrow_limits(Store("f", ir.ZERO, e))) if isinstance(s, Store)]
        assert isinstance(store.value, ir.Cast if inside else ir.Binary)


@pytest.mark.parametrize("type", [Float(32), Float(64)], ids=str)
def test_integers_of_floats_from_zero_on_are_limited_as_floats(type: Type) -> None:
    """Exact, of what is no number, too: 0."""
    near = [math.nan, math.inf, -math.inf, -0.0, -0.5, 0.5, 8.5, 9.0, 9.5, 1e30, -1e30]
    v = hl.ImageParam(type, 1, "v")
    v.set(hl.Buffer(np.array(near, type.dtype)))
    n = hl.i32(v[x])
    for number in (hl.max(hl.min(n, 9), 0), hl.min(hl.max(n, 0), 9), hl.clamp(n, 0, 9)):
        f = hl.Func("f")
        f[x] = number
        (store,) = [s for s in walk(after(f, "limits")) if isinstance(s, Store)]
        casts = [e for e in subexpressions((store.value,)) if isinstance(e, ir.Cast) and e.a.type.is_float()]
        assert [isinstance(e.a, ir.Binary) and e.a.op is MIN for e in casts] == [True]
        wanted = [0, 9, 0, 0, 0, 0, 8, 9, 9, 9, 0]
        for got in run_program(f, [(0, len(near))]).values():
            assert np.array_equal(got, wanted)
        same(computed(f, [len(near)]), np.array(wanted, np.int32))


@pytest.mark.parametrize(("least", "most"), [(-1, 9), (0, 2**24 + 1), (1, 9), (0, -1)])
def test_other_limits_of_integers_of_floats_stay(least: int, most: int) -> None:
    n = ir.cast(Int(32), ir.Variable(Float(32), "v"))
    e = ir.maximum(ir.minimum(n, ir.const(most, Int(32))), ir.const(least, Int(32)))
    (store,) = [s for s in walk(narrow_limits(Store("f", ir.ZERO, e))) if isinstance(s, Store)]
    assert store.value is e


def test_an_integer_that_is_used_as_it_is_too_is_made_once() -> None:
    """A float that becomes one for a guard, and with limits for an index."""
    n = ir.cast(Int(32), ir.Variable(Float(32), "v"))
    e = ir.maximum(ir.minimum(n, ir.const(9, Int(32))), ir.const(0, Int(32)))
    both = ir.add(ir.cast(ir.INT64, e), ir.cast(ir.INT64, n))
    (store,) = [s for s in walk(narrow_limits(Store("f", ir.ZERO, both))) if isinstance(s, Store)]
    assert store.value is both
    (store,) = [s for s in walk(narrow_limits(Store("f", ir.cast(ir.INT64, e), e))) if isinstance(s, Store)]
    assert isinstance(store.value, ir.Cast)
    assert store.index is ir.cast(ir.INT64, store.value)
