"""The values of a window from inputs in pieces, as chunks lie: most of the window reads one of them where it is.

In: a kernel, a window, and the pieces of each input that it needs. Out: its values.

    a window of 2048 x 2048, of a chunk of as many points and a frame of 3 around it that its neighbours have
      ->   2042 x 2042 points from the chunk as it is, then the four strips around them from pieces that are joined
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np

from halide_core.blocks.kernel import Kernel, Needed
from halide_core.blocks.regions import fill, is_in, meet, slices, volume
from halide_core.buffer.png import Array
from halide_core.lang.buffer import Buffer
from halide_core.run.backend import Box

_STEPS = (16, 64)
"""Multiples of what loops are usually split by."""
Pieces: TypeAlias = "Sequence[tuple[Box, Array]]"
"""Regions side by side, with their elements."""


def computed(
    kernel: Kernel, window: Box, needed: Needed, inputs: Sequence[Pieces], late: Sequence[int] = ()
) -> tuple[Array, ...]:
    """The values of a window of each output, as numpy arrays: the axes reversed."""
    outputs = kernel.outputs(needed)
    for part in _parts(kernel, window, needed, inputs, late) or [needed]:
        buffers = [_joined(kernel, k, box, inputs[k]) for k, box in enumerate(part.inputs)]
        own = zip(outputs, part.outputs, strict=True)
        kernel.compute(buffers, [output.cropped(list(box)) for output, box in own], late)
    return tuple(np.asarray(output.cropped(list(window))) for output in outputs)


def _joined(kernel: Kernel, k: int, box: Box, pieces: Pieces) -> Buffer:
    """A region of the input ``k``: in the piece that has it all, or else joined of several."""
    for of, part in pieces:
        if is_in(box, of):
            return kernel.taken(k, box, part[slices(box, of)])
    room = kernel.room(k, box)
    for of, part in pieces:
        both = meet(box, of)
        if both is not None:
            fill(room, both, part[slices(both, of)])
    return room


def _parts(
    kernel: Kernel, window: Box, needed: Needed, inputs: Sequence[Pieces], late: Sequence[int]
) -> list[Needed] | None:
    """The parts that a window is computed in, the first of which reads one piece of each input; None where there are
    no such parts, or where they need much more together."""
    largest: dict[int, Box] = {}
    ends = [(low, low + extent) for low, extent in window]
    for k, (box, pieces) in enumerate(zip(needed.inputs, inputs, strict=True)):
        if len(pieces) < 2:
            continue
        of, array = max(pieces, key=lambda piece: volume(piece[0]))
        if kernel.is_made(k) or 2 * volume(of) < volume(box) or not kernel.takes(k, array):
            return None
        largest[k] = of
        beside = zip(ends, window, box, of, strict=False)  # most Funcs have the coordinates of their inputs
        ends = [
            (max(begin, low + at - first), min(end, low + extent - (first + length - at - size)))
            for (begin, end), (low, extent), (first, length), (at, size) in beside
        ] + ends[len(box) :]
    if not largest or any(end <= begin for begin, end in ends):
        return None
    inner = tuple((begin, end - begin) for begin, end in ends)
    first = kernel.wanted(inner, late, window)
    if not _is_part(first, needed) or not all(is_in(first.inputs[k], of) for k, of in largest.items()):
        return None
    parts = [first]
    for d, strip in _around(inner, window):
        fitting = (kernel.wanted(part, late, window) for part in _longer(strip, d, window))
        part = next((each for each in fitting if _is_part(each, needed)), None)
        if part is None:
            return None
        parts.append(part)
    if kernel.keeps_points and _overlap([part.outputs for part in parts]):
        return None  # updates of points that keep what they had would take in the same values twice
    read = sum(volume(box) for part in parts for box in part.inputs)
    return parts if 4 * read <= 5 * sum(map(volume, needed.inputs)) else None


def _overlap(outputs: Sequence[tuple[Box, ...]]) -> bool:
    """True where some parts have points of an output in common."""
    return any(meet(a, b) for one, other in combinations(outputs, 2) for a, b in zip(one, other, strict=True))


def _is_part(part: Needed, of: Needed) -> bool:
    """True where a window needs nothing that another one doesn't need."""
    boxes = zip((*part.inputs, *part.outputs), (*of.inputs, *of.outputs), strict=True)
    return all(volume(box) == 0 or is_in(box, whole) for box, whole in boxes)


def _around(inner: Box, window: Box) -> Iterator[tuple[int, Box]]:
    """The rest of a window, as strips side by side, each with the dimension that it is short in: whole rows first."""
    rest = list(window)
    for d in reversed(range(len(window))):
        (low, extent), (begin, length) = window[d], inner[d]
        for part in ((low, begin - low), (begin + length, low + extent - begin - length)):
            if part[1] > 0:
                yield d, (*rest[:d], part, *rest[d + 1 :])
        rest[d] = inner[d]


def _longer(strip: Box, d: int, window: Box) -> Iterator[Box]:
    """A strip, and longer ones that begin as many vectors or tiles after the window as a whole number: what is rounded
    up in them ends where it does in the window."""
    (low, _), (begin, extent) = window[d], strip[d]
    for step in (1, *_STEPS):
        more = (begin - low) % step
        yield (*strip[:d], (begin - more, extent + more), *strip[d + 1 :])
