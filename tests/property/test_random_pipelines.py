"""A short seeded run of random programs under random schedules; every past failure is named below."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import halide_core as hl
from halide_core.run.backend import Box
from halide_core.run.pipeline import _values, allocated, settled
from tests.support.generate import Case, draw

PAST_FAILURES = {
    28: "a rounded update asked for compute bounds that were being answered",
    376: "rounding a fused loop up left the old loops",
}


def run(case: Case) -> np.ndarray:
    """The compiled values in the case's window, which need not start at zero."""
    request = case.output._request()
    compiled, values = case.output._compile(request), _values(request)
    window: Box = tuple(case.window)
    _, (region,) = settled(partial(compiled.query, values), [window])
    filled = allocated(request.outputs[0], region)
    compiled.run(values, [filled])
    return np.asarray(filled.cropped(case.window))


def check(seed: int) -> None:
    """Compiled equals reference, or the schedule is refused with a reason."""
    case = draw(seed)
    expected = case.output.evaluate(case.window)
    try:
        result = run(case)
    except hl.ScheduleError as error:
        refusal = error.message
    else:
        refusal = ""
    if refusal:
        # What a vectorized loop can't have only shows after bounds inference; nothing else may be refused here.
        assert "vectorize" in refusal, case.log
        return
    assert np.array_equal(result, expected, equal_nan=result.dtype.kind == "f"), "\n".join(case.log)


@pytest.mark.parametrize("seed", sorted(PAST_FAILURES))
def test_past_failure_stays_fixed(seed: int) -> None:
    check(seed)


@pytest.mark.parametrize("seed", range(1_000_000, 1_000_040))
def test_schedule_keeps_the_answer_when_drawn_at_random(seed: int) -> None:
    check(seed)
