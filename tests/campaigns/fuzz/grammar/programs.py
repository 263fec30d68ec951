"""Small programs around one Func with updates of shapes that are asked for.

In: a random generator, the shape that must be there, whether its update must be a reduction. Out: items, the output
and its window: an input, at times a stage before, the Func ``w`` with one to three updates, a stencil ``o`` of it.

    w[x, y] = b[x, y + 1]*3        w[0, y] += r.x + 1        o[x, y] = w[x, y] + w[x, y + 1]
"""

from __future__ import annotations

import random

import halide_core as hl
from halide_core.ir.types import INT32, Type
from tests.campaigns.fuzz.case import Border, Case, Definition, Domain, Image, Item, Numbers, Scalar, Update
from tests.campaigns.fuzz.draw_algorithm import BORDERS
from tests.campaigns.fuzz.draw_terms import INTEGERS
from tests.campaigns.fuzz.grammar.axes import Shape
from tests.campaigns.fuzz.grammar.coordinates import FACTORS, odd_coordinate
from tests.campaigns.fuzz.terms import Term, call, cast, infix, name, number, read, undefined

_INT64 = hl.Int(64)
FLOATS = (hl.Float(16), hl.Float(32), hl.Float(64))
_EXTENTS = {1: (2, 3, 5, 7, 8, 13, 17), 2: (2, 3, 4, 5, 6, 7), 3: (2, 3, 3, 4)}
_SMALL = (0, 1, 1)
_SMALL_SHARE = 0.12
"""Windows that are empty or one point wide: too many would leave little that slides, folds or splits to be seen."""
_BACKWARDS = (0.25, 0.1, 0.1)
"""So often a consumer reads backwards along each dimension: mostly the first, whose loop is innermost as it is."""
_BETWEEN = 0.35
"""So often there is a Func between the one with updates and the output."""
_TWICE = 0.5
"""So often a Func is read by two others, one of which reads the other one."""
_SLANTED = 0.5
"""So often an update that reads its own Func reads it at a distance that is another coordinate."""
_JOINED = 0.35
"""So often a condition is about a reduction of two dimensions, and then mostly of both."""
_BY_PARAM = 0.04
"""So often a Param is part of a coordinate."""
_SCALED = 0.06
"""So often a coordinate is halved or doubled: what is needed is of one length here and of another one there."""
_ODD_COORDINATES = 0.08
"""So often a coordinate is more than a variable and a distance."""
_FAR_CONDITIONS = 0.12
"""So often a condition compares with an int64 Param, which may be near an end of its type."""
_FAR = (2**63 - 1, 2**63 - 2, -(2**63), 1 - 2**63, 2**31, -(2**31) - 1, 0, 2, 5)
_DOMAINS_BY_PARAM, _NEGATIVE = 0.1, 0.06
"""So often an RDom begins at a Param; and so often its length is one, and may be negative."""
_ODD_FLOATS = (0.0, -0.0, 1.5, -2.25, 1e4, 6e4, float("inf"), float("nan"))


class Maker:
    """Draws the items of one program."""

    def __init__(self, rng: random.Random, shape: Shape, *, reduces: bool, least: int = 1) -> None:
        self.rng = rng
        self.shape = shape
        self.reduces = reduces
        dimensions = max(least, rng.choice([1, 2, 2, 2, 2, 3]))
        self.args = ("x", "y", "z")[:dimensions]
        floats = not reduces and rng.random() < 0.3
        self.type: Type = rng.choice(FLOATS if floats else INTEGERS)
        self.tuple = shape is Shape.TUPLE or rng.random() < 0.1
        self.items: list[Item] = []
        self.domains = 0
        self.coordinates = random.Random()

    def case(self, label: str) -> Case:
        """The case without a schedule."""
        r = self.rng
        self.coordinates = random.Random(f"{label}/coordinates")  # of its own, so that other draws stay what they were
        self.items.append(Scalar("q", hl.Float(32), self.coordinates.choice(FACTORS)))
        self.items.append(Scalar("far", hl.Int(64), self.coordinates.choice(_FAR)))
        self.items.append(Scalar("p", INT32, r.choice([0, 1, 2, 3, -2]), r.choice([None, (-2, 6)])))
        self._input()
        if r.random() < 0.3:
            value = infix("+", self._near("b"), self._near("b"))
            self.items.append(Definition("s", self.args, value))
            self.source = "s"
        more = (self._value(self._names()),) if self.tuple else ()
        self.items.append(Definition("w", self.args, self._value(self._names()), more))
        for shape in self._shapes():
            self._update(shape)
        self._consumers()
        window = tuple((r.choice([0, 0, 0, -3, 2]), self._extent()) for _ in self.args)
        return Case(label, tuple(self.items), ("o",), (window,))

    def _extent(self) -> int:
        r = self.rng
        return r.choice(_SMALL if r.random() < _SMALL_SHARE else _EXTENTS[len(self.args)])

    def _shapes(self) -> list[Shape]:
        """The shape that is asked for, with others around it."""
        r = self.rng
        plain = [s for s in Shape if s not in (Shape.TUPLE, Shape.SEVERAL)]
        wanted: list[Shape] = [self.shape] if self.shape in plain else [r.choice(plain)]
        count = r.choice([2, 2, 3]) if self.shape is Shape.SEVERAL else r.choice([1, 1, 1, 2, 3])
        while len(wanted) < count:
            wanted.insert(r.randint(0, len(wanted)), r.choice(plain))
        if self.reduces and self.shape is Shape.SELF_READ:
            wanted.append(r.choice([Shape.FULL, Shape.CONSTANT, Shape.PARTIAL]))
        return wanted

    # -- the input, and what reads

    def _input(self) -> None:
        r = self.rng
        extents = tuple(r.choice([3, 5, 8, 12]) for _ in self.args)
        mins = tuple(r.choice([0, 0, -2, 3]) for _ in self.args)
        numbers = r.choice([Numbers.SMALL, Numbers.SMALL, Numbers.WHOLE, Numbers.WHOLE, Numbers.ODD])
        self.items.append(Image("in1", self.type, mins, extents, r.randint(0, 999), numbers))
        kind = r.choice(BORDERS)
        exterior = self._number() if kind == "constant_exterior" else None
        self.items.append(Border("b", kind, "in1", tuple(f"_{i}" for i in range(len(self.args))), exterior))
        self.source = "b"

    def _number(self) -> Term:
        r, type = self.rng, self.type
        if type.is_float():
            return number(r.choice(_ODD_FLOATS) if r.random() < 0.3 else r.randint(-20, 20) / 4, type)
        low, high = type.range
        return number(r.choice([low, high, high - 1]) if r.random() < 0.2 else r.randint(max(low, -7), 9), type)

    def _names(self) -> list[Term]:
        return [name(v) for v in self.args]

    def _near(self, source: str, at: list[Term] | None = None, component: int = -1) -> Term:
        """A Func near a point."""
        r = self.rng
        points = [
            v if r.random() < 0.5 else infix("+", v, number(r.choice([-1, 1, 1, 2]), INT32))
            for v in at or self._names()
        ]
        if r.random() < _BY_PARAM:
            k = r.randrange(len(points))
            points[k] = infix(r.choice("+-"), points[k], name("p", of="p"))
        if r.random() < _SCALED:
            k = r.randrange(len(points))
            points[k] = infix(r.choice(["//", "//", "*"]), points[k], number(2, INT32))
        if self.coordinates.random() < _ODD_COORDINATES:
            k = self.coordinates.randrange(len(points))
            points[k] = odd_coordinate(self.coordinates, points[k], points)
        return read(source, self.type, *points, component=component)

    def _value(self, variables: list[Term]) -> Term:
        """A value of the input, of coordinates, or a number, or two of them joined."""
        r = self.rng
        first = self._leaf(variables)
        return first if r.random() < 0.4 else self._joined(first, self._leaf(variables), variables)

    def _leaf(self, variables: list[Term]) -> Term:
        r = self.rng
        roll = r.random()
        if roll < 0.45:
            at = [variables[i % len(variables)] if variables else number(1, INT32) for i in range(len(self.args))]
            return self._near(self.source, at)
        if roll < 0.85 and variables:
            total = infix("*", r.choice(variables), number(r.choice([1, 3, 10, -2]), INT32))
            for v in variables[:2]:
                total = infix("+", total, v)
            return cast(self.type, total)
        return self._number()

    def _joined(self, a: Term, b: Term, variables: list[Term]) -> Term:
        """Two values made one; a choice between them is by one of the variables."""
        r = self.rng
        if r.random() < 0.25:
            return call(r.choice(["min", "max"]), a.type, a, b)
        if r.random() < 0.1 and variables:
            condition = self._compared(["<", ">=", "=="], r.choice(variables), r.randint(-1, 3))
            return call("select", a.type, condition, a, b)
        if r.random() < 0.15:  # by zero, and the least number by -1, too
            return infix("/" if a.type.is_float() else r.choice(["//", "//", "%", "&", "|", "^"]), a, b)
        return infix(r.choice("++-*"), a, b)

    def _compared(self, operators: list[str], value: Term, bound: int) -> Term:
        """An int32 compared with a number; at times as an int64, with a Param or a sum with one, which wraps."""
        op, far = self.rng.choice(operators), self.coordinates
        if far.random() >= _FAR_CONDITIONS:
            return infix(op, value, number(bound, INT32))
        limit, wide = name("far", _INT64, of="far"), cast(_INT64, value)
        if far.random() < 0.4:
            limit = infix(far.choice("+-"), limit, number(bound, _INT64))
        if far.random() < 0.3:
            wide = infix(far.choice("+*"), wide, number(far.choice([2, 3, -5]), _INT64))
        return infix(op, wide, limit) if far.random() < 0.6 else infix(op, limit, wide)

    # -- updates

    def _domain(self, rank: int, *, low: int = 0) -> tuple[str, list[Term]]:
        r = self.rng
        self.domains += 1
        label = f"r{self.domains}"
        bounds = []
        for _ in range(rank):
            extent = number(r.choice([0, 1, 2, 2, 3, 4]), INT32)
            if r.random() < 0.15:
                extent = call("clamp", INT32, name("p", of="p"), number(0, INT32), number(4, INT32))
            if self.coordinates.random() < _NEGATIVE:
                extent = infix("-", name("p", of="p"), number(self.coordinates.randint(-1, 2), INT32))
            begin = number(low or r.choice([0, 0, 1, -1]), INT32)
            if self.coordinates.random() < _DOMAINS_BY_PARAM:
                begin = infix("+", name("p", of="p"), begin)
            bounds.append((begin, extent))
        self.items.append(Domain(label, tuple(bounds)))
        return label, [name(f"{label}[{i}]", of=label) for i in range(rank)]

    def _update(self, shape: Shape) -> None:
        """One update of a shape."""
        r = self.rng
        at = r.randrange(len(self.args))
        coordinate = shape in (Shape.PARTIAL, Shape.SELF_READ) or (shape is Shape.CONDITIONAL and r.random() < 0.5)
        runs = self.reduces or coordinate or shape is Shape.CONDITIONAL or r.random() < 0.4
        both = shape is Shape.CONDITIONAL and r.random() < _JOINED
        rank = (2 if both or (coordinate and self.reduces and shape is not Shape.SELF_READ) else 1) if runs else 0
        label, rvars = self._domain(rank, low=1 if shape is Shape.SELF_READ else 0) if rank else ("", [])
        point = self._names()
        if coordinate:
            point[at] = rvars[-1] if both and r.random() < 0.5 else rvars[0]
        elif shape is Shape.CONSTANT:
            point[at] = number(r.choice([0, 0, 1, -1, 3]), INT32)
        elif shape is Shape.SCATTER:
            point[at] = self._bin([p for i, p in enumerate(self._names()) if i != at] + rvars)
            if r.random() < 0.3:
                own = [*point[:at], number(r.choice([0, 1]), INT32), *point[at + 1 :]]
                point[at] = self._bounded(self._own(own))
        free = [p for i, p in enumerate(self._names()) if point[i] == p] + rvars
        if shape is Shape.CONDITIONAL and label:
            self._predicate(label, free, rvars, point)
        values = [self._updated(shape, point, at, free, rvars, k) for k in range(2 if self.tuple else 1)]
        op = r.choice(["+=", "+=", "*=", "-="]) if self._accumulates(shape) else "="
        used = any(node.of == label for v in (*values, *point) for node in v)
        if label and not used:
            values = [infix("+", values[0], cast(self.type, rvars[0])), *values[1:]]
        self.items.append(Update("w", tuple(point), op, values[0], label, tuple(values[1:])))

    def _accumulates(self, shape: Shape) -> bool:
        if shape is Shape.SELF_READ:
            return False
        return self.reduces or shape is Shape.NON_IDEMPOTENT or self.rng.random() < 0.55

    def _updated(
        self, shape: Shape, point: list[Term], at: int, free: list[Term], rvars: list[Term], k: int
    ) -> Term:
        """A component's value."""
        r = self.rng
        component = k if self.tuple else -1
        value = self._value(free)
        if rvars and self.reduces:
            value = infix("+", value, cast(self.type, rvars[-1]))
        if shape is Shape.SELF_READ:
            before = list(point)
            others = [p for i, p in enumerate(point) if i != at]
            by = r.choice(others) if others and r.random() < _SLANTED else number(r.choice([1, 1, 2]), INT32)
            before[at] = infix(r.choice("--+"), point[at], by)
            return self._joined(self._own(before), value, free)
        if shape is Shape.NON_IDEMPOTENT and not self.reduces and r.random() < 0.3:
            return self._joined(read("w", self.type, *point, component=component), value, free)
        if shape is Shape.CONDITIONAL and not self.reduces and r.random() < 0.3:
            condition = infix("<", r.choice(free) if free else number(0, INT32), number(r.randint(0, 3), INT32))
            return call("select", self.type, condition, value, undefined(self.type))
        return value

    def _own(self, at: list[Term]) -> Term:
        """The Func itself at a point, in either component."""
        return read("w", self.type, *at, component=self.rng.randint(0, 1) if self.tuple else -1)

    def _predicate(self, label: str, free: list[Term], rvars: list[Term], point: list[Term]) -> None:
        r = self.rng
        index = next(i for i, item in enumerate(self.items) if item.name == label)
        domain = self.items[index]
        assert isinstance(domain, Domain)
        total = rvars[0]
        if r.random() < 0.6:
            total = infix(r.choice("++*"), total, r.choice([*free, name("p", of="p")]))
        predicate = r.choice([
            infix("==", infix("%", total, number(2, INT32)), number(0, INT32)),
            self._compared(["<", "<=", "!="], total, r.randint(0, 4)),
        ])  # fmt: skip
        if len(rvars) > 1 and r.random() < 0.6:
            predicate = infix(r.choice(["<", "<=", "!="]), *r.sample(rvars, 2))
        roll = r.random()
        if roll < 0.2:
            predicate = infix(r.choice(["<", "!="]), self._near(self.source, self._reading(free)), self._number())
        elif roll < 0.5:  # what the update itself changes, perhaps where no loop of it moves
            pairs = zip(self._names(), point, strict=True)
            own = [p if p == v or r.random() < 0.5 else number(0, INT32) for v, p in pairs]
            predicate = infix(r.choice(["<", ">=", "!="]), self._own(own), self._number())
        self.items[index] = Domain(domain.name, domain.bounds, (predicate,))

    def _reading(self, free: list[Term]) -> list[Term]:
        return [free[i % len(free)] for i in range(len(self.args))]

    def _bin(self, free: list[Term]) -> Term:
        """A coordinate that memory decides."""
        at = [free[i % len(free)] if free else number(1, INT32) for i in range(len(self.args))]
        return self._bounded(self._near(self.source, at))

    def _bounded(self, value: Term) -> Term:
        """A value of memory as a coordinate."""
        count = self.rng.randint(2, 5)
        if self.type.is_float():
            bounded = call("clamp", self.type, value, number(0, self.type), number(count - 1, self.type))
            return call("clamp", INT32, cast(INT32, bounded), number(0, INT32), number(count - 1, INT32))
        return cast(INT32, infix("%", cast(hl.UInt(8), value), number(count, hl.UInt(8))))

    # -- what reads it

    def _consumers(self) -> None:
        r = self.rng
        source, value = "w", None
        if r.random() < _BETWEEN:
            self.items.append(Definition("m", self.args, self._stencil(source)))
            value = self._stencil(source) if r.random() < _TWICE else None
            source, self.tuple = "m", False
        last = self._stencil(source)
        self.items.append(Definition("o", self.args, last if value is None else infix("-", last, value)))
        if source == "w" and r.random() < 0.08:
            self.items.append(Update("o", tuple(self._names()), "+=", self._stencil(source)))

    def _stencil(self, source: str) -> Term:
        """Reads near a point; at times all of them go the other way along a dimension, so that windows move down."""
        r = self.rng
        total: Term | None = None
        back = [v for v, share in zip(self._names(), _BACKWARDS, strict=False) if r.random() < share]
        for k in range(r.choice([1, 2, 2, 3])):
            component = r.randint(0, 1) if self.tuple and source == "w" else -1
            term = self._near(source, component=component)
            if back or r.random() < 0.05:
                ways = back or [r.choice(self._names())]
                at = [infix("-", number(r.randint(0, 4), INT32), v) if v in ways else v for v in self._names()]
                term = read(source, self.type, *at, component=component)
            term = infix("*", term, number(k + 1, self.type)) if k else term
            total = term if total is None else infix(r.choice("++-"), total, term)
        assert total is not None
        return total


def draw_program(label: str, rng: random.Random, shape: Shape, *, reduces: bool, least: int = 1) -> Case:
    """A case without a schedule, whose Func ``w`` has an update of a shape, and so many dimensions at least."""
    return Maker(rng, shape, reduces=reduces, least=least).case(label)
