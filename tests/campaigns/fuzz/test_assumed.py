"""All that bounds inference takes for true is asserted where it says so, and a false fact is found in any answer."""

from __future__ import annotations

import random

import pytest

import halide_core as hl
from halide_core.analysis.value_range import ValueRanges
from halide_core.bounds.infer import sliding
from halide_core.ir import Assert
from halide_core.ir.visitor import walk
from halide_core.lowering.driver import LoweringTrace, lower
from tests.campaigns.fuzz.interpreted import ASSUMED, request_of, results, run_passes
from tests.campaigns.fuzz.verdict import Mismatch
from tests.support.assumed import with_assumptions
from tests.support.spoiling import spoilt

STEPS = 10_000
x, y, xo, xi = (hl.Var(n) for n in ("x", "y", "xo", "xi"))


def run_assumed(f: hl.Func, window: tuple[tuple[int, int], ...]) -> None:
    request, trace = request_of([f]), LoweringTrace()
    lowered = lower(request, trace=trace)
    runs = run_passes(request, lowered.arguments, trace, [window], random.Random(1), STEPS)
    found = dict(runs)[ASSUMED]()
    (got,) = results(found, request, [window])
    assert (got == f.evaluate(window)).all()


def in_two_cases(taken: int) -> hl.Func:
    """A producer that slides, three points long in one case of two."""
    p, m, o = hl.Param(hl.Int(32), "p", taken), hl.Func("m"), hl.Func("o")
    m[x, y] = x + 10 * y
    o[x, y] = m[x, 4 - y]
    m.compute_at(o, x).store_at(o, y).specialize(p <= 0).split(x, x, xi, 3, hl.TailStrategy.ShiftInwards)
    return o


@pytest.mark.parametrize("taken", [0, 1])
def test_facts_hold_in_each_case(taken: int) -> None:
    run_assumed(in_two_cases(taken), ((0, 4), (0, 3)))


def test_a_fact_of_another_case_is_found_where_nothing_is_wrong_by_it() -> None:
    needs = "by_case(self._query.program, needs, ir.ZERO, facts)"
    with spoilt(sliding._Sliding, "_least", needs, "[least for _, least in needs]"):
        run_assumed(in_two_cases(0), ((0, 4), (0, 3)))
        with pytest.raises(Mismatch, match="assumed: 3 <= "):
            run_assumed(in_two_cases(1), ((0, 4), (0, 3)))


def clamped() -> hl.Func:
    p, g, f = hl.Param(hl.Int(32), "p", 5), hl.Func("g"), hl.Func("f")
    g[x] = hl.min(x * x, 7) + hl.clamp(x, 0, p)
    f[x] = g[x]
    g.compute_root()
    return f


def test_ranges_of_values_hold() -> None:
    run_assumed(clamped(), ((-3, 8),))


def test_a_false_range_of_values_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ValueRanges, "of_function", lambda *_: (0, 6))
    with pytest.raises(Mismatch, match="a value: "):
        run_assumed(clamped(), ((-3, 8),))


@pytest.mark.parametrize("tail", [hl.TailStrategy.GuardWithIf, hl.TailStrategy.RoundUp, hl.TailStrategy.ShiftInwards])
def test_of_what_is_rounded_up_nothing_is_said(tail: hl.TailStrategy) -> None:
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x + y
    g[x, y] += hl.min(g[x, y], 9)
    f[x, y] = g[x, y - 1] + g[x + 1, y]
    f.split(x, xo, xi, 4, tail)
    g.compute_at(f, xo).store_root().vectorize(x, 4, hl.TailStrategy.RoundUp)
    run_assumed(f, ((0, 7), (0, 3)))


def test_shared_loops_and_iterations_at_once() -> None:
    a, b, f, r = hl.Func("a"), hl.Func("b"), hl.Func("f"), hl.RDom([(0, 3)])
    a[x, y] = x + y
    b[x, y] = x * y
    b[x, r] = b[x, r + 1]
    f[x, y] = a[x, y] + b[x, y]
    a.compute_root(), b.compute_root()
    b.compute_with(a, y)
    run_assumed(f, ((0, 4), (0, 4)))


def test_what_is_assumed_of_a_hole_stands_where_it_is_bound() -> None:
    trace = LoweringTrace()
    lower(request_of([in_two_cases(1)]), trace=trace)
    assert trace.query is not None and trace.answers is not None
    told = [str(s.message[1]) for s in walk(with_assumptions(trace.query, trace.answers)) if isinstance(s, Assert)]
    assert "1 <= ?cpu m.s0.x.len" in told


def test_nothing_is_said_of_a_place_that_nobody_needs() -> None:
    """An update at a fixed place is made wherever that is, and of values that nobody computed if nobody needs it."""
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = (hl.f32(0), hl.cast(hl.UInt(8), x))
    g[6] = (hl.cast(hl.Float(32), g[6][1]), hl.cast(hl.UInt(8), 3))
    f[x] = g[x - 9][0]
    g.compute_at(f, x)
    run_assumed(f, ((0, 4),))
