"""Descriptors of Buffers for C: made once, and made again as soon as anything about it is another."""

from __future__ import annotations

import numpy as np

import halide_core as hl
from halide_core.runtime.execute.descriptor import describe

x, y = hl.Var("x"), hl.Var("y")


def buffer() -> hl.Buffer:
    return hl.Buffer(np.arange(12, dtype=np.uint8).reshape(3, 4))


def test_a_descriptor_is_kept_with_its_buffer() -> None:
    b = buffer()
    assert describe(b) is describe(b)
    c = describe(b).buffer[0]
    assert [(c.dim[d].min, c.dim[d].extent, c.dim[d].stride) for d in range(2)] == [(0, 4, 1), (0, 3, 4)]


def test_other_coordinates_other_memory_and_another_shape_are_described_anew() -> None:
    b = buffer()
    first = describe(b)
    b.set_min([5, 6])
    moved = describe(b)
    assert moved is not first and moved.buffer[0].dim[1].min == 6
    b.crop(0, 6, 2)
    assert describe(b) is not moved and describe(b).buffer[0].dim[0].extent == 2
    array = np.arange(12, dtype=np.uint8)
    whole = hl.Buffer(array)
    assert describe(whole).buffer[0].dim[0].extent == 12
    array.resize((24,), refcheck=False)  # in place: the old memory is gone
    assert describe(whole).buffer[0].dim[0].extent == 24


def test_overlaps_are_of_bytes() -> None:
    array = np.zeros((4, 8), np.uint8)
    left, right = hl.Buffer(array[:2]), hl.Buffer(array[2:])
    assert not describe(left).overlaps(describe(right))
    assert describe(left).overlaps(describe(hl.Buffer(array[1:3])))
    assert describe(hl.Buffer(array[::-1])).overlaps(describe(right))
    assert not describe(hl.Buffer(array[:0])).overlaps(describe(hl.Buffer(array)))


def test_a_call_follows_its_buffers() -> None:
    """One Callable, one Buffer object: values, coordinates and size change between calls."""
    source = hl.ImageParam(hl.UInt(8), 2, "source")
    f = hl.Func("f")
    f[x, y] = source[x, y] + hl.u8(1)
    call = f.compile_to_callable([source])
    b, out = buffer(), hl.Buffer(hl.UInt(8), [2, 2])
    call(b, out)
    assert np.asarray(out).tolist() == [[1, 2], [5, 6]]
    b.set_min([-1, -1])
    call(b, out)
    assert np.asarray(out).tolist() == [[6, 7], [10, 11]]
    out.set_min([1, 0])
    call(b, out)
    assert np.asarray(out).tolist() == [[7, 8], [11, 12]]
