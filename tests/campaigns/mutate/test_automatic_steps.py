"""Every automatic step rests on something: without its check, a program is wrong; with it, none is."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import halide_core as hl
from halide_core.errors import InternalError
from halide_core.lowering.interpreter.memory_model import AssertionFailure, StuckError
from tests.campaigns.mutate.automatic_steps import STEPS, Made
from tests.support.interpreted import run_program

ROOT = Path(__file__).resolve().parents[3]


def wrong(made: Made) -> str:
    """Which pass leaves another answer than the definition's, or is stuck; empty where none is. A program that is
    refused, or asserts something, gives no wrong answer."""
    func, window = made
    wanted = func.evaluate(window)
    try:
        found = run_program(func, window)
    except (hl.ScheduleError, hl.BoundsError, AssertionFailure):
        return ""
    except (StuckError, InternalError) as stuck:
        return str(stuck)
    return ", ".join(name for name, values in found.items() if not np.array_equal(values, wanted))


@pytest.mark.parametrize("name", STEPS)
def test_a_step_without_its_check_is_wrong(name: str) -> None:
    step = STEPS[name]
    assert wrong(step.make()) == ""
    with step.spoilt():
        assert wrong(step.make()) != ""


def test_the_table_lists_every_step() -> None:
    text = (ROOT / "docs" / "internals" / "passes.md").read_text(encoding="utf-8")
    table = text[text.index("## Automatic steps") :].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    listed = {row[0].strip(): re.findall("`([^`]+)`", row[2])[0] for row in rows}
    assert listed == {name: step.place for name, step in STEPS.items()}
