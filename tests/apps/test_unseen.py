"""The campaign of unseen pipelines: each family draws the same program from a seed, and its figures are honest."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from benchmarks.unseen.__main__ import Result, difference, summary
from benchmarks.unseen.case import FAMILIES, Name, make
from benchmarks.worker import HALIDE, OURS

FLOATING = {"resize", "similarity"}
"""Their bounds go through floats, which some schedules ask for."""


@pytest.mark.parametrize("number", range(len(FAMILIES)), ids=list(FAMILIES))
def test_family_is_drawn_alike_and_can_be_scheduled(number: int) -> None:
    name = Name(11, number, 2)
    case, again = make(hl, name), make(hl, name)
    assert case.lines == again.lines
    assert all(np.array_equal(a, b) for a, b in zip(case.inputs, again.inputs, strict=True))
    assert case.output.loop_nest() == again.output.loop_nest()
    plain = make(hl, Name(11, number, 1, "none"))
    assert plain.lines == [] and plain.shape == case.shape


def test_differences() -> None:
    a = np.arange(1000, dtype=np.uint8).reshape(10, 100)
    b = a.copy()
    b[3, 4] += 1
    assert difference(a, a, rounds=False) == ""
    assert difference(a, b, rounds=False) == "1 of 1000 points, by up to 1"
    assert difference(a, b, rounds=True) == ""
    assert difference(a, b + 1, rounds=True) != ""
    assert difference(a, a.astype(np.int32), rounds=True) == "uint8 and int32"
    f = a.astype(np.float32)
    assert difference(f, f * (1 + 1e-6), rounds=False) == ""
    assert difference(f, f * 1.01, rounds=False) != ""


def test_summary_counts_what_one_side_refuses_and_what_is_wrong() -> None:
    def result(number: int, ours: float, theirs: float) -> Result:
        return Result(Name(1, number, 1), run_s={OURS: ours, HALIDE: theirs})

    refused = Result(Name(1, 3, 1), run_s={HALIDE: 1.0}, failed={OURS: "no bound"})
    wrong = result(4, 1.0, 1.0)
    wrong.wrong = "1 of 2 points"
    text = summary([result(0, 1.0, 2.0), result(1, 2.0, 1.0), result(2, 4.0, 1.0), refused, wrong])
    assert "4 cases, geometric mean 1.414" in text and "worst 4.00, above 1.3: 2" in text
    assert "failed here only: 1, at the peer only: 0, on both: 0; wrong: 1" in text
    assert "failed: no bound" in refused.text() and "WRONG" in wrong.text()
