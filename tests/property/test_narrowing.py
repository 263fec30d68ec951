"""Definition 2.17 and lemmas 2.7 and 2.11: of two sets of answers to one query, the larger computes more, and no other.

An engine that answers with more than is needed must leave every point that is needed as it was. The target semantics
run both programs, and the reference judges them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.analysis.simplify import simplify
from halide_core.bounds.infer.oracles import oracle_of
from halide_core.bounds.query.answers import Answers, Engine
from halide_core.bounds.query.query import Query
from halide_core.ir import HoleKind, Interval
from halide_core.loop_nest import hole
from halide_core.lowering.driver import LoweringTrace, lower
from halide_core.lowering.interpreter.machine import Outcome, interpret
from halide_core.run.pipeline import _values, allocated
from tests.support.interpreted import settled

x, y, xo, xi, yo, yi = (hl.Var(n) for n in ("x", "y", "xo", "xi", "yo", "yi"))
Tail = hl.TailStrategy
MARGIN = 3


class Wider:
    """An engine that computes, and stores, ``MARGIN`` points more of ``g`` at each end than another engine."""

    name = "wider"

    def answer(self, query: Query) -> Answers:
        """Answers that satisfy the query: ``g`` reads nothing, so only its own memory must grow with it. Iterations
        compute all of it anew: what is new in one would be told from other compute bounds."""
        found = oracle_of(Engine.INTERVAL).answer(query)
        found.folds.clear()
        for i, a in enumerate(found.holes):
            if a.func.name == "g" and a.kind is HoleKind.LOOP:
                found.holes[i] = replace(a, interval=hole(HoleKind.CPU, a.func, len(a.func.definitions) - 1, a.dim))
            elif a.func.name == "g":
                margin = MARGIN if a.kind is HoleKind.CPU else 2 * MARGIN
                low = simplify(ir.sub(a.interval.min, ir.i64(margin)))
                length = simplify(ir.add(a.interval.len, ir.i64(2 * margin)))
                found.holes[i] = replace(a, interval=Interval(low, length))
        return found


class Narrower(Wider):
    """One that leaves out a point that is needed: no answer, and the judges say so."""

    def answer(self, query: Query) -> Answers:
        """Answers of one point too few."""
        found = oracle_of(Engine.INTERVAL).answer(query)
        for i, a in enumerate(found.holes):
            if a.func.name == "g" and a.kind is HoleKind.CPU:
                length = simplify(ir.sub(a.interval.len, ir.i64(1)))
                found.holes[i] = replace(a, interval=Interval(a.interval.min, length))
        return found


def outcome(f: hl.Func, oracle: Wider | None, window: list[tuple[int, int]]) -> Outcome:
    """The outcome of a pipeline under an engine's answers, by the target semantics."""
    request, trace = f._request(), LoweringTrace()
    arguments = lower(request, oracle=oracle, trace=trace).arguments
    stmt = dict(trace.passes)["fill"]
    values = _values(request)
    region = settled(stmt, arguments, values, tuple(window))
    return interpret(stmt, arguments, values, [allocated(request.outputs[0], region)])


def stencil() -> tuple[hl.Func, hl.Func]:
    """``f`` adds two points of ``g``, which has an update."""
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x * 3 + y
    g[x, y] += x * y
    f[x, y] = g[x - 1, y] + g[x + 1, y + 1]
    return g, f


SCHEDULES: dict[str, Callable[[hl.Func, hl.Func], object]] = {
    "root": lambda g, f: g.compute_root(),
    "in rows": lambda g, f: g.compute_at(f, y),
    "stored outside": lambda g, f: g.compute_at(f, x).store_at(f, y),
    "in tiles": lambda g, f: (f.tile(x, y, xi, yi, 4, 4, Tail.GuardWithIf), g.compute_at(f, x)),
    "rounded": lambda g, f: (f.split(x, xo, xi, 4, Tail.RoundUp), g.compute_root()),
    "vectorized": lambda g, f: g.compute_root().split(x, xo, xi, 4, Tail.ShiftInwards),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_wider_answers_leave_what_is_needed_as_it_was(schedule: str) -> None:
    g, f = stencil()
    SCHEDULES[schedule](g, f)
    window = [(-2, 9), (1, 6)]
    wanted = f.evaluate(window)
    narrow, wide = outcome(f, None, window), outcome(f, Wider(), window)
    assert np.array_equal(narrow.result(0, window), wanted)
    assert np.array_equal(wide.result(0, window), wanted)


@pytest.mark.uncertified("a wrong answer, which the interpreter is to see")
@pytest.mark.parametrize("schedule", ["root", "in rows", "in tiles"])
def test_narrower_answers_are_no_answers(schedule: str) -> None:
    g, f = stencil()
    SCHEDULES[schedule](g, f)
    window = [(-2, 9), (1, 6)]
    with pytest.raises(hl.HalideError):
        outcome(f, Narrower(), window).result(0, window)


def test_smaller_window_gives_the_same_points() -> None:
    g, f = stencil()
    g.compute_at(f, y)
    large, small = np.asarray(f.realize([12, 9])), np.asarray(f.realize([5, 4]))
    assert np.array_equal(large[:4, :5], small)
