"""Random algorithms: inputs, boundary conditions, pure definitions, outputs and their windows.

In: a random generator. Out: a Case without directives. Update definitions are drawn by ``draw_updates``.
"""

from __future__ import annotations

import random
from dataclasses import replace

from halide_core.ir.types import BOOL, INT32, Type
from tests.campaigns.fuzz.case import Border, Case, Definition, Domain, Image, Item, Numbers, Scalar, Update, Window
from tests.campaigns.fuzz.draw_terms import F32, F64, TYPES, Readable, Scope, Terms
from tests.campaigns.fuzz.draw_updates import draw_update
from tests.campaigns.fuzz.terms import Term, name, number

VARIABLES = ("x", "y", "z", "w")
SHAPES = (
    "stencil", "downsample", "upsample", "diagonal", "gather", "inline reduction", "raw input", "reduction", "inexact",
    "several outputs", "tuple", "tuple update", "place of an extreme", "random number",
    "undefined", "requirement",
)  # fmt: skip
"""The tags of cases, besides boundary conditions and the kinds of updates."""
BORDERS = ("repeat_edge", "repeat_image", "mirror_image", "mirror_interior", "constant_exterior")
_EXTENTS = {0: (1,), 1: (0, 1, 2, 5, 7, 8, 13, 16), 2: (0, 1, 2, 3, 5, 7, 8, 11), 3: (1, 2, 3, 4, 5), 4: (1, 2, 3)}
_MINS = (0, 0, 0, -3, -7, 5)


class Program:
    """Draws the items of a case, one after another."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.items: list[Item] = []
        self.sources: list[Readable] = []
        self.params: list[Term] = []
        self.domains: list[tuple[str, list[Term]]] = []
        self.tags: list[str] = []
        self.funcs: dict[str, tuple[str, ...]] = {}
        """The Funcs that can be outputs, and their pure variables."""
        self._count = 0

    def fresh(self, letter: str) -> str:
        """A name."""
        self._count += 1
        return f"{letter}{self._count}"

    # -- inputs

    def draw_params(self) -> None:
        """Up to three Params; the first is an int32, small and seldom negative."""
        r = self.rng
        for i in range(r.choice([0, 1, 1, 2, 3])):
            type = INT32 if i == 0 else r.choice(TYPES)
            label = self.fresh("p")
            if type.is_bool():
                value: float = r.randint(0, 1)
            elif type.is_float():
                value = r.randint(-20, 20) / 4
            elif i == 0:
                value = r.choice([0, 1, 1, 2, 2, 3, 4, -2])
            else:
                value = r.choice([type.range[0], type.range[1], max(type.range[0], -3), 0, 2, 5])
            promised = (int(min(value, 0)), int(max(value, 6))) if i == 0 and r.random() < 0.4 else None
            self.items.append(Scalar(label, type, value, promised))
            self.params.append(name(label, type, of=label))

    def draw_image(self, type: Type, dimensions: int) -> Image:
        """An input of a size that is not a round number."""
        r = self.rng
        extents = tuple(r.choice([3, 5, 6, 7, 12, 24, 31] if dimensions < 3 else [2, 3, 5]) for _ in range(dimensions))
        mins = tuple(r.choice([0, 0, -2, 3, -6]) for _ in range(dimensions))
        numbers = Numbers.WHOLE if r.random() < 0.4 else Numbers.SMALL
        embedded = dimensions > 0 and r.random() < 0.12
        image = Image(self.fresh("in"), type, mins, extents, r.randint(0, 999), numbers, embedded)
        self.items.append(image)
        return image

    def draw_source(self) -> None:
        """An input behind a boundary condition, an input read inside only, or a Func of coordinates."""
        r = self.rng
        if r.random() < 0.25:
            self.draw_pure(r.choice([1, 2, 2, 2, 3]), leaf=True)
            return
        image = self.draw_image(r.choice(TYPES), r.choice([0, 1, 2, 2, 2, 2, 3]))
        box = tuple(zip(image.mins, image.extents, strict=True))
        inside = Readable(image.name, image.type, len(box), 1, box)
        if not box or r.random() < 0.25:
            self.tags.append("raw input")
            self.sources.append(inside)
            return
        kind = r.choice(BORDERS)
        exterior = bounds = None
        if kind == "constant_exterior":
            exterior = Terms(r, Scope([], [], [])).number(image.type)
        if r.random() < 0.3:
            smaller = [(low + 1, n - 1) if n > 2 and r.random() < 0.5 else (low, n) for low, n in box]
            bounds = tuple(smaller)
        # Halide's own names of the variables of what a boundary condition makes.
        args = tuple(f"_{i}" for i in range(len(box)))
        border = Border(self.fresh("b"), kind, image.name, args, exterior, bounds)
        self.items.append(border)
        self.tags.append(kind)
        self.sources.append(Readable(border.name, image.type, len(box), 2))
        if not image.embedded and r.random() < 0.2:
            self.sources.append(inside)

    def draw_domain(self) -> None:
        """An RDom for inline reductions."""
        r = self.rng
        rank = r.choice([1, 1, 2])
        label = self.fresh("s")
        bounds = tuple((number(r.randint(-2, 2), INT32), number(r.choice([0, 1, 2, 3]), INT32)) for _ in range(rank))
        rvars = [name(f"{label}[{i}]", of=label) for i in range(rank)]
        predicates: tuple[Term, ...] = ()
        if r.random() < 0.3:
            predicates = (Terms(r, Scope(list(rvars), [], self.params, placeholders=False)).value(BOOL, 1),)
        self.items.append(Domain(label, bounds, predicates))
        self.domains.append((label, rvars))

    # -- Funcs

    def scope(self, variables: list[Term], budget: int) -> Scope:
        """The scope of an expression over some variables."""
        return Scope(variables, self.sources, self.params, self.domains, budget, self.tags)

    def draw_pure(self, dimensions: int, *, leaf: bool = False, type: Type | None = None) -> str:
        """A Func and its pure definition; ``leaf``: of coordinates alone."""
        r = self.rng
        args = VARIABLES[:dimensions]
        if r.random() < 0.1:
            args = tuple(r.sample(args, dimensions))
        label = self.fresh("f")
        variables = [name(v) for v in args]
        budget = r.choice([6, 12, 30])
        scope = Scope(variables, [], self.params, [], 0, self.tags) if leaf else self.scope(variables, budget)
        count = r.choice([2, 2, 3]) if type is None and r.random() < 0.2 else 1
        kinds = [type or r.choice(TYPES) for _ in range(count)]
        values = [Terms(r, scope).value(kind, r.choice([0, 1, 1, 2, 2, 3])) for kind in kinds]
        self.items.append(Definition(label, args, values[0], tuple(values[1:])))
        self.funcs[label] = args
        weight = 1 if leaf else 1 + budget - scope.budget
        for k, kind in enumerate(kinds):
            self.sources.append(Readable(label, kind, dimensions, weight, component=-1 if count == 1 else k))
        if count > 1:
            self.tags.append("tuple")
        return label

    def draw_stage(self) -> None:
        """A Func that reads others, perhaps with updates."""
        r = self.rng
        before = len(self.sources)
        label = self.draw_pure(r.choices([0, 1, 2, 3, 4], [3, 22, 55, 14, 6])[0])
        if r.random() < 0.5:
            for _ in range(r.choice([1, 1, 1, 2, 3])):
                components = self.sources[before:]
                del self.sources[before:]
                self.sources += draw_update(self, components, self.funcs[label])

    def draw_inexact(self) -> None:
        """A last Func whose outermost function is exp, sin and the like, whose every bit is the reference's."""
        r = self.rng
        dimensions = r.choice([1, 2])
        variables = [name(v) for v in VARIABLES[:dimensions]]
        kind = r.choice([F32, F64])
        label = self.fresh("f")
        value = Terms(r, self.scope(variables, 20)).inexact(kind)
        self.items.append(Definition(label, VARIABLES[:dimensions], value))
        self.funcs[label] = VARIABLES[:dimensions]
        self.tags.append("inexact")

    # -- outputs

    def draw_outputs(self) -> tuple[tuple[str, ...], tuple[Window, ...]]:
        """The last Func, at times with others before it, and a window of each."""
        r = self.rng
        names = list(self.funcs)
        outputs = [names[-1]]
        if r.random() < 0.18 and len(names) > 1:
            outputs += r.sample(names[:-1], min(len(names) - 1, r.choice([1, 1, 2])))
            r.shuffle(outputs)
            self.tags.append("several outputs")
        return tuple(outputs), tuple(self.window(len(self.funcs[f])) for f in outputs)

    def window(self, dimensions: int) -> Window:
        """A window with odd extents, at times empty, at times below zero."""
        r = self.rng
        return tuple((r.choice(_MINS), r.choice(_EXTENTS[dimensions])) for _ in range(dimensions))


def draw_algorithm(seed: str, rng: random.Random) -> Case:
    """A case without a schedule."""
    program = Program(rng)
    program.draw_params()
    if rng.random() < 0.3:
        program.draw_domain()
    for _ in range(rng.choice([1, 1, 2])):
        program.draw_source()
    for _ in range(rng.choice([1, 2, 2, 3, 4])):
        program.draw_stage()
    if rng.random() < 0.1:
        program.draw_inexact()
    outputs, windows = program.draw_outputs()
    case = Case(seed, tuple(program.items), outputs, windows, (), tuple(dict.fromkeys(program.tags)))
    return replace(case, items=used_items(case))


def used_items(case: Case) -> tuple[Item, ...]:
    """The items that the outputs need, in their order."""
    needed = set(case.outputs)
    kept: list[Item] = []
    changed = True
    while changed:
        kept = [item for item in case.items if item.name in needed]
        mentioned = {m for item in kept for m in _mentions(item)}
        for d in case.directives:
            mentioned |= {node.owner for term in d.terms() for node in term}
        changed = not mentioned <= needed
        needed |= mentioned
    return tuple(kept)


def _mentions(item: Item) -> set[str]:
    found = {each for term in item.terms() for node in term for each in (node.owner, node.over)}
    if isinstance(item, Border):
        found.add(item.source)
    if isinstance(item, Update):
        found.add(item.domain)
    return found - {""}
