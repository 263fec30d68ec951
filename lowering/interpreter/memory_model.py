"""σ of figure 2.8: memory whose cells start as ε_mem, the states in which a program gets stuck, and the races of loops.

In: boxes, points, values. Out: cells, or the error that names buffer, index, bounds and statement.

    f = Memory("f", ((-1, 4),));  f.offset([2])  ->  3;  f.offset([3])  ->  OUTSIDE;  f.read(3)  ->  EPS_MEM
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, TypeAlias

from halide_core.errors import UNKNOWN_LOCATION, HalideError
from halide_core.ir import Failure, LoopName, Stmt
from halide_core.ir.printer import format_stmt
from halide_core.run.backend import Box


class ErrorValue(Enum):
    """Definition 2.6, as far as the target language has error values."""

    MEM = "ε_mem"


EPS_MEM = ErrorValue.MEM
"""The value of a cell until it is written."""

Cell: TypeAlias = "int | float | ErrorValue"
OUTSIDE = -1


# ---------------------------------------------------------------------------------------------------------
# Where a program gets stuck.


def head(stmt: Stmt) -> str:
    """A statement's own line, without what stands inside it."""
    return format_stmt(stmt).partition("\n")[0]


class StuckError(HalideError):
    """A program of the target language that can't go on."""

    def __init__(self, message: str) -> None:
        super().__init__(message, UNKNOWN_LOCATION)


class AssertionFailure(StuckError):
    """Definition 2.11: an assertion does not hold. The message is the assertion's own."""

    def __init__(self, message: str, failure: Failure) -> None:
        super().__init__(message)
        self.failure = failure


class RDomFailure(StuckError):
    """Definition 2.12: a loop has a negative extent."""

    def __init__(self, loop: LoopName, length: int, statement: Stmt) -> None:
        super().__init__(f'Loop "{loop}" has the negative extent {length}:\n  {head(statement)}')
        self.loop = loop
        self.length = length
        self.statement = statement


class MemoryFault(StuckError):
    """Definition 2.13: a read or a write out of bounds, memory that is not there, or memory of a negative size."""

    def __init__(self, buffer: str, what: str, statement: Stmt, *, index: Sequence[int] = (), bounds: Box = ()) -> None:
        super().__init__(f'"{buffer}" {what}:\n  {head(statement)}')
        self.buffer = buffer
        self.index = tuple(index)
        self.bounds = bounds
        self.statement = statement


class OutOfSteps(StuckError):
    """The budget of steps that a run was given is spent. Nothing is known of the program."""


class UndefinedValue(StuckError):
    """ε_mem where the program's course or an address depends on it, or in the requested output."""


class RaceError(StuckError):
    """Two iterations of a parallel or vectorized loop meet in a cell, and their order shows."""

    def __init__(self, buffer: str, told: str, statement: Stmt) -> None:
        super().__init__(f'Race on "{buffer}": {told}:\n  {head(statement)}')
        self.buffer = buffer
        self.statement = statement


# ---------------------------------------------------------------------------------------------------------
# Memory.


class Memory:
    """The cells of one component of a Func, or flat memory. ``box`` is (min, length) of each dimension."""

    __slots__ = ("_dims", "box", "cells", "name", "size")

    def __init__(self, name: str, box: Box) -> None:
        self.name = name
        self.box = box
        self.cells: dict[int, Cell] = {}
        self._dims: list[tuple[int, int, int]] = []
        self.size = 1
        for low, length in box:
            self._dims.append((low, length, self.size))
            self.size *= max(length, 0)

    def offset(self, point: Sequence[int]) -> int:
        """InBounds: the number of a point's cell, or OUTSIDE."""
        at = 0
        for (low, length, stride), i in zip(self._dims, point, strict=True):
            k = i - low
            if not 0 <= k < length:
                return OUTSIDE
            at += k * stride
        return at

    def position(self, index: int) -> int:
        """InBounds of a position in flat memory: its cell, or OUTSIDE."""
        return index if 0 <= index < self.size else OUTSIDE

    def read(self, at: int) -> Cell:
        """The value of a cell."""
        return self.cells.get(at, EPS_MEM)

    def write(self, at: int, value: Cell) -> None:
        """A cell gets a value."""
        self.cells[at] = value

    def outside(self, index: Sequence[int], verb: str, statement: Stmt) -> MemoryFault:
        """The fault of an access that is not InBounds."""
        at = ", ".join(map(str, index))
        has = ", ".join(f"[{low}, {low + length})" for low, length in self.box)
        told = f"is {verb} at ({at}), but has only {has or 'one point'}"
        return MemoryFault(self.name, told, statement, index=index, bounds=self.box)


class _FoldedMemory(Memory):
    """Memory in which points share slots: a point has no value any more once another one of its slot is written.

    ``folds`` is the number of slots of each dimension that folds. The size counts slots.
    """

    __slots__ = ("_folds", "_holders")

    def __init__(self, name: str, box: Box, folds: Mapping[int, int]) -> None:
        super().__init__(name, box)
        self._folds = folds
        self._holders: dict[tuple[int, ...], int] = {}
        self.size = math.prod(folds.get(d, max(length, 0)) for d, (_, length) in enumerate(box))

    def write(self, at: int, value: Cell) -> None:
        """A cell gets a value, and the one that had its slot loses it."""
        slot = []
        for d, (low, length, stride) in enumerate(self._dims):
            coordinate = low + at // stride % length
            slot.append(coordinate % self._folds[d] if d in self._folds else coordinate)
        before = self._holders.get(tuple(slot))
        if before is not None and before != at:
            del self.cells[before]
        self._holders[tuple(slot)] = at
        self.cells[at] = value


def folded_memory(name: str, box: Box, folds: Mapping[int, int]) -> Memory:
    """Memory with the number of slots of each dimension that folds; plain memory where none does."""
    return _FoldedMemory(name, box, folds) if folds else Memory(name, box)


# ---------------------------------------------------------------------------------------------------------
# Races.


def same(a: Any, b: Any) -> bool:
    """True where two values are one: NaN is itself, and 0.0 is not -0.0."""
    if a is b:
        return True
    if isinstance(a, float) and isinstance(b, float):
        return (a == b and math.copysign(1, a) == math.copysign(1, b)) or (math.isnan(a) and math.isnan(b))
    return bool(a == b)


class _Write:
    """The writes of one execution of a loop to a cell."""

    __slots__ = ("before", "last", "shared", "steady", "value")

    def __init__(self, last: int, before: Cell, value: Cell) -> None:
        self.last = last
        self.before = before
        self.value = value
        self.steady = True
        """True where only one value was ever written."""
        self.shared = False
        """True where several iterations wrote."""


_SEVERAL = object()


class Races:
    """The accesses of one execution of a parallel or vectorized loop to memory that its iterations share.

    Iterations run one after another, so an iteration that wrote a cell is the last that did for as long as it runs.
    """

    def __init__(self, loop: LoopName, *, takes_turns: bool = False) -> None:
        self.loop = loop
        self.takes_turns = takes_turns
        """True where updates that are one step may meet: it is a reduction loop."""
        self.iteration = 0
        self.overlaps = 0
        """The number of times that an iteration wrote a value that another had written already."""
        self._writes: dict[tuple[Memory, int], _Write] = {}
        self._reads: dict[tuple[Memory, int], object] = {}

    def start(self) -> None:
        """Another execution of the loop."""
        self._writes = {}
        self._reads = {}

    def read(self, memory: Memory, at: int, statement: Stmt) -> None:
        """This iteration reads a cell."""
        key = (memory, at)
        found = self._writes.get(key)
        if found is None:
            if self._reads.setdefault(key, self.iteration) != self.iteration:
                self._reads[key] = _SEVERAL
        elif found.last != self.iteration:
            if not (found.steady and same(found.value, found.before)):
                raise self._error(memory, f"iteration {self.iteration} reads what {found.last} writes", statement)
            self._reads[key] = _SEVERAL  # a later write of another value is a race too

    def write(self, memory: Memory, at: int, value: Cell, statement: Stmt) -> None:
        """This iteration is about to write a cell."""
        key, now = (memory, at), self.iteration
        found = self._writes.get(key)
        if found is None:
            found = self._writes[key] = _Write(now, memory.read(at), value)
        elif found.last == now:
            found.steady = found.steady and same(found.value, value)
            found.value = value
        else:
            if not (found.steady and same(found.value, value)):
                told = f"iterations {found.last} and {now} write {_shown(found.value)} and {_shown(value)}"
                raise self._error(memory, told, statement)
            found.shared, found.last = True, now
            self.overlaps += 1
        if found.shared and not found.steady:
            raise self._error(memory, f"iteration {now} and others write different values", statement)
        reader = self._reads.get(key, now)
        if reader != now and not same(value, found.before):
            who = "others read" if reader is _SEVERAL else f"{reader} reads"
            raise self._error(memory, f"iteration {now} writes what {who}", statement)

    def _error(self, memory: Memory, told: str, statement: Stmt) -> RaceError:
        return RaceError(memory.name, f'in loop "{self.loop}", {told}', statement)


def _shown(value: Cell) -> str:
    return value.value if isinstance(value, ErrorValue) else repr(value)
