"""Every automatic step rests on something: without its check, a program is wrong; with it, none is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.campaigns.mutate.automatic_steps import STEPS
from tests.campaigns.mutate.compiled_steps import IN_C

ROOT = Path(__file__).resolve().parents[3]
ALL = STEPS | IN_C


@pytest.mark.parametrize("name", ALL)
def test_a_step_without_its_check_is_wrong(name: str) -> None:
    step = ALL[name]
    assert step.judge(step.make()) == ""
    with step.spoilt():
        assert step.judge(step.make()) != ""


def test_the_table_lists_every_step() -> None:
    text = (ROOT / "docs" / "internals" / "passes.md").read_text(encoding="utf-8")
    table = text[text.index("## Automatic steps") :].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    listed = {row[0].strip(): re.findall("`([^`]+)`", row[2])[0] for row in rows}
    assert listed == {name: step.place for name, step in ALL.items()}
