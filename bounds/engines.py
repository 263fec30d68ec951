"""The engines by name. The libraries that some of them need are loaded when one is first asked for.

In: the name of an engine, as ``HL_BOUNDS`` has it. Out: an Oracle.

    oracle(Engine.ISL).answer(query)
"""

from __future__ import annotations

from bounds.answering import answer_query
from bounds.extents import Extents
from bounds.oracle import Answers, Bound, Ends, Engine, Oracle, Ranges
from bounds.query import Path, Query
from halide_core.ir import Expr


class IslRanges(Extents):
    """Interval arithmetic, every range of which isl is asked to improve."""

    def __init__(self) -> None:
        super().__init__()
        from bounds.polyhedral import Polyhedra

        self._polyhedra = Polyhedra(self)

    def ends(self, e: Expr, path: Path, stop: Path) -> Ends:
        return self._polyhedra.ends(e, path, stop, super().ends(e, path, stop))
class IslOracle:
    name="isl"
    def answer(self, query):
        return answer_query(query, IslRanges())
