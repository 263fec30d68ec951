"""Counts of how often each point is computed, and of the memory alive at most: what sliding windows and folds are for.

In: a Func and a window. Out: a Count, of the program after bounds inference, run by the target semantics; every pass
runs too, and its output is the definition's.

    counted(blur, [(0, 8), (0, 8)]).of(bx)   ->   {(x, y): 1, …}
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.lowering.interpreter import machine
from halide_core.lowering.interpreter.code import AccessPlace, Allocation, Code
from halide_core.lowering.interpreter.writes import Run, allocate, write_point
from tests.support.interpreted import run_program

Point = tuple[int, ...]


@dataclass
class Count:
    """The counts of one run."""

    points: Counter[tuple[str, int, Point]] = field(default_factory=Counter)
    largest: dict[str, int] = field(default_factory=dict)
    """The most points that an allocation of each Func had."""

    def of(self, func: hl.Func, stage: int = 0) -> dict[Point, int]:
        """The number of times that each point of a stage was computed."""
        return {point: n for (name, s, point), n in self.points.items() if name == func.name() and s == stage}

    def total(self, func: hl.Func, stage: int = 0) -> int:
        """The number of computed points of a stage, each as often as it was."""
        return sum(self.of(func, stage).values())

    def once(self, func: hl.Func, stage: int = 0) -> bool:
        """True where no point was computed twice."""
        return set(self.of(func, stage).values()) == {1}

    def write(self, stmt: ir.Provide, code: Code, place: AccessPlace) -> Run:
        """An assignment that is counted."""
        run = write_point(stmt, code, place)

        def counted() -> None:
            ((numbers, _),) = code.run()
            self.points[stmt.func.name, stmt.stage, tuple(numbers)] += 1
            run()

        return counted

    def allocate(self, stmt: ir.Allocate, code: Code, allocation: Allocation, within: Allocation | None = None) -> Run:
        """An allocation that is measured."""
        run = allocate(stmt, code, allocation, within)

        def measured() -> None:
            run()
            for memory in allocation.memories:
                self.largest[memory.name] = max(self.largest.get(memory.name, 0), memory.size)

        return measured


def counted(func: hl.Func, window: Sequence[tuple[int, int]], after: str = "fill") -> Count:
    """See the module's docstring. ``after``: the pass whose program is counted."""
    count = Count()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "write_point", count.write)
        patch.setattr(machine, "allocate", count.allocate)
        run_program(func, window, after=after)
    expected = func.evaluate(list(window))
    for name, found in run_program(func, window, rng=random.Random(1)).items():
        np.testing.assert_array_equal(found, expected, err_msg=f"after {name}")
    return count
