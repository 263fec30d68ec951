"""Expressions of loads of several types: choices between them, chains of minima, shifts by loaded amounts.

In: a random generator, and where values of a type can be loaded. Out: terms of a type that is asked for.

    select(a[x] < b[x], p[x], q[x])   with uint16 compared and float32 chosen
"""

from __future__ import annotations

import random
from collections.abc import Callable

import halide_core as hl
from halide_core.ir.types import BOOL, INT32, Type
from tests.campaigns.fuzz.draw_terms import INTEGERS
from tests.campaigns.fuzz.terms import Term, call, cast, infix, number, prefix, saturated, shift

KINDS: tuple[Type, ...] = (
    *INTEGERS, hl.Float(32), hl.Float(64), hl.Float(32), hl.UInt(8), hl.UInt(16), hl.Int(16), INT32, INT32,
)  # fmt: skip
_COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")
_TESTS = ("is_nan", "is_inf", "is_finite")
_INTEGRAL = ("//", "%", "&", "|", "^")


class Choices:
    """Draws expressions. ``load`` gives a value of a type as it stands in memory, at a point near that of the loop."""

    def __init__(self, rng: random.Random, load: Callable[[Type], Term]) -> None:
        self.rng = rng
        self.load = load

    def value(self, type: Type, depth: int) -> Term:
        """A value of a type; mostly a choice where there may be some."""
        r = self.rng
        if type.is_bool():
            return self.condition(depth)
        if depth <= 0 or r.random() < 0.1:
            return self._leaf(type)
        ways = [self._chosen, self._chosen, self._chosen, self._least, self._converted, self._joined]
        ways.append(self._rounded if type.is_float() else self._shifted)
        return r.choice(ways)(type, depth - 1)

    def condition(self, depth: int) -> Term:
        """A comparison of loads of some type, or several of them joined."""
        r = self.rng
        if depth > 0 and r.random() < 0.25:
            return infix(r.choice("&|^"), self.condition(depth - 1), self.condition(depth - 1))
        roll = r.random()
        if roll < 0.08:
            return self.load(BOOL)
        if roll < 0.13:
            return prefix("~", self.condition(depth - 1))
        if roll < 0.17:
            real = hl.Float(r.choice([32, 64]))
            return call(r.choice(_TESTS), BOOL, self.load(real))
        type = r.choice(KINDS)
        left = self.load(type) if r.random() < 0.75 else self.value(type, depth - 1)
        right = self.number(type) if r.random() < 0.4 else self.load(type)
        return infix(r.choice(_COMPARISONS), left, right)

    def number(self, type: Type) -> Term:
        """A literal, mostly a small one."""
        r = self.rng
        if type.is_bool():
            return number(r.randint(0, 1), type)
        if type.is_float():
            return number(r.choice([0.0, -0.0, 1.0, -1.0, 2.5, r.randint(-40, 40) / 4]), type)
        low, high = type.range
        if r.random() < 0.1:
            return number(r.choice([low, high, high - 1]), type)
        return number(r.choice([0, 0, 1, 1, r.randint(max(low, -20), 50)]), type)

    # -- ways

    def _leaf(self, type: Type) -> Term:
        return self.number(type) if self.rng.random() < 0.15 else self.load(type)

    def _chosen(self, type: Type, depth: int) -> Term:
        """One of two; at times the same with a sum in one case, or nothing but a number."""
        r = self.rng
        a = self.value(type, depth - (r.random() < 0.5))
        b = infix(r.choice("+-"), a, self.number(type)) if r.random() < 0.12 else self.value(type, depth - 1)
        if r.random() < 0.15:
            b = self.number(type)
        a, b = (a, b) if r.random() < 0.5 else (b, a)
        return call("select", type, self.condition(depth), a, b)

    def _least(self, type: Type, depth: int) -> Term:
        r = self.rng
        a, b = self.value(type, depth), self.value(type, depth - 1)
        match r.randint(0, 3):
            case 0:
                return call("clamp", type, a, *sorted((number(r.randint(0, 90), type) for _ in range(2)), key=_size))
            case 1:
                unsigned = hl.UInt(type.bits()) if type.is_int() else type
                return a if type.is_uint() else cast(type, call("abs", unsigned, a))
            case 2 if not type.is_float():
                return cast(type, call("absd", hl.UInt(type.bits()), a, b))
        return call(r.choice(["min", "max"]), type, a, b)

    def _converted(self, type: Type, depth: int) -> Term:
        """A value of another type, wider or narrower; or a condition as a number."""
        r = self.rng
        if r.random() < 0.15:
            return cast(type, self.condition(depth))
        other = r.choice([kind for kind in KINDS if kind is not type])
        a = self.value(other, depth)
        return saturated(type, a) if other.is_float() or r.random() < 0.15 else cast(type, a)

    def _joined(self, type: Type, depth: int) -> Term:
        r = self.rng
        a, b = self.value(type, depth), self._leaf(type)
        if r.random() < 0.25:
            return infix("/" if type.is_float() else r.choice(_INTEGRAL), a, b)
        return infix(r.choice("++-*"), a, b)

    def _rounded(self, type: Type, depth: int) -> Term:
        r = self.rng
        if r.random() < 0.15:
            return self._negated(type)
        a = self.value(type, depth)
        if r.random() < 0.2:
            return prefix("-", a)
        return call(r.choice(["floor", "ceil", "round", "trunc", "sqrt", "abs", "fract"]), type, a)

    def _negated(self, type: Type) -> Term:
        """An integer, or how great a float is, less than what is nothing: that is never -0.0."""
        r = self.rng
        whole, of = (r.choice([kind for kind in KINDS if not kind.is_float()]) for _ in range(2))
        a, none = self.load(whole), number(0, whole)
        nothing = r.choice([none, infix(r.choice("-^"), a, a), infix(r.choice("*&"), a, none)])
        taken = cast(type, self.load(of)) if r.random() < 0.7 else call("abs", type, self.load(type))
        return infix("-", cast(type, nothing), taken)

    def _shifted(self, type: Type, depth: int) -> Term:
        """By what is loaded, which may be more than there are bits, or negative."""
        r, a = self.rng, self.value(type, depth)
        by = r.choice([type, type, hl.UInt(type.bits()), hl.Int(type.bits())])
        count = self.load(by)
        if r.random() < 0.5:
            count = infix("&", count, number(type.bits() - 1, by))
        if r.random() < 0.2:
            count = number(r.choice([0, 1, type.bits() // 2, type.bits() - 1]), by)
        return cast(type, shift(r.choice(["<<", ">>"]), a, count))


def _size(term: Term) -> float:
    return float(term.text)
