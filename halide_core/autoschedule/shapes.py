"""The loops that a Func at root may have, and the places in them: the space that schedules are chosen from.

In: the extents of a Func, and a machine. Out: LoopShapes, each of which is legal for any size that is as large as its
register tile.

    2560 x 1920 of uint16   ->   strips of 8, 16, 32 … rows, tiles of 256 x 32 …, each with vectors along x
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from halide_core.algorithm.model import Function
from halide_core.autoschedule.machine import MachineModel
from halide_core.autoschedule.ranges import Number
from halide_core.ir.types import Type

WHOLE, EACH = 0, 1
"""Of a dimension: all of it is inside of the tiles; its loop is outside of them, step by step."""

_HEIGHTS = (8, 16, 32, 64, 128)
_WIDTHS = (128, 256, 512)
_ROWS = (1, 2, 3, 4, 5, 6, 8, 10)
_SUMS = 5 / 8
"""Of the vector registers: what holds sums. The others are for values that are loaded, and for the C compiler; and the
addresses of more rows it can't keep."""
_FEWEST_LANES = 4
_TASKS_A_THREAD = 4


class Level(Enum):
    """Where in the loops of its group a Func is computed."""

    ROW = "each iteration of the inner loop of rows"
    SLIDING = "the same, and what earlier iterations computed is kept for the tile"
    TILE = "each tile"
    REGISTERS = "each register tile"


@dataclass(frozen=True, slots=True)
class LoopShape:
    """The loops of a Func at root.

    Args:
        tiles: of each dimension WHOLE, EACH, or the length of a tile.
        row: the dimension whose inner loop is that of rows, if there is one.
        vector: the dimension of the vectors, and their lanes; one lane is no vector.
        micro: columns and rows of a register tile in the first two dimensions.
        parallel: the dimensions whose outer loops run in threads.
    """

    tiles: tuple[int, ...]
    row: int | None
    vector: tuple[int, int]
    micro: tuple[int, int] | None = None
    parallel: tuple[int, ...] = ()

    @property
    def outer(self) -> list[int]:
        """The dimensions with loops outside of a tile, the innermost first."""
        return [d for d, k in enumerate(self.tiles) if k != WHOLE]

    def trips(self, d: int, extent: Number) -> float:
        """The number of iterations of a dimension's outer loop, the last, shorter time being part of one."""
        return max(1.0, extent / self.tiles[d]) if self.tiles[d] else 1.0

    def __str__(self) -> str:
        sizes = [("all" if k == WHOLE else str(k)) for k in self.tiles]
        micro = "" if self.micro is None else f", registers {self.micro[0]} x {self.micro[1]}"
        threads = ", in threads" if self.parallel else ""
        return f"tiles of {' x '.join(sizes)}, {self.vector[1]} lanes{micro}{threads}"


def vectors(type: Type, extents: Sequence[Number], free: Sequence[int], machine: MachineModel) -> tuple[int, int]:
    """The dimension for vectors and their lanes: the first one if it fills them, else the longest that does."""
    lanes = machine.lanes(type)
    for d in sorted(free, key=lambda d: (d != 0, -extents[d])):
        fitting = lanes
        while d == 0 and fitting > extents[d]:
            fitting //= 2
        if fitting >= _FEWEST_LANES and fitting <= extents[d]:
            return (d, fitting)
    return (0, 1)


def with_threads(shape: LoopShape, extents: Sequence[Number], machine: MachineModel, *, worth: bool) -> LoopShape:
    """A shape with outer loops in threads: the outermost ones, until there are enough tasks."""
    if machine.threads < 2 or not worth:
        return shape
    chosen: list[int] = []
    tasks = 1
    for d in reversed(shape.outer):
        trips = math.ceil(shape.trips(d, extents[d]))
        if trips > 1:
            chosen.append(d)
            tasks *= trips
        if tasks >= _TASKS_A_THREAD * machine.threads:
            break
    return LoopShape(shape.tiles, shape.row, shape.vector, shape.micro, tuple(chosen))


def shapes(extents: Sequence[Number], vector: tuple[int, int], *, holds: bool) -> Iterator[LoopShape]:
    """The shapes without register tiles: strips, tiles and columns, other dimensions inside or outside.

    Args:
        holds: whether other Funcs may be computed in the loops, so that the size of a tile matters.
    """
    rank = len(extents)
    yield LoopShape((WHOLE,) * rank, None, vector)
    along = vector[0] if vector[1] > 1 else 0
    rows = [d for d in range(rank) if d != along and extents[d] > 1]
    if not rows:
        for width in _WIDTHS:
            if rank and extents[along] >= 16 * width:
                yield LoopShape(_tiles(rank, {along: width * 8}), None, vector)
        return
    row = max(rows, key=lambda d: (extents[d], d))
    others = [d for d in rows if d != row]
    heights = [h for h in _HEIGHTS if 2 * h <= extents[row]]
    widths = [w for w in _WIDTHS if 2 * w <= extents[along] and w >= 2 * vector[1]] if holds else []
    for outside in (False, True) if others else (False,):
        base = dict.fromkeys(others, EACH) if outside else {}
        yield LoopShape(_tiles(rank, {**base, row: EACH}), None, vector)
        for height in heights if holds else heights[:2]:
            yield LoopShape(_tiles(rank, {**base, row: height}), row, vector)
        for width in widths:
            yield LoopShape(_tiles(rank, {**base, along: width}), row, vector)
            for height in heights[-3:]:
                yield LoopShape(_tiles(rank, {**base, along: width, row: height}), row, vector)


def _tiles(rank: int, sizes: dict[int, int]) -> tuple[int, ...]:
    return tuple(sizes.get(d, WHOLE) for d in range(rank))


def register_shapes(type: Type, extents: Sequence[Number], machine: MachineModel) -> Iterator[LoopShape]:
    """The shapes with register tiles: of columns of vectors by rows, alone or in columns, or in tiles of their own."""
    lanes, rank = machine.lanes(type), len(extents)
    most = machine.registers * _SUMS
    for vectors_wide in (1, 2, 4):
        columns = vectors_wide * lanes
        if 2 * columns > extents[0]:
            continue
        for rows in _ROWS:
            if vectors_wide * rows > most or 2 * rows > extents[1]:
                continue
            others = dict.fromkeys(range(2, rank), EACH)
            vector, micro = (0, lanes), (columns, rows)
            yield LoopShape(_tiles(rank, {0: columns}), None, vector, micro)
            if others:
                yield LoopShape(_tiles(rank, {0: columns, **others}), None, vector, micro)
            if rows == 1:
                for width in _WIDTHS:
                    if width % columns == 0 and 2 * width <= extents[0]:
                        yield LoopShape(_tiles(rank, {0: width, **others}), None, vector, micro)


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A Func with loops: the one at root whose loops it is computed in, itself without a level, and its own vectors."""

    function: Function
    anchor: Function
    level: Level | None
    shape: LoopShape
    vector: tuple[int, int]
