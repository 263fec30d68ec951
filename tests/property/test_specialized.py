"""Random programs with specializations, aligned bounds and renamed loops keep their answer, interpreted and compiled."""

from __future__ import annotations

import random
from collections.abc import Mapping

import numpy as np
import pytest

import halide_core as hl
from lowering.store import AssertionFailure
from tests.property.interpreted import run_passes
from tests.property.specialized import SpecializedCase, draw_specialized
from tests.property.test_random_pipelines import run

REFUSALS = ("vectorized", "vectorize(", "TailStrategy.")
"""What a schedule drawn without looking at lengths can be refused for."""


def compare(case: SpecializedCase, results: Mapping[str, np.ndarray]) -> None:
    """Every result is the reference's."""
    expected = case.output.evaluate(case.window)
    for name, found in results.items():
        same = np.array_equal(found, expected, equal_nan=found.dtype.kind == "f")
        assert same, "\n".join([f"after {name}:", *case.log])


@pytest.mark.parametrize("seed", range(6_000_000, 6_000_020))
def test_passes_keep_the_answer_of_specialized_programs(seed: int) -> None:
    case = draw_specialized(seed)
    try:
        outcomes = run_passes(case.output, case.window, rng=random.Random(seed))
    except hl.ScheduleError as error:
        assert any(each in error.message for each in REFUSALS), case.log
    except AssertionFailure as failure:
        assert "no case fits" in str(failure) and case.fails, case.log
    else:
        compare(case, {name: outcome.result(0, case.window) for name, outcome in outcomes.items()})


@pytest.mark.parametrize("seed", range(7_000_000, 7_000_020))
def test_compiled_specialized_programs_keep_the_answer(seed: int) -> None:
    case = draw_specialized(seed)
    try:
        found = run(case)
    except hl.SpecializeFailError:
        assert case.fails, case.log
    except hl.ScheduleError as error:
        assert any(each in error.message for each in REFUSALS), case.log
    else:
        compare(case, {"compiling": found})
