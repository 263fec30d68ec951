"""Chunks of Zarr's arrays without a copy of what their codecs give. Loaded on first use, as Zarr itself is.

In: an array, and the slices of one chunk. Out: its elements.

    array.get_basic_selection(slices)     makes an array, and copies the decoded chunk into it
    decoded(array, slices)                has the decoded chunk, which is read-only where the store's bytes are
"""

from __future__ import annotations

from typing import Any

from zarr.buffer.cpu import NDBuffer

from halide_core.buffer.png import Array


class _Taken(NDBuffer):
    """A result that takes the place of what is put into all of it, of one chunk, instead of copying it."""

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, NDBuffer) and value.shape == self.shape and value.dtype == self.dtype:
            self._data = value.as_ndarray_like()
        else:
            super().__setitem__(key, value)  # several chunks, or one that the store does not have


def decoded(array: Any, index: tuple[slice, ...]) -> Array:
    """The elements of a region, which is that of a chunk."""
    shape = tuple(s.stop - s.start for s in index)
    room = _Taken.empty(shape, array.dtype)
    array.get_basic_selection(index, out=room)
    elements: Array = room.as_numpy_array()
    return elements
