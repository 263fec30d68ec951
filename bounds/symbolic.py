"""The interval engine: exact for stencils, resampling, clamped and tiled accesses.

In: a Query. Out: Answers. Its ranges are those of ``bounds.extents``: one variable of a path at a time, with sums kept
as linear forms.

    bx[x, y - 1 | y + 1] for y in ?cpu by.y   ->   ?cpu bx.y = (?by.y.min - 1, ?by.y.len + 2)
"""

from __future__ import annotations

from bounds.answering import answer_query
from bounds.extents import Extents
from bounds.oracle import Answers, Engine
from bounds.query import Query


class SymbolicOracle:
    """See the module's docstring."""

    name = Engine.INTERVAL.value

    def answer(self, query: Query) -> Answers:
        """Answers every hole. Raises: BoundsError where an access has no bound."""
        return answer_query(query, Extents())
