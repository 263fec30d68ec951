"""The interval engine: exact for stencils, resampling, clamped and tiled accesses.

In: a Query. Out: Answers. Its ranges are those of ``bounds.engines.path_ranges``: one variable of a path at a time,
with sums kept
as linear forms.

    bx[x, y - 1 | y + 1] for y in ?cpu by.y   ->   ?cpu bx.y = (?by.y.min - 1, ?by.y.len + 2)
"""

from __future__ import annotations

from halide_core.bounds.engines.interface import Answers, Engine
from halide_core.bounds.engines.path_ranges import Extents
from halide_core.bounds.infer.inference import answer_query
from halide_core.bounds.query.query import Query


class SymbolicOracle:
    """See the module's docstring."""

    name = Engine.INTERVAL.value

    def answer(self, query: Query) -> Answers:
        """Answers every hole. Raises: BoundsError where an access has no bound."""
        return answer_query(query, Extents())
