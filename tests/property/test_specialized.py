"""Random programs with specializations, aligned bounds and renamed loops keep their answer after each pass and in C."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import numpy as np
import pytest

import halide_core as hl
from halide_core.lowering.interpreter.memory_model import AssertionFailure
from tests.property.test_random_pipelines import run
from tests.support.interpreted import run_passes
from tests.support.specialized import SpecializedCase, draw_specialized

REFUSALS = ("vectorized", "vectorize(", "TailStrategy.")
"""Words of refusals of schedules drawn without looking at lengths."""

PAST_FAILURES = {6_000_004: "unrolled copies shared the thresholds of their clamps"}

Results = Mapping[str, np.ndarray]


def check(seed: int, judge: Callable[[SpecializedCase, int], Results]) -> None:
    """Every result is the reference's; or the schedule is refused with a reason; or no case fits, as was drawn."""
    case = draw_specialized(seed)
    expected = case.output.evaluate(case.window)
    refusal, failure, results = "", "", dict[str, np.ndarray]()
    try:
        results = dict(judge(case, seed))
    except hl.ScheduleError as error:
        refusal = error.message
    except (hl.SpecializeFailError, AssertionFailure) as error:
        failure = str(error)
    if refusal:
        assert any(each in refusal for each in REFUSALS), case.log
    elif failure:
        assert "no case fits" in failure and case.fails, case.log
    for name, found in results.items():
        same = np.array_equal(found, expected, equal_nan=found.dtype.kind == "f")
        assert same, "\n".join([f"after {name}:", *case.log])


def interpreted(case: SpecializedCase, seed: int) -> Results:
    """The values after every pass."""
    outcomes = run_passes(case.output, case.window, rng=random.Random(seed))
    return {name: outcome.result(0, case.window) for name, outcome in outcomes.items()}


def compiled(case: SpecializedCase, _seed: int) -> Results:
    """The values of the compiled program."""
    return {"compiling": run(case)}


@pytest.mark.parametrize("seed", sorted(PAST_FAILURES))
def test_past_failure_of_specialized_programs_stays_fixed(seed: int) -> None:
    check(seed, interpreted)


@pytest.mark.parametrize("seed", range(6_000_005, 6_000_025))
def test_passes_keep_the_answer_of_specialized_programs(seed: int) -> None:
    check(seed, interpreted)


@pytest.mark.parametrize("seed", range(7_000_000, 7_000_020))
def test_compiled_specialized_programs_keep_the_answer(seed: int) -> None:
    check(seed, compiled)


def test_all_directives_are_drawn() -> None:
    used: dict[str, int] = {}
    for seed in range(40):
        for directive, count in draw_specialized(seed).used.items():
            used[directive] = used.get(directive, 0) + count
    for directive in ("specialize", "specialize_fail", "align_bounds", "align_extent", "rename", "compute_at"):
        assert used[directive] >= 10, used
