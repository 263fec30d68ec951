"""A process that is interrupted at one moment, and what is told of such."""

from __future__ import annotations

import pytest

from tests.campaigns.interrupt.__main__ import Ended, interrupted, outcome


@pytest.mark.parametrize("catches", [False, True])
def test_process_ends_or_goes_on(*, catches: bool) -> None:
    ended = interrupted(0, 0.03, catches=catches, group=True)
    assert outcome(ended, catches=catches) == ("went on" if catches else "ended")


@pytest.mark.parametrize(
    ("ended", "told"),
    [
        (Ended(1, ["ready"], "halide_core.errors.ToolchainError: gcc", 7.0, 0.1), "WRONG"),
        (Ended(-11, [], "", 7.0, 0.1), "WRONG"),
        (Ended(1, ["interrupted"], "pipeline 3 is wrong", 7.0, 0.1), "WRONG"),
        (Ended(0, ["6.9", "right"], "", 7.0, 0.1), "had finished"),
        (Ended(0, ["7.5", "right"], "", 7.0, 1.1), "WRONG: it never noticed"),
    ],
)
def test_what_is_wrong_is_told(ended: Ended, told: str) -> None:
    assert outcome(ended, catches=True).startswith(told)
