"""Arrays that are read in parts: whatever has a shape, a dtype and slices.

In: an array of numpy, Zarr, HDF5 …, and a region. Out: the elements of just that region.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from halide_core.buffer.png import Array
from halide_core.errors import PipelineError
from halide_core.lang.buffer import Buffer
from halide_core.run.backend import Box


class Sliceable(Protocol):
    """The interface of an array that can be read in parts: ``array[2:5, 0:3]`` is one of numpy."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each axis."""
        ...

    @property
    def dtype(self) -> Any:
        """The type of an element."""
        ...

    def __getitem__(self, index: Any) -> Any: ...


def slices(box: Box, origin: Box | None = None) -> tuple[slice, ...]:
    """A region as slices of an array whose axes are reversed, and which begins at 0 or at the region ``origin``."""
    starts = [low for low, _ in origin] if origin is not None else [0] * len(box)
    pairs = [(low - start, extent) for (low, extent), start in zip(box, starts, strict=True)]
    return tuple(slice(low, low + extent) for low, extent in reversed(pairs))


def told(window: Box) -> str:
    """A window as text."""
    return " x ".join(f"[{low}, {low + n - 1}]" for low, n in window) or "of one value"


def fill(buffer: Buffer, box: Box, part: Array) -> None:
    """Puts the elements of a region where a Buffer has them."""
    _check(part, box, buffer.type().dtype, "A chunk of an input")
    whole = tuple((buffer.dim(d).min(), buffer.dim(d).extent()) for d in range(buffer.dimensions()))
    np.asarray(buffer)[slices(box, whole)] = part


def read(source: Sliceable, box: Box) -> Array:
    """The elements of a region of an array.

    Raises: PipelineError where the array gives other ones than its shape and dtype promise.
    """
    part = np.asarray(source[slices(box)])
    _check(part, box, np.dtype(source.dtype), f"An input, {type(source).__name__},")
    return part


def _check(part: Array, box: Box, dtype: Any, told: str) -> None:
    wanted = tuple([extent for _, extent in reversed(box)])
    if part.shape != wanted or part.dtype != dtype:
        raise PipelineError(
            f"{told} gave {part.shape} elements of {part.dtype} where {wanted} of {dtype} were asked for."
        )


def checked(part: Array, box: Box, dtype: Any) -> Array:
    """A chunk of an array, as large and of the type that is promised.

    Raises: PipelineError.
    """
    _check(part, box, dtype, "A chunk of an input")
    return part


def meet(a: Box, b: Box) -> Box | None:
    """The intersection of two regions; None where it is empty."""
    ends = [(max(x, y), min(x + m, y + n)) for (x, m), (y, n) in zip(a, b, strict=True)]
    return None if any(high <= low for low, high in ends) else tuple((low, high - low) for low, high in ends)


def is_in(box: Box, whole: Box) -> bool:
    """True where a region is part of another."""
    for (low, extent), (first, all_of_it) in zip(box, whole, strict=True):
        if low < first or low + extent > first + all_of_it:
            return False
    return True


def volume(box: Box) -> int:
    """The number of points in a region."""
    result = 1
    for _, extent in box:
        result *= max(0, extent)
    return result


def grains(array: Any) -> tuple[int, ...]:
    """The lengths of the first chunk along each dimension, x first: of arrays of Dask and of Zarr."""
    chunks = getattr(array, "chunks", None)
    if not isinstance(chunks, tuple):
        return ()
    first = [each[0] if isinstance(each, tuple) and each else each for each in chunks]
    return tuple(reversed(first)) if all(isinstance(n, int) and n > 0 for n in first) else ()
