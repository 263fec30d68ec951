"""Coordinates of reads that are more than a variable and a distance.

In: a random generator, a coordinate, the others of the point. Out: an int32 term made of them: a position of a
resampler, a remainder, a multiple, a choice, a condition, a way through another type; at times one of another.

    x   ->   i32(floor((x + 0.5)*q - 0.5)) + 2,   x*p,   abs(x - 1),   clamp(x, 0, p)
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import halide_core as hl
from halide_core.ir.types import INT32
from tests.campaigns.fuzz.terms import Term, call, cast, infix, name, number, shift

FACTORS = (0.5, 0.37, 1.3, 2.0, -0.7)
_POSITIONS = 0.5
"""So many of them are positions, rounded from a float."""
_BENT = 0.2
"""So many of the positions are a magnitude, a square, a root, or either of two."""
_COMPOSED = 0.15
"""So many of the others are made of another one."""


def odd_coordinate(rng: random.Random, at: Term, others: Sequence[Term]) -> Term:
    """See the module's docstring. The Params are ``p``, an int32, and ``q``, a float32."""
    if rng.random() < _POSITIONS:
        return _position(rng, at)
    if rng.random() < _COMPOSED:
        at = odd_coordinate(rng, at, others)
    return rng.choice(_FORMS)(rng, at, rng.choice(others))


def _position(r: random.Random, at: Term) -> Term:
    """A position at a coordinate, or at a distance from it."""
    real = hl.Float(r.choice([32, 32, 32, 64]))
    factor = cast(real, name("q", hl.Float(32), of="q")) if r.random() < 0.5 else number(r.choice(FACTORS), real)
    value = infix("*", infix("+", cast(real, at), number(0.5, real)), factor)
    value = infix("-", value, number(r.choice([0.0, 0.5, 1.25]), real))
    if r.random() < _BENT:
        value = _bent(r, at, value, factor)
    found = cast(INT32, call(r.choice(["floor", "floor", "ceil", "round", "trunc"]), real, value))
    apart = r.choice([None, None, at, _int(2)])
    return found if apart is None else infix(r.choice("+-"), found, apart)


def _bent(r: random.Random, at: Term, value: Term, factor: Term) -> Term:
    """A float that does not grow or fall by itself, or does so as another one says."""
    real = value.type
    compared = r.choice([at, value])
    condition = infix(r.choice(["<", ">="]), compared, number(2, compared.type))
    return r.choice(
        [
            call("abs", real, value),
            infix("*", value, value),
            call("sqrt", real, value),
            infix("*", cast(real, at), infix("*", factor, factor)),
            call("select", real, condition, value, infix("-", number(1.5, real), value)),
        ]
    )


def _int(value: int) -> Term:
    return number(value, INT32)


def _magnitude(r: random.Random, at: Term, other: Term) -> Term:
    by = r.choice([_int(1), _int(3), other])
    if r.random() < 0.5:
        return cast(INT32, call("absd", hl.UInt(32), at, by))
    return cast(INT32, call("abs", hl.UInt(32), infix("-", at, by)))


def _choice(r: random.Random, at: Term, other: Term) -> Term:
    condition = infix(r.choice(["<", ">=", "=="]), r.choice([at, other]), _int(r.randint(-1, 3)))
    return call("select", INT32, condition, at, r.choice([other, _int(1), infix("+", at, _int(2))]))


def _truth(r: random.Random, at: Term, other: Term) -> Term:
    """A condition as a number, or what lies that far from a coordinate."""
    condition = infix(r.choice(["<", ">=", "!="]), r.choice([at, infix("%", at, _int(3))]), _int(r.randint(0, 3)))
    found = cast(INT32, condition) if r.random() < 0.5 else call("select", INT32, condition, _int(1), _int(0))
    apart = r.choice([None, None, other, at])
    return found if apart is None else infix("+", found, apart)


def _clamped(r: random.Random, at: Term, other: Term) -> Term:
    if r.random() < 0.5:
        return call("clamp", INT32, at, _int(r.choice([-1, 0])), r.choice([name("p", of="p"), _int(4)]))
    return call(r.choice(["min", "max"]), INT32, at, r.choice([other, name("p", of="p"), _int(2)]))


def _bits(r: random.Random, at: Term, other: Term) -> Term:
    del other
    if r.random() < 0.3:
        amount = call("clamp", INT32, name("p", of="p"), _int(0), _int(r.choice([1, 3])))
        return shift(r.choice([">>", "<<"]), at, amount)
    return r.choice(
        [
            infix("&", at, _int(r.choice([3, -2, -4]))),
            infix("|", at, _int(r.choice([1, 3]))),
            infix("^", at, _int(r.choice([1, 3, -1]))),
            shift(">>", at, _int(1)),
            shift("<<", at, _int(1)),
        ]
    )


def _divided(r: random.Random, at: Term, other: Term) -> Term:
    del other
    return infix(r.choice(["//", "%"]), at, _int(r.choice([2, 3, 5, -2])))


def _multiplied(r: random.Random, at: Term, other: Term) -> Term:
    """By a Param or a number. A product of two coordinates is right, but no prover decides all that follows of it."""
    del other
    return infix("*", at, r.choice([name("p", of="p"), _int(-3)]))


def _converted(r: random.Random, at: Term, other: Term) -> Term:
    """By way of another type: a byte wraps, an int64 does not."""
    if r.random() < 0.5:
        return cast(INT32, cast(hl.UInt(8), at))
    wide = hl.Int(64)
    return cast(INT32, infix(r.choice("+-"), cast(wide, at), infix("*", cast(wide, other), number(2, wide))))


_FORMS: tuple[Callable[[random.Random, Term, Term], Term], ...] = (
    _magnitude,
    _choice,
    _truth,
    _clamped,
    _bits,
    _divided,
    _multiplied,
    _converted,
)
