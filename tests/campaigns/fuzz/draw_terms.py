"""Random expressions over what is in scope.

In: a random generator, and a Scope: variables, Params, and what can be read. Out: terms of a type that is asked for.

    Terms(rng, scope).value(hl.UInt(8), 2)   ->   hl.cast(hl.UInt(8), f0[x - 1, y] + f1[y // 2, x]) & p0
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import halide_core as hl
from halide_core.ir.types import BOOL, INT32, Type
from halide_core.lang.expr import promoted
from tests.campaigns.fuzz.terms import (
    INEXACT_OF_ONE,
    INEXACT_OF_TWO,
    Term,
    call,
    cast,
    infix,
    located,
    name,
    number,
    prefix,
    read,
    reduction,
    reinterpreted,
    saturated,
    shift,
)

F32, F64 = hl.Float(32), hl.Float(64)
INTEGERS: tuple[Type, ...] = tuple(make(bits) for bits in (8, 16, 32, 64) for make in (hl.Int, hl.UInt))
TYPES: tuple[Type, ...] = (*INTEGERS, F32, F64, BOOL)

EXACT_FLOAT = ("abs", "sqrt", "floor", "ceil", "round", "trunc", "fract")
"""Functions of a float that compiled code computes to the last bit."""
COSTLY = 90
"""No expression reads what costs more: where nothing has a place of its own, each reader computes it anew."""
PROMISE = "unsafe_promise_clamped"
"""A call that is drawn only where it holds."""
_NARROW = (hl.Int(8), hl.Int(16), hl.UInt(8), hl.UInt(16))
_TESTS = ("is_nan", "is_inf", "is_finite")
_COMPARE = ("==", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Readable:
    """Something to read. ``box`` is that of an input, outside of which there is nothing; ``weight`` is how much one
    value costs where everything is recomputed."""

    name: str
    type: Type
    dimensions: int
    weight: int = 1
    box: tuple[tuple[int, int], ...] | None = None
    component: int = -1
    """The component of a Tuple."""


@dataclass(slots=True)
class Scope:
    """The scope of an expression."""

    variables: list[Term]
    sources: list[Readable]
    params: list[Term] = field(default_factory=list)
    domains: list[tuple[str, list[Term]]] = field(default_factory=list)
    """RDoms for inline reductions, and their variables."""
    budget: int = 40
    """The greatest cost of all reads in it."""
    tags: list[str] = field(default_factory=list)
    placeholders: bool = True
    """True where random numbers, requirements and prints may stand in it."""
    first: bool = True
    """Nothing has been read yet: the first read may cost more than the budget, so that programs hang together."""


class Terms:
    """Draws expressions."""

    def __init__(self, rng: random.Random, scope: Scope) -> None:
        self.rng = rng
        self.scope = scope

    # -- numbers

    def number(self, type: Type) -> Term:
        """A literal: small, or at an end of the type."""
        r = self.rng
        if type.is_bool():
            return number(r.randint(0, 1), type)
        if type.is_float():
            odd = (0.0, -0.0, 1.0, -1.5, 0.25, 3.0, 1e6, 1e-3, float("inf"), float("nan"))
            return number(r.choice(odd) if r.random() < 0.3 else r.randint(-40, 40) / 4, type)
        low, high = type.range
        if r.random() < 0.12:
            return number(r.choice([low, high, high - 1, low + 1]), type)
        return number(r.randint(max(low, -7), min(high, 9)), type)

    # -- coordinates

    def coordinate(self, base: Term | None) -> Term:
        """An int32 near a variable, or an odd function of it."""
        r = self.rng
        if base is None or r.random() < 0.03:
            return number(r.randint(-2, 9), INT32)
        roll = r.random()
        if roll < 0.3:
            return base
        if roll < 0.62:
            self.scope.tags.append("stencil")
            return infix(r.choice("+-"), base, number(r.randint(1, 3), INT32))
        return self._odd_coordinate(base)

    def _odd_coordinate(self, v: Term) -> Term:
        r = self.rng

        def n(low: int, high: int) -> Term:
            return number(r.randint(low, high), INT32)

        match r.randint(0, 15):
            case 0:
                self.scope.tags.append("downsample")
                return infix("+", infix("*", v, n(2, 2)), n(0, 1))
            case 1:
                self.scope.tags.append("upsample")
                return infix("//", infix("+", v, n(0, 1)), n(2, 3))
            case 2:
                return call("clamp", INT32, infix("+", v, n(-2, 2)), n(-4, 0), n(1, 9))
            case 3:
                return infix("-", call("min", INT32, v, n(0, 9)), n(0, 2))
            case 4:
                return infix("%", v, n(1, 7))
            case 5:
                return prefix("-", v)
            case 6:
                return call("select", INT32, infix(r.choice(_COMPARE), v, n(-2, 5)), v, infix("-", n(3, 8), v))
            case 7:
                return infix("-", n(0, 9), v)
            case 8:
                return call("max", INT32, v, infix("-", v, n(0, 3)))
            case 9 if self._int_params():
                p = call("clamp", INT32, r.choice(self._int_params()), n(-2, 0), n(1, 3))
                return infix(r.choice("+-"), v, p)
            case 10 if self._int_params():
                return infix("%", v, r.choice(self._int_params()))
            case 11 if len(self.scope.variables) > 1:
                self.scope.tags.append("diagonal")
                return infix(r.choice("+-"), v, r.choice(self.scope.variables))
            case 12:
                # What narrow types can't hold would make all of their values possible.
                near = call("clamp", INT32, v, n(-9, 0), n(1, 9))
                return cast(INT32, cast(hl.Int(64), v) if r.random() < 0.1 else cast(r.choice(_NARROW), near))
            case 13 | 14 if self.scope.sources and self.scope.budget > 4:
                self.scope.tags.append("gather")
                return self.bin(r.randint(2, 9))
            case 15:
                return infix("-", infix("//", infix("*", v, n(1, 3)), n(1, 4)), n(0, 3))
        return infix("+", v, n(-3, 3))

    def _int_params(self) -> list[Term]:
        return [p for p in self.scope.params if p.type is INT32]

    def bin(self, count: int) -> Term:
        """A coordinate in [0, count) that depends on a value."""
        r = self.rng
        type = r.choice(INTEGERS)
        value = self.read(type)
        match r.randint(0, 3):
            case 0:
                return cast(INT32, infix("%", cast(hl.UInt(8), value), number(count, hl.UInt(8))))
            case 1:
                return call("clamp", INT32, cast(INT32, value), number(0, INT32), number(count - 1, INT32))
            case 2:
                shifted = shift(">>", cast(hl.UInt(8), value), number(5, INT32))
                least = call("min", INT32, cast(INT32, shifted), number(count - 1, INT32))
                return call(PROMISE, INT32, least, number(0, INT32), number(count - 1, INT32))
        return infix("%", cast(INT32, value), number(count, INT32))

    # -- reads

    def read(self, type: Type) -> Term:
        """A value of something in scope, converted."""
        return cast(type, self.plain_read(type))

    def plain_read(self, type: Type = INT32) -> Term:
        """A value of something in scope, of its own type; a number of ``type`` where nothing is left to read."""
        scope, r = self.scope, self.rng
        within = [s for s in scope.sources if s.weight <= scope.budget]
        if not within and scope.first:
            within = [s for s in scope.sources if s.weight <= COSTLY]
        if not within:
            return self.number(type)
        scope.first = False
        source = r.choice(within)
        scope.budget -= source.weight
        return self.read_of(source)

    def read_of(self, source: Readable) -> Term:
        """A source at a point; an input inside of its box."""
        variables = self.scope.variables
        args = []
        for i in range(source.dimensions):
            own = variables[i] if i < len(variables) and self.rng.random() < 0.85 else None
            base = own if own is not None else self.rng.choice(variables) if variables else None
            at = self.coordinate(base)
            args.append(at if source.box is None else self._inside(source, i, at))
        return read(source.name, source.type, *args, component=source.component)

    def _inside(self, source: Readable, dim: int, at: Term) -> Term:
        """A coordinate kept inside of an input."""
        assert source.box is not None
        low, extent = source.box[dim]
        if self.rng.random() < 0.5:
            return call("clamp", INT32, at, number(low, INT32), number(low + extent - 1, INT32))
        shape = f"{source.name}.dim({dim})"
        return call("clamp", INT32, at, name(f"{shape}.min()", of=source.name), name(f"{shape}.max()", of=source.name))

    # -- values

    def leaf(self, type: Type) -> Term:
        """A read, mostly; or a number, a variable, a Param."""
        r = self.rng
        roll = r.random()
        if roll < 0.1 or (roll < 0.2 and not self.scope.variables):
            return self.number(type)
        if roll < 0.2:
            return cast(type, r.choice(self.scope.variables))
        if roll < 0.28 and self.scope.params:
            return cast(type, r.choice(self.scope.params))
        if roll < 0.31 and self.scope.placeholders:
            self.scope.tags.append("random number")
            function, kind = r.choice([("random_uint", hl.UInt(32)), ("random_int", INT32), ("random_float", F32)])
            return cast(type, call(function, kind, number(r.randint(0, 3), INT32)))
        if roll < 0.33 and self.scope.placeholders and self._int_params():
            self.scope.tags.append("requirement")
            least = number(r.choice([-9, -9, -9, -9, -9, 0]), INT32)
            if r.random() < 0.4:
                never = infix("<", r.choice(self._int_params()), number(-90, INT32))
                return call("print_when", type, never, self.read(type))
            return call("require", type, infix(">=", r.choice(self._int_params()), least), self.read(type))
        return self.read(type)

    def value(self, type: Type, depth: int) -> Term:
        """An expression of a type."""
        if depth <= 0:
            return self.leaf(type)
        r = self.rng
        if r.random() < 0.12:
            return cast(type, self.value(r.choice(TYPES), depth - 1))
        if r.random() < 0.08:
            return cast(type, self.mixed(depth - 1))
        if r.random() < 0.12:
            return call("select", type, self.value(BOOL, depth - 1), self.value(type, depth - 1), self.leaf(type))
        if r.random() < 0.05 and self.scope.domains and not type.is_bool():
            return self.reduced(type)
        if type.is_bool():
            return self._truth(depth - 1)
        return self._real(type, depth - 1) if type.is_float() else self._integer(type, depth - 1)

    def mixed(self, depth: int) -> Term:
        """An operator on two types, which the language promotes."""
        r = self.rng
        a, b = (self.value(r.choice(TYPES[:-1]), depth) for _ in range(2))
        return infix(r.choice("+-*"), a, b, promoted(a.type, b.type))

    def reduced(self, type: Type) -> Term:
        """An inline reduction."""
        r = self.rng
        domain, rvars = r.choice(self.scope.domains)
        inner = Scope([*self.scope.variables, *rvars], self.scope.sources, self.scope.params, [], 6)
        terms = Terms(r, inner)
        mention = cast(type, r.choice(rvars))
        value = infix("+", mention, terms.value(type, 1))
        self.scope.tags.append("inline reduction")
        self.scope.budget -= 10
        if r.random() < 0.3:
            self.scope.tags.append("place of an extreme")
            function = r.choice(["argmin", "argmax"])
            return cast(type, located(function, domain, len(rvars), value, r.randint(0, len(rvars))))
        return reduction(r.choice(["sum", "product", "maximum", "minimum"]), domain, value)

    def _truth(self, depth: int) -> Term:
        r = self.rng
        match r.randint(0, 8):
            case 0 | 1 | 2 | 3:
                type = r.choice(TYPES[:-1])
                return infix(r.choice(_COMPARE), self.value(type, depth), self.leaf(type))
            case 4:
                return prefix("~", self.value(BOOL, depth))
            case 5:
                return call(r.choice(_TESTS), BOOL, self.value(r.choice([F32, F64]), depth))
            case 6:
                return infix(r.choice(["==", "!=", "<", "<="]), self.value(BOOL, depth), self.leaf(BOOL))
            case 7:
                return call(r.choice(["min", "max"]), BOOL, self.value(BOOL, depth), self.leaf(BOOL))
        return infix(r.choice("&|^"), self.value(BOOL, depth), self.value(BOOL, depth))

    def _common(self, type: Type, depth: int) -> Term | None:
        """Draws a term that integers and floats share."""
        r = self.rng
        a, b = self.value(type, depth), self.leaf(type)
        match r.randint(0, 9):
            case 0 | 1 | 2:
                return infix(r.choice("+-*"), a, b)
            case 3:
                return infix(r.choice(["//", "/", "%"]), a, b)
            case 4:
                return call(r.choice(["min", "max"]), type, a, b)
            case 5:
                return call("clamp", type, a, b, self.leaf(type))
            case 6:
                choices = [self.leaf(type) for _ in range(r.randint(1, 3))]
                return call("mux", type, self.value(INT32, depth), a, *choices)
            case 7 if type.bits() < 64 or type.is_float():
                weight = cast(F32, infix("%", cast(hl.UInt(8), self.leaf(hl.UInt(8))), number(5, hl.UInt(8))))
                return call("lerp", type, a, b, infix("/", weight, number(4.0, F32)))
        return None

    def _integer(self, type: Type, depth: int) -> Term:
        r = self.rng
        common = self._common(type, depth)
        if common is not None:
            return common
        a = self.value(type, depth)
        match r.randint(0, 8):
            case 0 | 1:
                return infix(r.choice("&|^"), a, self.leaf(type))
            case 8 if type.bits() >= 32:
                return reinterpreted(type, self.value(hl.Float(type.bits()), depth))
            case 2:
                count = self.leaf(r.choice(INTEGERS)) if r.random() < 0.4 else number(r.randint(-3, 9), INT32)
                return cast(type, shift(r.choice(["<<", ">>"]), a, count))
            case 3:
                return prefix(r.choice("-~"), a)
            case 4:
                return cast(type, call("abs", type if type.is_uint() else hl.UInt(type.bits()), a))
            case 5:
                return cast(type, call("absd", hl.UInt(type.bits()), a, self.leaf(type)))
            case 6:
                return saturated(type, self.value(r.choice([*INTEGERS, F32]), depth))
        return call("pow", type, a, number(r.randint(0, 3), INT32))

    def _real(self, type: Type, depth: int) -> Term:
        r = self.rng
        common = self._common(type, depth)
        if common is not None:
            return common
        a = self.value(type, depth)
        match r.randint(0, 5):
            case 0:
                return prefix("-", a)
            case 5:
                return reinterpreted(type, self.value(r.choice([hl.Int, hl.UInt])(type.bits()), depth))
            case 1:
                return call("hypot", type, a, self.leaf(type))
            case 2:
                return call(r.choice(["likely", "likely_if_innermost"]), type, a)
        return call(r.choice(EXACT_FLOAT), type, a)

    def inexact(self, type: Type) -> Term:
        """A value of exp, sin and the like: chosen among several, but not computed with."""
        one, other, third = (self._inexact_call(type) for _ in range(3))
        return call("select", type, self.value(BOOL, 0), one, self.value(BOOL, 0), other, third)

    def _inexact_call(self, type: Type) -> Term:
        r = self.rng
        a = self.value(type, 1)
        if r.random() < 0.25:
            return call(r.choice(INEXACT_OF_TWO), type, a, self.leaf(type))
        return call(r.choice(INEXACT_OF_ONE), type, a)
