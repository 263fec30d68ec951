"""Pictures that don't fit memory: read, computed and written block by block, on one machine.

In: a Func, arrays to read from and one to write to. Out: the array, filled, while memory holds two blocks: the one that
is computed, and of those beside it the inputs of the next, which is read meanwhile, and the outputs of the last, which
is written.

    hl.stream(blur, {image: zarr.open("in.zarr")}, zarr.open("out.zarr", "w", shape=…, dtype="f4"), memory="2GiB")
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from halide_core.algorithm.model import Image
from halide_core.blocks.divided import Divided, Parts
from halide_core.blocks.given import Given, Inputs, Whole
from halide_core.blocks.kernel import Needed
from halide_core.blocks.regions import Sliceable, fill, grains, read, slices
from halide_core.blocks.variants import BlockPlan, Fed
from halide_core.buffer.png import Array
from halide_core.errors import PipelineError
from halide_core.ir.types import type_of_dtype
from halide_core.lang.buffer import Buffer
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
        memory: bytes that inputs and outputs of the blocks may take together. What arrays need to read and to write
            themselves, such as Zarr's decoded chunks, and what is computed on the way, is not counted.
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
    sinks = list(sink) if isinstance(sink, list | tuple) else [sink]
    wrong = [s for s in sinks if not hasattr(s, "shape") or not hasattr(s, "dtype")]
    if wrong or not sinks:
        raise PipelineError(f"The result needs an array to be written to, not {type([*wrong, sink][0]).__name__}.")
    inputs: Inputs = source if isinstance(source, Mapping) else _only(f, source)
    given = Given.of(f, tuple(sinks[0].shape), inputs, memory, whole, target, mins)
    _check_sinks(given, sinks)
    # Two blocks are in memory at a time: one whole, the inputs of the next, the outputs of the last.
    divided = Divided(given.sharing(2), [grains(a) for a in given.arrays.values()])
    _Run(divided, sinks, progress).run()


def _only(f: Realizable, array: object) -> Inputs:
    names = [a.name for a in f.infer_arguments() if a.dimensions or isinstance(a.source, Image)]
    if len(names) != 1:
        told = ", ".join(names) or "none"
        raise PipelineError(f"Name the input of each array, {{image: array}}. The inputs: {told}.")
    return {names[0]: array}


def _check_sinks(given: Given, sinks: Sequence[Any]) -> None:
    types = [t for f in given.outputs for t in f.types]
    if len(types) != len(sinks):
        raise PipelineError(f'"{given.name}" has {len(types)} values at a point, and {len(sinks)} arrays are given.')
    shape = tuple(n for _, n in reversed(given.window))
    for type, sink in zip(types, sinks, strict=True):
        if tuple(sink.shape) != shape or type_of_dtype(np.dtype(sink.dtype)) is not type:
            raise PipelineError(
                f'"{given.name}" needs an array of shape {shape} and type {type}, not of {tuple(sink.shape)} and '
                f"{sink.dtype}."
            )
        if any(other is not sink and _is_same(sink, other) for other in sinks) or sum(s is sink for s in sinks) > 1:
            raise PipelineError(f'Two values of "{given.name}" would be written to one array.')
        for image, array in given.arrays.items():
            if _is_same(array, sink):
                raise PipelineError(
                    f'The array of "{image.name}" is written too: blocks would read what those before them wrote. '
                    f"Write to an array of its own."
                )


def _is_same(a: Any, b: Any) -> bool:
    """True where two arrays have elements in common: of numpy's, of one file that is mapped, or of one store of
    Zarr's."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        one, other = _mapped(a), _mapped(b)
        if one is None or other is None:
            return np.may_share_memory(a, b)
        return one[0] == other[0] and one[1] < other[2] and other[1] < one[2]
    store = getattr(a, "store_path", None)
    return a is b or (store is not None and store == getattr(b, "store_path", None))


def _mapped(array: Array) -> tuple[Path, int, int] | None:
    """The file that an array's memory is mapped to, and where it begins and ends there."""
    root: Any = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    if not isinstance(root, np.memmap) or root.filename is None:
        return None
    address, steps = array.ctypes.data, list(zip(array.shape, array.strides, strict=True))
    low = address - root.ctypes.data + root.offset
    first = low + sum(min(0, (n - 1) * step) for n, step in steps)
    last = low + sum(max(0, (n - 1) * step) for n, step in steps) + array.itemsize
    return Path(root.filename).resolve(), first, last if array.size else first


@dataclass(frozen=True, eq=False)
class _Step:
    """A block to read and to compute."""

    by: Fed
    window: Box
    needed: Needed
    late: tuple[int, ...]


class _Run:
    """One pass over all blocks."""

    def __init__(self, divided: Divided, sinks: Sequence[Any], progress: Progress | None) -> None:
        self._divided = divided
        self._sinks = sinks
        self._progress = progress
        self._arrays: dict[Image, Any] = dict(divided.given.arrays)
        self._made: dict[Image, tuple[Box, Array]] = {}

    def run(self) -> None:
        """Takes in all parts of each reduction, then computes all blocks."""
        lengths = self._divided.automatic(grains(self._sinks[0]))
        count = 1
        for each in lengths:
            count *= len(each)
        total = count + sum(len(parts.blocks) for parts in self._divided.parts)
        done = 0
        for parts in self._divided.parts:
            done = self._reduce(parts, done, total)
        blocks = (_of(window, block) for _, window, block in self._divided.blocks(lengths))
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
            sink[slices(step.window, self._divided.given.window)] = value

    def _tell(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(done, total)

    def _computed(self, steps: Iterator[_Step]) -> Iterator[tuple[_Step, tuple[Array, ...]]]:
        """The values of each block; the next one is read while one is computed."""
        with ThreadPoolExecutor(1, thread_name_prefix="halide_core_read") as reader:
            waiting: list[tuple[_Step, Future[list[Buffer]]]] = []
            try:
                for step in steps:
                    waiting.append((step, reader.submit(self._read, step)))
                    if len(waiting) == 2:
                        yield self._finished(*waiting.pop(0))
                while waiting:
                    yield self._finished(*waiting.pop(0))
            finally:
                for _, future in waiting:
                    future.cancel()

    def _read(self, step: _Step) -> list[Buffer]:
        kernel, buffers = step.by.recipe.kernel(), []
        for k, (image, box) in enumerate(zip(step.by.own, step.needed.inputs, strict=True)):
            if image in self._made:
                whole, values = self._made[image]
                part = values[slices(box, whole)]
            else:
                part = read(self._arrays[image], box)
            buffers.append(kernel.taken(k, box, part))
        return buffers

    def _finished(self, step: _Step, inputs: Future[list[Buffer]]) -> tuple[_Step, tuple[Array, ...]]:
        return step, step.by.recipe.kernel().run(step.window, step.needed, inputs.result(), step.late)

    def _reduce(self, parts: Parts, done: int, total: int) -> int:
        """Merges each part with those before it."""
        steps = (_of(parts.window, block) for block in parts.blocks)
        so_far: tuple[Array, ...] = ()
        for _, values in self._computed(steps):
            so_far = _merged(parts, so_far, values) if so_far else values
            done += 1
            self._tell(done, total)
        for image, value in zip(parts.reduction.merged, so_far, strict=True):
            self._made[image] = parts.window, value
        return done


def _of(window: Box, block: BlockPlan) -> _Step:
    return _Step(block.by, window, block.needed, block.late)


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
