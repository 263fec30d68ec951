"""Formulas that a target has instructions for, of all types.

In: a random generator, values of one type. Out: a term of that type. What sums and products need more bits for has
them, or wraps, as the formula is drawn.

    a, b: uint8   ->   uint8((uint16(a) + uint16(b) + 1) >> 1),   uint8(clamp(int16(a) - int16(b), 0, 255))
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import halide_core as hl
from halide_core.ir.types import INT32, Type
from tests.campaigns.fuzz.terms import Term, call, cast, infix, number, prefix, saturated, shift

_MOST = 64
_FIXED_POINT = (
    "halving_add", "halving_sub", "rounding_halving_add", "saturating_add", "saturating_sub",
)  # fmt: skip
"""Functions of two values of one type, which is that of the result."""
_BITS = ("popcount", "count_leading_zeros", "count_trailing_zeros")


def idiom(rng: random.Random, values: Sequence[Term]) -> Term:
    """A formula of one or more values of one type, not bool."""
    type = values[0].type
    if type.is_float():
        return rng.choice(_OF_FLOATS)(rng, values)
    return rng.choice(_OF_INTEGERS if type.bits() < _MOST else _OF_WIDEST)(rng, values)


def _two(r: random.Random, values: Sequence[Term]) -> tuple[Term, Term]:
    return r.choice(values), r.choice(values)


def _wide(type: Type) -> Type:
    return type.with_bits(2 * type.bits())


def _signed(type: Type) -> Type:
    return hl.Int(2 * type.bits())


def _mean(r: random.Random, values: Sequence[Term]) -> Term:
    a, b = _two(r, values)
    wide = _wide(a.type)
    total = infix(r.choice("++-"), cast(wide, a), cast(wide, b))
    if r.random() < 0.5:
        total = infix("+", total, number(1, wide))
    return cast(a.type, shift(">>", total, number(1, r.choice([wide, INT32]))))


def _high_product(r: random.Random, values: Sequence[Term]) -> Term:
    a, b = _two(r, values)
    wide, bits = _wide(a.type), a.type.bits()
    right = cast(wide, b) if r.random() < 0.6 else number(r.randint(1, 100), wide)
    count = r.choice([bits, bits, bits - 1, bits // 2, 1])
    total = infix("*", cast(wide, a), right)
    if r.random() < 0.5:
        total = infix("+", total, number(2 ** (count - 1), wide))
    shifted = shift(">>", total, number(count, wide))
    return saturated(a.type, shifted) if r.random() < 0.4 else cast(a.type, shifted)


def _saturating(r: random.Random, values: Sequence[Term]) -> Term:
    a, b = _two(r, values)
    wide = r.choice([_wide(a.type), _signed(a.type)])
    total = infix(r.choice("+-*"), cast(wide, a), cast(wide, b))
    if r.random() < 0.5:
        return saturated(a.type, total)
    low, high = a.type.range
    least = max(low, wide.range[0])
    return cast(a.type, call("clamp", wide, total, number(least, wide), number(high, wide)))


def _weighted(r: random.Random, values: Sequence[Term]) -> Term:
    type = values[0].type
    wide = r.choice([_wide(type), _signed(type), INT32 if type.bits() < 32 else _signed(type)])
    total = infix("*", cast(wide, values[0]), number(r.randint(1, 9), wide))
    for v in values[1:]:
        total = infix(r.choice("++-"), total, infix("*", cast(wide, v), number(r.randint(1, 9), wide)))
    count = r.randint(1, 5)
    rounded = infix("+", total, number(2 ** (count - 1), wide))
    shifted = r.choice([shift(">>", rounded, number(count, wide)), infix("//", rounded, number(2**count + 1, wide))])
    return saturated(type, shifted) if r.random() < 0.5 else cast(type, shifted)


def _divided(r: random.Random, values: Sequence[Term]) -> Term:
    a, b = _two(r, values)
    low, high = a.type.range
    known = r.choice([2, 3, 5, 7, 8, 10, 16, 60, 100, 127, high, high - 1, low, max(low, -3)])
    divisor = b if r.random() < 0.3 else number(known or 1, a.type)
    return infix(r.choice(["//", "%"]), a, divisor)


def _shifted(r: random.Random, values: Sequence[Term]) -> Term:
    a, b = _two(r, values)
    bits = a.type.bits()
    if r.random() < 0.4:
        return shift(r.choice(["<<", ">>"]), a, number(r.choice([0, 1, bits // 2, bits - 1]), a.type))
    count = infix("&", b, number(bits - 1, b.type)) if r.random() < 0.7 else b
    return cast(a.type, shift(r.choice(["<<", ">>"]), a, count))


def _magnitude(r: random.Random, values: Sequence[Term]) -> Term:
    a, b = _two(r, values)
    unsigned = a.type if a.type.is_uint() else hl.UInt(a.type.bits())
    if r.random() < 0.7 or a.type.is_uint():
        return cast(a.type, call("absd", unsigned, a, b))
    return cast(a.type, call("abs", unsigned, a))


def _counted(r: random.Random, values: Sequence[Term]) -> Term:
    a = r.choice(values)
    return call(r.choice(_BITS), a.type, a)


def _named(r: random.Random, values: Sequence[Term]) -> Term:
    a, b = _two(r, values)
    return call(r.choice(_FIXED_POINT), a.type, a, b)


def _chosen(r: random.Random, values: Sequence[Term]) -> Term:
    """A choice by a comparison, at times one between numbers, as masks are made."""
    a, b = _two(r, values)
    condition = infix(r.choice(["<", "<=", "==", "!=", ">"]), a, b)
    c, d = (r.choice(values) if r.random() < 0.6 else number(r.randint(0, 3), a.type) for _ in range(2))
    return call("select", a.type, condition, c, d)


def _between(r: random.Random, values: Sequence[Term]) -> Term:
    a, b = _two(r, values)
    low, high = sorted(r.randint(0, 100) for _ in range(2))
    if r.random() < 0.3:
        return call("clamp", a.type, a, number(low, a.type), number(high, a.type))
    return call(r.choice(["min", "max"]), a.type, a, b)


def _through_float(r: random.Random, values: Sequence[Term]) -> Term:
    """A value scaled as a float, and back: rounded, and kept in the type or within a part of it."""
    a = r.choice(values)
    real = hl.Float(r.choice([32, 32, 64]))
    value = infix(r.choice("*/+"), cast(real, a), number(r.choice([0.5, 0.37, 3.0, -1.25]), real))
    if r.random() < 0.5:
        value = call(r.choice(["round", "floor", "ceil", "trunc"]), real, value)
    if r.random() < 0.5:
        value = call("clamp", real, value, number(0.0, real), number(100.0, real))
        return cast(a.type, value)
    return saturated(a.type, value)


def _plain(r: random.Random, values: Sequence[Term]) -> Term:
    a, b = _two(r, values)
    return infix(r.choice("++-*&|^"), a, b)


def _turned(r: random.Random, values: Sequence[Term]) -> Term:
    return prefix(r.choice("-~"), r.choice(values))


def _real(r: random.Random, values: Sequence[Term]) -> Term:
    a, b = _two(r, values)
    return infix(r.choice("+-*/"), a, b)


def _fused(r: random.Random, values: Sequence[Term]) -> Term:
    """A product and a sum, which is rounded twice."""
    (a, b), c = _two(r, values), r.choice(values)
    return infix(r.choice("+-"), c, infix("*", a, b))


def _rounded(r: random.Random, values: Sequence[Term]) -> Term:
    a = r.choice(values)
    return call(r.choice(["floor", "ceil", "round", "trunc", "fract", "sqrt", "abs"]), a.type, a)


def _narrowed(r: random.Random, values: Sequence[Term]) -> Term:
    """By way of another type, and back: a narrower float, or an integer."""
    a = r.choice(values)
    if r.random() < 0.5:
        return cast(a.type, cast(hl.Float(r.choice([16, 32, 64])), a))
    whole = r.choice([hl.Int, hl.UInt])(r.choice([8, 16, 32, 64]))
    return cast(a.type, saturated(whole, a))


_OF_WIDEST: tuple[Callable[[random.Random, Sequence[Term]], Term], ...] = (
    _divided, _shifted, _magnitude, _counted, _named, _chosen, _between, _plain, _turned,
)  # fmt: skip
_OF_INTEGERS = (*_OF_WIDEST, _mean, _high_product, _high_product, _saturating, _saturating, _weighted, _through_float)
_OF_FLOATS = (_real, _fused, _fused, _rounded, _narrowed, _chosen, _between)
