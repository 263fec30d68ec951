"""Spans of what loops compute: regions may be larger than what is needed, and coordinates must not wrap there either.

In: a query with all holes answered. Out: whether the loops of a stage are proven to stay within constants, for all
windows within ±2³⁰.

    for y in (min(o.min, -o.min - o.extent), …)   within (-2^30, 2^30 + 4)   ->   True
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.index import stage_variables
from halide_core.analysis.prover import Facts
from halide_core.bounds.engines.interface import Ranges
from halide_core.bounds.query.answers import Answer
from halide_core.bounds.query.query import Path, Query
from halide_core.ir import BufferField, ExprNode, Field
from halide_core.ir.boxes import WINDOW_LIMIT
from halide_core.ir.types import INT64
from halide_core.ir.visitor import Closing
from halide_core.loop_nest import hole

_Known = tuple[ExprNode, ExprNode] | None


class ComputedSpans:
    """The ends of loops over pure variables."""

    def __init__(self, query: Query, ranges: Ranges, answers: Sequence[Answer]) -> None:
        self._query = query
        self._ranges = ranges
        values: dict[ExprNode, ExprNode] = {}
        for a in answers:
            holes = hole(a.kind, a.func, a.stage, a.dim)
            values |= {holes.min: a.interval.min, holes.len: a.interval.len}
        self._closing = Closing(values)
        self._known: dict[tuple[ExprNode, Path, int], _Known] = {}
        self._facts = Facts(ranges.facts.at(query.top))
        beyond = ir.i64(WINDOW_LIMIT + 1)  # a window without points may begin here
        for f in query.program.algorithm.outputs:
            for d in range(f.dimensions):
                least, extent = (BufferField(INT64, f, field, d) for field in (Field.MIN, Field.EXTENT))
                self._facts.assume_at_least(least, ir.i64(-WINDOW_LIMIT))
                self._facts.assume_at_most(least, ir.sub(beyond, extent))
                self._facts.assume_at_most(extent, ir.sub(beyond, least))
                self._facts.assume_at_most(least, beyond)

    def are_within(self, f: Function, stage: int, name: str, span: tuple[int, int]) -> bool:
        """True where it is proven: by ends that cost little, or by the best that there are."""
        variable = ir.pure_variable(name)
        keys = [key for key in self._query.program.keys(f) if key.stage == stage]
        places = [(stage_variables(*key)[variable], self._query.where_int32(key, variable)) for key in keys]
        return all(self._is_within(at, path, span) for at, path in places)

    def _is_within(self, at: ExprNode, path: Path, span: tuple[int, int]) -> bool:
        tried: list[tuple[ExprNode, ExprNode]] = []
        for ends in self._ends_of(at, path):
            if ends is None:
                continue
            if ends not in tried and self._proves(ends, span):
                return True
            tried.append(ends)
        return False

    def _ends_of(self, at: ExprNode, path: Path) -> Iterator[_Known]:
        """The ends of a loop, by what costs little first; by answers, without holes. None where one is unknown."""
        ranges, top = self._ranges, self._query.top
        for number, asked in enumerate((ranges.rough_ends, ranges.ends)):
            key = (at, path, number)
            if key not in self._known:
                found = asked(at, path, top)
                self._known[key] = None
                if found.low is not None and found.high is not None:
                    self._known[key] = (self._closing.expr(found.low), self._closing.expr(found.high))
            yield self._known[key]

    def _proves(self, ends: tuple[ExprNode, ExprNode], span: tuple[int, int]) -> bool:
        (least, most), (low, high) = ends, span
        return self._facts.proves_le(ir.i64(low), least) and self._facts.proves_le(most, ir.i64(high))
