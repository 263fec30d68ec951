"""The bounds-quality constraint (definition 2.5), on whole programs: where the program that β₀ fills runs, so does that
of every engine, and computes the same; on affine ones the chain is exact; what isl answers is the same everywhere."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import warnings

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import halide_core as hl
from benchmarks.bounds import Footprint, Program, measured
from halide_core.bounds.infer.oracles import oracle_of
from halide_core.bounds.infer.substitute import fill
from halide_core.bounds.query.answers import Engine
from halide_core.bounds.query.query import extract_query
from halide_core.debug import deep_recursion
from halide_core.ir import HoleKind
from halide_core.lowering.driver import LoweringTrace, lower, schedule
from halide_core.lowering.interpreter.machine import Outcome
from halide_core.lowering.interpreter.memory_model import StuckError
from halide_core.run.backend import Request, arguments
from tests.campaigns.fuzz.case import Case
from tests.campaigns.fuzz.draw import draw
from tests.campaigns.fuzz.interpreted import KeepsGrowing, request_of, run_passes

STEPS = 60_000
BETTER = [e for e in Engine if e is not Engine.BASELINE]


def run(case: Case, engine: Engine) -> list[list[object]]:
    """The outputs' values, by the target semantics, of the program as one engine fills it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hl.HalideWarning)
        outputs, windows = case.build()
    request: Request = request_of(outputs)
    trace = LoweringTrace()
    program = schedule(request, trace)
    with deep_recursion():
        answers = oracle_of(engine).answer(extract_query(program))
        trace.passes.append(("fill", fill(program, answers)))
    boxes = [tuple(w) for w in windows]
    _, filled = next(run_passes(request, arguments(request, program.algorithm), trace, boxes, random.Random(0), STEPS))
    outcome: Outcome = filled()
    return [outcome.result(i, window).tolist() for i, window in enumerate(boxes)]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1 << 30))
def test_what_runs_with_the_baseline_runs_with_every_engine(seed: int) -> None:
    case = draw(seed, 0)
    try:
        expected = run(case, Engine.BASELINE)
    except (StuckError, KeepsGrowing, hl.HalideError):
        assume(False)
    for engine in BETTER:
        assert repr(run(case, engine)) == repr(expected), (engine, case.source())


@pytest.mark.parametrize("seed", [5, 6])
def test_chain_is_exact_and_never_looser_than_interval_arithmetic(seed: int) -> None:
    campaign = measured(seed, 6)
    for program in (*campaign.exact, *campaign.others):
        assert program.looser(Engine.CHAIN) is None
    assert campaign.inexact == []
    assert len(campaign.exact) == 6
    assert all(p.exact is not None and p.exact.points for p in campaign.exact), "every program computes something"


@pytest.mark.parametrize("ours", [Footprint(11, 64), Footprint(10, 65)])
def test_looser_engine_is_found_by_its_points_and_by_its_bytes(ours: Footprint) -> None:
    program = Program("5/0", Footprint(10, 64), {Engine.INTERVAL: Footprint(10, 64), Engine.CHAIN: ours})
    told = program.looser(Engine.CHAIN)
    assert told is not None
    assert told.startswith(f"5/0: chain computes {ours.points} points and allocates {ours.bytes} bytes")


ANSWERS = """
import halide_core as hl
from halide_core.bounds.query.query import extract_query
from halide_core.bounds.infer.oracles import oracle_of
from halide_core.bounds.query.answers import Engine
from halide_core.ir.printer import format_interval
from halide_core.lowering.driver import LoweringTrace, schedule
x, y = hl.Var("x"), hl.Var("y")
g, f = hl.Func("g"), hl.Func("f")
g[x, y] = x + y
f[x, y] = g[x % 5 + x // 2, hl.select(y < 3, y, 7 - y)] + g[hl.min(x, 2 * y) - y, hl.max(x - y, y - x)]
g.compute_root()
f.split(x, x, hl.Var("xi"), 8, hl.TailStrategy.GuardWithIf)
query = extract_query(schedule(f._request(), LoweringTrace()))
for a in oracle_of(Engine.CHAIN).answer(query).holes:
    print(format_interval(a.interval), a.engine.value, [e.ends.engine.value for e in a.evidence])
"""


def test_answers_of_isl_are_the_same_in_every_process() -> None:
    def answers(hash_seed: str) -> str:
        env = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run([sys.executable, "-c", ANSWERS], env=env, capture_output=True, text=True, check=True)
        return done.stdout

    first = answers("0")
    assert "isl" in first
    assert answers("1") == answers("4711") == first


@pytest.mark.parametrize("engine", BETTER)
def test_answers_name_their_engine_and_their_clauses(engine: Engine) -> None:
    x = hl.Var("x")
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x
    f[x] = g[x] + g[x - x // 2 * 2 + 3]
    g.compute_root()
    trace = LoweringTrace()
    lower(f._request(), oracle=oracle_of(engine), trace=trace)
    assert trace.answers is not None and trace.query is not None
    (answer,) = [a for a in trace.answers.holes if a.func.name == "g" and a.kind is HoleKind.CPU]
    assert answer.clauses == tuple(trace.query.reads[answer.func])
    assert answer.engine is (Engine.ISL if engine in (Engine.CHAIN, Engine.ISL) else Engine.INTERVAL)
    assert [repr(e.point) for e in answer.evidence] == ["f.s0.x", "f.s0.x - f.s0.x/2*2 + 3"]
