"""Writes of several iterations to one cell: none but of the one value that each of them ever writes there."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from halide_core import ir
from halide_core.lowering.interpreter.memory_model import Memory, Races, StuckError


def written(*writes: tuple[int, int]) -> int:
    """The number of writes that repeat another iteration's. Raises: StuckError. Each write is an iteration and a
    value."""
    races, memory = Races(ir.LoopName("f", 0, 0, "x")), Memory("f", ((0, 4),))
    for iteration, value in writes:
        races.iteration = iteration
        races.write(memory, 2, value, ir.NOTHING)
        memory.write(2, value)
    return races.overlaps


@pytest.mark.parametrize(
    ("writes", "overlaps"), [([(0, 1), (0, 2)], 0), ([(0, 1), (1, 1)], 1), ([(0, 1), (0, 1), (1, 1), (2, 1)], 2)]
)
def test_writes_that_agree(writes: Sequence[tuple[int, int]], overlaps: int) -> None:
    assert written(*writes) == overlaps


@pytest.mark.parametrize(
    "writes",
    [[(0, 1), (1, 2)], [(0, 1), (0, 2), (1, 2)], [(0, 2), (1, 2), (1, 3)], [(0, 1), (1, 1), (1, 2), (1, 1)]],
)
def test_writes_that_differ(writes: Sequence[tuple[int, int]]) -> None:
    with pytest.raises(StuckError):
        written(*writes)
