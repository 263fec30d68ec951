"""The bounds quality constraint (definition 2.5): where the program that β₀ fills runs right, so does every engine's.

Programs are drawn at random; the target semantics run what each engine left, and the reference says what is right.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import halide_core as hl
from halide_core.bounds.infer.oracles import oracle_of
from halide_core.bounds.query.answers import Engine
from halide_core.lowering.driver import LoweringTrace, lower
from halide_core.lowering.interpreter.machine import interpret
from halide_core.run.pipeline import _values, allocated
from tests.support.generate import Case, draw
from tests.support.interpreted import settled

pytestmark = pytest.mark.uncertified("β₀'s programs may refuse every window, or be too large to decide")
SEEDS = range(16)
ENGINES = [Engine.INTERVAL, Engine.CHAIN, Engine.ISL, Engine.NONLINEAR]


def computed(case: Case, engine: Engine) -> np.ndarray:
    """The window of a program under an engine's answers. Raises: HalideError where it is refused, or stuck."""
    request, trace = case.output._request(), LoweringTrace()
    arguments = lower(request, oracle=oracle_of(engine), trace=trace).arguments
    stmt, values = dict(trace.passes)["fill"], _values(request)
    region = settled(stmt, arguments, values, tuple(case.window))
    outcome = interpret(stmt, arguments, values, [allocated(request.outputs[0], region)])
    return outcome.result(0, case.window)


@cache
def runs_on_the_floor(seed: int) -> bool:
    """True where β₀'s program runs, and gives what the reference gives."""
    case = draw(seed)
    try:
        found = computed(case, Engine.BASELINE)
    except hl.HalideError:
        return False
    return np.array_equal(found, case.output.evaluate(case.window))


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.value)
def test_engine_runs_where_the_baseline_does(engine: Engine) -> None:
    for seed in SEEDS:
        if runs_on_the_floor(seed):
            case = draw(seed)
            assert np.array_equal(computed(case, engine), case.output.evaluate(case.window)), seed


def test_baseline_runs_often_enough_to_say_something() -> None:
    assert sum(map(runs_on_the_floor, SEEDS)) >= len(SEEDS) // 3
