"""The judge of every pass: what it left is run by the target semantics (figure 2.8).

In: a request, the window of each output. Out: the outputs' values after each pass; or the error of a stuck state. After
the first one, the same program with all that bounds inference took for true, asserted.

A pass that returned the tree it was given, or one that is the same, is not run again. The bounds query is asked after
the first pass, which settles the regions that are allocated, and after the last one, which must agree.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import halide_core as hl
from halide_core.bounds.query.answers import Answers
from halide_core.bounds.query.query import Query
from halide_core.ir import Stmt
from halide_core.ir.visitor import alike
from halide_core.lowering.driver import LoweringTrace, lower
from halide_core.lowering.interpreter.machine import Outcome, Translated
from halide_core.lowering.interpreter.memory_model import AssertionFailure
from halide_core.run.backend import Argument, Box, Request
from halide_core.run.pipeline import _filled, _hull, _values
from tests.campaigns.fuzz.case import Window
from tests.campaigns.fuzz.compare import Array
from tests.campaigns.fuzz.verdict import Mismatch
from tests.support.assumed import with_assumptions

_T = TypeVar("_T")

ASSUMED = "assumed"
"""The name of what follows the first pass."""

ROUNDS = 64
_KEPT = 4
"""So many programs stay translated: the first and the last of a case, and of the one that it is compared with."""


class KeepsGrowing(Exception):
    """Rounding up makes the regions that the outputs need grow without end."""


def request_of(outputs: Sequence[hl.Func]) -> Request:
    """The request to compile: one Func, or a Pipeline of several."""
    pipeline = outputs[0] if len(outputs) == 1 else hl.Pipeline(list(outputs))
    return pipeline._request()


def spread(request: Request, each: Sequence[_T]) -> list[_T]:
    """One for each value of an output, of what there is one of for each output."""
    return [one for f, one in zip(request.outputs, each, strict=True) for _ in f.types]


@functools.lru_cache(_KEPT)
def translated(stmt: Stmt, arguments: tuple[Argument, ...]) -> Translated:
    """A tree for the interpreter, made once for all windows of a case."""
    return Translated(stmt, arguments)


@functools.lru_cache(_KEPT)
def _assumed(query: Query, answers: Answers) -> Stmt:
    """The tree that asserts all that inference took for true; made once for all windows of a case."""
    return with_assumptions(query, answers)


def settled(
    stmt: Stmt, request: Request, arguments: tuple[Argument, ...], windows: Sequence[Window], steps: int
) -> tuple[list[Box], list[Box]]:
    """Regions that contain the windows and need no larger ones, as ``halide_core.run.pipeline`` finds them; and what
    the
    program answers that they need."""
    regions: list[Box] = spread(request, windows)
    for _ in range(ROUNDS):
        needed = _asked(stmt, request, arguments, regions, steps)
        grown = [_hull(a, b) for a, b in zip(needed, regions, strict=True)]
        if grown == regions:
            return regions, needed
        regions = grown
    raise KeepsGrowing


def _asked(
    stmt: Stmt, request: Request, arguments: tuple[Argument, ...], regions: Sequence[Box], steps: int
) -> list[Box]:
    values = _values(request)
    answer = translated(stmt, arguments).run(values, list(regions), steps=steps).regions
    if answer is None:
        raise Mismatch("query", "a bounds query ran the program")
    return [box for box in answer[len(values) :] if box is not None]


def run_passes(
    request: Request,
    arguments: tuple[Argument, ...],
    trace: LoweringTrace,
    windows: Sequence[Window],
    rng: random.Random,
    steps: int,
    *,
    brief: bool = False,
    has_value: bool = True,
) -> Iterator[tuple[str, Callable[[], Outcome]]]:
    """Each pass that changed the program, with the run of what it left; ``brief``: of the first and the last pass, and
    what the first one left runs with assertions alone. ``has_value``: nothing breaks a promise, which assertions rest
    on.

    Raises:
        StuckError: as ``interpret``; a start-up check among them.
        KeepsGrowing: the regions never settle.
    """
    first = trace.passes[0][1]
    regions, needed = settled(first, request, arguments, windows, steps)
    runs = _Runs(request, arguments, regions, rng, steps)
    before: Stmt | None = None
    for name, stmt in (trace.passes[0], trace.passes[-1]) if brief else trace.passes:
        if before is None and brief and has_value:
            yield name, partial(runs.either, stmt, trace)
        elif before is None or not alike(stmt, before):
            yield name, partial(runs.run, stmt)
        if before is None and has_value and not brief:
            yield ASSUMED, partial(runs.assumed, trace)
        before = stmt
    last, stmt = trace.passes[-1]
    answer = _asked(stmt, request, arguments, regions, steps)
    if answer != needed:
        raise Mismatch("query", f"the bounds query is answered {needed}, and {answer} after {last}")


def run_last(request: Request, windows: Sequence[Window], rng: random.Random, steps: int) -> list[Array]:
    """The outputs' values after the last pass alone."""
    lowered = lower(request)
    regions, _ = settled(lowered.body, request, lowered.arguments, windows, steps)
    outcome = _Runs(request, lowered.arguments, regions, rng, steps).run(lowered.body)
    return results(outcome, request, windows)


def results(outcome: Outcome, request: Request, windows: Sequence[Window]) -> list[Array]:
    """The values of each output after a run, in its window."""
    return [outcome.result(i, window) for i, window in enumerate(spread(request, windows))]


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs of trees of one program, in windows that are settled."""

    request: Request
    arguments: tuple[Argument, ...]
    regions: Sequence[Box]
    rng: random.Random
    steps: int

    def run(self, stmt: Stmt) -> Outcome:
        """Runs one tree into fresh outputs."""
        outputs = _filled(self.request, self.regions)
        made = translated(stmt, self.arguments)
        return made.run(_values(self.request), outputs, shuffle=self.rng, steps=self.steps)

    def assumed(self, trace: LoweringTrace) -> Outcome:
        """Runs the filled program, which has run without, with what its answers rest on."""
        assert trace.query is not None and trace.answers is not None
        try:
            return self.run(_assumed(trace.query, trace.answers))
        except AssertionFailure as false:
            raise Mismatch("a false assumption", false.message) from false

    def either(self, stmt: Stmt, trace: LoweringTrace) -> Outcome:
        """The same; where an assertion stops it, the program without may stop itself."""
        try:
            return self.assumed(trace)
        except Mismatch:
            self.run(stmt)
            raise
