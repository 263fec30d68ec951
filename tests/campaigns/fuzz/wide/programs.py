"""Programs on rows of 33 to 129 values: stages that read rows in strides, through tables and by other values, and
updates that store in strides, scatter, scan and reduce.

In: a random generator. Out: a case without a schedule.

    f[x, y] = (uint8)((uint16(a[2*x, y]) + uint16(a[2*x + 1, y])) >> 1)      f[r*2 + 1, y] = t[f[r, y]]
"""

from __future__ import annotations

import random

import halide_core as hl
from halide_core.ir.types import BOOL, INT32, Type
from tests.campaigns.fuzz.case import Border, Case, Definition, Domain, Image, Item, Numbers, Scalar, Update
from tests.campaigns.fuzz.draw_algorithm import BORDERS, used_items
from tests.campaigns.fuzz.draw_terms import TYPES, Readable, Scope, Terms
from tests.campaigns.fuzz.terms import Term, call, cast, infix, name, number, read
from tests.campaigns.fuzz.wide.idioms import idiom

WIDTHS = (33, 40, 63, 64, 65, 70, 96, 97, 100, 127, 128, 129)
_HEIGHTS = (1, 1, 2, 3, 5)
_KINDS: tuple[Type, ...] = (*TYPES, hl.Float(16), hl.UInt(8), hl.UInt(8), hl.Int(16), hl.UInt(16), hl.Float(32))
"""The types of stages: all, those of pictures more often."""
_TABLE = 256
_IDIOMS = 0.6
"""So many of the stages are idioms; the others are any expression of the language."""
_BUDGET = 24


class WideTerms(Terms):
    """Expressions that read rows: in strides, backwards, through a remainder, at one place, by another value."""

    def coordinate(self, base: Term | None) -> Term:
        """An int32 that is mostly a multiple of a variable and a distance, or a part of one."""
        r = self.rng
        if base is None or r.random() < 0.35:
            return super().coordinate(base)
        near = number(r.randint(-3, 4), INT32)
        match r.randint(0, 8):
            case 0 | 1 | 2:
                factor = number(r.choice([2, 2, 2, 3, 4, 5, 8]), INT32)
                return infix("+", infix("*", base, factor), near)
            case 3:
                return infix("-", number(r.randint(0, 130), INT32), base)
            case 4:
                return infix("//", infix("+", base, near), number(r.choice([2, 2, 3, 4, 8]), INT32))
            case 5:
                return infix("%", infix("+", base, near), number(r.choice([2, 3, 4, 5, 8, 16, 33]), INT32))
            case 6:
                least = number(r.choice([0, -2, 3]), INT32)
                return call("clamp", INT32, infix("+", base, near), least, number(r.choice([15, 62, 100]), INT32))
            case 7 if self.scope.sources and self.scope.budget > 4:
                return self.bin(r.choice([5, 16, 60, 200]))
        return infix("+", base, near)


class Rows:
    """Draws the items of one program."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.items: list[Item] = []
        self.sources: list[Readable] = []
        self.params: list[Term] = []
        self.args: tuple[str, ...] = rng.choice([("x", "y"), ("x", "y"), ("x",)])
        self.count = 0

    def case(self, label: str) -> Case:
        """The case without a schedule."""
        r = self.rng
        for type in (INT32, r.choice(_KINDS)):
            self._param(type)
        for _ in range(r.choice([1, 2, 2])):
            self._input()
        last = ""
        for _ in range(r.choice([1, 2, 2, 3])):
            last = self._stage()
        window = [(r.choice([0, 0, 0, -5, 3]), r.choice(WIDTHS)), (r.choice([0, -1]), r.choice(_HEIGHTS))]
        case = Case(label, tuple(self.items), (last,), (tuple(window[: len(self.args)]),))
        return Case(label, used_items(case), case.outputs, case.windows)

    def _fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def _param(self, type: Type) -> None:
        r, label = self.rng, self._fresh("p")
        if type.is_float():
            value: float = r.choice([0.5, -1.25, 3.0])
        elif type.is_bool():
            value = r.randint(0, 1)
        else:
            value = r.choice([1, 2, 3, 7, type.range[1] if type is not INT32 else 5])
        self.items.append(Scalar(label, type, value))
        self.params.append(name(label, type, of=label))

    def _input(self) -> None:
        """A picture behind a border, and at times read inside of it alone; or a table of one dimension."""
        r, type = self.rng, self.rng.choice(_KINDS)
        numbers = r.choice([Numbers.SMALL, Numbers.WHOLE, Numbers.WHOLE, Numbers.ODD])
        if r.random() < 0.25:
            table = Image(self._fresh("t"), type, (0,), (_TABLE,), r.randint(0, 999), numbers)
            self.items.append(table)
            self.sources.append(Readable(table.name, type, 1, 1, ((0, _TABLE),)))
            return
        extents = (r.choice(WIDTHS), r.choice([2, 3, 6]))[: len(self.args)]
        mins = tuple(r.choice([0, 0, -4, 7]) for _ in extents)
        image = Image(self._fresh("in"), type, mins, extents, r.randint(0, 999), numbers)
        self.items.append(image)
        inside = Readable(image.name, type, len(extents), 1, tuple(zip(mins, extents, strict=True)))
        if r.random() < 0.4:
            self.sources.append(inside)
            return
        kind = r.choice(BORDERS)
        exterior = Terms(r, Scope([], [])).number(type) if kind == "constant_exterior" else None
        border = Border(self._fresh("b"), kind, image.name, tuple(f"_{i}" for i in range(len(extents))), exterior)
        self.items.append(border)
        self.sources.append(Readable(border.name, type, len(extents), 2))

    # -- stages

    def _terms(self, variables: list[Term], budget: int = _BUDGET) -> WideTerms:
        scope = Scope(variables, self.sources, self.params, [], budget, [], placeholders=False)
        return WideTerms(self.rng, scope)

    def _value(self, type: Type, variables: list[Term], terms: WideTerms | None = None) -> Term:
        r = self.rng
        terms = terms or self._terms(variables)
        if type.is_bool() or r.random() > _IDIOMS:
            return terms.value(type, r.choice([1, 2, 3]))
        values = [terms.read(type) for _ in range(r.choice([1, 2, 2, 3]))]
        for _ in range(r.choice([1, 1, 2, 3])):
            values.append(idiom(r, values))
        return values[-1]

    def _stage(self) -> str:
        """A Func, at times with updates, or a Tuple of two values."""
        r, label = self.rng, self._fresh("f")
        variables = [name(v) for v in self.args]
        terms = self._terms(variables)
        kinds = [r.choice(_KINDS) for _ in range(2 if r.random() < 0.12 else 1)]
        values = [self._interleaved(kind, variables, terms) for kind in kinds]
        self.items.append(Definition(label, self.args, values[0], tuple(values[1:])))
        components = [
            Readable(label, kind, len(self.args), 1 + _BUDGET - terms.scope.budget, None, k if values[1:] else -1)
            for k, kind in enumerate(kinds)
        ]
        if len(kinds) == 1 and r.random() < 0.45:
            for _ in range(r.choice([1, 1, 2])):
                self._update(components[0])
            components = [Readable(label, kinds[0], len(self.args), 10)]
        self.sources += components
        return label

    def _interleaved(self, type: Type, variables: list[Term], terms: WideTerms) -> Term:
        """A value; at times one of several by the remainder of a coordinate."""
        r = self.rng
        if r.random() > 0.15:
            return self._value(type, variables, terms)
        many = r.choice([2, 2, 3, 4])
        values = [self._value(type, variables, terms) for _ in range(many)]
        at = infix("%", variables[0], number(many, INT32))
        if many == 2 and r.random() < 0.5:
            return call("select", type, infix("==", at, number(0, INT32)), *values)
        return call("mux", type, at, *values)

    # -- updates

    def _domain(self, low: int, extent: int) -> tuple[str, Term]:
        label = self._fresh("r")
        self.items.append(Domain(label, ((number(low, INT32), number(extent, INT32)),)))
        return label, name(f"{label}[0]", of=label)

    def _update(self, f: Readable) -> None:
        r, variables = self.rng, [name(v) for v in self.args]
        kind = r.choice(["strided", "strided", "scatter", "histogram", "scan", "scan across", "sum", "sum", "pure"])
        if kind == "pure":
            self._write(f, variables, self._joined(read(f.name, f.type, *variables), self._value(f.type, variables)))
            return
        if kind == "sum":
            label, v = self._domain(r.randint(-3, 0), r.choice([3, 8, 17, 40]))
            near = infix("+", variables[0], v)
            value = self._value(f.type, r.choice([[v, *variables[1:]], [near, *variables[1:]], [near, v]]))
            self._write(f, variables, self._joined(read(f.name, f.type, *variables), value), label)
            return
        across = kind == "scan across" and len(variables) > 1
        at = 1 if across else 0
        label, v = self._domain(r.randint(0, 3), r.choice([3, 5]) if across else r.choice([16, 33, 50]))
        rest = [v if i == at else w for i, w in enumerate(variables)]
        if kind in ("scan", "scan across"):
            before = [infix("-", v, number(r.choice([1, 1, 2]), INT32)) if i == at else w for i, w in enumerate(rest)]
            value = self._joined(read(f.name, f.type, *before), self._value(f.type, rest))
            self._write(f, rest, value, label)
        elif kind == "strided":
            factor, apart = number(r.choice([1, 2, 2, 3, 4, -1, -2]), INT32), number(r.randint(-2, 64), INT32)
            rest[0] = infix("+", infix("*", v, factor), apart)
            self._write(f, rest, self._value(f.type, [v, *variables[1:]]), label)
        else:
            sources = self._terms([v, *variables[1:]])
            rest[0] = sources.bin(r.choice([3, 16, 64, 100]))
            one = number(1, f.type) if r.random() < 0.6 else self._value(f.type, [v, *variables[1:]])
            added = self._joined(read(f.name, f.type, *rest), one) if kind == "histogram" else one
            self._write(f, rest, added, label)

    def _write(self, f: Readable, point: list[Term], value: Term, domain: str = "") -> None:
        runs = any(node.of == domain for term in (*point, value) for node in term)
        self.items.append(Update(f.name, tuple(point), "=", value, domain if runs else ""))

    def _joined(self, own: Term, value: Term) -> Term:
        r, type = self.rng, own.type
        if type is BOOL:
            return infix(r.choice("&|^"), own, value)
        if r.random() < 0.3:
            return call(r.choice(["min", "max"]), type, own, value)
        return infix(r.choice("+++-*"), own, cast(type, value))
