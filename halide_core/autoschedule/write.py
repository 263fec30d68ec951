"""The directives of a plan, given to the Funcs as a person would give them.

In: a Places. Out: directives of its Funcs, all of them legal, whatever sizes the pipeline is run with but one: register
tiles need an output of at least one tile, which a start-up check sees to.

    across in the rows of blur   ->   blur.split(y, yo, yi, 32).vectorize(x, 32).parallel(yo)
                                      across.store_at(blur, yo).compute_at(blur, yi).vectorize(x, 32)
"""

from __future__ import annotations

import math

from halide_core.algorithm.model import Function
from halide_core.autoschedule.machine import MachineModel
from halide_core.autoschedule.plan import Group, Place, Places
from halide_core.autoschedule.ranges import Number, extent
from halide_core.autoschedule.stages import PipelineStages
from halide_core.func.func import Func, Stage
from halide_core.ir.types import Type
from halide_core.lang.expr import Var
from halide_core.schedule.directives import TailStrategy

_GUARD, _SHIFT = TailStrategy.GuardWithIf, TailStrategy.ShiftInwards
_FEWEST_LANES = 4
_WORTH_THREADS = 1 << 15
"""Operations below which threads take longer to start than they save."""


def write(plan: Places, stages: PipelineStages, machine: MachineModel) -> None:
    """Gives all directives of a plan."""
    writer = _Writer(stages, machine)
    for group in reversed(plan.groups):
        writer.group(group)


class _Writer:
    def __init__(self, stages: PipelineStages, machine: MachineModel) -> None:
        self._stages = stages
        self._machine = machine

    def group(self, group: Group) -> None:
        """The directives of a Func at root, and of those in its loops."""
        f = group.anchor
        func = Func._of(f)
        if f not in self._stages.outputs:
            func.compute_root()
        if f.extern is not None or not self._stages.known(f):
            return
        if group.rows:
            self._tiles(group)
            return
        levels = self._strips(group)
        for member, place in group.members.items():
            self._member(func, levels, member, place)
        for stage in range(1, len(f.definitions)):
            self._update(f, stage, parallel=True)

    # Loops of pure stages.

    def _strips(self, group: Group) -> tuple[Var, Var] | None:
        """The loops of strips, and of their rows."""
        f = group.anchor
        func, dim = Func._of(f), group.strip
        lanes = self._lanes(f)
        parallel = self._worth(f, 0)
        if lanes > 1:
            func.vectorize(Var(f.args[0]), lanes, _GUARD)
        if dim is None:
            return None
        rows = Var(f.args[dim])
        others = [Var(n) for d, n in enumerate(f.args) if d != dim]
        if group.height < 2:
            func.reorder(*others, rows)
            if parallel:
                func.parallel(rows)
            return None
        outer, inner = (Var(_fresh(f, f.args[dim], suffix)) for suffix in "oi")
        func.split(rows, outer, inner, group.height, _GUARD).reorder(*others, inner, outer)
        if parallel:
            func.parallel(outer)
        return outer, inner

    def _member(self, anchor: Func, levels: tuple[Var, Var] | None, f: Function, place: Place) -> None:
        assert levels is not None
        outer, inner = levels
        func = Func._of(f)
        if place is Place.SLIDING:
            func.store_at(anchor, outer)
        func.compute_at(anchor, outer if place is Place.STRIP else inner)
        lanes = self._lanes(f)
        if lanes > 1:
            func.vectorize(Var(f.args[0]), lanes, _GUARD)
        for stage in range(1, len(f.definitions)):
            self._update(f, stage, parallel=False)

    # Updates.

    def _update(self, f: Function, stage: int, *, parallel: bool) -> None:
        """The first dimension, if it is pure there, as vectors inside of the reduction; the longest other one in
        threads."""
        free = [d for d, pure in enumerate(f.pure_dims(stage)) if pure]
        update = Stage.of(f, stage)
        extents = self._extents(f)
        lanes = self._lanes(f) if 0 in free else 1
        outer = [d for d in free if d != 0 or lanes == 1]
        if lanes > 1:
            vectors, within = Var(f.args[0]), Var(_fresh(f, f.args[0], "i"))
            update.split(vectors, vectors, within, lanes, _GUARD)
            domain = f.definitions[stage].domain
            reductions = [] if domain is None else [Var(n) for n in domain.names]
            update.reorder(within, *reductions, vectors).vectorize(within)
        if parallel and outer and self._worth(f, stage):
            most = max(outer, key=lambda d: (extents[d], d))
            if extents[most] >= 2 * self._machine.threads:
                update.parallel(Var(f.args[most]))

    # Register tiles.

    def _tiles(self, group: Group) -> None:
        """Tiles of the anchor, and in each the reduction that it reads, whose sums stay in registers."""
        f = group.anchor
        (reduction,) = (m for m, place in group.members.items() if place is Place.TILE)
        panel = next((m for m, place in group.members.items() if place is Place.PANEL), None)
        func, lanes = Func._of(f), self._machine.lanes(self._widest(reduction))
        x, y = Var(f.args[0]), Var(f.args[1])
        within, row = Var(_fresh(f, f.args[0], "i")), Var(_fresh(f, f.args[1], "i"))
        others = [Var(n) for n in f.args[2:]]
        func.split(x, x, within, group.columns, _SHIFT).split(y, y, row, group.rows, _SHIFT)
        func.reorder(within, row, y, *others, x).vectorize(within, lanes).unroll(within).unroll(row)
        tasks = math.ceil(self._extents(f)[0] / group.columns)
        func.parallel(x)
        if others and tasks < 8 * self._machine.threads:
            func.parallel(others[-1])
        made = Func._of(reduction)
        made.compute_at(func, y)
        made.vectorize(Var(reduction.args[0]), lanes).unroll(Var(reduction.args[0])).unroll(Var(reduction.args[1]))
        for stage in range(1, len(reduction.definitions)):
            self._tile_update(reduction, stage, lanes)
        if panel is not None:
            Func._of(panel).compute_at(func, x).vectorize(Var(panel.args[0]), lanes, _GUARD)

    def _tile_update(self, f: Function, stage: int, lanes: int) -> None:
        update, domain = Stage.of(f, stage), f.definitions[stage].domain
        assert domain is not None
        x, y = Var(f.args[0]), Var(f.args[1])
        update.reorder(x, y, *(Var(n) for n in domain.names))
        update.vectorize(x, lanes).unroll(x).unroll(y)

    # Sizes.

    def _extents(self, f: Function) -> list[Number]:
        return [extent(r) for r in self._stages.regions[f]]

    def _widest(self, f: Function) -> Type:
        return self._stages.facts[f].widest or f.types[0]

    def _lanes(self, f: Function) -> int:
        """Lanes that the first dimension fills; 1 where it is too short, or where there is none."""
        if not f.dimensions:
            return 1
        lanes = self._machine.lanes(self._widest(f))
        while lanes > self._extents(f)[0]:
            lanes //= 2
        return lanes if lanes >= _FEWEST_LANES else 1

    def _worth(self, f: Function, stage: int) -> bool:
        """Whether a stage has enough work for several threads."""
        work = self._stages.runs(f, stage) * max(1, self._stages.facts[f].operations)
        return self._machine.threads > 1 and work >= _WORTH_THREADS


def _fresh(f: Function, name: str, suffix: str) -> str:
    """A name for a new loop, which no dimension and no reduction variable has."""
    taken: set[str] = set(f.args)
    for d in f.definitions:
        taken |= set(d.domain.names if d.domain is not None else ())
    made = f"{name}{suffix}"
    while made in taken:
        made += suffix
    return made
