"""Strides that the program knows: as values, in conditions and in promises. They are those of the caller's memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import halide_core as hl

x, y = hl.Var("x"), hl.Var("y")
MEMORY = np.arange(240, dtype=np.int32).reshape(5, 48)
SPREAD = [MEMORY[:, ::2], MEMORY[:, ::-1], MEMORY.T[:, :3]]
PADDED = MEMORY[:, :20]


def stride_of(image: hl.ImageParam, dim: int = 0) -> hl.Func:
    """An input's values, and the stride of a dimension of it."""
    f = hl.Func("f")
    f[x, y] = image[x, y] * 2 + hl.i32(image.dim(dim).stride())
    return f


def taken(image: hl.ImageParam, array: Any) -> None:
    image.set(hl.Buffer(array))


@pytest.mark.parametrize("array", SPREAD)
def test_stride_of_memory_that_is_not_dense_is_refused_by_all(array: Any) -> None:
    image = hl.ImageParam(hl.Int(32), 2, "image")
    f = stride_of(image)
    taken(image, array)
    for run in (f.realize, f.evaluate):
        with pytest.raises(hl.PipelineError, match=r'"image" has stride .* must have 1: .*set_stride\(hl.Expr\(\)\)'):
            run([3, 3])


@pytest.mark.parametrize("array", [*SPREAD, PADDED])
@pytest.mark.parametrize("specialized", [False, True])
def test_any_stride_is_what_it_is(array: Any, specialized: bool) -> None:
    image = hl.ImageParam(hl.Int(32), 2, "image")
    image.dim(0).set_stride(hl.Expr())
    f = stride_of(image)
    if specialized:
        f.specialize(image.dim(0).stride() == 1).vectorize(x, 8, hl.TailStrategy.RoundUp)
    taken(image, array)
    h, w = array.shape
    w -= w % 8 if specialized else 0
    wanted = array[:, :w] * 2 + array.strides[1] // 4
    assert np.array_equal(np.asarray(f.realize([w, h])), wanted)
    assert np.array_equal(np.asarray(f.evaluate([w, h])), wanted)
    assert f.certify().ok


def test_copy_of_what_the_output_overlaps_has_the_same_strides() -> None:
    image = hl.ImageParam(hl.Int(32), 2, "image")
    f = stride_of(image, 1)
    memory = np.zeros((4, 12), np.int32)
    taken(image, memory[:, :5])
    f.realize(hl.Buffer(memory[:, :5]))
    assert memory[:, :5].tolist() == [[12] * 5] * 4


def test_backwards_memory_is_written_in_place() -> None:
    image = hl.ImageParam(hl.Int(32), 2, "image")
    image.dim(0).set_stride(hl.Expr())
    f = stride_of(image)
    f.output_buffer().dim(0).set_stride(hl.Expr())
    memory = hl.Buffer(np.arange(48, dtype=np.int32)[::2][::-1].reshape(2, 12))
    wanted = np.asarray(memory) * 2 - 2
    taken(image, memory)
    f.realize(memory)
    assert np.array_equal(np.asarray(memory), wanted)


@pytest.mark.parametrize("stride", [12, 6])
def test_promise_about_rows_is_kept_by_the_memory_itself(stride: int) -> None:
    image = hl.ImageParam(hl.Int(32), 2, "image")
    image.dim(0).set_stride(2)
    image.dim(1).set_stride(stride)
    f = hl.Func("f")
    f[x, y] = image[x, y]
    array = np.arange(72, dtype=np.int32).reshape(6, 12)[:, ::2]
    taken(image, array)
    if stride == 12:
        assert np.array_equal(np.asarray(f.realize([6, 6])), array)
    else:
        with pytest.raises(hl.PipelineError, match="must have stride 6 in dimension 1, not 12"):
            f.realize([6, 6])


def test_output_whose_stride_is_asked_for_is_not_copied() -> None:
    f = hl.Func("f")
    f[x] = x
    f.specialize(f.output_buffer().dim(0).stride() == 1).vectorize(x, 8)
    memory = np.zeros(30, np.int32)
    with pytest.raises(hl.PipelineError, match='"f" has stride 3 in dimension 0, and must have 1'):
        f.realize(hl.Buffer(memory[::3]))
    f.output_buffer().dim(0).set_stride(hl.Expr())
    f.realize(hl.Buffer(memory[::3]))
    assert memory[::3].tolist() == list(range(10))


def test_memory_that_is_not_dense_is_copied_where_nobody_asks() -> None:
    image = hl.ImageParam(hl.Int(32), 2, "image")
    f = hl.Func("f")
    f[x, y] = image[x, y] + image.dim(1).extent()
    for array in SPREAD:
        taken(image, array)
        assert np.array_equal(np.asarray(f.realize([3, 3])), array[:3, :3] + array.shape[0])


def test_constraint_that_was_taken_back_says_nothing() -> None:
    image = hl.ImageParam(hl.Int(32), 2, "image")
    p = image.parameter()
    assert p.stride_constraint(0).defined()
    image.dim(0).set_stride(3)
    image.dim(0).set_stride(hl.Expr())
    assert not p.stride_constraint(0).defined()


def test_values_of_a_tuple_lie_alike_where_strides_are_asked_for() -> None:
    f = hl.Func("f")
    f[x, y] = hl.Tuple(x, y)
    for buffer in f.output_buffers():
        buffer.dim(1).set_stride(8)
    rows, columns = np.zeros((3, 8), np.int32)[:, :4], np.zeros((3, 16), np.int32)[:, :4]
    with pytest.raises(hl.PipelineError, match='buffers of "f" differ in layout'):
        f.realize([hl.Buffer(rows), hl.Buffer(columns)])
