"""Random graphs of five stencils, and schedules that let them slide: ``python -m tests.campaigns.fuzz --sliding``.

In: a campaign's seed and a number. Out: a Case. Each stage is a blur of one or two before it, or half or twice as
large. Each is computed in a loop around all that read it, and its memory lives in that loop or one further out: all
pairs of loops are drawn alike.
"""

from __future__ import annotations

import random
from dataclasses import replace

from halide_core.ir import LoopKind
from halide_core.ir.types import INT32
from tests.campaigns.fuzz.case import Border, Case, Consumer, Definition, Image, Item, Loop, Numbers, Told
from tests.campaigns.fuzz.directives import LOOP_DIRECTIVES, Drawing
from tests.campaigns.fuzz.draw_algorithm import BORDERS
from tests.campaigns.fuzz.draw_schedule import _CONCURRENT, _Schedule
from tests.campaigns.fuzz.nests import Path
from tests.campaigns.fuzz.terms import Term, infix, name, number, read

STAGES = 5


def draw_sliding(seed: int, at: int) -> Case:
    """The ``at``-th case of a campaign."""
    label = f"sliding_{seed}/{at}"
    rng = random.Random(label)
    case = _Stencils(rng).draw(label)
    return replace(case, directives=_Slides(case, rng).draw())


class _Stencils:
    """The algorithm."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.args = ("x", "y") if rng.random() < 0.75 else ("x",)
        self.downs = 1
        """The number of stages that may still be half as large as what they read: each makes the cases twice as
        long."""

    def draw(self, label: str) -> Case:
        r, args = self.rng, self.args
        extents = tuple(r.choice([5, 7, 12]) for _ in args)
        mins = tuple(r.choice([0, -2, 3]) for _ in args)
        source = Image("in1", INT32, mins, extents, r.randint(0, 99), Numbers.SMALL)
        kind = r.choice(BORDERS)
        border = Border(
            "b1", kind, source.name, tuple(f"_{i}" for i in range(len(args))),
            number(r.randint(-5, 5), INT32) if kind == "constant_exterior" else None,
        )  # fmt: skip
        items: list[Item] = [source, border]
        names = ["b1"]
        unread: dict[str, None] = {"b1": None}
        for i in range(1, STAGES):
            others = r.choice([[], [], [r.choice(names)]])
            wanted = [names[-1], *others] if i < STAGES - 1 else list(dict.fromkeys([*unread, *others]))
            terms = [self.sample(each) for each in wanted for _ in range(r.choice([1, 2, 2]))]
            value = terms[0]
            for more in terms[1:]:
                value = infix(r.choice(["+", "-", "+"]), value, infix("*", more, number(r.randint(1, 9), INT32)))
            items.append(Definition(f"s{i}", args, value))
            for each in wanted:
                unread.pop(each, None)
            names.append(f"s{i}")
            unread[names[-1]] = None
        sizes = [1, 2, 3, 4, 5, 7] if len(args) == 1 else [1, 2, 3, 4]
        window = tuple((r.choice([0, 0, -3, 2]), r.choice(sizes)) for _ in args)
        return Case(label, tuple(items), (names[-1],), (window,))

    def sample(self, source: str) -> Term:
        """A stage at a point near by, at half of it, or at twice."""
        r, at = self.rng, []
        for v in self.args:
            near = number(r.choice([-2, -1, -1, 0, 0, 1, 1, 2]), INT32)
            place: Term = name(v)
            match r.randint(0, 11):
                case 0:
                    place = infix("//", place, number(2, INT32))
                case 1 if self.downs:
                    self.downs -= 1
                    place = infix("*", place, number(2, INT32))
                case 2 if r.random() < 0.5:
                    place = infix("-", number(3, INT32), place)
            at.append(infix("+", place, near))
        return read(source, INT32, *at)


class _Slides(_Schedule):
    """The schedule."""

    def draw(self) -> tuple[Told, ...]:
        """Consumers first."""
        for func in reversed(list(self.model.args)):
            if not self._place(func):
                continue
            (nest,) = self.model.nests[func]
            drawing = Drawing(self.case, self.rng, nest, self.model.nests[func], self.told)
            for _ in range(self.rng.choice([0, 1, 1, 2] if func in self.case.outputs else [0, 0, 0, 1])):
                verb = self.rng.choice(["split", "split", "reorder", "vectorize", "unroll", "parallel", "tile"])
                LOOP_DIRECTIVES[verb].draw(drawing)
        return tuple(self.told)

    def _place(self, func: str) -> bool:
        r = self.rng
        if func in self.case.outputs:
            self.inside[func] = ()
            return True
        around = self._around_all(self._readers(func))
        pairs = _pairs(around)
        roll = r.random()
        if pairs and roll < 0.9:
            store, compute = r.choice(pairs)
            self.inside[func] = around[: compute + 1]
            (consumer, _), loop = around[compute]
            self.told.append(Told(func, 0, "compute_at", (Consumer(consumer), Loop(loop.name))))
            if store < 0:
                self.told.append(Told(func, 0, "store_root"))
            elif store < compute:
                (consumer, _), loop = around[store]
                self.told.append(Told(func, 0, "store_at", (Consumer(consumer), Loop(loop.name))))
            return True
        if roll < 0.95:
            self.inside[func] = ()
            self.told.append(Told(func, 0, "compute_root"))
            return True
        return False


def _pairs(around: Path) -> list[tuple[int, int]]:
    """The loops that memory and computation can be in, outermost first and -1 for outside of all: not in the lanes of a
    vector, and no loop between them whose iterations run at one time."""
    pairs: list[tuple[int, int]] = []
    first = -1
    for at, (_, loop) in enumerate(around):
        if loop.kind is LoopKind.VECTORIZED:
            break
        if loop.kind in _CONCURRENT:
            first = at
        pairs += [(store, at) for store in range(first, at + 1)]
    return pairs
