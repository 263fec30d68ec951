"""Every automatic step rests on something: without its check, a program is wrong; with it, none is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from halide_core.lowering import proven_steps
from halide_core.lowering.passes import loop_shapes
from halide_core.lowering.passes.needed.trim import _TrimmedNests, _Trimming
from halide_core.lowering.passes.partition.steady_part import SteadyPart
from tests.campaigns.mutate.steps import IN_C, STEPS
from tests.campaigns.mutate.steps.judges import interpreted

ROOT = Path(__file__).resolve().parents[3]
ALL = STEPS | IN_C
PROVEN_AGAIN = [name for name in STEPS if name.startswith(("slide:", "fold:"))]
RULES = ("SteadyPart._least", "SteadyPart._end_of", "SteadyPart._without_divisions", "threshold")
"""By what a steady part is found, each of whose findings is proven."""
ENDS = ("_needed", "_loop")
"""By what ends of loops are found where less is read, and what follows from them; both are proven."""


@pytest.mark.parametrize("name", ALL)
def test_a_step_without_its_check_is_wrong(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only what decides a step looks at it."""
    monkeypatch.setattr(proven_steps, "unproven_steps", lambda *_: {})
    monkeypatch.setattr(SteadyPart, "_is_below", lambda *_: True)
    monkeypatch.setattr(SteadyPart, "_is_threshold", lambda *_: True)
    monkeypatch.setattr(loop_shapes, "fails_behind", lambda *_: True)
    monkeypatch.setattr(_Trimming, "is_proven", lambda *_: True)
    monkeypatch.setattr(_TrimmedNests, "_is_idle_beyond", lambda *_: True)
    step = ALL[name]
    assert step.judge(step.make()) == ""
    with step.spoilt():
        assert step.judge(step.make()) != ""


@pytest.mark.parametrize("name", PROVEN_AGAIN)
def test_a_slide_without_its_check_is_not_taken(name: str) -> None:
    """A compile proves slides and folds by what did not decide them."""
    step = STEPS[name]
    with step.spoilt():
        func, window = step.make()
        assert "it was not proven that" in func.loop_nest()
        assert interpreted((func, window)) == ""


@pytest.mark.parametrize("name", [name for name, step in STEPS.items() if step.place in RULES])
def test_a_steady_part_that_is_found_wrongly_is_not_taken(name: str) -> None:
    """A finding of the rules is proven by what did not find it."""
    step = STEPS[name]
    with step.spoilt():
        assert step.judge(step.make()) == ""


@pytest.mark.parametrize("name", [name for name, step in STEPS.items() if step.function in ENDS])
def test_an_end_that_is_found_wrongly_trims_nothing(name: str) -> None:
    """An end of the points that are needed is proven by what did not find it."""
    step = STEPS[name]
    with step.spoilt():
        assert step.judge(step.make()) == ""


def test_the_table_lists_every_step() -> None:
    text = (ROOT / "docs" / "internals" / "passes.md").read_text(encoding="utf-8")
    table = text[text.index("## Automatic steps") :].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    listed = {row[0].strip(): re.findall("`([^`]+)`", row[2])[0] for row in rows}
    assert listed == {name: step.place for name, step in ALL.items()}
