"""Random programs keep their answer after every pass, by the target semantics: no stuck state, no race, no ε_mem."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.support.generate import draw
from tests.support.interpreted import run_passes


def check(seed: int) -> None:
    """Every pass's program gives the reference's values, parallel iterations in a drawn order."""
    case = draw(seed)
    expected = case.output.evaluate(case.window)
    outcomes = run_passes(case.output, case.window, rng=random.Random(seed))
    for name, outcome in outcomes.items():
        found = outcome.result(0, case.window)
        same = np.array_equal(found, expected, equal_nan=found.dtype.kind == "f")
        assert same, "\n".join([f"after {name}:", *case.log])


@pytest.mark.parametrize("seed", range(2_000_000, 2_000_025))
def test_passes_keep_the_answer_when_drawn_at_random(seed: int) -> None:
    check(seed)
