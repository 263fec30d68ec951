"""Spans of what loops compute: regions may be larger than what is needed, and coordinates must not wrap there either.

In: a query with all holes answered. Out: whether the loops of a stage are proven to stay within constants, for all
windows within ±2³⁰.

    for y in (min(o.min, -o.min - o.extent), …)   within (-2^30, 2^30 + 4)   ->   True
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.index import stage_variables
from halide_core.analysis.prover import Facts
from halide_core.bounds.engines.interface import Ranges
from halide_core.bounds.query.answers import Answer
from halide_core.bounds.query.query import Query
from halide_core.ir import BufferField, ExprNode, Field
from halide_core.ir.boxes import WINDOW_LIMIT
from halide_core.ir.types import INT64
from halide_core.ir.visitor import Closing
from halide_core.loop_nest import hole


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
        """True where it is proven."""
        variable = ir.pure_variable(name)
        low, high = (ir.i64(end) for end in span)
        for key in self._query.program.keys(f):
            if key.stage == stage:
                at = stage_variables(*key)[variable]
                ends = self._ranges.ends(at, self._query.writes[key].path, self._query.top)
                if ends.low is None or ends.high is None:
                    return False
                least, most = self._closing.expr(ends.low), self._closing.expr(ends.high)
                if not (self._facts.proves_le(low, least) and self._facts.proves_le(most, high)):
                    return False
        return True
