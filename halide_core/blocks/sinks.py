"""Arrays that results are written to, block by block.

In: the arguments of a pipeline, and arrays. Out: a list of them, checked to take the result of just this pipeline.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from halide_core.blocks.divided import Lengths
from halide_core.blocks.given import Given
from halide_core.buffer.png import Array
from halide_core.errors import PipelineError
from halide_core.ir.types import type_of_dtype


def listed(sink: Any) -> list[Any]:
    """The arrays of a call.

    Raises: PipelineError for what is no array.
    """
    sinks = list(sink) if isinstance(sink, list | tuple) else [sink]
    wrong = [s for s in sinks if not hasattr(s, "shape") or not hasattr(s, "dtype")]
    if wrong or not sinks:
        raise PipelineError(f"The result needs an array to be written to, not {type([*wrong, sink][0]).__name__}.")
    return sinks


def check_sinks(given: Given, sinks: Sequence[Any]) -> None:
    """Raises PipelineError for arrays of another shape or type than the result has, or that are read too."""
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
    """True where two arrays have elements in common: of numpy's, of one file that is mapped, or of one store of Zarr's
    or one file of HDF5's, whatever path they were opened by."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        one, other = _mapped(a), _mapped(b)
        if one is None or other is None:
            return np.may_share_memory(a, b)
        return one[0] == other[0] and one[1] < other[2] and other[1] < one[2]
    store, place = getattr(a, "store_path", None), _place(a)
    same_store = store is not None and store == getattr(b, "store_path", None)
    return a is b or same_store or (place is not None and place == _place(b))


def _place(array: Any) -> Path | None:
    """Where an array is on this machine: the folder of Zarr's, or the file of HDF5's with the name in there."""
    at, file = getattr(array, "store_path", None), getattr(array, "file", None)
    root = getattr(getattr(at, "store", None), "root", None)
    if isinstance(root, Path):
        return (root / str(getattr(at, "path", ""))).resolve()
    name, inside = getattr(file, "filename", None), getattr(array, "name", None)
    return Path(name).resolve() / inside.strip("/") if isinstance(name, str) and isinstance(inside, str) else None


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


def check_apart(sinks: Sequence[Any], lengths: Lengths) -> None:
    """Raises PipelineError where two blocks would write one chunk: of these, one could undo what the other wrote."""
    for sink in sinks:
        stored = getattr(sink, "shards", None) or getattr(sink, "chunks", None)
        if not isinstance(stored, tuple) or len(stored) != len(lengths):
            continue
        for axis, (chunk, each) in enumerate(zip(stored, reversed(lengths), strict=True)):
            shared = [at for at in accumulate(each[:-1]) if at % chunk]
            if shared:
                raise PipelineError(
                    f"Two blocks would write one chunk of the result: along axis {axis} its chunks have {chunk} "
                    f"elements, and a block begins at {shared[0]}. The legal choices: chunks={stored}, or multiples of "
                    f"these; a larger memory=, if the chunks are automatic; or hl.stream."
                )
