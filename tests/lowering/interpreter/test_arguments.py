"""Buffers as the interpreter sees them: strides, positions and gaps."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from halide_core.lowering.interpreter.arguments import absent_memory, memory_of
from halide_core.lowering.interpreter.memory_model import OUTSIDE


@pytest.mark.parametrize(
    ("lengths", "wanted"),
    [((3, 4, 5), (1, 3, 12)), ((1, 4, 2), (1, 1, 4)), ((0, 4, 2), (1, 1, 4)), ((5,), (1,)), ((), ())],
)
def test_absent_memory_is_dense(lengths: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    memory = absent_memory("f", tuple((2, n) for n in lengths))
    assert memory.strides == wanted
    assert not memory.present


def test_memory_of_a_dense_array() -> None:
    array = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    memory = memory_of("f", hl.Buffer(array), filled=True)
    assert memory.present
    assert memory.strides == (1, 4, 12)
    assert memory.cells == {i: i for i in range(24)}
    assert [memory.position(i) for i in (0, 23)] == [0, 23]
    assert memory.position(24) == OUTSIDE == memory.position(-1)


def test_memory_with_gaps_has_none_of_their_positions() -> None:
    array = np.arange(20, dtype=np.int16).reshape(4, 5)[:, :3]
    memory = memory_of("f", hl.Buffer(array), filled=True)
    assert memory.strides == (1, 5)
    found = [memory.position(i) for i in range(20)]
    assert [i for i, at in enumerate(found) if at != OUTSIDE] == [0, 1, 2, 5, 6, 7, 10, 11, 12, 15, 16, 17]
    assert [memory.cells[at] for at in found if at != OUTSIDE] == [0, 1, 2, 5, 6, 7, 10, 11, 12, 15, 16, 17]


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [((3, 1), (1, 1)), ((3, 2), (1, 2)), ((0, 5), (1, 5)), ((4, 0), (1, 1)), ((2, 1, 6), (1, 6, 6))],
)
def test_strides_that_are_never_used_are_dense(shape: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    memory = memory_of("f", hl.Buffer(np.zeros(shape, np.int32)), filled=False)
    assert memory.strides == wanted
    assert memory.cells == {}
