"""Inputs of a blocked pipeline: chunks of Dask's or of a store's, of which tasks cut what a block needs, and arrays
that tasks slice.

In: a region. Out: what a task that needs it is given: cuts of chunks, or the array itself.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from dask._task_spec import DataNode

from halide_core.blocks.chunks import Grid, Index, cut_out, load
from halide_core.blocks.kernel import Kernel
from halide_core.blocks.piecewise import Pieces
from halide_core.blocks.regions import Sliceable, checked, read, slices
from halide_core.buffer.png import Array
from halide_core.run.backend import Box

Graph = dict[Any, Any]


@dataclass(frozen=True)
class Sliced:
    """An array that a task slices: what it reads is the region and nothing else."""

    array: Sliceable


def pieces(kernel: Kernel, k: int, box: Box, source: Any, boxes: tuple[Box, ...]) -> Pieces:
    """The elements of a region of the input ``k``: of an array to slice, or of pieces of which each has a region."""
    if isinstance(source, Sliced):
        return [(box, read(source.array, box))]
    found = []
    for part, of in zip(source, boxes, strict=True):
        values = np.asarray(part)
        side_by_side = values[np.newaxis] if values.ndim < len(of) else values
        found.append((of, checked(side_by_side, of, kernel.dtype(k))))
    return found


@dataclass(eq=False)
class Cuts:
    """The parts of a chunk that blocks need, but for those that need all of it. They get more while a graph is made."""

    indices: list[Index]


def _cut(chunk: Array, cuts: Cuts) -> list[Array]:
    return [cut_out(chunk, index) for index in cuts.indices]


class Chunked:
    """A Dask array of which tasks take parts. Parts that several blocks need are cut once."""

    def __init__(self, grid: Grid, array: str, name: str) -> None:
        """``array`` is the name of the chunks' keys, ``name`` that of their parts."""
        self._grid, self._array, self._name = grid, array, name
        self._cuts: dict[tuple[Any, ...], Cuts] = {}

    def pieces(self, box: Box, graph: Graph) -> Iterator[tuple[Any, Box]]:
        """The key and the region of each chunk's part in a region; tasks that cut them are added to the graph."""
        if any(extent <= 0 for _, extent in box):
            return
        for each in self._grid.met(box):
            chunk = (self._array, *[m.chunk for m in each])
            part: Box = tuple([m.interval for m in reversed(each)])
            if all(m.whole for m in each):
                yield self._source(chunk, graph), part
                continue
            yield self._part(chunk, [m.ends for m in each], graph), part

    def _part(self, chunk: tuple[Any, ...], ends: list[tuple[int, int]], graph: Graph) -> tuple[Any, ...]:
        """The key of a part of a chunk. One task cuts all of them, and the chunk can go. Were each a task, Dask would
        run it just before the block that needs it, and keep the chunk that long."""
        together = (f"{self._name}-cuts", *chunk[1:])
        cuts = self._cuts.get(chunk)
        if cuts is None:
            cuts = self._cuts[chunk] = Cuts([])
            graph[together] = (_cut, self._source(chunk, graph), cuts)
        index = tuple([slice(*each) for each in ends])
        key = (self._name, *chunk[1:], *[end for each in ends for end in each])
        if index not in cuts.indices:
            graph[key] = (operator.getitem, together, len(cuts.indices))
            cuts.indices.append(index)
        return key

    def _source(self, chunk: tuple[Any, ...], graph: Graph) -> tuple[Any, ...]:
        """The key of a chunk."""
        return chunk


class Stored(Chunked):
    """A stored array of which each chunk is read once, by a task of its own."""

    def __init__(self, array: Sliceable, grid: Grid, name: str) -> None:
        super().__init__(grid, f"{name}-chunk", name)
        self._node = DataNode(f"{name}-array", Sliced(array))
        self._read: set[tuple[Any, ...]] = set()

    def _source(self, chunk: tuple[Any, ...], graph: Graph) -> tuple[Any, ...]:
        """The key of a chunk; the task that reads it is added to the graph."""
        if chunk not in self._read:
            self._read.add(chunk)
            graph[self._node.key] = self._node
            graph[chunk] = (_chunk, self._node.key, self._grid.box(chunk[1:]))
        return chunk


def _chunk(source: Sliced, box: Box) -> Array:
    return load(source.array, box)


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
