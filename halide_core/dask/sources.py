"""Inputs of a blocked pipeline: arrays of Dask, of which tasks cut what a block needs, and arrays that tasks slice.

In: a region. Out: what a task that needs it is given: cuts of chunks, or the array itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from halide_core.blocks.kernel import Kernel
from halide_core.blocks.regions import Sliceable, checked, fill, read, slices
from halide_core.buffer.png import Array
from halide_core.lang.buffer import Buffer
from halide_core.run.backend import Box

Graph = dict[Any, Any]


@dataclass(frozen=True)
class Sliced:
    """An array that a task slices: what it reads is the region and nothing else."""

    array: Sliceable


def given(kernel: Kernel, k: int, box: Box, source: Any, boxes: tuple[Box, ...]) -> Buffer:
    """The region of the input ``k``, of an array to slice, or of pieces of which each has a region."""
    if isinstance(source, Sliced):
        return kernel.taken(k, box, read(source.array, box))
    if boxes == (box,):
        return kernel.taken(k, box, checked(np.asarray(source[0]), box, kernel.dtype(k)))
    room = kernel.room(k, box)
    for part, of in zip(source, boxes, strict=True):
        values = np.asarray(part)
        fill(room, of, values[np.newaxis] if values.ndim < len(of) else values)  # results side by side
    return room


def cut_out(chunk: Array, index: tuple[slice, ...]) -> Array:
    """A part of a chunk, alone: a view would keep the whole chunk in memory."""
    return np.ascontiguousarray(np.asarray(chunk)[index])


class Chunked:
    """A Dask array of which tasks take parts. Parts that several blocks need are cut once."""

    def __init__(self, array: Any, name: str) -> None:
        self.array = array
        self._name = name
        self._starts = [(0, *accumulate(lengths)) for lengths in reversed(array.chunks)]
        self._array_name = array.name
        self._cuts: set[tuple[Any, ...]] = set()
        self._known: dict[tuple[int, tuple[int, int]], list[_Met]] = {}

    def pieces(self, box: Box, graph: Graph) -> Iterator[tuple[Any, Box]]:
        """The key and the region of each chunk's part in a region; tasks that cut them are added to the graph."""
        if any(extent <= 0 for _, extent in box):
            return
        for each in product(*map(self._met, range(len(box) - 1, -1, -1), reversed(box))):
            source = (self._array_name, *[m.chunk for m in each])
            part: Box = tuple([m.interval for m in reversed(each)])
            if all(m.whole for m in each):
                yield source, part
                continue
            key = (self._name, *source[1:], *[end for m in each for end in m.ends])
            if key not in self._cuts:
                self._cuts.add(key)
                graph[key] = (cut_out, source, tuple([slice(*m.ends) for m in each]))
            yield key, part

    def _met(self, d: int, interval: tuple[int, int]) -> list[_Met]:
        """The chunks along a dimension that an interval meets. Blocks side by side ask for the same ones."""
        known = self._known.get((d, interval))
        if known is None:
            known = self._known[d, interval] = _met(self._starts[d], *interval)
        return known


class Made:
    """A result of other tasks, which begins anywhere. Parts that several blocks need are cut once."""

    def __init__(self, key: tuple[Any, ...], box: Box) -> None:
        self._key = key
        self._box = box

    def pieces(self, box: Box, graph: Graph) -> Iterator[tuple[Any, Box]]:
        """The key and the region of the part; a task that cuts it is added to the graph."""
        if any(extent <= 0 for _, extent in box):
            return
        if box == self._box:
            yield self._key, box
            return
        index = slices(box, self._box)
        key = (f"{self._key[0]}-cut", *self._key[1:], *(n for s in index for n in (s.start, s.stop)))
        graph[key] = (cut_out, self._key, index)
        yield key, box


class Stacked:
    """Results of other tasks side by side along the last dimension, which counts them."""

    def __init__(self, keys: Sequence[tuple[Any, ...]], box: Box) -> None:
        self._keys = keys
        self._box = box

    def pieces(self, box: Box, graph: Graph) -> Iterator[tuple[Any, Box]]:
        """All of them."""
        for k, key in enumerate(self._keys):
            yield key, (*self._box, (k, 1))


Source: TypeAlias = "Sliced | Chunked | Made | Stacked"


class _Met(NamedTuple):
    """A chunk that an interval meets along a dimension."""

    chunk: int
    interval: tuple[int, int]
    """The interval that they share."""
    ends: tuple[int, int]
    """Where that is in the chunk."""
    whole: bool


def _met(starts: tuple[int, ...], low: int, extent: int) -> list[_Met]:
    """The chunks that an interval meets."""
    found = []
    k = bisect_right(starts, low) - 1
    while k < len(starts) - 1 and starts[k] < low + extent:
        begin, end = max(low, starts[k]), min(low + extent, starts[k + 1])
        if end > begin:
            ends = begin - starts[k], end - starts[k]
            found.append(_Met(k, (begin, end - begin), ends, ends == (0, starts[k + 1] - starts[k])))
        k += 1
    return found
