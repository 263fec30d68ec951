"""Programs for schedules that are found: their inputs, and the source of a schedule run as a user would."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import halide_core as hl


def set_inputs(arguments: Sequence[Any], values: Sequence[object]) -> None:
    """Gives ImageParams and Params their values."""
    for argument, value in zip(arguments, values, strict=True):
        argument.set(hl.Buffer(value) if isinstance(value, np.ndarray) else value)


def paste(schedule: hl.Schedule, output: Any) -> None:
    """Runs the source of a schedule on the Funcs of an algorithm made anew."""
    space: dict[str, Any] = {"hl": hl}
    exec(schedule.source(), space)  # what a user would paste
    anew = zip(schedule._given, hl.Schedule(output)._functions, strict=True)
    space["schedule"](*(hl.Func._of(f) for (_, directives), f in anew if directives))
