"""A beam search for the choices that cost least: consumers first, one Func after another.

In: a CostModel. Out: a Found: for each Func what was chosen, what it costs, and what the next best would have cost.

    blur: at root, tiles of all x 32, 32 lanes
    across: at the rows of blur, kept for the tile

A choice is legal whatever else is chosen: a Func that may not be inlined, or that several groups read, is at root. The
beam keeps choices that look dear at first beside the cheap ones: of each combination of loops that Funcs to come can be
computed in, a few.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeAlias

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.autoschedule.cost import Cost, CostModel, FuncLoops, Regions, Stages
from halide_core.autoschedule.ranges import Number, Region, extent, joined, size
from halide_core.autoschedule.reads import Coordinates
from halide_core.autoschedule.shapes import (
    EACH,
    WHOLE,
    Level,
    LoopShape,
    Placed,
    register_shapes,
    shapes,
    vectors,
    with_threads,
)
from halide_core.autoschedule.slides import CHAIN, links
from halide_core.autoschedule.stages import promised
from halide_core.ir import Callee
from halide_core.schedule.directives import DebugToFile, Trace

WIDTH, _ALIKE = 32, 2
"""Of the beam: states all in all, and those of the same open loops."""
_PLACES = 400
"""Places of one Func in one stage from which it is not inlined."""
_SMALL = 2048
"""Points below which a Func at root gets plain loops, and none is computed in them."""
_WORTH_THREADS = 1 << 15
"""Operations below which threads take longer to start than they save."""
_DEEP = 16
"""Iterations of a reduction from which its accumulators get a register tile."""
_SAME = 1.02


@dataclass(frozen=True, slots=True, eq=False)
class FuncChoice:
    """The choice for a Func: inlined without a nest, at root without a level."""

    function: Function
    nest: FuncLoops | None
    cost: Cost
    other: tuple[str, float] | None = None
    """The next best choice, and its cycles, all else as it was when this was chosen."""

    def __str__(self) -> str:
        if self.nest is None:
            return "inlined"
        if self.nest.level is None:
            return f"at root: {self.nest.shape}"
        return f"at {self.nest.level.value} of {self.nest.anchor.name}, {self.nest.vector[1]} lanes"


@dataclass(frozen=True, slots=True, eq=False)
class _BeamState:
    """The choices so far. ``pending`` is what reading each Func to come will cost at least, or nearly."""

    cost: float
    choices: dict[Function, FuncChoice]
    nests: dict[Function, FuncLoops]
    readers: dict[Callee, Stages]
    pending: dict[Function, float]
    expected: float
    """The cost, with all that is pending."""


_START = _BeamState(0.0, {}, {}, {}, {}, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A choice after others, and what it makes pending."""

    state: _BeamState
    choice: FuncChoice
    adds: dict[Function, float]
    expected: float


@dataclass(frozen=True, slots=True)
class Found:
    """The choices of a search, consumers first."""

    choices: dict[Function, FuncChoice]
    cycles: float
    examined: int = field(compare=False)

    def cost(self) -> Cost:
        """Of all Funcs together, item by item. Its total is no sum of theirs, which ``cycles`` is."""
        whole = Cost()
        for choice in self.choices.values():
            whole.add(choice.cost)
        return whole

    def placed(self) -> list[Placed]:
        """The Funcs with loops, consumers first."""
        nests = [c.nest for c in self.choices.values() if c.nest is not None]
        return [Placed(n.function, n.anchor, n.level, n.shape, n.vector) for n in nests]

    def explanation(self) -> str:
        """A paragraph for each Func."""
        lines = []
        for f, choice in self.choices.items():
            lines.append(f"{f.name}: {choice}")
            lines.append(f"    {choice.cost.total:.3g} cycles: {choice.cost}")
            if choice.other is not None:
                lines.append(f"    next best, {choice.other[1]:.3g} cycles: {choice.other[0]}")
        return "\n".join([*lines, f"all: {self.cycles:.3g} cycles"])


def search(model: CostModel, *, width: int = WIDTH, best: int = 1) -> list[Found]:
    """The choices that cost least, in order."""
    searcher = _Search(model, width)
    states = searcher.run()
    return [Found(s.choices, s.cost, searcher.examined) for s in states[:best]]


Draw: TypeAlias = "Callable[[Function, list[FuncChoice]], int]"
"""Selects one of the choices for a Func; they come in the order of what they cost, with what they make pending."""


def drawn(model: CostModel, draw: Draw) -> Found:
    """The choices that somebody draws: any point of the space that the search looks for the best one in."""
    searcher = _Search(model, 1)
    state = _START
    for f in reversed(model.stages.order):
        candidates = sorted(searcher.candidates(state, f), key=lambda c: c.expected)
        state = searcher.made(candidates[draw(f, [c.choice for c in candidates])])
    return Found(state.choices, state.cost, searcher.examined)


class _Search:
    def __init__(self, model: CostModel, width: int) -> None:
        self._model = model
        self._stages = model.stages
        self._width = width
        self.examined = 0
        self._rooted_of: dict[Function, list[tuple[FuncLoops, Cost, dict[Function, float]]]] = {}

    def run(self) -> list[_BeamState]:
        beam = [_START]
        order = list(reversed(self._stages.order))
        for at, f in enumerate(order):
            later = order[at + 1 :]
            beam = self._kept([c for state in beam for c in self.candidates(state, f)], later)
        return sorted(beam, key=lambda s: s.cost)

    def _kept(self, candidates: list[_Candidate], later: list[Function]) -> list[_BeamState]:
        candidates.sort(key=lambda c: c.expected)
        alike: dict[object, int] = {}
        kept = []
        for c in candidates:
            state = self.made(c)
            key = self._open(state, later)
            alike[key] = alike.get(key, 0) + 1
            if alike[key] <= _ALIKE:
                kept.append(state)
            if len(kept) == self._width:
                break
        return kept

    def _open(self, s: _BeamState, later: list[Function]) -> object:
        """The loops that Funcs to come can be computed in."""
        anchors: dict[Function, LoopShape] = {}
        for g in later:
            for reader, _ in s.readers.get(g, {}):
                nest = s.nests[reader]
                anchors[nest.anchor] = nest.shape
        return tuple(anchors.items())

    # One step.

    def candidates(self, state: _BeamState, f: Function) -> Iterator[_Candidate]:
        """All choices for the next Func."""
        readers = state.readers.get(f, {})
        options = sorted(self._options(state, f, readers), key=lambda each: each[0].cost.total)
        self.examined += len(options)
        for i, (choice, adds) in enumerate(options):
            rest = options[1 if i == 0 else 0][0] if len(options) > 1 else None
            other = None if rest is None else (str(rest), rest.cost.total)
            chosen = FuncChoice(f, choice.nest, choice.cost, other)
            expected = state.expected - state.pending.get(f, 0.0) + choice.cost.total + sum(adds.values())
            yield _Candidate(state, chosen, adds, expected)

    def made(self, c: _Candidate) -> _BeamState:
        """The state after a candidate is taken."""
        state, f, nest = c.state, c.choice.function, c.choice.nest
        pending = {g: cycles for g, cycles in state.pending.items() if g is not f}
        for g, cycles in c.adds.items():
            pending[g] = pending.get(g, 0.0) + cycles
        return _BeamState(
            state.cost + c.choice.cost.total,
            {**state.choices, f: c.choice},
            state.nests if nest is None else {**state.nests, f: nest},
            self._read(state.readers, f, nest),
            pending,
            c.expected,
        )

    def _read(self, before: dict[Callee, Stages], f: Function, nest: FuncLoops | None) -> dict[Callee, Stages]:
        """The callees that are read, with the stages that read them, when the choice for a Func is known."""
        readers = dict(before)
        if nest is None:
            for stage, places in before[f].items():
                through: dict[Callee, dict[Coordinates, None]] = {}
                for place in places:
                    for reading in self._model.inliner.through(f, place):
                        if isinstance(reading.callee, Function):
                            through.setdefault(reading.callee, {})[reading.place] = None
                for g, found in through.items():
                    at = readers.get(g, {})
                    readers[g] = {**at, stage: tuple(dict.fromkeys([*at.get(stage, ()), *found]))}
            return readers
        for stage_number in range(len(f.definitions)):
            own: dict[Callee, list[Coordinates]] = {}
            for reading in self._model.readings(f, stage_number):
                if isinstance(reading.callee, Function) and reading.callee is not f:
                    own.setdefault(reading.callee, []).append(reading.place)
            for g, places_of in own.items():
                at = readers.get(g, {})
                key = (f, stage_number)
                readers[g] = {**at, key: tuple(dict.fromkeys([*at.get(key, ()), *places_of]))}
        return readers

    def _options(
        self, state: _BeamState, f: Function, readers: Stages
    ) -> Iterator[tuple[FuncChoice, dict[Function, float]]]:
        stages, model = self._stages, self._model
        tiled = self._register_tiled(state, f, readers)
        if tiled is not None:
            yield self._choice(state, tiled, readers)
            return
        if f not in stages.outputs and self._may_be_inlined(f, readers):
            cost = model.inlined(f, readers, state.nests)
            yield FuncChoice(f, None, cost), model.expected_through(f, readers, state.nests)
            if not stages.known(f):
                return
        for nest in self._within(state, f, readers):
            yield self._choice(state, nest, readers)
        reading = self._reading(state, f, readers, None)
        for nest, alone, adds in self._at_root(f):
            cost = Cost()
            cost.add(alone)
            cost.add(reading)
            yield FuncChoice(f, nest, cost), adds

    def _choice(self, state: _BeamState, nest: FuncLoops, readers: Stages) -> tuple[FuncChoice, dict[Function, float]]:
        """A Func in the loops of another: what computing it costs, and what reading it does."""
        cost = self._model.computed(nest)
        cost.add(self._reading(state, nest.function, readers, nest.resident))
        return FuncChoice(nest.function, nest, cost), self._model.expected(nest)

    def _reading(self, state: _BeamState, f: Function, readers: Stages, kept: float | None) -> Cost:
        """The cost of all reads of a Func."""
        cost = Cost()
        if self._stages.known(f):
            for (reader, stage), places in readers.items():
                if self._stages.known(reader):
                    cost.add(self._model.read(state.nests[reader], stage, f, places, kept))
        return cost

    def _may_be_inlined(self, f: Function, readers: Stages) -> bool:
        kept = f.extern is not None or any(c.extern is not None for c in self._stages.consumers[f])
        shown = any(isinstance(d, Trace | DebugToFile) for d in f.directives)
        many = any(len(places) > _PLACES for places in readers.values())
        return f.is_pure and not f.keeps and not kept and not shown and not many

    # At root.

    def _at_root(self, f: Function) -> list[tuple[FuncLoops, Cost, dict[Function, float]]]:
        """The nests of a Func at root, and what each costs: nothing that was chosen before changes it."""
        if f not in self._rooted_of:
            found = []
            for shape in dict.fromkeys(self._made_shapes(f)):
                nest, cost = self._rooted(f, shape), Cost()
                if f.extern is None and self._stages.known(f):
                    cost.add(self._model.computed(nest))
                    cost.add(self._model.threads(shape, self._stages.regions[f])[1])
                found.append((nest, cost, {**self._model.expected(nest), **self._of_reduction(nest)}))
            self._rooted_of[f] = found
        return self._rooted_of[f]

    def _of_reduction(self, nest: FuncLoops) -> dict[Function, float]:
        """The cost of the reduction that register tiles would be for, in the loops of a Func: as these are what it
        gets, loops can't be compared without it."""
        reduction = self._tiled_reduction(nest.function) if self._stages.known(nest.function) else None
        if reduction is None:
            return {}
        if nest.shape.micro is None:
            alone = min(cost.total + sum(adds.values()) for _, cost, adds in self._at_root(reduction))
            return {reduction: alone}
        state = _BeamState(0.0, {}, {nest.function: nest}, {}, {}, 0.0)
        readers: Stages = {}
        for reading in self._model.readings(nest.function, 0):
            if reading.callee is reduction:
                readers = {(nest.function, 0): (reading.place,)}
        tiled = self._register_tiled(state, reduction, readers)
        assert tiled is not None
        return {reduction: self._model.computed(tiled).total + sum(self._model.expected(tiled).values())}

    def _made_shapes(self, f: Function) -> Iterator[LoopShape]:
        stages, machine = self._stages, self._model.machine
        plain = LoopShape((WHOLE,) * f.dimensions, None, (0, 1))
        if not stages.known(f) or f.extern is not None or not f.dimensions:
            yield plain
            return
        extents = [extent(r) for r in stages.regions[f]]
        type = stages.facts[f].widest or f.types[0]
        vector = vectors(type, extents, range(f.dimensions), machine)
        if stages.points(f) < _SMALL:
            yield LoopShape(plain.tiles, None, vector)
            return
        worth = stages.points(f) * max(1, self._effort(f)) >= _WORTH_THREADS
        holds = f.is_pure and not f.keeps
        if holds and self._tiled_reduction(f) is not None:
            for shape in register_shapes(type, extents, machine):
                yield with_threads(shape, extents, machine, worth=True)
        wider = (vector[0], 2 * vector[1])
        for each in dict.fromkeys([vector, wider if vector[1] > 1 and wider[1] <= extents[vector[0]] else vector]):
            for shape in shapes(extents, each, holds=holds and bool(stages.facts[f].reads)):
                yield with_threads(shape, extents, machine, worth=worth)

    def _effort(self, f: Function) -> float:
        """Operations of a point, as if all that it reads were inlined to some depth: it may well be."""
        return 4.0 + self._stages.facts[f].operations

    def _rooted(self, f: Function, shape: LoopShape) -> FuncLoops:
        stages = self._stages
        if not stages.known(f):
            return FuncLoops(f, f, None, shape, (), 1.0, (), (0, 1), 1.0, 1.0, 0.0)
        whole = stages.regions[f]
        tiles = math.prod(shape.trips(d, extent(whole[d])) for d in shape.outer)
        busy = self._model.threads(shape, whole)[0]
        return FuncLoops(f, f, None, shape, _boxes(shape, whole), 1.0, whole, shape.vector, tiles, busy, 0.0)

    # In the loops of a group.

    def _group(self, state: _BeamState, f: Function, readers: Stages) -> FuncLoops | None:
        """The anchor of the one group that reads a Func, if the Func may be computed in it."""
        stages = self._stages
        if f in stages.outputs or f.extern is not None or not stages.known(f) or not readers:
            return None
        groups = list(dict.fromkeys(state.nests[reader].anchor for reader, _ in readers))
        anchor = groups[0]
        if len(groups) != 1 or not anchor.is_pure or anchor.keeps or anchor.extern is not None:
            return None
        nest = state.nests[anchor]
        return nest if nest.shape.outer and stages.points(f) >= _SMALL else None

    def _within(self, state: _BeamState, f: Function, readers: Stages) -> Iterator[FuncLoops]:
        group = self._group(state, f, readers)
        if group is None:
            return
        boxes = self._boxes_of(state, f, readers)
        rows = self._rows_of(group)
        inside = {state.nests[reader].level for reader, _ in readers}
        yield self._nest(state, f, group, Level.TILE, boxes, boxes[0], group.tiles)
        if Level.TILE in inside or group.shape.micro is not None or rows <= 1:
            return
        if size(boxes[1]) * rows <= _SAME * size(boxes[0]) or not _slides(boxes):
            yield self._nest(state, f, group, Level.ROW, boxes, boxes[1], group.tiles * rows)
        chain = self._chain(state, boxes, readers) if f.is_pure and _slides(boxes) else CHAIN + 1
        if chain <= CHAIN and size(boxes[1]) * rows > _SAME * size(boxes[0]):
            yield replace(self._nest(state, f, group, Level.SLIDING, boxes, boxes[0], group.tiles), chain=chain)

    def _chain(self, state: _BeamState, boxes: Regions, readers: Stages) -> int:
        """The links from a Func that slides to the loops of its group."""
        found = 0
        for (reader, _), places in readers.items():
            for d in _moved(boxes):
                rows = [atom for place in places for atom, _ in place[d].terms]
                found = max(found, state.nests[reader].chain + links(rows))
        return found

    def _rows_of(self, group: FuncLoops) -> float:
        row = group.shape.row
        if row is None or group.shape.tiles[row] == EACH:
            return 1.0
        return float(extent(group.boxes[0][row]))

    def _boxes_of(self, state: _BeamState, f: Function, readers: Stages) -> Regions:
        """The regions of a Func that the tile, and each of some rows, needs."""
        found: list[Region] = []
        for i in range(4):
            box: Region | None = None
            for (reader, _), places in readers.items():
                box = joined(box, self._model.needed(reader, state.nests[reader].boxes[i], places, f))
            assert box is not None
            found.append(box)
        return tuple(found)

    def _nest(
        self,
        state: _BeamState,
        f: Function,
        group: FuncLoops,
        level: Level,
        boxes: Regions,
        each: Region,
        instances: float,
    ) -> FuncLoops:
        extents = [extent(r) for r in each]
        free = [d for d in range(f.dimensions) if all(f.pure_dims(s)[d] for s in range(len(f.definitions)))]
        type = self._stages.facts[f].widest or f.types[0]
        vector = vectors(type, extents, free, self._model.machine) if f.dimensions else (0, 1)
        held = size(boxes[0] if level is Level.TILE else boxes[1]) * sum(t.bytes() for t in f.types)
        others = [n.resident for n in state.nests.values() if n.anchor is group.function and n.level is not None]
        resident = held + max(others, default=0.0)
        return FuncLoops(
            f, group.function, level, group.shape, boxes, instances, each, vector, group.tiles, group.busy, resident
        )

    # Register tiles.

    def _register_tiled(self, state: _BeamState, f: Function, readers: Stages) -> FuncLoops | None:
        """The nest of a reduction in register tiles, if its reader has loops of these."""
        if len(readers) != 1:
            return None
        ((reader, _),) = readers
        group = state.nests[reader]
        micro = group.shape.micro
        if group.level is not None or micro is None or self._tiled_reduction(reader) is not f:
            return None
        if any(n.anchor is reader and n.level is Level.REGISTERS for n in state.nests.values()):
            return None
        whole = self._stages.regions[f]
        steps = (*micro, *(1,) * (len(whole) - 2))
        instances = math.prod(math.ceil(extent(r) / k) for r, k in zip(whole, steps, strict=True))
        each = tuple((r[0], r[0] + k - 1) for r, k in zip(whole, steps, strict=True))
        boxes = self._boxes_of(state, f, readers)
        return FuncLoops(
            f, reader, Level.REGISTERS, group.shape, boxes, instances, each, group.vector, group.tiles, group.busy, 0.0
        )

    def _tiled_reduction(self, anchor: Function) -> Function | None:
        """The reduction of many steps that a Func reads at its own points, and nowhere else."""
        stages = self._stages
        if anchor.dimensions < 2:
            return None
        own = [ir.pure_variable(n) for n in anchor.args]
        for f, reads in stages.facts[anchor].reads.items():
            if (
                f.is_pure
                or f is anchor
                or f in stages.outputs
                or stages.consumers[f] != [anchor]
                or f.extern is not None
                or promised(f)
            ):
                continue
            if len(reads) != 1 or len(reads[0].places) != 1 or not stages.known(f):
                continue
            at = reads[0].places[0].args
            if len(at) < 2 or at[0] is not own[0] or at[1] is not own[1] or len(set(at)) < len(at):
                continue
            deep = range(1, len(f.definitions))
            if all(f.pure_dims(s) == (True,) * f.dimensions for s in deep) and all(
                stages.runs(f, s) >= _DEEP * stages.points(f) for s in deep
            ):
                return f
        return None


def _boxes(shape: LoopShape, whole: Region) -> Regions:
    """A tile in the middle, and three rows of it."""
    tile = list(whole)
    for d in shape.outer:
        k = shape.tiles[d]
        low, high = whole[d]
        count: Number = extent(whole[d]) // k // 2
        first = low + int(count) * k if extent(whole[d]) >= 2 * k else low
        tile[d] = (first, min(first + k - 1, high))
    rows = []
    for i in range(3):
        row = list(tile)
        if shape.row is not None:
            low, high = tile[shape.row]
            middle = min(low + (extent((low, high)) // 2) + i, high)
            row[shape.row] = (middle, middle)
        rows.append(tuple(row))
    return (tuple(tile), *rows)


def _slides(boxes: Regions) -> bool:
    """True where what neighbouring rows need moves forward in one dimension."""
    rows, moved = boxes[1:], _moved(boxes)
    forward = all(a[d][0] <= b[d][0] and a[d][1] <= b[d][1] for a, b in pairwise(rows) for d in moved)
    return len(moved) == 1 and forward


def _moved(boxes: Regions) -> set[int]:
    """The dimensions in which neighbouring rows need something else."""
    return {d for a, b in pairwise(boxes[1:]) for d in range(len(a)) if a[d] != b[d]}
