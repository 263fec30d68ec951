"""Outputs that share elements are refused, whatever their strides; others beside or between each other are not."""

from __future__ import annotations

import random

import numpy as np
import pytest

import halide_core as hl

x, y = hl.Var("x"), hl.Var("y")


def both() -> hl.Pipeline:
    a, b = hl.Func("a"), hl.Func("b")
    a[x, y] = hl.i32(x) + 10 * y
    b[x, y] = hl.i32(x) - y
    return hl.Pipeline([a, b])


def expected(shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = np.indices(shape, np.int32)
    return columns + 10 * rows, columns - rows


def check(pipeline: hl.Pipeline, memory: np.ndarray, one: np.ndarray, other: np.ndarray) -> bool:
    """Runs into two views of some memory. Returns: whether that was refused."""
    memory[...] = -7
    if np.shares_memory(one, other):
        with pytest.raises(hl.PipelineError, match="overlaps"):
            pipeline.realize([one, other])
        assert (memory == -7).all()
        return True
    try:
        pipeline.realize([one, other])
    except hl.PipelineError:  # so far apart in their strides that C does not tell
        assert (memory == -7).all()
        return True
    first, second = expected(one.shape)
    np.testing.assert_array_equal(one, first)
    np.testing.assert_array_equal(other, second)
    return False


def test_parts_of_one_picture_are_no_overlap() -> None:
    pipeline, memory = both(), np.zeros((6, 8), np.int32)
    halves = [(memory[:, :4], memory[:, 4:]), (memory[:, 4:], memory[:, :4]), (memory[::2], memory[1::2])]
    turned = [(memory[::-1, :3], memory[:, 3:6]), (memory[:3, ::2], memory[3:, 1::2]), (memory.T[:4], memory.T[4:])]
    for one, other in (*halves, *turned):
        assert not check(pipeline, memory, one, other)


@pytest.mark.parametrize(
    ("one", "other"), [(np.s_[:4], np.s_[3::-1]), (np.s_[:4], np.s_[::2]), (np.s_[::2], np.s_[::2])]
)
def test_outputs_that_go_through_copies_are_compared(one: slice, other: slice) -> None:
    a, b, m = hl.Func("a"), hl.Func("b"), np.zeros(8, np.int32)
    a[x] = hl.i32(x)
    b[x] = hl.i32(x) + 100
    with pytest.raises(hl.PipelineError, match='"a" overlaps output buffer "b"'):
        hl.Pipeline([a, b]).realize([m[one], m[other]])
    with pytest.raises(hl.PipelineError, match='"a" overlaps output buffer "b"'):
        hl.Pipeline([a, b]).compile_to_callable([])(m[one], m[other])
    assert not m.any()
    hl.Pipeline([a, b]).realize([m[::2], m[1::2]])
    assert m.tolist() == [0, 100, 1, 101, 2, 102, 3, 103]


def some_slice(rng: random.Random, size: int, count: int) -> slice:
    step = rng.choice([1, 1, 2, -1])
    span = (count - 1) * abs(step) + 1
    first = rng.randint(0, size - span)
    return slice(first, first + span, step) if step > 0 else slice(first + span - 1, first - 1 if first else None, -1)


def test_random_views_of_one_array() -> None:
    pipeline, rng, refused = both(), random.Random(5), 0
    for _ in range(300):
        memory = np.zeros((rng.randint(4, 7), rng.randint(5, 9)), np.int32)
        rows, columns = rng.randint(1, 2), rng.randint(1, 3)
        views = [
            memory[some_slice(rng, memory.shape[0], rows), some_slice(rng, memory.shape[1], columns)] for _ in range(2)
        ]
        refused += check(pipeline, memory, *views)
    assert 20 < refused < 200


def test_an_input_beside_the_output_is_read_where_it_is() -> None:
    image, f = hl.ImageParam(hl.Int(32), 2, "image"), hl.Func("f")
    f[x, y] = image[x, y] * 2
    memory = np.arange(48, dtype=np.int32).reshape(6, 8)
    wanted = memory[:, :4] * 2
    call = f.compile_to_callable([image])
    call(memory[:, :4], memory[:, 4:])
    np.testing.assert_array_equal(memory[:, 4:], wanted)
    np.testing.assert_array_equal(memory[:, :4] * 2, wanted)


def test_a_call_that_is_repeated_does_not_write_what_became_read_only() -> None:
    f, out = hl.Func("f"), np.zeros(4, np.int32)
    f[x] = x + 1
    call, buffer = f.compile_to_callable([]), hl.Buffer(out)
    for _ in range(3):
        call(buffer)
    out[:] = 0
    out.setflags(write=False)
    with pytest.raises(hl.PipelineError, match="read-only"):
        call(buffer)
    assert not out.any()
