"""The cost of a choice for one Func, in cycles of one core, item by item.

In: the choices for all its readers, and one for itself. Out: a Cost, which says what it is made of.

    across at the rows of blur   ->   arithmetic 1.2e6, loads 8e5, memory 3e5, loops 1e5

It is a sum over Funcs, as nothing but what was chosen for its readers decides what one costs: values that are
computed, by kind and lanes; loads and stores by stride; bytes from the level of the caches that they are still in, by
regions at the sizes that are expected; what it takes to enter loops, to start threads, and to touch new pages.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from halide_core import ir
from halide_core.algorithm.model import Function, Image
from halide_core.autoschedule.constants import Constants
from halide_core.autoschedule.machine import MachineModel
from halide_core.autoschedule.ranges import IndexRanges, Region, extent, field_range, joined, size
from halide_core.autoschedule.reads import Coordinates, Inliner, Reading, readings
from halide_core.autoschedule.shapes import Level, LoopShape
from halide_core.autoschedule.stages import PipelineStages
from halide_core.autoschedule.work import Work, work_of
from halide_core.ir import Callee, Field
from halide_core.ir.visitor import subexpressions

_LINE = 64


@dataclass(slots=True)
class Cost:
    """Cycles, by what they are spent on, of all threads together divided by how many of them are busy."""

    arithmetic: float = 0.0
    loads: float = 0.0
    stores: float = 0.0
    memory: float = 0.0
    loops: float = 0.0
    threads: float = 0.0
    pages: float = 0.0

    @property
    def total(self) -> float:
        """All of it. The processor computes while memory is read, but never quite."""
        computed = self.arithmetic + self.loads + self.stores
        longer, shorter = max(computed, self.memory), min(computed, self.memory)
        return longer + 0.3 * shorter + self.loops + self.threads + self.pages

    def add(self, other: Cost) -> None:
        """Adds another one."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))

    def __str__(self) -> str:
        items = [(each.name, getattr(self, each.name)) for each in fields(self)]
        return ", ".join(f"{name} {value:.2g}" for name, value in items if value >= 1)


Regions = tuple[Region, ...]
"""The regions of a Func needed for one tile, and for three neighbouring rows in it."""


@dataclass(frozen=True, slots=True, eq=False)
class FuncLoops:
    """A Func with loops, as far as the cost of others depends on it."""

    function: Function
    anchor: Function
    level: Level | None
    """None of the anchor itself."""
    shape: LoopShape
    """Of the group."""
    boxes: Regions
    instances: float
    """The number of times that it is computed."""
    each: Region
    """The region that is computed at a time: of one that slides all of a tile, as it is computed once."""
    vector: tuple[int, int]
    tiles: float
    busy: float
    """Threads that are busy."""
    resident: float
    """Bytes that are touched between two uses of what is kept in a tile."""
    chain: int = 0
    """Links from it to the loops of its anchor, if it slides (``autoschedule.slides``)."""


Stages = Mapping[tuple[Function, int], tuple[Coordinates, ...]]
"""The stages with loops that read something, and where."""


class CostModel:
    """Costs of choices for the Funcs of one pipeline on one machine. Pure: equal questions have equal answers."""

    def __init__(self, stages: PipelineStages, machine: MachineModel, constants: Constants) -> None:
        self.stages = stages
        self.machine = machine
        self.constants = constants
        self.inliner = Inliner()
        self._work: dict[tuple[Function, int], Work] = {}
        self._readings: dict[tuple[Function, int], list[Reading]] = {}
        self._ranges: dict[tuple[Function, Region], IndexRanges] = {}
        self._regions: dict[tuple[Function, Region, Coordinates], Region] = {}
        self._shares: dict[tuple[Function, int], tuple[bool, ...]] = {}

    # Facts.

    def work(self, f: Function, stage: int) -> Work:
        """The operations of a stage."""
        if (f, stage) not in self._work:
            self._work[f, stage] = work_of(f, stage)
        return self._work[f, stage]

    def readings(self, f: Function, stage: int) -> list[Reading]:
        """The reads of a stage itself."""
        if (f, stage) not in self._readings:
            self._readings[f, stage] = readings(f, stage)
        return self._readings[f, stage]

    def region(self, f: Function, box: Region, place: Coordinates) -> Region:
        """The region read at a place where a box of a Func is computed."""
        key = (f, box, place)
        known = self._regions.get(key)
        if known is None:
            ranges = self._ranges.get((f, box))
            if ranges is None:
                ranges = self._ranges[f, box] = IndexRanges(f, box)
            known = self._regions[key] = tuple([i.range(ranges) for i in place])
        return known

    def around(self, f: Function, box: Region, places: Iterable[Coordinates]) -> Region:
        """The smallest box around what is read at some places."""
        found: Region | None = None
        for place in places:
            found = joined(found, self.region(f, box, place))
        assert found is not None
        return found

    def needed(self, f: Function, box: Region, places: Iterable[Coordinates], callee: Callee) -> Region:
        """The same, no more than is needed of a Func at all: an index that nothing is known of says nothing."""
        found = self.around(f, box, places)
        whole = self.stages.regions.get(callee) if isinstance(callee, Function) else None
        if whole is None:
            return found
        return tuple((max(a[0], b[0]), max(min(a[1], b[1]), a[0], b[0])) for a, b in zip(found, whole, strict=True))

    def runs(self, nest: FuncLoops, stage: int) -> float:
        """The number of times that a stage of a Func computes a value, all in all."""
        f = nest.function
        pure = self._pure(f, stage)
        count = math.prod(float(extent(r)) for r, own in zip(nest.each, pure, strict=True) if own)
        if stage:
            count *= IndexRanges(f, nest.each).iterations(stage, f)
        return count * nest.instances

    def _pure(self, f: Function, stage: int) -> tuple[bool, ...]:
        """The dimensions with a loop in a stage."""
        if (f, stage) not in self._shares:
            d = f.definitions[stage]
            used = set(subexpressions(d.exprs()))
            self._shares[f, stage] = tuple(ir.pure_variable(n) in used for n in f.args)
        return self._shares[f, stage]

    # Costs.

    def inlined(self, f: Function, readers: Stages, nests: Mapping[Function, FuncLoops]) -> Cost:
        """Computing a Func wherever it is read; in loops of unknown length for nothing, as reading one is."""
        cost = Cost()
        for (reader, stage), places in readers.items():
            nest = nests[reader]
            if not self.stages.known(reader):
                continue
            runs = self.runs(nest, stage) * len(places) / nest.busy
            lanes = self._lanes(nest, stage)
            cost.arithmetic += runs * self.work(f, 0).cycles(lanes, self.machine.register_bytes)
            images: dict[Callee, list[Coordinates]] = {}
            for place in places:
                for reading in self.inliner.through(f, place):
                    if isinstance(reading.callee, Image):
                        images.setdefault(reading.callee, []).append(reading.place)
            for image, at in images.items():
                cost.add(self.read(nest, stage, image, tuple(at), None))
        return cost

    def computed(self, nest: FuncLoops) -> Cost:
        """The loops of a Func: its values, its stores, and the inputs that it reads itself."""
        cost, c, f = Cost(), self.constants, nest.function
        bytes_each = self._bytes(f)
        for stage in range(len(f.definitions)):
            busy = self._busy(nest, stage)
            runs = self.runs(nest, stage) / busy
            lanes = self._lanes(nest, stage)
            registers = nest.level is Level.REGISTERS
            row, tail = self._row(nest, lanes)
            values = runs * tail / self._copies(nest)
            arithmetic = values * self.work(f, stage).cycles(lanes, self.machine.register_bytes)
            cost.arithmetic += arithmetic * (self._waiting(nest) if registers and stage else 1.0)
            if not registers:
                wide = max(1, math.ceil(lanes * bytes_each / self.machine.register_bytes))
                scatter = stage > 0 and not all(f.pure_dims(stage)) and lanes > 1
                cost.stores += runs * tail * (c.gather if scatter else c.store * wide / lanes)
                cost.loops += runs / row * c.row
            images: dict[Callee, list[Coordinates]] = {}
            for reading in self.readings(f, stage):
                if isinstance(reading.callee, Image):
                    images.setdefault(reading.callee, []).append(reading.place)
                elif reading.callee is f and not registers:
                    cost.loads += runs * (c.load + 4.0) / lanes  # what was stored just now
            for image, at in images.items():
                cost.add(self.read(nest, stage, image, tuple(at), None))
        written = size(nest.each) * nest.instances * bytes_each
        if nest.level is None:
            cost.memory += 2 * written * self._far(size(nest.each) * bytes_each, nest)
            if f not in self.stages.outputs and written > c.kept:
                cost.pages += written / c.page * c.fault
        else:
            cost.memory += written * c.byte(nest.resident) / nest.busy
            if nest.level is not Level.REGISTERS:
                cost.loops += nest.instances * c.instance / nest.busy
        return cost

    def _copies(self, nest: FuncLoops) -> float:
        """Of how many values that a select tells apart each point computes but one."""
        found = self.stages.written_out(nest.function, nest.vector[0], nest.shape.tiles if nest.level is None else ())
        return 1.0 if found is None else float(extent(found[1]))

    def _waiting(self, nest: FuncLoops) -> float:
        """By how much sums in registers wait for one another, where there are too few of them."""
        assert nest.shape.micro is not None
        columns, rows = nest.shape.micro
        return max(1.0, self.constants.latency / (columns / nest.vector[1] * rows))

    def read(
        self, nest: FuncLoops, stage: int, callee: Callee, places: tuple[Coordinates, ...], kept: float | None
    ) -> Cost:
        """Reading a Func or an input in the loops of a stage.

        Args:
            kept: the bytes among which it stays from when it is computed in the same tile; None of what is far.
        """
        cost, c = Cost(), self.constants
        lanes = self._lanes(nest, stage)
        variable = ir.pure_variable(nest.function.args[nest.vector[0]]) if nest.function.args else None
        bytes_each = self._bytes(callee)
        runs = self.runs(nest, stage) / self._busy(nest, stage) / self._copies(nest)
        wide = max(1, math.ceil(lanes * bytes_each / self.machine.register_bytes))
        shared = self._shared(nest, places)
        for place in places:
            cost.loads += runs / lanes * self._load(place, variable, lanes, wide) / shared
        box = nest.boxes[0]
        region = self.needed(nest.function, box, places, callee)
        points = size(region)
        if not math.isfinite(points):
            points = self.runs(nest, stage) * len(places) / nest.tiles
            rows = points
        else:
            rows = points / max(1, extent(region[0])) if region else 1
        touched = points * bytes_each + rows * (_LINE if kept is None else 0)
        if nest.level is Level.REGISTERS:
            cost.memory += self._reread(nest, callee, places, touched, dense=kept is not None)
        if kept is not None:
            cost.memory += touched * nest.tiles * c.byte(kept) / nest.busy
        else:
            whole = self._whole(callee, points * nest.tiles) * bytes_each
            cost.memory += touched * nest.tiles * self._far(whole, nest)
        return cost

    def expected(self, nest: FuncLoops) -> dict[Function, float]:
        """The expected cost of reading each Func in the loops of one, in caches and inlined where that is cheap."""
        found: dict[Function, float] = {}
        if not self.stages.known(nest.function):
            return found
        for stage in range(len(nest.function.definitions)):
            for reading in self.readings(nest.function, stage):
                if isinstance(reading.callee, Function) and reading.callee is not nest.function:
                    g = reading.callee
                    found[g] = found.get(g, 0.0) + self._least(nest, stage, g, reading.place)
        return found

    def expected_through(
        self, f: Function, readers: Stages, nests: Mapping[Function, FuncLoops]
    ) -> dict[Function, float]:
        """The same of what a Func reads that is inlined."""
        found: dict[Function, float] = {}
        for (reader, stage), places in readers.items():
            if not self.stages.known(reader):
                continue
            through = dict.fromkeys(r for place in places for r in self.inliner.through(f, place))
            for reading in through:
                if isinstance(reading.callee, Function):
                    g = reading.callee
                    found[g] = found.get(g, 0.0) + self._least(nests[reader], stage, g, reading.place)
        return found

    def _least(self, nest: FuncLoops, stage: int, g: Function, place: Coordinates) -> float:
        lanes = self._lanes(nest, stage)
        variable = ir.pure_variable(nest.function.args[nest.vector[0]]) if nest.function.args else None
        wide = max(1, math.ceil(lanes * self._bytes(g) / self.machine.register_bytes))
        each = self._load(place, variable, lanes, wide) / lanes
        if g.is_pure and g.extern is None:
            inlined = self.work(g, 0).cycles(lanes, self.machine.register_bytes)
            for reading in self.inliner.through(g, place) if inlined < each else ():
                inlined += self._load(reading.place, variable, lanes, wide) / lanes
            each = min(each, inlined)
        return self.runs(nest, stage) / self._busy(nest, stage) * each / self._shared(nest, (place,))

    def _reread(
        self, nest: FuncLoops, callee: Callee, places: tuple[Coordinates, ...], touched: float, *, dense: bool
    ) -> float:
        """The cost of what register tiles read again within a tile: of short rows that are far apart each is in a page
        of its own, and there may be more of these than the processor remembers."""
        c = self.constants
        region = self.needed(nest.function, nest.each, places, callee)
        points = size(region)
        if not math.isfinite(points) or not region:
            return 0.0
        cycles = points * self._bytes(callee) * c.byte(touched)
        rows = points / max(1, extent(region[0]))
        pages = rows * min(1.0, self._row_bytes(callee) / c.page)
        if not dense and pages > c.pages_known:
            cycles += pages * c.translation
        return nest.instances * cycles / nest.busy

    def _row_bytes(self, callee: Callee) -> float:
        """From one row of a Func at root, or of an input, to the next; a page where nobody said it."""
        if isinstance(callee, Function):
            length = extent(self.stages.regions[callee][0]) * self._bytes(callee)
        else:
            length = field_range(callee, Field.EXTENT, 0)[1] * self._bytes(callee)
        return float(length) if math.isfinite(length) else float(self.constants.page)

    def _load(self, place: Coordinates, variable: ir.ExprNode | None, lanes: int, wide: int) -> float:
        """Cycles of a vector of values."""
        c = self.constants
        if lanes == 1 or variable is None:
            return c.load
        steps = [i.step(variable) for i in place]
        first, rest = (steps[0], steps[1:]) if steps else (0.0, [])
        if any(rest) or not math.isfinite(first):
            return c.gather * lanes
        if first == 0:
            return c.load * 0.5
        if first == 1:
            return c.load * wide
        if 0 < first < 1:
            return (c.load + c.shuffle) * wide
        if 1 < first <= 4 and first == int(first):
            return (c.load + c.shuffle) * wide * first
        return (c.load + c.shuffle) * wide * 2 if first == -1 else c.gather * lanes

    def _shared(self, nest: FuncLoops, places: tuple[Coordinates, ...]) -> float:
        """The number of points of a register tile that one load serves."""
        if nest.level is not Level.REGISTERS or nest.shape.micro is None:
            return 1.0
        x, y = (ir.pure_variable(n) for n in nest.function.args[:2])
        columns, rows = nest.shape.micro
        moves_x = any(i.step(x) for i in places[0])
        moves_y = any(i.step(y) for i in places[0])
        return (1.0 if moves_x else columns / nest.vector[1]) * (1.0 if moves_y else float(rows))

    def _lanes(self, nest: FuncLoops, stage: int) -> int:
        """The lanes of a stage: an update has vectors where the dimension is pure in it."""
        d, lanes = nest.vector
        if stage and nest.function.args and not nest.function.pure_dims(stage)[d]:
            return 1
        return lanes

    def _row(self, nest: FuncLoops, lanes: int) -> tuple[float, float]:
        """Values of an innermost loop, and by how much a last, shorter vector lengthens it."""
        if not nest.each:
            return 1.0, 1.0
        length = float(extent(nest.each[nest.vector[0]]))
        if nest.level is None and nest.shape.tiles and nest.shape.tiles[nest.vector[0]] > 1:
            length = min(length, nest.shape.tiles[nest.vector[0]])
        if nest.shape.micro is not None or lanes == 1:
            return max(1.0, length), 1.0
        vectors_needed = length // lanes + (1.5 if length % lanes else 0)
        return max(1.0, length), max(1.0, vectors_needed * lanes / max(1.0, length))

    def _busy(self, nest: FuncLoops, stage: int) -> float:
        """An update at root has its longest other dimension in threads."""
        if stage == 0 or nest.level is not None:
            return nest.busy
        free = [d for d, pure in enumerate(nest.function.pure_dims(stage)) if pure]
        outer = [d for d in free if d != 0 or self._lanes(nest, stage) == 1]
        longest = max((extent(nest.each[d]) for d in outer), default=1)
        return float(self.machine.threads) if longest >= 2 * self.machine.threads else 1.0

    def _far(self, whole: float, nest: FuncLoops) -> float:
        """Cycles of a byte of what is at root; threads share what brings it."""
        each = self.constants.byte(max(whole, self.constants.l1))
        if whole <= self.constants.l3 or nest.busy <= 1:
            return each / nest.busy
        return each / (1 + (self.constants.shared - 1) * (nest.busy - 1) / (self.machine.threads - 1))

    def _whole(self, callee: Callee, touched: float) -> float:
        if isinstance(callee, Function):
            return float(size(self.stages.regions[callee])) if self.stages.known(callee) else touched
        return touched

    def _bytes(self, callee: Callee) -> int:
        assert isinstance(callee, Function | Image)
        return sum(t.bytes() for t in callee.types)

    def threads(self, shape: LoopShape, region: Region) -> tuple[float, Cost]:
        """The number of threads that the loops of a shape keep busy, and the cost of starting them."""
        if not shape.parallel:
            return 1.0, Cost()
        tasks = math.prod(math.ceil(shape.trips(d, extent(region[d]))) for d in shape.parallel)
        busy = max(1.0, tasks / (math.ceil(tasks / self.machine.threads) + self.constants.late))
        return busy, Cost(threads=self.constants.fork + tasks * self.constants.task / busy)
