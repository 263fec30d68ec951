"""Inputs of a blocked pipeline: arrays of Dask, of which tasks cut what a block needs, and arrays that tasks slice.

In: a region. Out: what a task that needs it is given: cuts of chunks, or the array itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from typing import Any, TypeAlias

import numpy as np

from halide_core.blocks.regions import Sliceable, fill, read, slices
from halide_core.buffer.buffer import Buffer
from halide_core.buffer.png import Array
from halide_core.run.backend import Box

Graph = dict[Any, Any]


@dataclass(frozen=True)
class Sliced:
    """An array that a task slices: what it reads is the region and nothing else."""

    array: Sliceable

    def filled(self, box: Box, buffer: Buffer) -> Buffer:
        """The Buffer with the elements of a region."""
        return read(self.array, box, buffer)


def joined(pieces: list[Any], boxes: tuple[Box, ...], buffer: Buffer) -> Buffer:
    """The Buffer with the elements of several pieces, each of a region."""
    for part, box in zip(pieces, boxes, strict=True):
        fill(buffer, box, np.asarray(part))
    return buffer


def cut_out(chunk: Array, index: tuple[slice, ...]) -> Array:
    """A part of a chunk, alone: a view would keep the whole chunk in memory."""
    return np.ascontiguousarray(np.asarray(chunk)[index])


class Chunked:
    """A Dask array of which tasks take parts. Parts that several blocks need are cut once."""

    def __init__(self, array: Any, name: str) -> None:
        self.array = array
        self._name = name
        self._starts = [(0, *accumulate(lengths)) for lengths in reversed(array.chunks)]
        self._cuts: set[tuple[Any, ...]] = set()

    def pieces(self, box: Box, graph: Graph) -> Iterator[tuple[Any, Box]]:
        """The key and the region of each chunk's part in a region; tasks that cut them are added to the graph."""
        if any(extent <= 0 for _, extent in box):
            return
        along = [_met(starts, low, extent) for starts, (low, extent) in zip(self._starts, box, strict=True)]
        for each in product(*along):
            chunk = tuple(k for k, _, _ in reversed(each))
            part: Box = tuple((low, extent) for _, low, extent in each)
            whole: Box = tuple((s[k], s[k + 1] - s[k]) for s, (k, _, _) in zip(self._starts, each, strict=True))
            source = (self.array.name, *chunk)
            if part == whole:
                yield source, part
                continue
            index = slices(part, whole)
            key = (self._name, *chunk, *(n for s in index for n in (s.start, s.stop)))
            if key not in self._cuts:
                self._cuts.add(key)
                graph[key] = (cut_out, source, index)
            yield key, part


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


def _met(starts: tuple[int, ...], low: int, extent: int) -> list[tuple[int, int, int]]:
    """The chunks along a dimension that an interval meets: each one's number, and the interval that it meets."""
    found = []
    k = bisect_right(starts, low) - 1
    while k < len(starts) - 1 and starts[k] < low + extent:
        begin, end = max(low, starts[k]), min(low + extent, starts[k + 1])
        if end > begin:
            found.append((k, begin, end - begin))
        k += 1
    return found
