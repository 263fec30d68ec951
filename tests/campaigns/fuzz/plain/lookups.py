"""Programs that look tables up by truths: numbers that a condition makes, in loops so simple that gcc takes them all.

In: a random generator. Out: a case without a schedule.

    f[x] = table[i32(a[x] > 9)]      g[x] = u8(select(a[x] == 1, a[x], 0)); f[x] = table[clamp(i32(g[x]), 0, 63)]
"""

from __future__ import annotations

import random

import halide_core as hl
from halide_core.ir.types import BOOL, INT32, Type
from tests.campaigns.fuzz.case import Case, Definition, Domain, Image, Item, Numbers, Update
from tests.campaigns.fuzz.draw_algorithm import used_items
from tests.campaigns.fuzz.draw_terms import INTEGERS, PROMISE
from tests.campaigns.fuzz.plain.choices import KINDS, Choices
from tests.campaigns.fuzz.terms import Form, Term, call, cast, infix, name, number, read, shift

_X = name("x")
_LOWEST, _COUNT = -8, 180
"""The least x of inputs, and how many there are."""
_TABLE = 64
_MOST = 9
"""No truth is more."""
_KEPT = (hl.UInt(8), hl.UInt(8), hl.Int(8), hl.UInt(16), hl.Int(16), INT32, INT32, hl.Int(64), hl.UInt(64), BOOL)


class Lookups:
    """Draws the items of one program."""

    def __init__(self, rng: random.Random, widths: tuple[int, ...]) -> None:
        self.rng = rng
        self.items: list[Item] = []
        self.window = ((rng.choice([0, 0, 0, -5, 3]), rng.choice(widths)),)
        self.count = 0

    def case(self, label: str) -> Case:
        """The case without a schedule."""
        r = self.rng
        kind, last = r.choice([self._direct, self._direct, self._kept, self._kept, self._guarded])(), self._fresh("f")
        self.items.append(Definition(last, ("x",), kind))
        case = Case(label, tuple(self.items), (last,), (self.window,))
        return Case(label, used_items(case), case.outputs, case.windows)

    def _fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    # -- what is loaded

    def _input(self, type: Type, numbers: Numbers, low: int = _LOWEST, count: int = _COUNT) -> str:
        image = Image(self._fresh("in"), type, (low,), (count,), self.rng.randint(0, 999), numbers)
        self.items.append(image)
        return image.name

    def _load(self, type: Type) -> Term:
        images = [item.name for item in self.items if isinstance(item, Image) and item.type is type and item.mins[0]]
        if not images or self.rng.random() < 0.3:
            images = [self._input(type, self.rng.choice([Numbers.SMALL, Numbers.ODD, Numbers.ODD, Numbers.WHOLE]))]
        at = _X if self.rng.random() < 0.85 else infix("+", _X, number(self.rng.choice([-1, 1, 2]), INT32))
        return read(self.rng.choice(images), type, at)

    def _looked_up(self, place: Term) -> Term:
        """A table's value there; at times with another beside, or one of another table."""
        r, type = self.rng, self.rng.choice(KINDS)
        table = self._input(type, Numbers.WHOLE, 0, _TABLE)
        found = read(table, type, place)
        roll = r.random()
        if roll < 0.1:
            return infix("+", found, self._load(type))
        if roll < 0.2:
            other = self._input(type, Numbers.WHOLE, 0, _TABLE)
            return infix("+", found, read(other, type, place))
        return cast(r.choice(KINDS), found) if roll < 0.3 and not type.is_float() else found

    # -- programs

    def _direct(self) -> Term:
        return self._looked_up(self._place(cast(INT32, self._truth(self.rng.choice((INT32, *INTEGERS))))))

    def _kept(self) -> Term:
        """By what a Func keeps, which may be copied on the way."""
        r, type = self.rng, self.rng.choice(_KEPT)
        kept = self._fresh("g")
        self.items.append(Definition(kept, ("x",), self._truth(type)))
        for _ in range(r.choice([0, 0, 1, 2])):
            before, kept = read(kept, type, self._near()), self._fresh("g")
            if not type.is_bool() and r.random() < 0.5:
                one = r.random() < 0.5
                before = infix("*" if one else "+", before, number(int(one), type))
            self.items.append(Definition(kept, ("x",), before))
        found = self._looked_up(self._place(cast(INT32, read(kept, type, self._near()))))
        if r.random() < 0.2:
            table = next(n.text for n in found if n.form is Form.READ)
            kind = next(item.type for item in self.items if isinstance(item, Image) and item.name == table)
            again = read(table, kind, self._place(cast(INT32, read(kept, type, self._near()))))
            found = infix("+", found, again) if found.type is kind else found
        return found

    def _guarded(self) -> Term:
        """By what an update puts somewhere under a condition."""
        r, type = self.rng, self.rng.choice(_KEPT[:-1])
        kept, domain = self._fresh("g"), self._fresh("r")
        value = number(r.choice([1, 1, 2]), type) if r.random() < 0.6 else self._truth(type)
        condition = self._choices().condition(0)
        few = number(r.choice([1, 1, 2, 3]), INT32)
        self.items.append(Definition(kept, ("x",), number(0, type)))
        self.items.append(Domain(domain, ((number(0, INT32), few),), (condition,)))
        with_domain = infix("+", value, cast(type, infix("*", name(f"{domain}[0]", of=domain), number(0, INT32))))
        self.items.append(Update(kept, (_X,), "=", with_domain, domain))
        return self._looked_up(self._place(cast(INT32, read(kept, type, self._near()))))

    def _near(self) -> Term:
        return _X if self.rng.random() < 0.7 else infix("+", _X, number(self.rng.choice([-1, 1]), INT32))

    def _place(self, truth: Term) -> Term:
        """A truth as a place, by a clamp or by a promise, of which gcc sees nothing."""
        low, high = number(0, INT32), number(_TABLE - 1, INT32)
        return call(PROMISE if self.rng.random() < 0.6 else "clamp", INT32, truth, low, high)

    # -- truths

    def _choices(self) -> Choices:
        return Choices(self.rng, self._load)

    def _truth(self, type: Type) -> Term:
        """A number from 0 to _MOST that a condition makes, or that gcc may take for one."""
        r = self.rng
        if type.is_bool():
            return self._choices().condition(r.choice([0, 1]))
        ways = [self._condition, self._neighbours, self._neighbours, self._known, self._quotient, self._quotient]
        return r.choice([*ways, self._few, self._joined])(type)

    def _condition(self, type: Type) -> Term:
        r = self.rng
        found = cast(type, self._choices().condition(r.choice([0, 0, 1])))
        if r.random() < 0.2:
            return infix("-", number(1, type), found)
        return cast(type, cast(r.choice(INTEGERS), found)) if r.random() < 0.2 else found

    def _neighbours(self, type: Type) -> Term:
        """One of two numbers, mostly one apart."""
        r, k = self.rng, self.rng.randint(0, _MOST - 1)
        pair = [number(k, type), number(k + 1 if r.random() < 0.7 else r.randint(0, _MOST), type)]
        r.shuffle(pair)
        chosen = call("select", type, self._choices().condition(r.choice([0, 0, 1])), *pair)
        return infix("//", infix("*", chosen, number(4, type)), number(4, type)) if r.random() < 0.1 else chosen

    def _known(self, type: Type) -> Term:
        """A choice of a value, where the condition says what that is."""
        r, v, k = self.rng, self._load(type), self.rng.choice([0, 1, 1, 2])
        other = number(r.choice([0, 1, k + 1]), type)
        if r.random() < 0.7:
            return call("select", type, infix("==", v, number(k, type)), v, other)
        return call("select", type, infix("!=", v, number(k, type)), other, v)

    def _quotient(self, type: Type) -> Term:
        v = self._load(type)
        v = infix("+", v, number(1, type)) if self.rng.random() < 0.3 else v
        if self.rng.random() < 0.3:
            return infix("%", number(1, type), v)
        return infix("//", v, v)

    def _few(self, type: Type) -> Term:
        """The last bit of a value, its first, its sign, or the lesser of it and 1."""
        r, v = self.rng, self._load(type)
        match r.randint(0, 3):
            case 0:
                return infix("&", v, number(1, type))
            case 1:
                first = shift(">>", v, number(type.bits() - 1, type))
                return infix("&", first, number(1, type))
            case 2:
                return call("clamp", type, v, number(0, type), number(1, type))
        return infix("-", number(1, type), call("min", type, infix("&", v, number(3, type)), number(1, type)))

    def _joined(self, type: Type) -> Term:
        """Two conditions as numbers, joined; or one many times."""
        r = self.rng
        one, other = (cast(type, self._choices().condition(0)) for _ in range(2))
        roll = r.random()
        if roll < 0.3:
            return infix("*", one, number(r.choice([1, 1, 2, 4]), type))
        return infix(r.choice("+&|^*"), one, other)
