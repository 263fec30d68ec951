"""A summary of Funcs for heuristics: who reads whom, where, how often, and the cost of a value.

In: the Funcs of a pipeline, producers first, and the regions of its outputs. Out: a PipelineStages, made once.

    blur = across[x, y] + across[x, y + 1]   ->   across: read by blur at 2 places, 2 operations
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.interval import Range
from halide_core.autoschedule.ranges import IndexRanges, Number, Region, joined, size
from halide_core.ir import Access, ExprNode
from halide_core.ir.types import Type
from halide_core.ir.visitor import parts, subexpressions
from halide_core.schedule.directives import AlignBounds, Bound

_SHORT = 4
"""The longest loop that is written out for the values that it selects."""
_CALL = 12
"""Operations that a function such as exp stands for."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadPlaces:
    """The distinct places at which a stage of a Func reads another Func."""

    stage: int
    places: tuple[Access, ...]


@dataclass(slots=True, eq=False)
class StageFacts:
    """One Func."""

    function: Function
    reads: dict[Function, list[ReadPlaces]] = field(default_factory=dict)
    """By the Func that is read; itself too, also where an update writes it."""
    operations: int = 0
    """Of one value, index arithmetic apart."""
    widest: Type | None = None
    """The widest type that values are computed in."""


class PipelineStages:
    """All Funcs of a pipeline, and the regions that its outputs need of them."""

    def __init__(self, order: Sequence[Function], outputs: Mapping[Function, Region]) -> None:
        self.order = tuple(order)
        self.facts = {f: _facts(f) for f in order}
        self.outputs = dict(outputs)
        self.consumers: dict[Function, list[Function]] = {f: [] for f in order}
        for f in order:
            for g in self.facts[f].reads:
                if g is not f:
                    self.consumers[g].append(f)
        self.regions = self.needed(outputs)
        self._selected: dict[Function, tuple[int, Range] | None] = {}

    def needed(
        self, of: Mapping[Function, Region], within: frozenset[Function] | None = None
    ) -> dict[Function, Region]:
        """The regions that computing regions of some Funcs needs: of all Funcs, or only by way of some."""
        found: dict[Function, Region] = dict(of)
        for f in reversed(self.order):
            if f in found and (within is None or f in within or f in of):
                self._add_reads(f, found)
        return found

    def _add_reads(self, f: Function, found: dict[Function, Region]) -> None:
        ranges = IndexRanges(f, found[f])
        for g, reads in self.facts[f].reads.items():
            for read in reads:
                for place in read.places:
                    region = ranges.args(place)
                    if g is not f or math.isfinite(size(region)):
                        found[g] = joined(found.get(g), region)

    def points(self, f: Function) -> Number:
        """The number of needed points of a Func."""
        return size(self.regions[f])

    def known(self, f: Function) -> bool:
        """True where the region of a Func is known."""
        return f in self.regions and math.isfinite(self.points(f))

    def written_out(self, f: Function, vectors: int, tiles: Sequence[int]) -> tuple[int, Range] | None:
        """A short dimension that a pure Func selects its value by, if all who read it say a constant there: with its
        loop written out, each copy computes one of the values. The constants are its range, whatever the sizes are.

        Args:
            vectors: the dimension of its vectors.
            tiles: of one at root, 0 for each dimension whose loop is inside of all tiles.
        """
        if f not in self._selected:
            self._selected[f] = self._selecting(f)
        found = self._selected[f]
        return None if found is None or found[0] == vectors or (tiles and tiles[found[0]]) else found

    def _selecting(self, f: Function) -> tuple[int, Range] | None:
        readers = self.consumers[f]
        if not f.is_pure or f.keeps or f in self.outputs or f.extern or promised(f) or any(c.extern for c in readers):
            return None
        tested = _tested(f.definitions[0].values)
        places = [p.args for c in readers for read in self.facts[c].reads[f] for p in read.places]
        for d, name in enumerate(f.args):
            told = [i.value for i in (args[d] for args in places) if isinstance(i, ir.IntImm)]
            all_told = ir.pure_variable(name) in tested and 0 < len(told) == len(places)
            if all_told and 0 < max(told) - min(told) < _SHORT:
                return d, (min(told), max(told))
        return None

    def runs(self, f: Function, stage: int) -> Number:
        """The number of times that a stage's value is computed where each point is computed once."""
        d = f.definitions[stage]
        ranges = IndexRanges(f, self.regions[f])
        used = {e for e in subexpressions(d.exprs()) if isinstance(e, ir.Variable)}
        pure = [r for n, r in zip(f.args, self.regions[f], strict=True) if ir.pure_variable(n) in used]
        return size(tuple(pure)) * ranges.iterations(stage, f)


def promised(f: Function) -> bool:
    """True where the user said which points of a Func are computed: loops of it have other lengths than readers say."""
    return any(isinstance(d, AlignBounds | Bound) for d in f.directives)


def _tested(values: Sequence[ExprNode]) -> set[ExprNode]:
    """The expressions that conditions of selects compare with constants."""
    conditions = [e.condition for e in subexpressions(values) if isinstance(e, ir.Select)]
    compared = [e for e in subexpressions(conditions) if isinstance(e, ir.Binary) and isinstance(e.b, ir.IntImm)]
    return {e.a for e in compared if e.type.is_bool()}


def _facts(f: Function) -> StageFacts:
    facts = StageFacts(f)
    for stage, d in enumerate(f.definitions):
        places: dict[Function, dict[tuple[ExprNode, ...], Access]] = {}
        for e in subexpressions(d.exprs()):
            if isinstance(e, Access) and isinstance(e.callee, Function):
                places.setdefault(e.callee, {}).setdefault(e.args, e)
        if stage:  # what an update writes is computed for any part of the Func, wherever that is
            written = Access(f.types[0], f, d.args, 0, stage)
            places.setdefault(f, {}).setdefault(d.args, written)
        for g, found in places.items():
            facts.reads.setdefault(g, []).append(ReadPlaces(stage, tuple(found.values())))
        _count(facts, d.values)
    return facts


def _count(facts: StageFacts, values: Sequence[ExprNode]) -> None:
    """Adds the operations of some values; what stands in an index of an access is none."""
    seen: set[ExprNode] = set()
    stack, loads = list(values), 0
    while stack:
        e = stack.pop()
        if e in seen:
            continue
        seen.add(e)
        if isinstance(e, Access):
            loads += 1
        elif not isinstance(e, ir.IntImm | ir.FloatImm | ir.ParamRef | ir.Variable):
            facts.operations += _CALL if isinstance(e, ir.Call) else 1
            stack.extend(parts(e))
        if not e.type.is_bool() and (facts.widest is None or e.type.bytes() > facts.widest.bytes()):
            facts.widest = e.type
    facts.operations += max(0, loads - 1)
