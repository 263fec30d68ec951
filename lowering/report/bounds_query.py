"""The bounds query of a pipeline as an object for people and for solvers.

In: a Request. Out: the query's text, and SMT-LIB 2 scripts; the answers are asked for only where a script needs them.

    print(f.bounds_query());   f.bounds_query().to_smtlib()
"""

from __future__ import annotations

from halide_core.bounds.query.conjuncts import format_query
from halide_core.bounds.query.query import Query, extract_query
from halide_core.bounds.query.smtlib import answered_script, open_script
from halide_core.debug import deep_recursion
from halide_core.lowering.driver import LoweringTrace, lower, schedule
from halide_core.run.backend import Request


class PipelineQuery:
    """Implements ``halide_core.run.backend.BoundsQuery``. Raises, when made: ScheduleError."""

    def __init__(self, request: Request) -> None:
        self._request = request
        program = schedule(request, LoweringTrace())
        with deep_recursion():
            self._query: Query = extract_query(program)
            self._text = format_query(self._query)

    def __str__(self) -> str:
        return self._text

    def to_smtlib(self, *, answered: bool = False) -> str:
        """See ``halide_core.run.backend.BoundsQuery``. Raises: BoundsError where there are no answers to put in."""
        if not answered:
            return open_script(self._request.name, self._query)
        trace = LoweringTrace()
        lower(self._request, trace=trace)
        assert trace.query is not None and trace.answers is not None
        return answered_script(self._request.name, trace.query, trace.answers)
