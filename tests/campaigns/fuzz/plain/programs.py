"""Programs of rows, whose values are choices between loads of several types; their sums, scatters and small reductions.

In: a random generator. Out: a case without a schedule.

    f[x] = select(a[x] < b[x], p[x], q[x])      r.where(a[r] < 9); s[()] += p[r]      h[a[r] % 8] += select(m[r], 1, 2)
"""

from __future__ import annotations

import random

import halide_core as hl
from halide_core.ir.types import BOOL, INT32, Type
from tests.campaigns.fuzz.case import Case, Definition, Domain, Image, Item, Numbers, Update
from tests.campaigns.fuzz.draw_algorithm import used_items
from tests.campaigns.fuzz.plain.choices import KINDS, Choices
from tests.campaigns.fuzz.terms import Term, call, cast, infix, name, number, read
from tests.campaigns.fuzz.wide.idioms import idiom

WIDTHS = (33, 64, 67, 100, 131, 132)
_ARGS = (("x",), ("x",), ("x",), ("x", "y"), ("c", "x"), ("c", "x"), ("x", "c"), ("y", "x"))
_FEWER = {"y": (1, 2, 3, 5), "c": (2, 3, 3, 4, 5, 8)}
_LOWEST, _FURTHEST = -40, 2200
"""The least and the greatest x of inputs: enough for strides of up to four, and for what is read backwards."""
_TABLE = 64
_BY_VALUES = 0.08
"""So often a loaded value, or a comparison, decides where to load."""
_LOOPS = 0.5
"""So often a Func has updates."""


class Mixed:
    """Draws the items of one program."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.items: list[Item] = []
        self.args: tuple[str, ...] = rng.choice(_ARGS)
        self.window = tuple(
            (rng.choice([0, 0, 0, -5, 3]), rng.choice(WIDTHS)) if v == "x" else (0, rng.choice(_FEWER[v]))
            for v in self.args
        )
        self.stride = rng.choice([1, 1, 1, 1, 2, 3, 4])
        self.stages: list[tuple[str, Type]] = []
        self.count = 0

    def case(self, label: str) -> Case:
        """The case without a schedule."""
        r, last = self.rng, ""
        for _ in range(r.choice([1, 1, 1, 2, 3])):
            last = self._stage()
        case = Case(label, tuple(self.items), (last,), (self.window,))
        return Case(label, used_items(case), case.outputs, case.windows)

    def _fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    # -- what is loaded

    def _choices(self, at: list[Term]) -> Choices:
        return Choices(self.rng, lambda type: self._load(type, at))

    def _load(self, type: Type, at: list[Term]) -> Term:
        """A value of an input, or of a stage before, near a point."""
        r = self.rng
        before = [label for label, kind in self.stages if kind is type]
        if before and r.random() < 0.5:
            points = [self._near(p) if v == "x" else p for p, v in zip(at, self.args, strict=True)]
            return read(r.choice(before), type, *points)
        images = [item for item in self.items if isinstance(item, Image) and item.type is type]
        if not images or (len(images) < 4 and r.random() < 0.75):
            images = [self._input(type)]
        image = r.choice(images)
        if len(image.extents) < len(at):  # a table: of what is along x, or of what is loaded
            return read(image.name, type, self._looked_up(at))
        points = [self._inside(p, v) for p, v in zip(at, self.args, strict=True)]
        if r.random() < _BY_VALUES:
            points[self.args.index("x")] = self._bin(at, _TABLE)
        return read(image.name, type, *points)

    def _input(self, type: Type) -> Image:
        r = self.rng
        table = len(self.args) > 1 and r.random() < 0.15
        spans = {v: (0, n) for v, (_, n) in zip(self.args, self.window, strict=True)}
        spans |= {"x": (_LOWEST, _FURTHEST), "y": (-8, 16)}
        args = ("x",) if table else self.args
        mins, extents = tuple(spans[v][0] for v in args), tuple(spans[v][1] - spans[v][0] for v in args)
        numbers = r.choice([Numbers.SMALL, Numbers.SMALL, Numbers.WHOLE, Numbers.ODD])
        image = Image(self._fresh("in"), type, mins, extents, r.randint(0, 999), numbers)
        self.items.append(image)
        return image

    def _near(self, at: Term) -> Term:
        r = self.rng
        return at if r.random() < 0.8 else infix("+", at, number(r.choice([-1, 1, 2]), INT32))

    def _inside(self, at: Term, v: str) -> Term:
        """A coordinate of an input."""
        r = self.rng
        if v == "c":
            return self._turned(at) if r.random() < 0.15 else at
        if v == "y":
            return self._near(at)
        if self.stride > 1 and r.random() < 0.8:
            at = infix("*", at, number(self.stride, INT32))
        if r.random() < 0.06:
            return self._neighbour(at)
        if r.random() < 0.05:
            return infix("-", number(140, INT32), self._near(at)) if self.stride == 1 else at
        return self._near(at)

    def _turned(self, at: Term) -> Term:
        """Another channel, so that what is next to each other is loaded in another order than it is stored."""
        count = self.window[self.args.index("c")][1]
        if self.rng.random() < 0.5:
            return infix("-", number(count - 1, INT32), at)
        return infix("%", infix("+", at, number(1, INT32)), number(count, INT32))

    def _neighbour(self, at: Term) -> Term:
        """The other one of a pair, its first one, or one of a few."""
        two, few = number(2, INT32), number(self.rng.choice([2, 3, 4, 8]), INT32)
        first = infix("*", infix("//", at, two), two)
        other = infix("+", first, infix("-", number(1, INT32), infix("%", at, two)))
        return self.rng.choice([other, other, first, infix("%", at, few), infix("//", at, few)])

    def _looked_up(self, at: list[Term]) -> Term:
        if self.rng.random() < 0.5:
            return self._inside(at[self.args.index("x")], "x")
        return self._bin(at, _TABLE)

    def _bin(self, at: list[Term], count: int) -> Term:
        """A place that a loaded value decides, or a comparison of some."""
        if self.rng.random() < 0.35:
            condition = self._choices(at).condition(0)
            near, far = (number(self.rng.choice([0, 1, count - 1]), INT32) for _ in range(2))
            return cast(INT32, condition) if self.rng.random() < 0.5 else call("select", INT32, condition, near, far)
        kind = self.rng.choice([hl.UInt(8), hl.UInt(16), INT32])
        value = self._choices(at).value(kind, self.rng.choice([0, 0, 1]))
        return cast(INT32, infix("%", value, number(count, kind)))

    # -- stages

    def _stage(self) -> str:
        r, label = self.rng, self._fresh("f")
        variables = [name(v) for v in self.args]
        kinds = [r.choice((*KINDS, BOOL)) for _ in range(r.choice([1, 1, 1, 1, 2, 3]))]
        several = len(kinds) > 1
        if r.random() < _LOOPS:
            simple = r.random() < 0.6
            values = [self._choices(variables).number(t) if simple else self._value(t, variables) for t in kinds]
            self.items.append(Definition(label, self.args, values[0], tuple(values[1:])))
            for _ in range(r.choice([1, 1, 2, 3])):
                self._update(label, kinds)
        else:
            values = [self._value(t, variables) for t in kinds]
            self.items.append(Definition(label, self.args, values[0], tuple(values[1:])))
        if not several:
            self.stages.append((label, kinds[0]))
        return label

    def _value(self, type: Type, at: list[Term]) -> Term:
        """A value; at times the sum of products or their difference, by where it is."""
        r, depth = self.rng, self.rng.choice([1, 1, 2, 2, 3])
        if type.is_bool():
            return self._choices(at).condition(depth)
        if r.random() < 0.15:
            return idiom(r, [self._choices(at).value(type, r.choice([0, 0, 1])) for _ in range(r.choice([2, 2, 3]))])
        if r.random() > 0.15:
            return self._choices(at).value(type, depth)
        a, b, c = (self._choices(at).value(type, r.choice([0, 0, 1])) for _ in range(3))
        a = infix("*", a, b) if r.random() < 0.5 else a
        one, other = infix(r.choice("+-"), a, c), infix(r.choice("++-"), *r.sample([a, c], 2))
        along = at[self.args.index("c")] if "c" in self.args else infix("%", at[0], number(r.choice([2, 2, 4]), INT32))
        return call("select", type, infix("==", along, number(r.choice([0, 0, 1]), INT32)), one, other)

    def _domain(self, bounds: list[tuple[int, int]]) -> tuple[str, list[Term]]:
        label = self._fresh("r")
        pairs = tuple((number(low, INT32), number(extent, INT32)) for low, extent in bounds)
        self.items.append(Domain(label, pairs))
        return label, [name(f"{label}[{i}]", of=label) for i in range(len(bounds))]

    def _update(self, f: str, kinds: list[Type]) -> None:
        """An update: along the row, of neighbours in it, of a part of it, where values say, or into one place."""
        r = self.rng
        x = self.args.index("x")
        variables = [name(v) for v in self.args]
        point, at, domain = list(variables), list(variables), ""
        kind = r.choice(["pure", "pure", "near", "near", "block", "strided", "strided", "scatter", "sum", "scan"])
        if kind in ("near", "block"):
            few = r.choice([1, 2, 3, 4, 5, 8])
            domain, rvars = self._domain([(0, few)])
            start = variables[x] if kind == "near" else infix("*", variables[x], number(min(few, 4), INT32))
            at[x] = infix("+", start, rvars[0])
        elif kind != "pure":
            domain, rvars = self._domain([(r.choice([0, 0, 1]), r.choice([33, 64, 67, 100]))])
            at[x] = rvars[0]
            factor = number(r.choice([2, 2, 3, 4]), INT32)
            strided = infix("+", infix("*", rvars[0], factor), number(r.randint(-3, 3), INT32))
            places = {"strided": strided, "scan": rvars[0]}
            point[x] = places.get(kind) or self._place(kind, at)
        own = list(point)
        if kind == "scan":
            own[x] = infix("-", point[x], number(r.choice([1, 1, 2, 8]), INT32))
        values = []
        accumulates = kind in ("near", "block", "sum", "scan") or r.random() < 0.5
        for k, type in enumerate(kinds):
            value = self._value(type, at)
            before = read(f, type, *own, component=k if len(kinds) > 1 else -1)
            values.append(self._accumulated(type, before, value, at) if accumulates else value)
        if domain and r.random() < 0.4:
            where = next(i for i, item in enumerate(self.items) if item.name == domain)
            item = self.items[where]
            assert isinstance(item, Domain)
            self.items[where] = Domain(item.name, item.bounds, (self._choices(at).condition(1),))
            self.items.append(self.items.pop(where))  # behind the inputs that its condition loads
        used = any(node.of == domain for term in (*point, *values) for node in term)
        self.items.append(Update(f, tuple(point), "=", values[0], domain if used else "", tuple(values[1:])))

    def _place(self, kind: str, at: list[Term]) -> Term:
        if kind == "sum":
            return number(self.rng.choice([0, 0, 1, 5]), INT32)
        return self._bin(at, self.rng.choice([2, 5, 16, 64]))

    def _accumulated(self, type: Type, before: Term, value: Term, at: list[Term]) -> Term:
        """The value from before and a new one joined; at times under a condition."""
        r = self.rng
        if type.is_bool():
            return infix(r.choice("&|^"), before, value)
        match r.randint(0, 5):
            case 0:
                return call(r.choice(["min", "max"]), type, before, value)
            case 1:
                return call("select", type, self._choices(at).condition(1), value, before)
            case 2:
                return call("select", type, self._choices(at).condition(1), infix("+", before, value), before)
            case 3 if not type.is_float():
                return infix(r.choice("&|^"), before, value)
        return infix(r.choice("+++-*"), before, value)
