"""Helpers of the files of pipelines: the list that a file fills, made-up pixels, and several attempts in one case.

In: functions of the package, ``hl``. Out: whatever shows what the pipeline does: Buffers, numbers, names, types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

PipelineCase = Callable[[Any], Any]


class Listing:
    """The pipelines of one file: each that it decorates, in their order."""

    def __init__(self) -> None:
        self.cases: list[PipelineCase] = []

    def __call__(self, function: PipelineCase) -> PipelineCase:
        self.cases.append(function)
        return function


def picture(width: int, height: int, dtype: str = "uint8") -> Any:
    """Made-up pixels: an array of (height, width)."""
    rows, columns = np.mgrid[0:height, 0:width]
    return np.ascontiguousarray((rows * 37 + columns * 11 + rows * columns * 3) % 251).astype(dtype)


def attempt(*calls: Callable[[], Any]) -> list[str]:
    """For each call whether it raises."""
    return [_attempt(call) for call in calls]


def _attempt(call: Callable[[], Any]) -> str:
    try:
        call()
    except Exception:  # noqa: BLE001  # the classes of the two packages have nothing in common
        return "raises"
    return "passes"
