"""Sizes of blocks, chosen by what they read, and what a choice costs.

In: a kernel, the window of the whole picture, and the bytes that a block may take. Out: an extent for each dimension.

    chosen(kernel, (4, 4), [(0, 30000), (0, 30000)], memory=64 MiB, …)   ->   (30000, 270)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from halide_core.blocks.kernel import Needed
from halide_core.blocks.regions import volume
from halide_core.run.backend import Box

_LEAST_BYTES = 1 << 20
"""Smaller blocks would be over before the next one is asked for: none is made only to have more of them."""


@dataclass(frozen=True)
class Bytes:
    """Sizes of elements: of the inputs in parts, and of the outputs."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    def read(self, needed: Needed) -> int:
        """Bytes of the inputs that a block takes."""
        return sum(volume(box) * size for box, size in zip(needed.inputs, self.inputs, strict=True))

    def held(self, needed: Needed) -> int:
        """Bytes of inputs and outputs that a block has in memory."""
        return self.read(needed) + sum(volume(b) * size for b, size in zip(needed.outputs, self.outputs, strict=True))


def chosen(
    regions: Callable[[Box], Needed],
    bytes: Bytes,
    window: Box,
    *,
    memory: int,
    blocks: int,
    fixed: Sequence[bool] = (),
    grains: Sequence[int] = (),
) -> tuple[int, ...]:
    """Extents of blocks: at most ``memory`` bytes each, and if these stay large enough, at least ``blocks`` of them.

    A block is halved along the dimension that leaves the least to be read for each point; of equal ones the last, so
    that rows stay whole. ``fixed`` dimensions are never cut. ``grains`` are lengths that a cut should be a multiple
    of: the chunks of an input.
    """
    extents = [max(1, n) for _, n in window]
    fixed = fixed or [False] * len(extents)
    grains = grains or [1] * len(extents)

    def block(sizes: Sequence[int]) -> Box:
        """A block in the middle, where no edge is near."""
        return tuple((low + (n - m) // 2, m) for (low, n), m in zip(window, sizes, strict=True))

    def fits(sizes: Sequence[int]) -> bool:
        held = bytes.held(regions(block(sizes)))
        count = 1
        for (_, n), m in zip(window, sizes, strict=True):
            count *= -(-max(1, n) // m)
        return held <= memory and (count >= blocks or held <= 2 * _LEAST_BYTES)

    while not fits(extents):
        cuts = []
        for d, extent in enumerate(extents):
            if extent > 1 and not fixed[d]:
                half = -(-extent // 2)
                if half > grains[d]:
                    half = -(-half // grains[d]) * grains[d]
                if half < extent:
                    sizes = [*extents[:d], half, *extents[d + 1 :]]
                    box = block(sizes)
                    cuts.append((bytes.read(regions(box)) / max(1, volume(box)), -d, sizes))
        if not cuts:
            break
        extents = min(cuts)[2]
    return tuple(extents)


def cut(window: Box, extents: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The lengths of the blocks along each dimension."""
    lengths = []
    for (_, n), m in zip(window, extents, strict=True):
        whole, rest = divmod(n, m)
        lengths.append((m,) * whole + ((rest,) if rest or not whole else ()))
    return tuple(lengths)


def size(bytes: int) -> str:
    """A number of bytes for people."""
    number = float(bytes)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} TiB"
