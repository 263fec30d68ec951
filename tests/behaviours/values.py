"""Documented behaviours of types, operators and functions of numbers."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

Shown = list[tuple[Any, Any]]
"""Pairs of a program's value and the documented one."""


Behaviour = Callable[[Any], Shown]


def behaviours_of(module: ModuleType) -> dict[str, Behaviour]:
    """The behaviours of a file, by name."""
    return {
        name: each
        for name, each in vars(module).items()
        if isinstance(each, FunctionType)
        and each.__module__ == module.__name__
        and list(each.__annotations__) == ["hl", "return"]
    }


def at(hl: Any, e: Any) -> Any:
    """The value of an expression without variables."""
    f = hl.Func()
    f[()] = e
    return f.realize([])[()]


def row(hl: Any, value: Any, n: int) -> list[Any]:
    """The first values of a Func of one dimension, ``value`` being made of its Var."""
    x, f = hl.Var("x"), hl.Func()
    f[x] = value(x)
    return list(np.asarray(f.realize([n])).tolist())


def division_rounds_to_negative_infinity(hl: Any) -> Shown:
    """Integer division rounds so that the remainder is never negative, whatever the signs."""
    pairs = [(7, 2), (-7, 2), (7, -2), (-7, -2)]
    found = [(at(hl, hl.Expr(a) / hl.Expr(b)), at(hl, hl.Expr(a) % hl.Expr(b))) for a, b in pairs]
    return [(found, [(3, 1), (-4, 1), (-3, 1), (4, 1)])]


def division_by_zero_is_zero(hl: Any) -> Shown:
    """x/0 and x%0 are 0 for integers, without a trap."""
    p = hl.Param(hl.Int(32))
    p.set(0)
    return [(at(hl, hl.Expr(5) / p), 0), (at(hl, hl.Expr(5) % p), 0)]


def unsigned_arithmetic_wraps(hl: Any) -> Shown:
    """uint8 values wrap modulo 256."""
    a, b = hl.cast(hl.UInt(8), 200), hl.Param(hl.UInt(8))
    b.set(100)
    return [(at(hl, a + b), 44), (at(hl, b - a), 156), (at(hl, a * b), 32)]


def mixed_types_widen(hl: Any) -> Shown:
    """An operation on two types is done in one that both fit by Halide's rules; with a float it is a float's."""
    i8, i16, u8 = (hl.cast(t, 3) for t in (hl.Int(8), hl.Int(16), hl.UInt(8)))
    f32 = hl.f32(0.5)
    return [
        ((i8 + i16).type() == hl.Int(16), True),
        ((u8 + i16).type() == hl.Int(16), True),
        ((u8 * f32).type() == hl.Float(32), True),
        (((u8 + i8).type()) == hl.Int(8), True),
    ]


def comparisons_are_bool(hl: Any) -> Shown:
    """A comparison is a Bool, an unsigned integer of one bit."""
    return [((hl.Expr(1) < hl.Expr(2)).type() == hl.Bool(), True), (bool(at(hl, hl.Expr(1) != hl.Expr(2))), True)]


def abs_of_signed_is_unsigned(hl: Any) -> Shown:
    """abs of a signed integer is the unsigned type of its width, so that the least value has one."""
    p = hl.Param(hl.Int(8))
    p.set(-128)
    return [(hl.abs(p).type() == hl.UInt(8), True), (at(hl, hl.abs(p)), 128)]


def absd_is_the_distance(hl: Any) -> Shown:
    """absd(a, b) is |a - b| without overflow, unsigned."""
    a, b = hl.Param(hl.Int(8)), hl.Param(hl.Int(8))
    a.set(-100)
    b.set(100)
    return [(at(hl, hl.absd(a, b)), 200), (hl.absd(a, b).type() == hl.UInt(8), True)]


def casts_of_integers_wrap(hl: Any) -> Shown:
    """A cast to a narrower integer keeps the low bits; saturating_cast stays at the ends."""
    p = hl.Param(hl.Int(32))
    p.set(300)
    return [(at(hl, hl.cast(hl.UInt(8), p)), 44), (at(hl, hl.saturating_cast(hl.UInt(8), p)), 255)]


def casts_of_floats_truncate(hl: Any) -> Shown:
    """A cast of a float to an integer rounds towards zero."""
    p = hl.Param(hl.Float(32))
    found = []
    for v in (2.7, -2.7):
        p.set(v)
        found.append(int(at(hl, hl.cast(hl.Int(32), p))))
    return [(found, [2, -2])]


def round_is_to_even(hl: Any) -> Shown:
    """round takes halves to the even neighbour; floor, ceil and trunc are as in C."""
    p = hl.Param(hl.Float(32))
    found = []
    for v in (0.5, 1.5, 2.5, -0.5):
        p.set(v)
        found.append([float(at(hl, g(p))) for g in (hl.round, hl.floor, hl.ceil, hl.trunc)])
    return [(found, [[0, 0, 1, 0], [2, 1, 2, 1], [2, 2, 3, 2], [0, -1, 0, 0]])]


def shifts_by_negative_counts_reverse(hl: Any) -> Shown:
    """A shift by a negative count shifts the other way."""
    n = hl.Param(hl.Int(32))
    n.set(-2)
    return [(at(hl, hl.Expr(20) << n), 5), (at(hl, hl.Expr(5) >> n), 20)]


def clamp_stays_between(hl: Any) -> Shown:
    """clamp(x, a, b) is max(a, min(x, b))."""
    return [(row(hl, lambda x: hl.clamp(x - 2, 0, 3), 8), [0, 0, 0, 1, 2, 3, 3, 3])]


def select_takes_many_conditions(hl: Any) -> Shown:
    """select(c0, v0, c1, v1, …, v) is the value of the first condition that holds."""
    return [(row(hl, lambda x: hl.select(x < 2, 10, x < 4, 20, 30), 6), [10, 10, 20, 20, 30, 30])]


def mux_selects_by_number(hl: Any) -> Shown:
    """mux(i, values) is the i-th value, and the last one beyond."""
    return [(row(hl, lambda x: hl.mux(x, [7, 8, 9]), 5), [7, 8, 9, 9, 9])]


def lerp_of_bytes_is_rounded(hl: Any) -> Shown:
    """lerp between integers rounds to the nearest, with weights of floats or of unsigned integers."""
    a, b, w = (hl.cast(hl.UInt(8), k) for k in (0, 255, 128))
    return [(at(hl, hl.lerp(a, b, w)), 128), (at(hl, hl.lerp(a, b, hl.f32(1.0))), 255)]


def bits_are_counted(hl: Any) -> Shown:
    """popcount, count_leading_zeros and count_trailing_zeros of an integer."""
    p = hl.Param(hl.UInt(16))
    p.set(0b0001011000)
    return [
        (at(hl, hl.popcount(p)), 3),
        (at(hl, hl.count_leading_zeros(p)), 9),
        (at(hl, hl.count_trailing_zeros(p)), 3),
    ]


def reinterpret_keeps_bits(hl: Any) -> Shown:
    """reinterpret gives the same bits another type."""
    p = hl.Param(hl.Float(32))
    p.set(1.0)
    return [(at(hl, hl.reinterpret(hl.UInt(32), p)), 0x3F800000)]


def powers_of_floats(hl: Any) -> Shown:
    """pow of a negative base and a whole exponent has the sign of the product; sqrt and hypot are as in C."""
    a, b = hl.Param(hl.Float(32)), hl.Param(hl.Float(32))
    a.set(-2.0)
    b.set(3.0)
    found = [float(at(hl, e)) for e in (hl.pow(a, b), hl.sqrt(b + 6.0), hl.hypot(b, b + 1.0))]
    return [(found, [-8.0, 3.0, 5.0])]


def nan_is_not_equal_to_itself(hl: Any) -> Shown:
    """is_nan, is_inf and is_finite tell the floats that are no numbers."""
    p = hl.Param(hl.Float(32))
    found = []
    for v in (float("nan"), float("inf"), 1.0):
        p.set(v)
        found.append([bool(at(hl, g(p))) for g in (hl.is_nan, hl.is_inf, hl.is_finite)])
    return [(found, [[True, False, False], [False, True, False], [False, False, True]])]


def widening_does_not_overflow(hl: Any) -> Shown:
    """widening_add, widening_mul and widening_sub have twice the bits."""
    a, b = hl.Param(hl.UInt(8)), hl.Param(hl.UInt(8))
    a.set(200)
    b.set(250)
    return [
        (at(hl, hl.widening_add(a, b)), 450),
        (at(hl, hl.widening_mul(a, b)), 50000),
        (at(hl, hl.widening_sub(a, b)), -50),
    ]


def means_are_exact(hl: Any) -> Shown:
    """halving_add and rounding_halving_add are the mean without overflow, rounded down and up."""
    a, b = hl.Param(hl.UInt(8)), hl.Param(hl.UInt(8))
    a.set(200)
    b.set(251)
    return [(at(hl, hl.halving_add(a, b)), 225), (at(hl, hl.rounding_halving_add(a, b)), 226)]


def saturating_sums_stay_in_range(hl: Any) -> Shown:
    """saturating_add and saturating_sub stay at the ends of the type."""
    a, b = hl.Param(hl.UInt(8)), hl.Param(hl.UInt(8))
    a.set(200)
    b.set(250)
    return [(at(hl, hl.saturating_add(a, b)), 255), (at(hl, hl.saturating_sub(a, b)), 0)]


def fixed_point_products_are_rounded(hl: Any) -> Shown:
    """rounding_mul_shift_right and mul_shift_right take the high part of a product."""
    a, b = hl.Param(hl.Int(16)), hl.Param(hl.Int(16))
    a.set(20000)
    b.set(12345)
    q = hl.cast(hl.UInt(16), 15)
    return [
        (at(hl, hl.mul_shift_right(a, b, q)), 20000 * 12345 >> 15),
        (at(hl, hl.rounding_mul_shift_right(a, b, q)), (20000 * 12345 + (1 << 14)) >> 15),
    ]


def literals_take_the_other_type(hl: Any) -> Shown:
    """A number in Python has the type of the other operand."""
    u8 = hl.cast(hl.UInt(8), 250)
    kinds = ((u8 + 3).type() == hl.UInt(8), (3 - hl.f32(1.0)).type() == hl.Float(32))
    return [(kinds, (True, True)), (at(hl, u8 + 3), 253)]


def random_numbers_have_their_range(hl: Any) -> Shown:
    """random_float is from 0 on and below 1, and the same at the same point."""
    x, f = hl.Var("x"), hl.Func()
    f[x] = hl.random_float(7)
    one, two = (np.asarray(f.realize([64])) for _ in range(2))
    inside = bool((one >= 0).all() and (one < 1).all())
    return [(inside, True), (bool((one == two).all()), True), (len(set(one.tolist())) > 40, True)]


def logic_is_by_operators(hl: Any) -> Shown:
    """&, | and ~ of Bools are logical."""
    return [(row(hl, lambda x: hl.select((x > 1) & ~(x > 3) | (x == 0), 1, 0), 5), [1, 0, 1, 1, 0])]


def strict_float_keeps_the_order(hl: Any) -> Shown:
    """strict_float sums are rounded one by one as they are written."""
    p = hl.Param(hl.Float(32))
    p.set(1e8)
    return [(float(at(hl, hl.strict_float((p + 1.0) - p))), 0.0)]


def minima_of_many(hl: Any) -> Shown:
    """min and max take two or more values."""
    least, most = row(hl, lambda x: hl.min(x, 3, 5 - x), 6), row(hl, lambda x: hl.max(x, 3, 5 - x), 6)
    return [(least, [0, 1, 2, 2, 1, 0]), (most, [5, 4, 3, 3, 4, 5])]


def likely_changes_no_value(hl: Any) -> Shown:
    """likely and likely_if_innermost are hints."""
    return [(row(hl, lambda x: hl.select(hl.likely(x > 2), x, -x), 5), [0, -1, -2, 3, 4])]


def types_know_their_limits(hl: Any) -> Shown:
    """A Type has its least and greatest value, bits, bytes and kind."""
    t = hl.Int(16)
    return [
        ((t.bits(), t.bytes(), t.is_int(), t.is_uint(), t.is_float()), (16, 2, True, False, False)),
        (at(hl, t.max()), 32767), (at(hl, t.min()), -32768), (at(hl, hl.UInt(8).max()), 255),
    ]  # fmt: skip
