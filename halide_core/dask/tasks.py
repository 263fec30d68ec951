"""Tasks of a blocked pipeline: each takes pieces of the inputs and gives the values of a window.

In: a recipe, and where its inputs come from. Out: tasks in a Dask graph.

    Tasks(recipe, sources).add(graph, ("f", 0, 1), [(0, 64), (0, 64)])
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dask._task_spec import DataNode

from halide_core.blocks.chunks import Index, put
from halide_core.blocks.kernel import Needed, Recipe
from halide_core.blocks.piecewise import computed
from halide_core.buffer.png import Array
from halide_core.dask.sources import Graph, Sliced, Source, pieces
from halide_core.run.backend import Box, backend


@dataclass(frozen=True, eq=False)
class BlockTask:
    """One task: its window, what it needs, and the regions of the pieces that it is given of each input."""

    window: Box
    needed: Needed
    pieces: tuple[tuple[Box, ...], ...]
    late: tuple[int, ...] = ()
    """The values that the block has of its own."""


def run_block(recipe: Recipe, block: BlockTask, sources: list[Any]) -> Any:
    """The values of a block: an array, or a tuple of them. ``sources`` are pieces of the inputs, or arrays to slice."""
    values = _values(recipe, block, sources)
    return values[0] if len(values) == 1 else values


def store_block(
    recipe: Recipe, block: BlockTask, sources: list[Any], sinks: list[Sliced], index: tuple[slice, ...]
) -> None:
    """Writes the values of a block."""
    for sink, value in zip(sinks, _values(recipe, block, sources), strict=True):
        put(sink.array, index, value)


def _values(recipe: Recipe, block: BlockTask, sources: list[Any]) -> tuple[Array, ...]:
    _share_threads()
    kernel = recipe.kernel()
    parts = zip(block.needed.inputs, sources, block.pieces, strict=True)
    inputs = [pieces(kernel, k, box, source, boxes) for k, (box, source, boxes) in enumerate(parts)]
    return computed(kernel, block.window, block.needed, inputs, block.late)


def _share_threads() -> None:
    """Leaves parallel loops as many threads as a cluster's worker has, where that is a process of its own: its tasks
    share one pool, so there are never more than twice as many."""
    module = sys.modules.get("distributed.worker")
    if module is None or "HL_NUM_THREADS" in os.environ:
        return
    try:
        worker = module.get_worker()
    except ValueError:
        return  # another scheduler of Dask's
    if worker.nanny is not None:
        backend().set_threads(worker.state.nthreads)


class Tasks:
    """Adds the tasks of one pipeline to a graph."""

    def __init__(self, recipe: Recipe, sources: Sequence[Source], graph: Graph) -> None:
        self.recipe = recipe
        self.sources = sources
        self._graph = graph
        self._shared = f"{recipe.local.name}-{recipe.token}-recipe"
        graph[self._shared] = DataNode(self._shared, recipe)
        self._arrays: list[str] = []
        for image, source in zip(recipe.local.images, sources, strict=True):
            self._arrays.append(f"{recipe.local.name}-{image.name}-{recipe.token}")
            if isinstance(source, Sliced):
                graph[self._arrays[-1]] = DataNode(self._arrays[-1], source)

    def add(self, key: tuple[Any, ...], window: Box, needed: Needed, late: Sequence[int] = ()) -> list[tuple[Any, ...]]:
        """The keys of the values of a window, one for each output: ``key`` where there is one."""
        self._graph[key] = (run_block, *self._block(window, needed, late))
        count = sum(len(f.types) for f in self.recipe.local.outputs)
        if count == 1:
            return [key]
        keys = [(f"{key[0]}-{k}", *key[1:]) for k in range(count)]
        for k, each in enumerate(keys):
            self._graph[each] = (operator.getitem, key, k)
        return keys

    def add_stored(self, key: str, block: tuple[Box, Needed, Sequence[int]], sinks: list[str], index: Index) -> None:
        """Adds a task that writes the values of a block, in place of giving them."""
        self._graph[key] = (store_block, *self._block(*block), sinks, index)

    def _block(self, window: Box, needed: Needed, late: Sequence[int]) -> tuple[str, BlockTask, list[Any]]:
        """The arguments of a task: the keys of the recipe and of what it reads, and the block itself."""
        sources: list[Any] = []
        boxes: list[tuple[Box, ...]] = []
        for name, source, box in zip(self._arrays, self.sources, needed.inputs, strict=True):
            if isinstance(source, Sliced):
                sources.append(name)
                boxes.append(())
            else:
                met = list(source.pieces(box, self._graph))
                sources.append([piece for piece, _ in met])
                boxes.append(tuple(part for _, part in met))
        return self._shared, BlockTask(window, needed, tuple(boxes), tuple(late)), sources
