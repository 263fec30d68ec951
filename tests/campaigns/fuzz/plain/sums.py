"""Programs of sums: several numbers that an iteration adds to one, in any order, or to several that are added up later.

In: a random generator. Out: a case, with a schedule that leaves rows alone.

    f[x] += in[2 - r.x, r.y + x]        g[c, x] += in[c, r.x + x];  f[x] = g[0, x] + 3*g[1, x]
"""

from __future__ import annotations

import random

import halide_core as hl
from halide_core.ir.types import INT32
from halide_core.schedule.directives import TailStrategy
from tests.campaigns.fuzz.case import Case, Consumer, Definition, Domain, Image, Item, Loop, Numbers, Told, Update
from tests.campaigns.fuzz.terms import Term, cast, infix, name, number, read

_X, _C = name("x"), name("c")
_FLOATS = (hl.Float(32), hl.Float(32), hl.Float(64))
_KINDS = (*_FLOATS, hl.Int(8), hl.Int(16), INT32, INT32, hl.Int(64), hl.UInt(8), hl.UInt(32))
_LONGEST, _ROOM = 70, 12
"""The longest row, and how much longer inputs are."""
_EXACT = 0.5
"""So often floats are whole numbers, of which a sum has the same bits in any order."""


class Sums:
    """Draws one program."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.type = rng.choice(_KINDS)
        self.channels = rng.choice([2, 2, 3, 3, 4, 5, 8])
        self.items: list[Item] = []
        self.told: list[Told] = []
        self.window = ((rng.choice([0, 0, 2]), rng.choice([1, 3, 5, 8])),)

    def case(self, label: str) -> Case:
        """The case."""
        r = self.rng
        numbers = Numbers.WHOLE if r.random() < _EXACT else r.choice([Numbers.SMALL, Numbers.ODD])
        kind = r.choice([self.type, self.type, hl.UInt(8), hl.Int(16)])
        for each in ("a", "b"):
            length = _LONGEST + _ROOM
            self.items.append(Image(each, kind, (0, 0), (self.channels, length), r.randint(0, 999), numbers))
        r.choice([self._to_one, self._to_several, self._to_several, self._to_a_pair])()
        return Case(label, tuple(self.items), ("f",), (self.window,), tuple(self.told))

    def _value(self, channel: Term, at: Term) -> Term:
        """An element, or a product or a difference of two, which is added."""
        r = self.rng
        kind = next(item.type for item in self.items if isinstance(item, Image))
        one, other = (cast(self.type, read(r.choice("ab"), kind, channel, at)) for _ in range(2))
        return r.choice([one, one, one, infix("*", one, other), infix("-", one, other)])

    def _channel(self, channel: Term) -> Term:
        """A channel, or the one that is as far from the last one."""
        turned = infix("-", number(self.channels - 1, INT32), channel)
        return turned if self.rng.random() < 0.5 else channel

    def _length(self) -> Term:
        """Mostly one that vectors divide: gcc looks at a loop that has a rest in another way."""
        return number(self.rng.choice([7, 33, _LONGEST, 16, 24, 32, 48, 56, 64, 64]), INT32)

    def _domain(self, *lengths: Term) -> None:
        self.items.append(Domain("r", tuple([(number(0, INT32), length) for length in lengths])))

    def _at(self, axis: int) -> Term:
        along = name(f"r[{axis}]", of="r")
        return along if self.rng.random() < 0.4 else infix("+", along, _X)

    def _to_one(self) -> None:
        """All channels of a row, the loop over them inside or written out, or one term each."""
        r = self.rng
        self.items.append(Definition("f", ("x",), number(0, self.type)))
        if r.random() < 0.6:
            self._domain(number(self.channels, INT32), self._length())
            value = self._value(self._channel(name("r[0]", of="r")), self._at(1))
            if r.random() < 0.6:
                self.told.append(Told("f", 1, "unroll", (Loop("r.x"),)))
        else:
            self._domain(self._length())
            order = r.sample(range(self.channels), self.channels)
            at = self._at(0)
            value = self._value(number(order[0], INT32), at)
            for k in order[1:]:
                value = infix("+", value, self._value(number(k, INT32), at))
        self.items.append(Update("f", (_X,), "+=", value, "r"))

    def _to_several(self) -> None:
        """A sum for each channel, and of these one."""
        r = self.rng
        self._domain(self._length())
        self.items.append(Definition("g", ("c", "x"), number(0, self.type)))
        self.items.append(Update("g", (_C, _X), "+=", self._value(self._channel(_C), self._at(0)), "r"))
        total = read("g", self.type, number(0, INT32), _X)
        for k in range(1, self.channels):
            part = read("g", self.type, number(k, INT32), _X)
            part = infix("*", part, number(r.randint(1, 5), self.type)) if r.random() < 0.5 else part
            total = infix(r.choice("++-"), total, part)
        self.items.append(Definition("f", ("x",), total))
        placed = Told("g", 0, "compute_at", (Consumer("f"), Loop("x")))
        self.told.append(placed if r.random() < 0.7 else Told("g", 0, "compute_root"))
        if r.random() < 0.8:
            channels = (number(0, INT32), number(self.channels, INT32))
            self.told += [Told("g", 0, "bound", (Loop("c"), *channels)), Told("g", 0, "unroll", (Loop("c"),))]
            self.told += [Told("g", 1, "reorder", (Loop("c"), Loop("r.x"))), Told("g", 1, "unroll", (Loop("c"),))]
        if r.random() < 0.2:
            self.told.append(Told("g", 1, "unroll", (Loop("r.x"), number(2, INT32), TailStrategy.GuardWithIf)))

    def _to_a_pair(self) -> None:
        """Two sums in one Tuple."""
        r = self.rng
        self._domain(self._length())
        zero = number(0, self.type)
        self.items.append(Definition("g", ("x",), zero, (zero,)))
        sums = []
        for k in range(2):
            value = self._value(number(r.randrange(self.channels), INT32), self._at(0))
            sums.append(infix("+", read("g", self.type, _X, component=k), value))
        self.items.append(Update("g", (_X,), "=", sums[0], "r", (sums[1],)))
        one, other = (read("g", self.type, _X, component=k) for k in range(2))
        self.items.append(Definition("f", ("x",), infix(r.choice("+-*"), one, infix("*", other, number(3, self.type)))))
        placed = Told("g", 0, "compute_at", (Consumer("f"), Loop("x")))
        self.told.append(placed if r.random() < 0.7 else Told("g", 0, "compute_root"))
