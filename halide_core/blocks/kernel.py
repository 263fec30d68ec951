"""A pipeline of blocks that is compiled once a process, wherever its recipe is read.

In: a Local and the values of its parameters, as a Recipe that can be pickled. Out: for a window of the outputs the
regions of the inputs that it needs, and its values once these are there.

    recipe.kernel().regions([(0, 64), (0, 32)])   ->   Needed(inputs=(((-1, 66), (0, 32)),), …)
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from halide_core import ir
from halide_core.algorithm.model import Function, Image
from halide_core.blocks.local import Local
from halide_core.blocks.regions import fill, is_in, told
from halide_core.buffer.png import Array
from halide_core.errors import InternalError, PipelineError
from halide_core.lang.buffer import Buffer
from halide_core.run.allocation import allocated
from halide_core.run.backend import Box, Compiled, RegionQuery, backend
from halide_core.run.pipeline import settled


@dataclass(frozen=True)
class Needed:
    """The needs of a window: the region of each input in parts, and that of each output, which may be larger."""

    inputs: tuple[Box, ...]
    outputs: tuple[Box, ...]


@dataclass(frozen=True, eq=False)
class Recipe:
    """A pipeline of blocks with the values of its parameters. A pickle of it is what a worker gets."""

    local: Local
    shapes: tuple[tuple[int, ...] | None, ...]
    """The extents of the whole array of each input, x first; None where what is needed decides how much is made."""
    values: tuple[int | float, ...]
    """Of the user's parameters."""
    token: str = field(default_factory=lambda: uuid.uuid4().hex)

    def kernel(self) -> Kernel:
        """The compiled pipeline: compiled once a process, and found in the cache on disk by those that follow."""
        with _lock:
            known = _kernels.get(self.token)
            if known is None:
                while len(_kernels) >= _KEPT:
                    _kernels.pop(next(iter(_kernels)))
                known = _kernels[self.token] = Kernel(self)
            return known


_lock = threading.Lock()
_kernels: dict[str, Kernel] = {}
_KEPT = 256
"""Kernels that a process keeps; the oldest go first."""


class Kernel:
    """A compiled pipeline of blocks. May be called from several threads at once."""

    def __init__(self, recipe: Recipe) -> None:
        local = recipe.local
        request = local.request()
        self._local = local
        self._compiled: Compiled = backend().compile(request)
        embedded = [i.bound for i in request.inputs if isinstance(i, Image) and isinstance(i.bound, Buffer)]
        self._values: list[Any] = [*recipe.values, *(n for shape in recipe.shapes for n in shape or ())]
        self._embedded = embedded
        self._shapes = recipe.shapes
        given = len(local.images) + len(self._values) + len(local.late) + len(embedded)
        if given != len(request.inputs):
            raise InternalError(f'The blocks of "{request.name}" have {given} arguments, not {len(request.inputs)}.')
        self._query: tuple[tuple[int, ...], RegionQuery] | None = None
        self._asking = threading.Lock()
        self._places: list[tuple[Function, int]] = [(f, k) for f in local.outputs for k in range(len(f.types))]

    def regions(self, window: Box, late: Sequence[int] = (), whole: Box | None = None) -> Needed:
        """The regions that a window of the outputs needs.

        Args:
            late: the values that the block has of its own.
            whole: the window of all blocks: where vectors or tiles need more than is asked for, that is taken inside of
                it, as in one piece.

        Raises: PipelineError where that is more than there is of an input.
        """
        needed = self._asked(window, late, whole)
        for image, shape, box in zip(self._local.images, self._shapes, needed.inputs, strict=True):
            d = _outside(shape, box)
            if d is not None:
                (low, extent), grown = box[d], [told(each) for each in needed.outputs if each != window]
                rounded = (
                    f" The schedule takes whole vectors or tiles, and computes {grown[0]}: hl.TailStrategy.GuardWithIf "
                    f"computes nothing beyond."
                    if grown
                    else ""
                )
                raise PipelineError(
                    f'The window {told(window)} reads "{image.name}" from {low} to {low + extent - 1} in dimension '
                    f"{d}, but the array has {(shape or ())[d]} from 0. Give it a boundary condition, "
                    f"hl.BoundaryConditions.repeat_edge({image.name}), or compute fewer points.{rounded}"
                )
        return needed

    def within(self, window: Box, late: Sequence[int] = (), whole: Box | None = None) -> Needed | None:
        """The regions that a window needs, where they are all part of the arrays."""
        needed = self._asked(window, late, whole)
        boxes = zip(self._shapes, needed.inputs, strict=True)
        return needed if all(_outside(shape, box) is None for shape, box in boxes) else None

    def wanted(self, window: Box, late: Sequence[int] = (), whole: Box | None = None) -> Needed:
        """The regions that a window needs, whether they are part of the arrays or not."""
        return self._asked(window, late, whole)

    def _asked(self, window: Box, late: Sequence[int], whole: Box | None) -> Needed:
        needed = self._needed(window, late)
        if whole is None or all(is_in(box, whole) for box in needed.outputs):
            return needed
        again = self._needed(_moved(window, needed.outputs, whole), late)
        return again if all(is_in(box, whole) for box in again.outputs) else needed

    def _needed(self, window: Box, late: Sequence[int]) -> Needed:
        late = tuple(late)
        with self._asking:  # all calls set their windows in the same structures
            known = self._query
            if known is None or known[0] != late:
                values = [*[None] * len(self._local.images), *self._values, *late, *self._embedded]
                known = self._query = late, self._compiled.asked(values)
            inputs, grown = settled(known[1], [window] * len(self._places))
        boxes = [box for box in inputs[: len(self._shapes)] if box is not None]
        empty = [any(extent <= 0 for _, extent in box) for box in boxes]
        return Needed(
            tuple(tuple((0, 0) for _ in box) if none else box for box, none in zip(boxes, empty, strict=True)),
            tuple(grown),
        )

    def room(self, k: int, box: Box) -> Buffer:
        """Memory for a region of the input ``k``, as its promised strides ask. All of it is to be written."""
        return allocated(self._local.images[k], box, zeroed=False)

    def dtype(self, k: int) -> np.dtype[Any]:
        """The type of the elements of the input ``k``."""
        return self._local.images[k].types[0].dtype

    def is_made(self, k: int) -> bool:
        """True where the input ``k`` is made of results, as many as there are: what is needed doesn't tell."""
        return self._shapes[k] is None

    def takes(self, k: int, part: Array) -> bool:
        """True where the input ``k`` can be an array as it is: of its type, aligned, and no strides are promised."""
        image = self._local.images[k]
        return not image.constraints and part.dtype == image.types[0].dtype and part.flags.aligned

    def taken(self, k: int, box: Box, part: Array) -> Buffer:
        """A region of the input ``k`` whose elements an array has: that array itself, unless strides are promised."""
        if not self.takes(k, part):
            room = self.room(k, box)
            fill(room, box, part)
            return room
        buffer = Buffer(part)
        buffer.set_min([low for low, _ in box])
        return buffer

    def run(self, window: Box, needed: Needed, inputs: Sequence[Buffer], late: Sequence[int] = ()) -> tuple[Array, ...]:
        """The values of a window of each output, as numpy arrays: the axes reversed."""
        outputs = self.outputs(needed)
        self.compute(inputs, outputs, late)
        return tuple(np.asarray(b.cropped(list(window))) for b in outputs)

    @property
    def keeps_points(self) -> bool:
        """True where some points of an output keep what its memory has before."""
        return any(_leaves_points(f) for f, _ in self._places)

    def outputs(self, needed: Needed) -> list[Buffer]:
        """Memory for the values of a window."""
        places = zip(self._places, needed.outputs, strict=True)
        return [allocated(f, box, k, zeroed=_leaves_points(f)) for (f, k), box in places]

    def compute(self, inputs: Sequence[Buffer], outputs: Sequence[Buffer], late: Sequence[int] = ()) -> None:
        """Computes all values of Buffers."""
        self._compiled.run([*inputs, *self._values, *late, *self._embedded], list(outputs))


def _leaves_points(f: Function) -> bool:
    """True where some points keep what an output had before: where ``undef`` says so."""
    first = f.definitions[0]
    return bool(first.partial) or first.predicate is not ir.TRUE


def _moved(window: Box, grown: Sequence[Box], whole: Box) -> Box:
    """The region that a window grew to, moved until it is part of ``whole``, along each dimension in which it fits.
    It has the window."""
    result = []
    for d, ((low, extent), (first, length)) in enumerate(zip(window, whole, strict=True)):
        begin, end = min(box[d][0] for box in grown), max(box[d][0] + box[d][1] for box in grown)
        fits = end - begin <= length
        moved = max(first, min(begin, first + length - (end - begin)))
        result.append((moved, end - begin) if fits else (low, extent))
    return tuple(result)


def _outside(shape: Sequence[int] | None, box: Box) -> int | None:
    """The first dimension in which a region is not part of an array; None where there is none."""
    if shape is None:
        return None
    for d, ((low, extent), whole) in enumerate(zip(box, shape, strict=True)):
        if low < 0 or low + extent > whole:
            return d
    return None
