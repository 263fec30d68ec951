"""Random update definitions: reductions, scans, histograms, gathers of the Func itself, updates of single points.

In: the program so far, a Func with its pure variables. Out: a Domain and an Update among its items, and what reading
the Func costs now.

    f[x, y] += g[x + r[0], y]      f[x, r[0]] = f[x, r[0] - 1] + g[r[0], x]      f[i32(g[r[0], y]) % 8, y] += 1
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from halide_core.ir.types import BOOL, INT32
from tests.campaigns.fuzz.case import Domain, Image, Update
from tests.campaigns.fuzz.draw_terms import Readable, Terms
from tests.campaigns.fuzz.terms import Form, Term, call, cast, infix, name, number, read, undefined

if TYPE_CHECKING:
    from tests.campaigns.fuzz.draw_algorithm import Program

KINDS = ("sum", "scan", "histogram", "row", "point", "pure", "self gather", "predicate", "convolution", "triangle")


@dataclass(slots=True)
class _Drawn:
    """The parts of an update decided so far."""

    program: Program
    f: Readable
    """The component whose value the kind of the update decides."""
    args: tuple[str, ...]
    rvars: list[Term]

    def point(self, at: int | None = None, by: Term | None = None) -> tuple[Term, ...]:
        """The pure point, with one coordinate replaced."""
        return tuple(by if i == at and by is not None else name(v) for i, v in enumerate(self.args))

    def own(self, point: tuple[Term, ...], component: Readable | None = None) -> Term:
        """The Func itself at a point."""
        f = component or self.f
        return read(f.name, f.type, *point, component=f.component)

    def terms(self, without: int | None = None, budget: int = 20) -> Terms:
        """Expressions over the pure variables that are left, and the reduction variables."""
        pure = [name(v) for i, v in enumerate(self.args) if i != without]
        variables = pure + self.rvars
        self.program.rng.shuffle(variables)
        return Terms(self.program.rng, self.program.scope(variables, budget))


def draw_update(program: Program, components: list[Readable], args: tuple[str, ...]) -> list[Readable]:
    """Adds an update definition of a Func, given its values at a point; several are a Tuple."""
    r = program.rng
    f = r.choice(components)
    kind = r.choice(KINDS)
    if not args and kind in ("scan", "histogram", "row", "point", "self gather", "triangle"):
        kind = "sum"
    rank = 0 if kind in ("pure", "point") else 2 if kind in ("convolution", "triangle") else r.choice([1, 1, 1, 2])
    label = program.fresh("r")
    rvars = [name(f"{label}[{i}]", of=label) for i in range(rank)]
    drawn = _Drawn(program, f, args, rvars)
    at = r.randrange(len(args)) if args else 0
    update, predicates = _shape(drawn, kind, at)
    if r.random() < 0.1:
        replaced = [i for i, (a, v) in enumerate(zip(update.point, args, strict=True)) if a != name(v)]
        condition = drawn.terms(replaced[0] if replaced else None).value(BOOL, 1)
        update = replace(update, value=call("select", f.type, condition, update.value, undefined(f.type)))
        program.tags.append("undefined")
    if len(components) > 1:
        update = _of_all(drawn, update, components)
        program.tags.append("tuple update")
    steps = 1
    if rank:
        bounds, steps = _bounds(program, rank)
        if kind != "triangle" and r.random() < (1.0 if kind == "predicate" else 0.15):
            predicates = (*predicates, _predicate(drawn, update))
        program.items.append(Domain(label, bounds, predicates))
        program.tags.append("predicate" if predicates else "reduction")
    program.tags.append(kind)
    runs = any(node.of == label for term in update.terms() for node in term)
    program.items.append(replace(update, domain=label if runs else ""))
    return [replace(each, weight=each.weight + steps * 4) for each in components]


def _of_all(d: _Drawn, update: Update, components: list[Readable]) -> Update:
    """The update of one component made one of all: the others read what they read of old values at its points."""
    r = d.program.rng
    replaced = [i for i, (a, v) in enumerate(zip(update.point, d.args, strict=True)) if a != name(v)]
    terms = d.terms(replaced[0] if replaced else None)
    reads = [node.parts for node in update.value if node.form is Form.READ and node.text == d.f.name]
    points = [update.point, *reads]
    keeps = update.op != "=" and all(not c.type.is_bool() for c in components)
    values: list[Term] = []
    for c in components:
        if c is d.f:
            plain = keeps or update.op == "="
            values.append(update.value if plain else _joined(d, d.own(update.point), update.value))
        else:
            old = cast(c.type, d.own(r.choice(points), r.choice(components)))
            values.append(_of_another(d, c, old, terms))
    return replace(update, op=update.op if keeps else "=", value=values[0], more=tuple(values[1:]))


def _of_another(d: _Drawn, c: Readable, old: Term, terms: Terms) -> Term:
    """The value of a component beside the one that is updated."""
    r = d.program.rng
    if r.random() < 0.4:
        return old
    return undefined(c.type) if r.random() < 0.1 else _joined(d, old, terms.value(c.type, r.choice([0, 1])))


def _bounds(program: Program, rank: int) -> tuple[tuple[tuple[Term, Term], ...], int]:
    """A short range for each variable, and how many points there are in all."""
    r = program.rng
    bounds: list[tuple[Term, Term]] = []
    steps = 1
    ints = [p for p in program.params if p.type is INT32]
    images = [i for i in program.items if isinstance(i, Image) and i.extents and max(i.extents) <= 7]
    for _ in range(rank):
        low, most = r.randint(-2, 2), 3 if rank > 1 else 5
        minimum, count = number(low, INT32), r.choice([0, 1, 2, 2, 3, most])
        extent = number(count, INT32)
        roll = r.random()
        if roll < 0.2 and ints:
            extent = call("clamp", INT32, r.choice(ints), number(0, INT32), number(most, INT32))
            if r.random() < 0.3:
                minimum = infix("-", number(1, INT32), r.choice(ints))
        elif roll < 0.23 and ints:
            extent = infix("+", r.choice(ints), number(1, INT32))
        elif roll < 0.33 and images:
            image = r.choice(images)
            minimum, extent = (name(f"{image.name}.dim(0).{part}()", of=image.name) for part in ("min", "extent"))
            count = image.extents[0]
        bounds.append((minimum, extent))
        steps *= max(count, 2)
    return tuple(bounds), steps


def _shape(d: _Drawn, kind: str, at: int) -> tuple[Update, tuple[Term, ...]]:
    """The update of a kind, and the predicates that belong to it."""
    r, f = d.program.rng, d.f
    rvar = d.rvars[0] if d.rvars else None
    match kind:
        case "scan":
            assert rvar is not None
            step = infix(r.choice("+-"), rvar, number(1, INT32))
            before, value = d.own(d.point(at, step)), d.terms(at).value(f.type, 1)
            joined = _joined(d, before, value)
            return Update(f.name, d.point(at, rvar), "=", joined), ()
        case "histogram":
            bin = d.terms(at).bin(r.randint(2, 9))
            one = number(1, f.type) if r.random() < 0.5 else d.terms(at).value(f.type, 1)
            return _accumulated(d, d.point(at, bin), one), ()
        case "row":
            assert rvar is not None
            return _accumulated(d, d.point(at, rvar), d.terms(at).value(f.type, 1)), ()
        case "point":
            where = number(r.randint(-3, 6), INT32)
            return Update(f.name, d.point(at, where), "=", d.terms(at).value(f.type, 1)), ()
        case "pure":
            own, value = d.own(d.point()), d.terms().value(f.type, 1)
            return Update(f.name, d.point(), "=", _joined(d, own, value)), ()
        case "self gather":
            assert rvar is not None
            here = d.own(d.point(at, rvar))
            index = call("clamp", INT32, cast(INT32, here), number(0, INT32), number(r.randint(1, 6), INT32))
            there = d.own(d.point(at, index))
            return Update(f.name, d.point(at, rvar), "=", _joined(d, there, d.terms(at).value(f.type, 0))), ()
        case "triangle":
            below = infix(r.choice(["<", "<=", "!="]), d.rvars[0], d.rvars[1])
            own = d.own(d.point(at, d.rvars[1]))
            value = _joined(d, own, d.terms(at).value(f.type, 1))
            return Update(f.name, d.point(at, d.rvars[0]), "=", value), (below,)
    # A reduction onto every point: of a value that mentions a reduction variable, so that there is one.
    mentions = cast(f.type, r.choice(d.rvars))
    value = d.terms().value(f.type, 1)
    return _accumulated(d, d.point(), _joined(d, mentions, value)), ()


def _joined(d: _Drawn, own: Term, value: Term) -> Term:
    """Two values of one type made one."""
    r, type = d.program.rng, own.type
    if type.is_bool():
        return infix(r.choice("&|^"), own, value)
    if r.random() < 0.3:
        return call(r.choice(["min", "max"]), type, own, value)
    return infix(r.choice("++-*"), own, value)


def _accumulated(d: _Drawn, point: tuple[Term, ...], value: Term) -> Update:
    """``f[point] += value`` and its like."""
    r = d.program.rng
    if d.f.type.is_bool() or r.random() < 0.3:
        return Update(d.f.name, point, "=", _joined(d, d.own(point), value))
    return Update(d.f.name, point, r.choice(["+=", "+=", "-=", "*="]), value)


def _predicate(d: _Drawn, update: Update) -> Term:
    """A condition on the reduction variables: on them alone, on a Param, on memory, or on the Func itself."""
    r = d.program.rng
    replaced = [i for i, (a, v) in enumerate(zip(update.point, d.args, strict=True)) if a != name(v)]
    terms = d.terms(replaced[0] if replaced else None)
    terms.scope.placeholders = False
    rvar = r.choice(d.rvars)
    match r.randint(0, 6):
        case 0 | 1:
            twice = infix("*", rvar, number(2, INT32))
            return infix(r.choice(["<", "<=", ">", "!="]), twice, number(r.randint(-1, 5), INT32))
        case 2:
            return infix("==", infix("%", rvar, number(r.randint(1, 3), INT32)), number(0, INT32))
        case 3 if replaced or not d.args:
            own = d.own(update.point)
            return infix(r.choice(["<", ">=", "!="]), own, terms.number(own.type)) if not own.type.is_bool() else own
        case 4:
            return infix(r.choice(["<", ">"]), rvar, r.choice(terms.scope.variables))
    return terms.value(BOOL, 1)
