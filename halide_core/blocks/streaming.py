"""Pictures that don't fit memory: read, computed and written block by block, on one machine.

In: a Func, arrays to read from and one to write to. Out: the array, filled, while memory holds two blocks: the one that
is computed, and of those beside it the inputs of the next, which is read meanwhile, and the outputs of the last, which
is written; and chunks of the arrays that are needed again.

    hl.stream(blur, {image: zarr.open("in.zarr")}, zarr.open("out.zarr", "w", shape=…, dtype="f4"), memory="2GiB")
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from halide_core.algorithm.model import Image
from halide_core.blocks.chunks import Grid, put, stored_grid
from halide_core.blocks.divided import Divided, Parts
from halide_core.blocks.given import Given, Inputs, Whole
from halide_core.blocks.kernel import Needed
from halide_core.blocks.piecewise import Pieces, computed
from halide_core.blocks.reading import ChunkReader
from halide_core.blocks.regions import Sliceable, fill, grains, read, slices
from halide_core.blocks.sinks import check_sinks, listed
from halide_core.blocks.variants import BlockPlan, Fed
from halide_core.buffer.png import Array
from halide_core.errors import PipelineError
from halide_core.run.backend import Box
from halide_core.run.output_files import TargetLike
from halide_core.run.pipeline import Realizable

Progress = Callable[[int, int], object]


def stream(
    f: Realizable,
    source: Inputs | Sliceable,
    sink: Any,
    *,
    memory: int | str = "1GiB",
    whole: Whole = (),
    progress: Progress | None = None,
    target: TargetLike = None,
    mins: Sequence[int] | None = None,
) -> None:
    """Computes a Func or a Pipeline block by block, from arrays that are read in parts into one that is written so.

    Args:
        f: what to compute.
        source: an array for each ImageParam, or for its name; or the array of the only one. Whatever has a shape, a
            dtype and slices will do: Zarr, HDF5, ``np.memmap`` …
        sink: an array of the outputs' shape and type whose slices can be set; a list of them, where there are several.
        memory: bytes that inputs and outputs of the blocks may take together; half of it is for chunks that are needed
            again, where arrays have large ones. What arrays need to read and to write themselves, such as Zarr's
            encoded chunks, and what is computed on the way, is not counted.
        whole: ImageParams of which each block may read all, however large they are.
        progress: is called with the number of blocks that are done, and of all, after each.
        mins: the coordinates of the first point, as an array's: the last is that of x. All are 0 by default.

    Raises:
        PipelineError: see ``halide_core.dask.realize``; or a sink of another shape or type, or that is read too.
            What was written stays.
    """
    if not isinstance(f, Realizable):
        raise PipelineError(f"Blocks are computed of a Func or a Pipeline, not of {f!r}.")
    if progress is not None and not callable(progress):
        raise PipelineError(f"progress is a function of two numbers, not {progress!r}.")
    sinks = listed(sink)
    inputs: Inputs = source if isinstance(source, Mapping) else _only(f, source)
    given = Given.of(f, tuple(sinks[0].shape), inputs, memory, whole, target, mins)
    check_sinks(given, sinks)
    # Two blocks are in memory at a time: one whole, the inputs of the next, the outputs of the last.
    # Of arrays in chunks, as many bytes again are those of chunks that blocks after them need too.
    grids = {image: grid for image, a in given.arrays.items() if (grid := stored_grid(a)) is not None}
    divided = Divided(given.sharing(4 if grids else 2), [grains(a) for a in given.arrays.values()])
    _Run(divided, grids, given.memory // 2, sinks, progress).run()


def _only(f: Realizable, array: object) -> Inputs:
    names = [a.name for a in f.infer_arguments() if a.dimensions or isinstance(a.source, Image)]
    if len(names) != 1:
        told = ", ".join(names) or "none"
        raise PipelineError(f"Name the input of each array, {{image: array}}. The inputs: {told}.")
    return {names[0]: array}


@dataclass(frozen=True, eq=False)
class _Step:
    """A block to read and to compute."""

    number: int
    by: Fed
    window: Box
    needed: Needed
    late: tuple[int, ...]


class _Run:
    """One pass over all blocks."""

    def __init__(
        self,
        divided: Divided,
        grids: Mapping[Image, Grid],
        memory: int,
        sinks: Sequence[Any],
        progress: Progress | None,
    ) -> None:
        """``memory`` is that of the chunks of ``grids`` that are needed again."""
        self._divided = divided
        self._grids, self._memory = grids, memory
        self._sinks = sinks
        self._progress = progress
        self._arrays: dict[Image, Any] = dict(divided.given.arrays)
        self._made: dict[Image, tuple[Box, Array]] = {}

    def run(self) -> None:
        """Takes in all parts of each reduction, then computes all blocks."""
        lengths = self._divided.automatic(grains(self._sinks[0]), in_chunks=stored_grid(self._sinks[0]) is not None)
        count = 1
        for each in lengths:
            count *= len(each)
        total = count + sum(len(parts.blocks) for parts in self._divided.parts)
        done = 0
        for parts in self._divided.parts:
            done = self._reduce(parts, done, total)
        blocks = [_of(k, window, block) for k, (_, window, block) in enumerate(self._divided.blocks(lengths))]
        # One thread writes: blocks side by side may share a chunk of the sink.
        with ThreadPoolExecutor(1, thread_name_prefix="halide_core_write") as writer:
            written: Future[None] | None = None
            for step, values in self._computed(blocks):
                if written is not None:
                    written.result()
                    done += 1
                    self._tell(done, total)
                written = writer.submit(self._write, step, values)
                del values
            if written is not None:
                written.result()
                self._tell(done + 1, total)

    def _write(self, step: _Step, values: tuple[Array, ...]) -> None:
        for sink, value in zip(self._sinks, values, strict=True):
            put(sink, slices(step.window, self._divided.given.window), value)

    def _tell(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(done, total)

    def _computed(self, steps: Sequence[_Step]) -> Iterator[tuple[_Step, tuple[Array, ...]]]:
        """The values of each block; the next one is read while one is computed."""
        readers = {image: self._reader(image, grid, steps) for image, grid in self._grids.items()}
        with ThreadPoolExecutor(1, thread_name_prefix="halide_core_read") as reader:
            waiting: list[tuple[_Step, Future[list[Pieces]]]] = []
            try:
                for step in steps:
                    waiting.append((step, reader.submit(self._read, step, readers)))
                    if len(waiting) == 2:
                        yield self._finished(*waiting.pop(0))
                while waiting:
                    yield self._finished(*waiting.pop(0))
            finally:
                for _, future in waiting:
                    future.cancel()

    def _reader(self, image: Image, grid: Grid, steps: Sequence[_Step]) -> ChunkReader:
        regions = [(s.number, s.needed.inputs[s.by.own.index(image)]) for s in steps if image in s.by.own]
        return ChunkReader(self._arrays[image], grid, regions, self._memory // len(self._grids))

    def _read(self, step: _Step, readers: Mapping[Image, ChunkReader]) -> list[Pieces]:
        inputs: list[Pieces] = []
        for image, box in zip(step.by.own, step.needed.inputs, strict=True):
            if image in readers:
                inputs.append(readers[image].pieces(step.number, box))
            elif image in self._made:
                whole, values = self._made[image]
                inputs.append([(box, values[slices(box, whole)])])
            else:
                inputs.append([(box, read(self._arrays[image], box))])
        return inputs

    def _finished(self, step: _Step, inputs: Future[list[Pieces]]) -> tuple[_Step, tuple[Array, ...]]:
        return step, computed(step.by.recipe.kernel(), step.window, step.needed, inputs.result(), step.late)

    def _reduce(self, parts: Parts, done: int, total: int) -> int:
        """Merges each part with those before it."""
        steps = [_of(k, parts.window, block) for k, block in enumerate(parts.blocks)]
        so_far: tuple[Array, ...] = ()
        for _, values in self._computed(steps):
            so_far = _merged(parts, so_far, values) if so_far else values
            done += 1
            self._tell(done, total)
        for image, value in zip(parts.reduction.merged, so_far, strict=True):
            self._made[image] = parts.window, value
        return done


def _of(number: int, window: Box, block: BlockPlan) -> _Step:
    return _Step(number, block.by, window, block.needed, block.late)


def _merged(parts: Parts, a: tuple[Array, ...], b: tuple[Array, ...]) -> tuple[Array, ...]:
    """Two parts together, in order."""
    kernel, box = parts.merge.kernel(), (*parts.window, (0, 2))
    inputs = []
    for k, value in enumerate(parts.merged):
        room = kernel.room(k, box)
        for j, each in enumerate((a, b)):
            fill(room, (*parts.window, (j, 1)), each[value][np.newaxis])
        inputs.append(room)
    return kernel.run(parts.window, Needed((box,) * len(inputs), (parts.window,) * len(inputs)), inputs)
