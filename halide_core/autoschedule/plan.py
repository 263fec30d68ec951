"""The places of Funcs: which are inlined, which are computed at root, and which in the loops of another one.

In: PipelineStages, and a MachineModel. Out: Places: groups of Funcs, each computed in strips or tiles of its last Func.

    blur(across(image))   ->   blur at root, in strips of rows; across in each row of it, kept for the next rows
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.interval import Range
from halide_core.autoschedule.machine import MachineModel
from halide_core.autoschedule.ranges import Number, Region, extent, size
from halide_core.autoschedule.shapes import EACH, WHOLE, Level, LoopShape, Placed, with_threads
from halide_core.autoschedule.slides import CHAIN, links
from halide_core.autoschedule.stages import PipelineStages, promised
from halide_core.schedule.directives import DebugToFile, Trace

_SAVED, _SAVED_A_READ = 2.0, 1.5
"""Operations that are worth a store, and a load, of a value."""
_SAME = 1.05
"""More often than once a point, by what edges of regions add."""
_REDONE = 1.35
"""The greatest factor of recomputation of a producer in strips."""
_SMALL = 4096
"""Points below which loops are neither divided among threads nor hold producers."""
_LEAST_STRIP, _MOST_STRIP, _STRIPS_A_THREAD = 8, 128, 8
_DEEP = 16
"""Iterations of a reduction from which its accumulators get a register tile."""
_FEWEST_LANES = 4
_WORTH_THREADS = 1 << 15
"""Operations below which threads take longer to start than they save."""
_REUSED = 16
"""Reads of each value from which a copy of an input's tile pays."""


class Place(Enum):
    """The loop of a group that a Func is computed in."""

    ROW = "each iteration of the inner strip loop"
    SLIDING = "the same, and what earlier iterations computed is kept for a strip"
    STRIP = "each strip"
    TILE = "each register tile"
    PANEL = "each column of register tiles"


_LEVELS = {
    Place.ROW: Level.ROW,
    Place.SLIDING: Level.SLIDING,
    Place.STRIP: Level.TILE,
    Place.TILE: Level.REGISTERS,
    Place.PANEL: Level.TILE,
}


@dataclass(slots=True, eq=False)
class Group:
    """A Func at root, the dimension of its strips, and the Funcs that are computed in its loops."""

    anchor: Function
    strip: int | None = None
    height: int = 0
    rows: int = 0
    """Of a register tile; 0 where the group is none of tiles."""
    columns: int = 0
    members: dict[Function, Place] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Places:
    """Where everything is computed."""

    inlined: dict[Function, None]
    groups: list[Group]


def planned(stages: PipelineStages, machine: MachineModel) -> Places:
    """A place for each Func: consumers first, as each place depends on theirs."""
    return _Planner(stages, machine).plan()


def placed(plan: Places, stages: PipelineStages, machine: MachineModel) -> list[Placed]:
    """The same as loops, consumers first."""
    return [each for group in plan.groups for each in _loops(group, stages, machine)]


def _loops(group: Group, stages: PipelineStages, machine: MachineModel) -> Iterator[Placed]:
    f = group.anchor
    if not stages.known(f) or f.extern is not None:
        yield Placed(f, f, None, LoopShape((WHOLE,) * f.dimensions, None, (0, 1)), (0, 1))
        return
    extents = [extent(r) for r in stages.regions[f]]
    tiles, row = [WHOLE] * f.dimensions, None
    worth = stages.runs(f, 0) * max(1, stages.facts[f].operations) >= _WORTH_THREADS
    if group.rows:
        (reduction,) = (m for m, place in group.members.items() if place is Place.TILE)
        vector = (0, machine.lanes(stages.facts[reduction].widest or reduction.types[0]))
        tiles[0] = group.columns
        few = math.ceil(extents[0] / group.columns) < 8 * machine.threads
        if len(tiles) > 2 and few:
            tiles[-1] = EACH
        shape = with_threads(
            LoopShape(tuple(tiles), None, vector, (group.columns, group.rows)), extents, machine, worth=True
        )
    else:
        vector = _vector(f, stages, machine)
        if group.strip is not None:
            tiles[group.strip] = group.height if group.height > 1 else EACH
            row = group.strip if group.height > 1 else None
        shape = with_threads(LoopShape(tuple(tiles), row, vector), extents, machine, worth=worth)
    yield Placed(f, f, None, shape, vector)
    for member, place in group.members.items():
        own = vector if place is Place.TILE else _vector(member, stages, machine)
        yield Placed(member, f, _LEVELS[place], shape, own)


def _vector(f: Function, stages: PipelineStages, machine: MachineModel) -> tuple[int, int]:
    """The first dimension, and the lanes that it fills; 1 where it is too short, or where there is none."""
    if not f.dimensions:
        return (0, 1)
    lanes = machine.lanes(stages.facts[f].widest or f.types[0])
    while lanes > extent(stages.regions[f][0]):
        lanes //= 2
    return (0, lanes if lanes >= _FEWEST_LANES else 1)


class _Planner:
    def __init__(self, stages: PipelineStages, machine: MachineModel) -> None:
        self._stages = stages
        self._machine = machine
        self._inlined = self._cheap()
        self._group_of: dict[Function, Group] = {}
        self._chains: dict[Function, int] = {}

    def plan(self) -> Places:
        groups: list[Group] = []
        for f in reversed(self._stages.order):
            if f in self._inlined:
                continue
            group = self._joined(f)
            if group is None:
                group = self._anchored(f)
                groups.append(group)
            self._group_of[f] = group
        for group in groups:
            if group.rows:
                self._add_panel(group)
        return Places(self._inlined, groups)

    # Inlining.

    def _cheap(self) -> dict[Function, None]:
        """The Funcs that cost no more where they are used than where they would be kept."""
        inlined: dict[Function, None] = {}
        runs: dict[Function, Number] = {}
        for f in reversed(self._stages.order):
            if f in self._stages.outputs:
                continue
            runs[f] = 0
            for c in self._stages.consumers[f]:
                for read in self._stages.facts[c].reads[f]:
                    each = runs[c] if c in inlined else self._runs(c, read.stage)
                    runs[f] += each * len(read.places)
            if self._may_be_inlined(f) and self._pays_inlined(f, runs[f]):
                inlined[f] = None
        return inlined

    def _runs(self, f: Function, stage: int) -> Number:
        return self._stages.runs(f, stage) if self._stages.known(f) else math.inf

    def _may_be_inlined(self, f: Function) -> bool:
        kept = f.extern is not None or any(c.extern is not None for c in self._stages.consumers[f])
        shown = any(isinstance(d, Trace | DebugToFile) for d in f.directives)
        return f.is_pure and not f.keeps and not kept and not shown

    def _pays_inlined(self, f: Function, runs: Number) -> bool:
        if not self._stages.known(f):
            return True  # it has no region to be kept of
        often = runs / max(1, self._stages.points(f))
        operations = self._stages.facts[f].operations
        return often <= _SAME or operations * (often - 1) <= _SAVED + _SAVED_A_READ * often

    # Groups.

    def _readers(self, f: Function) -> dict[Function, None]:
        """The Funcs with loops that read one, themselves or by way of inlined ones."""
        found: dict[Function, None] = {}
        stack = list(self._stages.consumers[f])
        while stack:
            c = stack.pop()
            if c in self._inlined:
                stack += self._stages.consumers[c]
            else:
                found[c] = None
        return found

    def _anchored(self, f: Function) -> Group:
        group = Group(f)
        if not self._stages.known(f) or f.extern is not None or self._stages.points(f) < _SMALL:
            return group
        extents = [extent(r) for r in self._stages.regions[f]]
        outer = range(1, len(extents))
        best = max(outer, key=lambda d: (extents[d], d), default=None)
        if best is None or extents[best] < 2 * _LEAST_STRIP:
            best = best if best is not None and extents[best] > 1 else None
            group.strip, group.height = best, 1
            return group
        most = math.ceil(extents[best] / (_STRIPS_A_THREAD * self._machine.threads))
        group.strip, group.height = best, max(_LEAST_STRIP, min(_MOST_STRIP, most))
        return group

    def _joined(self, f: Function) -> Group | None:
        """The group in whose loops a Func is computed, if that doesn't compute it much more often than at root."""
        stages, readers = self._stages, self._readers(f)
        groups = list(dict.fromkeys(self._group_of[c] for c in readers))
        if f in stages.outputs or f.extern is not None or not stages.known(f) or len(groups) != 1:
            return None
        group = groups[0]
        anchor = group.anchor
        if group.strip is None or not anchor.is_pure or anchor.keeps or stages.points(f) < _SMALL:
            return None
        if group.rows:
            return None
        if not group.members and self._make_tile(group, f):
            group.members[f] = Place.TILE
            return group
        if group.height < _LEAST_STRIP:
            return None
        place = self._place(group, f, readers)
        if place is None:
            return None
        group.members[f] = place
        return group

    def _place(self, group: Group, f: Function, readers: dict[Function, None]) -> Place | None:
        stages = self._stages
        whole, dim = stages.regions[group.anchor], group.strip
        assert dim is not None
        rows, low = extent(whole[dim]), whole[dim][0]
        middle = low + (rows // 2)
        strip = self._region(group, f, (middle, min(middle + group.height, low + rows) - 1))
        if size(strip) * rows / group.height > _REDONE * stages.points(f):
            return None
        if any(group.members.get(c) is Place.STRIP for c in readers):
            return Place.STRIP
        several = [self._region(group, f, (middle + i, middle + i)) for i in range(4)]
        if size(several[0]) * rows <= _SAME * stages.points(f):
            return Place.ROW
        moved = {d for a, b in pairwise(several) for d in range(len(a)) if a[d] != b[d]}
        forward = all(a[d][0] <= b[d][0] and a[d][1] <= b[d][1] for a, b in pairwise(several) for d in moved)
        if len(moved) != 1 or not forward or not f.is_pure:
            return Place.STRIP
        self._chains[f] = self._chain(f, *moved)
        return Place.SLIDING if self._chains[f] <= CHAIN else Place.STRIP

    def _chain(self, f: Function, dim: int) -> int:
        """The links from a Func that slides to the loops of its group (``autoschedule.slides``)."""
        found = 0
        for c in self._stages.consumers[f]:
            if c in self._inlined and dim < c.dimensions and c not in self._chains:
                self._chains[c] = self._chain(c, dim)
            rows = [place.args[dim] for read in self._stages.facts[c].reads[f] for place in read.places]
            found = max(found, self._chains.get(c, 0) + links(rows))
        return found

    def _region(self, group: Group, f: Function, rows: Range) -> Region:
        """The region of a Func that some rows of a group need, with all that its updates write."""
        assert group.strip is not None
        part = list(self._stages.regions[group.anchor])
        part[group.strip] = rows
        within = frozenset([*group.members, *self._inlined, f])
        return self._stages.needed({group.anchor: tuple(part)}, within)[f]

    # Register tiles.

    def _make_tile(self, group: Group, f: Function) -> bool:
        """True where the group becomes one of register tiles: of a reduction that its anchor reads point by point, and
        nobody else, not by way of inlined Funcs either: a tile of it has no other size than the anchor's."""
        anchor, stages = group.anchor, self._stages
        reads = stages.facts[anchor].reads.get(f, [])
        widest = stages.facts[f].widest
        if f.is_pure or widest is None or stages.consumers[f] != [anchor] or promised(f):
            return False
        if len(reads) != 1 or len(reads[0].places) != 1 or anchor.dimensions < 2:
            return False
        own = [ir.pure_variable(n) for n in anchor.args]
        at = reads[0].places[0].args
        if len(at) < 2 or at[0] is not own[0] or at[1] is not own[1] or len(set(at)) < len(at):
            return False
        deep = [s for s in range(1, len(f.definitions)) if stages.runs(f, s) >= _DEEP * stages.points(f)]
        if len(deep) != len(f.definitions) - 1 or not all(f.pure_dims(s)[:2] == (True, True) for s in deep):
            return False
        wide, high = (extent(r) for r in stages.regions[anchor][:2])
        columns, choices = self._machine.register_tile(widest)
        fitting = [k for k in choices if 2 * k <= high]
        if wide < 2 * columns or not fitting:
            return False
        group.columns = columns
        group.rows = min(fitting, key=lambda k: (math.ceil(math.ceil(high / k) * k / high * 20), -k))
        return True

    def _add_panel(self, group: Group) -> None:
        """Has a copy of an input's values that all tiles of a column read: dense, where the input is not."""
        stages = self._stages
        (f,) = group.members
        columns: Region = tuple(
            (r[0], r[0] + group.columns - 1) if d == 0 else r for d, r in enumerate(stages.regions[group.anchor])
        )
        for p in stages.facts[f].reads:
            if p not in self._inlined or list(self._readers(p)) != [f] or stages.facts[p].operations:
                continue
            panel = size(stages.needed({group.anchor: columns}, frozenset([f, *self._inlined]))[p])
            tiles = extent(stages.regions[group.anchor][0]) / group.columns
            reads = sum(stages.runs(f, read.stage) for read in stages.facts[f].reads[p])
            small = panel * p.types[0].bytes() <= self._machine.cache // 2
            if small and panel * tiles <= _SAME * stages.points(p) and reads >= _REUSED * stages.points(p):
                del self._inlined[p]
                group.members[p] = Place.PANEL
                return
