"""Lazy arrays of the blocks of a pipeline.

In: outputs, the shape of the result, its chunks, and an array for each input. Out: a ``dask.array.Array`` for each
output, one task a block.

    realize(blur, (30000, 30000), chunks=(2048, 2048), inputs={image: zarr})   ->   dask.array<blur, shape=(30000, …)>
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from halide_core.algorithm.model import Image
from halide_core.blocks.chunks import Grid, stored_grid
from halide_core.blocks.divided import FAN, Divided, Lengths, Parts
from halide_core.blocks.given import Given, Inputs, Whole
from halide_core.blocks.kernel import Needed
from halide_core.blocks.regions import grains, slices, volume
from halide_core.blocks.sinks import check_apart, check_sinks, listed
from halide_core.blocks.variants import Fed
from halide_core.dask.planned import Computed, Plan, Read
from halide_core.dask.sources import Chunked, Graph, Made, Sliced, Source, Stacked, Stored
from halide_core.dask.tasks import Tasks
from halide_core.errors import HalideError, PipelineError
from halide_core.run.output_files import TargetLike
from halide_core.run.pipeline import Realizable

try:
    import dask.array as da
    from dask._task_spec import DataNode
    from dask.delayed import Delayed
    from dask.highlevelgraph import HighLevelGraph
except ImportError as missing:
    raise HalideError(
        f'Pipelines over Dask arrays need Dask, which is not installed: pip install "halide-core[dask]". ({missing})'
    ) from None


def realize(
    f: Realizable,
    shape: Sequence[int],
    *,
    chunks: Any = "auto",
    inputs: Inputs | None = None,
    whole: Whole = (),
    memory: int | str = "128MiB",
    target: TargetLike = None,
    mins: Sequence[int] | None = None,
) -> Any:
    """A lazy array of the values of a Func or a Pipeline, in blocks.

    Args:
        f: what to compute. Its Params have the values that they have now.
        shape: of the result, as an array's: the last is x.
        chunks: lengths of blocks as Dask has them: a number, one for each axis, all of them, or ``"auto"``: by what
            blocks read, at most ``memory`` of inputs and outputs each.
        inputs: an array for each ImageParam, or for its name: of Dask, Zarr, numpy, xarray, a Buffer, or whatever has a
            shape, a dtype and slices. Those that are not named have the Buffer that was set.
        whole: ImageParams of which each block may read all, however large they are.
        memory: bytes that blocks of automatic lengths need of their inputs and outputs, if there are such blocks.
        mins: the coordinates of the first point, as an array's: the last is that of x. All are 0 by default.

    Returns:
        A ``dask.array.Array``; a tuple of them, one for each value, where there are several.

    Raises:
        PipelineError: an input without an array, of another type or number of dimensions; a window that reads beyond an
            input; a small block that needs more than ``memory`` and most of an input.
    """
    return _Blocked(Given.of(f, shape, inputs or {}, memory, whole, target, mins), chunks).arrays()


def store(
    f: Realizable,
    sink: Any,
    *,
    chunks: Any = "auto",
    inputs: Inputs | None = None,
    whole: Whole = (),
    memory: int | str = "128MiB",
    target: TargetLike = None,
    mins: Sequence[int] | None = None,
) -> Any:
    """A lazy value that writes a Func or a Pipeline to an array, block by block, when it is computed.

    It is as ``dask.array.store`` of what ``realize`` gives, but takes blocks in an order in which few chunks wait in
    memory, and one task a block.

    Args:
        f, inputs, whole, target, mins: as in ``realize``.
        sink: an array of the outputs' shape and type whose slices can be set, such as Zarr's; a list of them, where
            there are several. Workers that are processes need one that they can write to, which none of numpy's is.
        chunks: lengths of blocks, or ``"auto"``: a chunk of the sink, or more. No two blocks may write one chunk.
        memory: bytes that blocks of automatic lengths need of their inputs and outputs, if there are such blocks.

    Returns:
        A ``dask.delayed.Delayed``, whose value is None.

    Raises:
        PipelineError: see ``realize``; or a sink of another shape or type, that is read too, or of which two blocks
            would write one chunk.
    """
    sinks = listed(sink)
    given = Given.of(f, tuple(sinks[0].shape), inputs or {}, memory, whole, target, mins)
    check_sinks(given, sinks)
    return _Blocked(given, chunks, sinks).stored(sinks)


def plan(
    f: Realizable,
    shape: Sequence[int],
    *,
    chunks: Any = "auto",
    inputs: Inputs | None = None,
    whole: Whole = (),
    memory: int | str = "128MiB",
    target: TargetLike = None,
    mins: Sequence[int] | None = None,
) -> Plan:
    """The plan of what ``realize`` with the same arguments would read, move and compute twice; nothing is read."""
    return _Blocked(Given.of(f, shape, inputs or {}, memory, whole, target, mins), chunks).plan()


_normalized: Any = da.core.normalize_chunks  # Dask's functions have no types
_array: Any = da.Array
_delayed: Any = Delayed


class _Blocked:
    """A blocked pipeline: its steps, where its inputs come from, and its blocks."""

    def __init__(self, given: Given, chunks: Any, sinks: Sequence[Any] = ()) -> None:
        self._given = given
        self._divided = Divided(given, [grains(a) for a in given.arrays.values()])
        self._token = self._divided.main.main.recipe.token
        self._sources: dict[Image, Source] = {
            image: _source(a, f"{given.name}-{image.name}-{self._token}") for image, a in given.arrays.items()
        }
        self._lengths = self._cut(chunks, sinks)
        check_apart(sinks, self._lengths)

    def _cut(self, chunks: Any, sinks: Sequence[Any]) -> Lengths:
        """The lengths of the blocks along each dimension, x first."""
        if isinstance(chunks, str) and chunks == "auto":
            if not sinks:
                return self._divided.automatic()
            return self._divided.automatic(grains(sinks[0]), in_chunks=stored_grid(sinks[0]) is not None)
        shape = tuple(n for _, n in reversed(self._given.window))
        try:
            lengths: Lengths = _normalized(chunks, shape=shape, dtype=self._given.outputs[0].types[0].dtype)
        except ZeroDivisionError:
            raise PipelineError(f"The chunks {chunks!r} don't fit the shape {shape}: a length is 0.") from None
        except (ValueError, TypeError) as wrong:
            raise PipelineError(f"The chunks {chunks!r} don't fit the shape {shape}: {wrong}") from None
        unknown = [k for k in chunks if k not in range(-len(shape), len(shape))] if isinstance(chunks, dict) else []
        if unknown or isinstance(chunks, bool) or any(n < 0 for each in lengths for n in each):
            raise PipelineError(f"The chunks {chunks!r} don't fit the shape {shape}.")
        return tuple(reversed(lengths))

    def plan(self) -> Plan:
        """The plan of what the blocks will read."""
        graph: Graph = {}
        counted = _Counted(self._sources)
        self._reduce(graph, counted)
        given = self._given
        tasks = {fed: self._tasks(fed, graph) for fed in self._divided.main.pipelines()}
        count, between = 0, self._divided.intermediates()
        computed = [(once, 0, 0) for once in between.bytes(given.window)]
        for place, window, block in self._divided.blocks(self._lengths):
            tasks[block.by].add(("block", *place), window, block.needed, block.late)
            counted.add(block.by, block.needed)
            for k, bytes in enumerate(between.bytes(window)):
                once, all_of_them, largest = computed[k]
                computed[k] = once, all_of_them + bytes, max(largest, bytes)
            count += 1
        shapes = {i: volume(tuple((0, n) for n in shape)) for i, shape in given.shapes.items()}
        reads = tuple(
            Read(i.name, shapes[i] * i.types[0].bytes(), *counted.totals[i])
            for i in given.arrays
            if i in counted.totals
        )
        return Plan(
            given.name,
            tuple(n for _, n in reversed(given.window)),
            tuple(max(each, default=0) for each in reversed(self._lengths)),
            count,
            len(graph),
            volume(given.window) * sum(self._divided.main.main.bytes.outputs),
            counted.held,
            reads,
            tuple(Computed(name, *numbers) for name, numbers in zip(between.names, computed, strict=True)),
        )

    def arrays(self) -> Any:
        """The lazy array, or one for each value."""
        graph: Graph = {}
        name = f"{self._given.name}-{self._token}"
        self._reduce(graph)
        tasks = {fed: self._tasks(fed, graph) for fed in self._divided.main.pipelines()}
        for place, window, block in self._divided.blocks(self._lengths):
            tasks[block.by].add((name, *reversed(place)), window, block.needed, block.late)
        types = [t for f in self._given.outputs for t in f.types]
        names = [name] if len(types) == 1 else [f"{name}-{k}" for k in range(len(types))]
        dependencies = self._dependencies()
        chunks = tuple(reversed(self._lengths))
        found = []
        for each, type in zip(names, types, strict=True):
            layers = HighLevelGraph.from_collections(each, graph, dependencies=dependencies)
            found.append(_array(layers, each, chunks=chunks, dtype=type.dtype))
        return found[0] if len(found) == 1 else tuple(found)

    def stored(self, sinks: Sequence[Any]) -> Any:
        """A lazy value, none, that is there when all blocks are written."""
        graph: Graph = {}
        name = f"{self._given.name}-store-{self._token}"
        self._reduce(graph)
        tasks = {fed: self._tasks(fed, graph) for fed in self._divided.main.pipelines()}
        arrays = [f"{name}-array-{k}" for k in range(len(sinks))]
        graph.update({key: DataNode(key, Sliced(sink)) for key, sink in zip(arrays, sinks, strict=True)})
        keys = []
        for place, window, block in self._divided.blocks(self._lengths):
            # Dask takes blocks in the order of their keys as text: zeros keep neighbours together, and what they share
            # in memory for as short as can be.
            keys.append("-".join([name, *(f"{k:06}" for k in reversed(place))]))
            index = slices(window, self._given.window)
            tasks[block.by].add_stored(keys[-1], (window, block.needed, block.late), arrays, index)
        graph[name] = (_nothing, keys)
        return _delayed(name, HighLevelGraph.from_collections(name, graph, dependencies=self._dependencies()))

    def _dependencies(self) -> list[Any]:
        return [a for a in self._given.arrays.values() if isinstance(a, da.Array)]

    def _tasks(self, fed: Fed, graph: Graph) -> Tasks:
        return Tasks(fed.recipe, [self._sources[i] for i in fed.own], graph)

    def _reduce(self, graph: Graph, counted: _Counted | None = None) -> None:
        """Adds the parts of all reductions and their merges; what is merged becomes a source."""
        for each in self._divided.parts:
            name = f"{each.reduction.function.name}-{each.part.main.recipe.token}"
            tasks = {fed: self._tasks(fed, graph) for fed in each.part.pipelines()}
            keys = []
            for k, block in enumerate(each.blocks):
                keys.append(tasks[block.by].add((f"{name}-part", k), each.window, block.needed, block.late))
                if counted is not None:
                    counted.add(block.by, block.needed)
            merged = _merged(each, name, keys, graph)
            for image, key in zip(each.reduction.merged, merged, strict=True):
                self._sources[image] = Made(key, each.window)


def _source(array: Any, name: str) -> Source:
    """The way that blocks read an array."""
    if isinstance(array, da.Array):
        return Chunked(Grid(array.chunks[::-1]), array.name, name)
    grid = stored_grid(array)
    return Sliced(array) if grid is None else Stored(array, grid, name)


def _nothing(written: list[None]) -> None:
    """The value of a picture that is written."""


Key = tuple[Any, ...]


def _merged(each: Parts, name: str, keys: list[list[Key]], graph: Graph) -> list[Key]:
    """The keys of the values of all parts together, merged in order, some at a time."""
    level = 0
    while len(keys) > 1:
        level += 1
        above = []
        for k in range(0, len(keys), FAN):
            some = keys[k : k + FAN]
            if len(some) == 1:
                above.append(some[0])
                continue
            stacks = [Stacked([point[c] for point in some], each.window) for c in each.merged]
            box = (*each.window, (0, len(some)))
            needed = Needed((box,) * len(stacks), (each.window,) * len(stacks))
            above.append(Tasks(each.merge, stacks, graph).add((f"{name}-merge-{level}", k // FAN), each.window, needed))
        keys = above
    return keys[0]


class _Counted:
    """Bytes that blocks read of each input: needed, moved, and at most."""

    def __init__(self, sources: dict[Image, Source]) -> None:
        self._sources = sources
        self.totals: dict[Image, list[int]] = {}
        self.held = 0

    def add(self, fed: Fed, needed: Needed) -> None:
        """Counts what a block takes."""
        self.held = max(self.held, fed.bytes.held(needed))
        for image, each, box in zip(fed.own, fed.bytes.inputs, needed.inputs, strict=True):
            bytes = moved = volume(box) * each
            source = self._sources[image]
            if isinstance(source, Chunked):
                moved = sum(volume(part) * each for _, part in source.pieces(box, {}))
            total = self.totals.setdefault(image, [0, 0, 0])
            total[:] = total[0] + bytes, total[1] + moved, max(total[2], bytes)
