"""Chunks of Zarr's arrays without a copy of what their codecs give, or take. Loaded on first use, as Zarr itself is.

In: an array, and the slices of one chunk. Out: its elements; or they are written.

    array.get_basic_selection(slices)     makes an array, and copies the decoded chunk into it
    decoded(array, slices)                has the decoded chunk, which is read-only where the store's bytes are
"""

from __future__ import annotations

from typing import Any

from zarr.abc.buffer import BufferPrototype
from zarr.buffer.cpu import Buffer, NDBuffer

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


class _Written(NDBuffer):
    """Elements that Zarr compares with the fill value, as chunks that have no other need not be stored."""

    def all_equal(self, other: Any, equal_nan: bool = True) -> bool:
        """True where all elements are equal to a value. Some decide it in most chunks."""
        some = self[tuple(slice(None, None, max(1, n - 1)) for n in self.shape)]
        return super(_Written, some).all_equal(other, equal_nan) and super().all_equal(other, equal_nan)


_WRITTEN = BufferPrototype(buffer=Buffer, nd_buffer=_Written)


def put(array: Any, index: tuple[slice, ...], values: Array) -> None:
    """Writes a region."""
    array.set_basic_selection(index, values, prototype=_WRITTEN)
