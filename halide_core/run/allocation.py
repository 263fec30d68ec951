"""New Buffers for regions, laid out as is promised of an input or an output.

In: a Func or an input, and a region. Out: a Buffer.

    stride 3 of x, 1 of c, and a region of two channels   ->   x, y, c at 3*x + 3*width*y + c
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from halide_core.algorithm.model import Function, Image
from halide_core.buffer.shape import allocate
from halide_core.ir import Field, IntImm
from halide_core.lang.buffer import Buffer
from halide_core.run.backend import Box

_FAR = 1 << 31
"""More than any stride."""


def allocated(callee: Function | Image, box: Box, component: int = 0, *, zeroed: bool = True) -> Buffer:
    """A new Buffer of a region, laid out as the strides ask that are promised of an input or an output."""
    promised = callee.constraints.items()
    strides = {d: s.value for (field, d), s in promised if field is Field.STRIDE and isinstance(s, IntImm)}
    # Where constant strides are promised, the least one is the innermost dimension.
    order = sorted(range(len(box)), key=lambda d: (strides.get(d, d and _FAR), d)) if strides else None
    extents = [extent for _, extent in box]
    buffer = Buffer(allocate(callee.types[component], extents, order, zeroed=zeroed)[0])
    apart = _apart(extents, order, strides) if order else None
    if apart is not None:
        # Fewer channels than pixels have room for: between them is memory of no element.
        size = 1 + sum((n - 1) * step for n, step in zip(extents, apart, strict=True))
        whole = (np.zeros if zeroed else np.empty)(size, callee.types[component].dtype)
        steps = [step * whole.itemsize for step in reversed(apart)]
        buffer = Buffer(np.lib.stride_tricks.as_strided(whole, extents[::-1], steps))
    buffer.set_min([low for low, _ in box])
    return buffer


def _apart(extents: Sequence[int], order: Sequence[int], strides: Mapping[int, int]) -> list[int] | None:
    """The strides of each dimension where those that are promised are larger than dense ones; None where they aren't,
    or where elements would meet."""
    result, step, larger = [0] * len(extents), 1, False
    if 0 in extents:
        return None
    for d in order:
        promised = strides.get(d, step)
        if promised < step:
            return None
        result[d], larger, step = promised, larger or promised > step, promised * extents[d]
    return result if larger else None
