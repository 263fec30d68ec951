"""The directives of a choice of loops, given to the Funcs as a person would give them.

In: Funcs with their shapes and levels, consumers first. Out: directives, all of them legal, whatever sizes the pipeline
is run with but one: register tiles need an output of at least one tile, which a start-up check sees to.

    across in the rows of blur   ->   blur.split(y, yo, yi, 32).vectorize(x, 32).parallel(yo)
                                      across.store_at(blur, yo).compute_at(blur, yi).vectorize(x, 32)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from halide_core.algorithm.model import Function
from halide_core.analysis.interval import Range
from halide_core.autoschedule.machine import MachineModel
from halide_core.autoschedule.ranges import Number, extent
from halide_core.autoschedule.shapes import EACH, WHOLE, Level, LoopShape, Placed
from halide_core.autoschedule.stages import PipelineStages
from halide_core.func.func import Func, Stage
from halide_core.lang.expr import Var
from halide_core.schedule.directives import TailStrategy

_GUARD, _SHIFT = TailStrategy.GuardWithIf, TailStrategy.ShiftInwards
_FEWEST_LANES = 4
_WORTH_THREADS = 1 << 15
"""Operations below which threads take longer to start than they save."""


@dataclass(slots=True)
class _AnchorLoops:
    """The loops of a Func at root by dimension: outside of a tile, inside of it, and in a register tile."""

    outer: dict[int, Var] = field(default_factory=dict)
    inner: dict[int, Var] = field(default_factory=dict)
    micro: dict[int, Var] = field(default_factory=dict)


def write(placed: Iterable[Placed], stages: PipelineStages, machine: MachineModel) -> None:
    """Gives all directives."""
    writer = _Writer(stages, machine)
    for each in placed:
        if each.level is None:
            writer.root(each)
        else:
            writer.member(each)


class _Writer:
    def __init__(self, stages: PipelineStages, machine: MachineModel) -> None:
        self._stages = stages
        self._machine = machine
        self._levels: dict[Function, dict[Level, Var]] = {}

    def root(self, placed: Placed) -> None:
        """The directives of a Func at root."""
        f = placed.function
        func = Func._of(f)
        if f not in self._stages.outputs:
            func.compute_root()
        if f.extern is not None or not self._stages.known(f):
            return
        if f.dimensions:
            self._loops(func, f, placed.shape)
        for stage in range(1, len(f.definitions)):
            self._update(f, stage, placed.vector[0], parallel=True)

    def _loops(self, func: Func, f: Function, shape: LoopShape) -> None:
        loops = _AnchorLoops()
        for d in range(f.dimensions):
            self._split(func, f, d, shape, loops)
        selected = self._stages.written_out(f, shape.vector[0], shape.tiles) if shape.micro is None else None
        order = self._order(shape, loops, None if selected is None else selected[0])
        if [v.name() for v in order] != list(f.args):
            func.reorder(*order)
        d, lanes = shape.vector
        if shape.micro is not None:
            func.vectorize(loops.micro[0], lanes)
            if shape.micro[0] > lanes:
                func.unroll(loops.micro[0])
            if 1 in loops.micro:
                func.unroll(loops.micro[1])
        elif lanes > 1:
            func.vectorize(loops.inner[d], lanes, _GUARD)
        self._write_out(f, selected)
        for d in shape.parallel:
            func.parallel(loops.outer[d])
        levels: dict[Level, Var] = {}
        if loops.outer:
            levels[Level.TILE] = loops.outer[min(loops.outer)]
        if shape.row is not None and shape.row in loops.inner:
            levels[Level.ROW] = levels[Level.SLIDING] = loops.inner[shape.row]
        if loops.micro:
            levels[Level.REGISTERS] = order[len(loops.micro)]
        self._levels[f] = levels

    def _split(self, func: Func, f: Function, d: int, shape: LoopShape, loops: _AnchorLoops) -> None:
        """The loops of one dimension. A register tile is split off first, so that the tiles consist of whole ones."""
        own, length = Var(f.args[d]), shape.tiles[d]
        steps = shape.micro[d] if shape.micro is not None and d < len(shape.micro) else 1
        if steps > 1:
            loops.micro[d] = Var(_fresh(f, f.args[d], "i"))
            func.split(own, own, loops.micro[d], steps, _SHIFT)
        if length == WHOLE:
            loops.inner[d] = own
        elif length in (EACH, steps):
            loops.outer[d] = own
        else:
            inner = own if steps > 1 else Var(_fresh(f, f.args[d], "i"))
            loops.outer[d], loops.inner[d] = Var(_fresh(f, f.args[d], "o")), inner
            func.split(own, loops.outer[d], inner, length // steps, _GUARD)

    def _write_out(self, f: Function, selected: tuple[int, Range] | None) -> None:
        """The loop of a dimension that values are selected by: its range is what all who read it say."""
        if selected is not None:
            d, ends = selected
            Func._of(f).bound(Var(f.args[d]), ends[0], int(extent(ends))).unroll(Var(f.args[d]))

    def _order(self, shape: LoopShape, loops: _AnchorLoops, selected: int | None) -> list[Var]:
        """All loops, the innermost first. Among register tiles those of the second dimension come first, as these read
        the same columns; in flat ones those of the first."""
        inner = sorted(loops.inner)
        if shape.micro is not None and shape.micro[1] > 1:
            inner = [*(d for d in inner if d), *(d for d in inner if not d)]
        elif shape.micro is None:
            first = shape.vector[0]
            inner.sort(key=lambda d: (d == shape.row, d != first, d != selected, d))
        return [*loops.micro.values(), *(loops.inner[d] for d in inner), *(loops.outer[d] for d in sorted(loops.outer))]

    def member(self, placed: Placed) -> None:
        """The directives of a Func in the loops of another one."""
        assert placed.level is not None
        f, anchor = placed.function, Func._of(placed.anchor)
        func, levels = Func._of(f), self._levels[placed.anchor]
        if placed.level is Level.SLIDING:
            func.store_at(anchor, levels[Level.TILE])
        func.compute_at(anchor, levels[placed.level])
        if placed.level is Level.REGISTERS:
            self._in_registers(placed)
            return
        d, lanes = placed.vector
        selected = self._stages.written_out(f, d, ())
        second = None if selected is None else selected[0]
        order = sorted(range(f.dimensions), key=lambda e: (e != d or lanes == 1, e != second, e))
        if order != sorted(order):
            func.reorder(*(Var(f.args[e]) for e in order))
        if lanes > 1:
            func.vectorize(Var(f.args[d]), lanes, _GUARD)
        self._write_out(f, selected)
        for stage in range(1, len(f.definitions)):
            self._update(f, stage, d, parallel=False)

    def _in_registers(self, placed: Placed) -> None:
        """A reduction whose sums stay in registers: all loops but those of the reduction are written out."""
        f, lanes = placed.function, placed.vector[1]
        x, rest = Var(f.args[0]), [Var(n) for n in f.args[1:2]]
        for stage in range(len(f.definitions)):
            domain = f.definitions[stage].domain
            of = Stage.of(f, stage) if stage else Func._of(f)
            if domain is not None:
                of.reorder(x, *rest, *(Var(n) for n in domain.movable))
            of.vectorize(x, lanes).unroll(x)
            for y in rest:
                of.unroll(y)

    # Updates.

    def _update(self, f: Function, stage: int, d: int, *, parallel: bool) -> None:
        """A dimension as vectors, if it is pure there, and the longest other one in threads. Where each point is summed
        by itself, that happens inside of the loop over vectors; where other points are read, outside."""
        free = [e for e, pure in enumerate(f.pure_dims(stage)) if pure]
        update = Stage.of(f, stage)
        extents = self._extents(f)
        lanes = self._lanes(f, d) if d in free else 1
        outer = [e for e in free if e != d or lanes == 1]
        domain = f.definitions[stage].domain
        reductions = [] if domain is None else [Var(n) for n in domain.movable]
        if lanes > 1:
            vectors = Var(f.args[d])
            if len(free) == f.dimensions:
                within = Var(_fresh(f, f.args[d], "i"))
                update.split(vectors, vectors, within, lanes, _GUARD)
                update.reorder(within, *reductions, vectors).vectorize(within)
            else:
                if reductions:
                    update.reorder(vectors, *reductions)
                update.vectorize(vectors, lanes, _GUARD)
        if parallel and outer and self._worth(f, stage):
            most = max(outer, key=lambda e: (extents[e], e))
            if extents[most] >= 2 * self._machine.threads:
                update.parallel(Var(f.args[most]))

    # Sizes.

    def _extents(self, f: Function) -> list[Number]:
        return [extent(r) for r in self._stages.regions[f]]

    def _lanes(self, f: Function, d: int) -> int:
        """Lanes that a dimension fills; 1 where it is too short."""
        lanes = self._machine.lanes(self._stages.facts[f].widest or f.types[0])
        while lanes > self._extents(f)[d]:
            lanes //= 2
        return lanes if lanes >= _FEWEST_LANES else 1

    def _worth(self, f: Function, stage: int) -> bool:
        """True where a stage has enough work for several threads."""
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
