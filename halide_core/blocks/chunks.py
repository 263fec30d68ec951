"""Arrays that lie in chunks, as those of Zarr, HDF5 and Dask do: the chunks that a region meets, and their elements.

In: the lengths of chunks, and a region. Out: for each chunk that it meets, where, and how much of it.

    chunks of 2048 x 2048, and [-3, 2050] x [0, 9]   ->   [0, 2047] x [0, 9] of chunk (0, 0), [0, 2] x [0, 9] of (0, 1)
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import accumulate, product
from typing import Any, NamedTuple

import numpy as np

from halide_core.blocks.regions import Sliceable, checked, grains, read, slices, volume
from halide_core.blocks.sizes import cut
from halide_core.buffer.png import Array
from halide_core.run.backend import Box

Index = tuple[slice, ...]
"""A part of an array, as slices of its axes."""
_LEAST_BYTES = 1 << 20
"""Smaller chunks are read with others, once for each block that meets them: that takes less than to keep them apart."""


class Met(NamedTuple):
    """A chunk that an interval meets along a dimension."""

    chunk: int
    interval: tuple[int, int]
    """The interval that they share."""
    ends: tuple[int, int]
    """Where that is in the chunk."""
    whole: bool


class Grid:
    """The chunks of an array."""

    def __init__(self, lengths: Sequence[Sequence[int]]) -> None:
        """``lengths`` are those of the chunks along each dimension, x first."""
        self._starts = [(0, *accumulate(each)) for each in lengths]
        self._known: dict[tuple[int, tuple[int, int]], list[Met]] = {}

    def met(self, box: Box) -> Iterator[tuple[Met, ...]]:
        """The chunks that a region meets, for each what is met along each axis: the reversed dimensions."""
        return product(*map(self._along, range(len(box) - 1, -1, -1), reversed(box)))

    def box(self, place: Sequence[int]) -> Box:
        """The region of a chunk; its place is an array's."""
        along = zip(self._starts, reversed(place), strict=True)
        return tuple([(starts[k], starts[k + 1] - starts[k]) for starts, k in along])

    def _along(self, d: int, interval: tuple[int, int]) -> list[Met]:
        """The chunks along a dimension that an interval meets. Blocks side by side ask for the same ones."""
        known = self._known.get((d, interval))
        if known is None:
            known = self._known[d, interval] = _met(self._starts[d], *interval)
        return known


def _met(starts: tuple[int, ...], low: int, extent: int) -> list[Met]:
    found = []
    k = bisect_right(starts, low) - 1
    while k < len(starts) - 1 and starts[k] < low + extent:
        begin, end = max(low, starts[k]), min(low + extent, starts[k + 1])
        if end > begin:
            ends = begin - starts[k], end - starts[k]
            found.append(Met(k, (begin, end - begin), ends, ends == (0, starts[k + 1] - starts[k])))
        k += 1
    return found


def stored_grid(array: Any) -> Grid | None:
    """The chunks that a store has an array in, as Zarr and HDF5 do; None where it has none, or has small ones."""
    lengths = grains(array)
    if not lengths or len(lengths) != len(array.shape) or not all(isinstance(n, int) for n in array.chunks):
        return None
    if volume(tuple((0, n) for n in lengths)) * np.dtype(array.dtype).itemsize < _LEAST_BYTES:
        return None
    return Grid(cut(tuple((0, int(n)) for n in reversed(array.shape)), lengths))


def load(array: Sliceable, box: Box) -> Array:
    """The elements of a chunk: of Zarr's those that its codecs give, where they are."""
    if not _is_of_zarr(array):
        return read(array, box)
    from halide_core.blocks.zarr_chunks import decoded  # noqa: PLC0415  # it is loaded: there is an array

    return checked(decoded(array, slices(box)), box, np.dtype(array.dtype))


def put(array: Any, index: Index, values: Array) -> None:
    """Writes a region."""
    if not _is_of_zarr(array):
        array[index] = values
        return
    from halide_core.blocks.zarr_chunks import put as put_chunks  # noqa: PLC0415  # it is loaded: there is an array

    put_chunks(array, index, values)


def _is_of_zarr(array: Any) -> bool:
    """True for arrays of a Zarr that has buffers, as 3.1 does."""
    return type(array).__module__.partition(".")[0] == "zarr" and find_spec("zarr.buffer") is not None


def cut_out(chunk: Array, index: Index) -> Array:
    """A part of a chunk, alone: a view would keep the whole chunk in memory."""
    return np.array(np.asarray(chunk)[index], order="C")
