"""Random schedules: where each Func is computed and stored, and what is done to the loops of each of its stages.

In: a case without a schedule. Out: the case with directives, legal as far as ``nests`` knows.

Consumers come before producers, as a producer can be computed in a loop of its consumer only once that loop is there.
How a directive is drawn is for ``directives`` to say; a few are drawn illegal on purpose.
"""

from __future__ import annotations

import random
from dataclasses import replace

from halide_core.ir import LoopKind
from halide_core.ir.memory import MemoryType
from halide_core.ir.types import INT32
from tests.campaigns.fuzz.case import Case, Consumer, Loop, Told
from tests.campaigns.fuzz.directives import Drawing, draw_hint, draw_loops
from tests.campaigns.fuzz.nests import Path, Stage, model_of
from tests.campaigns.fuzz.terms import number

_CONCURRENT = (LoopKind.PARALLEL, LoopKind.VECTORIZED)


class _Schedule:
    def __init__(self, case: Case, rng: random.Random) -> None:
        self.case = case
        self.rng = rng
        self.model = model_of(case)
        self.told: list[Told] = []
        self.inside: dict[str, Path] = {}
        """The loops around each Func that has a place."""

    def draw(self) -> tuple[Told, ...]:
        for func in reversed(list(self.model.args)):
            placed = self._place(func)
            if placed or len(self.model.nests[func]) > 1:
                for nest in self.model.nests[func]:
                    drawing = Drawing(self.case, self.rng, nest, self.model.nests[func], self.told)
                    draw_loops(drawing, self.rng.choice([0, 0, 1, 1, 2, 3, 4]))
            if placed:
                self._lay_out(func)
            if placed and self.rng.random() < 0.25:
                draw_hint(self.case, self.rng, func, self.model.args[func], self.told)
        return tuple(self.told)

    # -- where it is computed

    def _place(self, func: str) -> bool:
        """Draws the place of a Func; whether it has one."""
        r = self.rng
        if func in self.case.outputs:
            self.inside[func] = ()
            if r.random() < 0.05:
                self.told.append(Told(func, 0, "compute_root"))
            return True
        around = self._around_all(self._readers(func))
        levels = [i for i in range(len(around)) if self._sound(around[: i + 1])]
        roll = r.random()
        if roll < 0.5 and levels:
            at = r.choice(levels)
            self.inside[func] = around[: at + 1]
            (consumer, _), loop = around[at]
            self.told.append(Told(func, 0, "compute_at", (Consumer(consumer), Loop(loop.name))))
            self._store(func)
            return True
        if roll < 0.75:
            self.inside[func] = ()
            self.told.append(Told(func, 0, "compute_root"))
            if r.random() < 0.1:
                self.told.append(Told(func, 0, "store_root"))
            return True
        if roll < 0.8 and len(self.model.nests[func]) == 1:
            self.told.append(Told(func, 0, "compute_inline"))
        return False

    def _sound(self, path: Path) -> bool:
        """Seldom inside of a vectorized loop: what lanes compute must have constant extents."""
        return all(loop.kind is not LoopKind.VECTORIZED for _, loop in path) or self.rng.random() < 0.02

    def _readers(self, func: str) -> list[Stage]:
        """The stages with a place of their own that read a Func, by themselves or through Funcs that have none."""
        found: dict[Stage, None] = {}
        waiting = list(self.model.readers.get(func, []))
        seen: set[Stage] = set()
        while waiting:
            stage = waiting.pop()
            if stage in seen:
                continue
            seen.add(stage)
            if stage[0] in self.inside:
                found[stage] = None
            else:
                waiting += self.model.readers.get(stage[0], [])
        return list(found)

    def _around_all(self, stages: list[Stage]) -> Path:
        """The loops around every one of some stages."""
        common: Path | None = None
        for func, at in stages:
            nest = self.model.nests[func][at]
            path = (*self.inside[func], *((nest.stage, loop) for loop in nest.shared_loops()))
            if common is None:
                common = path
            else:
                same = 0
                while same < min(len(common), len(path)) and common[same] == path[same]:
                    same += 1
                common = common[:same]
        return common or ()

    # -- where it is stored

    def _store(self, func: str) -> None:
        r = self.rng
        if r.random() < 0.65:
            return
        path = self.inside[func]
        levels: list[int] = [-1]
        for i, (_, loop) in enumerate(path):
            if loop.kind in _CONCURRENT:
                levels = []
            levels.append(i)
        at = r.choice(levels)
        if at < 0:
            self.told.append(Told(func, 0, "store_root"))
            self._fold(func)
            return
        (consumer, _), loop = path[at]
        self.told.append(Told(func, 0, "store_at", (Consumer(consumer), Loop(loop.name))))
        self._fold(func)

    def _fold(self, func: str) -> None:
        """Seldom so few slots that it is refused."""
        args = self.model.args[func]
        if args and self.rng.random() < 0.15:
            slots = self.rng.choice([4, 8, 9, 16, 32])
            self.told.append(Told(func, 0, "fold_storage", (Loop(self.rng.choice(args)), number(slots, INT32))))

    def _lay_out(self, func: str) -> None:
        """Draws the layout of a Func's memory."""
        r, args = self.rng, self.model.args[func]
        if func in self.case.outputs or r.random() < 0.85:
            return
        if not args or r.random() < 0.3:
            kind = r.choice([MemoryType.Auto, MemoryType.Heap, MemoryType.Heap, MemoryType.Stack])
            self.told.append(Told(func, 0, "store_in", (kind,)))
            return
        match r.randint(0, 2):
            case 0:
                dims = r.sample(args, r.randint(1, len(args)))
                self.told.append(Told(func, 0, "reorder_storage", tuple(map(Loop, dims))))
            case 1:
                self.told.append(Told(func, 0, "align_storage", (Loop(r.choice(args)), r.choice([2, 4, 7]))))
            case _:
                self.told.append(Told(func, 0, "bound_storage", (Loop(r.choice(args)), r.choice([16, 40, 64]))))


def draw_schedule(case: Case, rng: random.Random) -> Case:
    """The case with a schedule; the last Funcs' directives first, as a user would write them or not."""
    told = _Schedule(case, rng).draw()
    return replace(case, directives=told)
