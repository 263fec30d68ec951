"""Chunks of a stored array for blocks that come one after another: each is read once, if memory has room for it.

In: an array, and the regions that blocks need of it, in their order. Out: for each block the pieces of its region.

    blocks of a chunk each, and a halo   ->   block 0 reads its chunk and its neighbours; block 1 has these already
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable

from halide_core.blocks.chunks import Grid, Index, cut_out, load
from halide_core.blocks.piecewise import Pieces
from halide_core.blocks.regions import Sliceable
from halide_core.buffer.png import Array
from halide_core.run.backend import Box

_SMALL = 8
"""Parts of which a chunk has as many are copied from it as soon as it is there, and don't keep it."""


class ChunkReader:
    """Reads the regions of steps, in their order."""

    def __init__(self, array: Sliceable, grid: Grid, regions: Iterable[tuple[int, Box]], memory: int) -> None:
        """``regions`` are what steps need, by their numbers; ``memory`` is that of chunks that are needed again."""
        self._array, self._grid, self._memory = array, grid, memory
        self._uses: dict[tuple[int, ...], deque[tuple[int, Index]]] = defaultdict(deque)
        self._held: dict[tuple[int, ...], Array] = {}
        self._cuts: dict[tuple[int, tuple[int, ...]], Array] = {}
        for step, box in regions:
            for place, _, index in self._met(box):
                self._uses[place].append((step, index))

    def pieces(self, step: int, box: Box) -> Pieces:
        """The pieces of the region of a step."""
        return [(part, self._piece(step, place, index)) for place, part, index in self._met(box)]

    def _met(self, box: Box) -> Iterable[tuple[tuple[int, ...], Box, Index]]:
        """The chunks that a region meets: where they are, the part that they share, and where it is in them."""
        if any(extent <= 0 for _, extent in box):
            return
        for each in self._grid.met(box):
            index = tuple([slice(*m.ends) for m in each])
            yield tuple([m.chunk for m in each]), tuple([m.interval for m in reversed(each)]), index

    def _piece(self, step: int, place: tuple[int, ...], index: Index) -> Array:
        cut = self._cuts.pop((step, place), None)
        if cut is not None:
            return cut
        chunk = self._held.pop(place, None)
        if chunk is None:
            chunk = load(self._array, self._grid.box(place))
        large: deque[tuple[int, Index]] = deque()
        for later, part in self._uses.pop(place, ()):
            if later > step:
                if _SMALL * chunk[part].size <= chunk.size:
                    self._cuts[later, place] = cut_out(chunk, part)
                else:
                    large.append((later, part))
        if large:
            self._uses[place] = large
            self._hold(place, chunk)
        return chunk[index]

    def _hold(self, place: tuple[int, ...], chunk: Array) -> None:
        """Keeps a chunk for the steps to come; those that are needed last go where memory has no room for all."""
        self._held[place] = chunk
        while sum(each.nbytes for each in self._held.values()) > self._memory:
            self._held.pop(max(self._held, key=lambda each: self._uses[each][0][0]))
