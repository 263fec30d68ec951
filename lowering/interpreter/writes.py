"""Changes of the store: allocations [ALLOC] and assignments [ASSN], of points and of lanes.

In: a statement's Code, and where its memory is. Out: closures that execute it.

    write_point(f[x] = e, code, place)()   ->   the cell of f at x holds e's value, or MemoryFault, or RaceError
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

from halide_core import ir
from halide_core.ir import Callee, Stmt
from halide_core.lowering.interpreter.code import AccessPlace, Allocation, Code
from halide_core.lowering.interpreter.memory_model import OUTSIDE, Cell, Memory, MemoryFault, Races, folded_memory

Run: TypeAlias = "Callable[[], None]"
Prepared: TypeAlias = "Callable[[], Run]"
"""Reads what a statement reads; what it gives writes what the statement writes."""


def allocate(
    stmt: ir.Allocate | ir.AllocateFlat, code: Code, allocation: Allocation, within: Allocation | None = None
) -> Run:
    """Makes memory anew; ``code`` gives the minimum and the length of each dimension. ``within``: the memory whose
    cells it has, in which there are no values from then on."""
    limit = stmt.limit if isinstance(stmt, ir.AllocateFlat) else None
    folded = [d for d, k in enumerate(stmt.folds) if k is not None] if isinstance(stmt, ir.Allocate) else []

    def run() -> None:
        ((numbers, _),) = code.run()
        ends = numbers[: len(numbers) - len(folded)]
        folds = dict(zip(folded, numbers[len(ends) :], strict=True))
        box = tuple(zip(ends[::2], ends[1::2], strict=True))
        negative = [n for _, n in box if n < 0]
        if negative:
            told = f"is allocated with the negative length {negative[0]}"
            raise MemoryFault(allocation.name, told, stmt, bounds=box)
        if any(k < 1 for k in folds.values()):
            raise MemoryFault(allocation.name, "is folded to no slot", stmt, bounds=box)
        memories = tuple([folded_memory(allocation.name, box, folds) for _ in allocation.types])
        if limit is not None and memories[0].size > limit:
            told = f"is allocated with {memories[0].size} elements, but at most {limit} are promised"
            raise MemoryFault(allocation.name, told, stmt, bounds=box)
        if within is not None:
            _move_within(memories[0], within.memories[0], stmt)
        allocation.memories = memories

    return run


def _move_within(memory: Memory, other: Memory, stmt: Stmt) -> None:
    if memory.size > other.size:
        told = f'has {memory.size} elements, but "{other.name}", in whose memory it is, has {other.size}'
        raise MemoryFault(memory.name, told, stmt, bounds=memory.box)
    other.cells.clear()
    memory.cells = other.cells


def write_point(stmt: ir.Provide, code: Code, place: AccessPlace) -> Run:
    """All components of a point at once."""
    put = _put(stmt, place)

    def run() -> None:
        ((point, values),) = code.run()
        put(point, values)

    return run


def point_write(stmt: ir.Provide, code: Code, place: AccessPlace) -> Prepared:
    """The same in two steps: what is written is found, then written."""
    put = _put(stmt, place)

    def prepare() -> Run:
        ((point, values),) = code.run()
        return partial(put, point, values)

    return prepare


def _put(stmt: ir.Provide, place: AccessPlace) -> Callable[[Sequence[int], Sequence[Cell]], None]:
    allocation, races = place.allocation, place.races

    def put(point: Sequence[int], values: Sequence[Cell]) -> None:
        for memory, value in zip(allocation.memories, values, strict=True):
            at = memory.offset(point)
            if at == OUTSIDE:
                raise memory.outside(point, "written", stmt)
            for each in races:
                each.write(memory, at, value, stmt)
            memory.write(at, value)

    return put


class FlatWrite:
    """The store of one element, or of lanes of them: what is written is found first, then written."""

    def __init__(self, stmt: ir.Store, code: Code, place: AccessPlace) -> None:
        self._stmt = stmt
        self._code = code
        self._place = place
        self._lanes = Races(ir.LoopName(stmt.buffer, 0, 0, "lanes")) if code.lanes > 1 else None
        self._races = place.races if self._lanes is None else (*place.races, self._lanes)

    def read(self) -> list[tuple[list[int], list[Cell]]]:
        """The index and the value of each lane."""
        return self._code.run()

    def write(self, found: list[tuple[list[int], list[Cell]]]) -> None:
        """Writes what was read. Two lanes may write one cell only if they agree."""
        memory, lanes = self._place.allocation.memories[self._place.component], self._lanes
        if lanes is not None:
            lanes.start()
        for lane, ((index,), (value,)) in enumerate(found):
            at = memory.position(index)
            if at == OUTSIDE:
                raise memory.outside((index,), "written", self._stmt)
            if lanes is not None:
                lanes.iteration = lane
            for each in self._races:
                each.write(memory, at, value, self._stmt)
            memory.write(at, value)


def write_flat(writes: Sequence[FlatWrite]) -> Run:
    """All lanes of all stores are read before any is written."""
    if len(writes) == 1:
        (only,) = writes
        return lambda: only.write(only.read())

    def run() -> None:
        _write_all(writes, [each.read() for each in writes])

    return run


def flat_write(writes: Sequence[FlatWrite]) -> Prepared:
    """The same in two steps."""
    return lambda: partial(_write_all, writes, [each.read() for each in writes])


def _write_all(writes: Sequence[FlatWrite], found: Sequence[list[tuple[list[int], list[Cell]]]]) -> None:
    for each, lanes in zip(writes, found, strict=True):
        each.write(lanes)


def run_at_once(place: int, values: list[Any], iterations: Callable[[], range], prepare: Prepared) -> Run:
    """A loop whose iterations all read before one of them writes; ``values[place]`` is its variable."""

    def run() -> None:
        found = []
        for i in iterations():
            values[place] = i
            found.append(prepare())
        for write in found:
            write()

    return run


def write_nowhere(name: str, stmt: Stmt) -> Run:
    """The fault of a write to a name without memory."""

    def run() -> None:
        raise MemoryFault(name, "is written where it has no memory", stmt)

    return run


Kept: TypeAlias = "dict[tuple[Callee, tuple[Any, ...]], list[dict[int, Cell]]]"
"""Of a Func and a key: the cells of each memory."""


def recall_or_run(
    func: Callee, numbers: Sequence[Callable[[], Any]], body: Run, places: Sequence[AccessPlace], kept: Kept
) -> Run:
    """Recalls a Func's memory for a key; or computes and keeps it."""

    def run() -> None:
        key = (func, tuple([number() for number in numbers]))
        memories: list[Memory] = [m for each in dict.fromkeys(p.allocation for p in places) for m in each.memories]
        known = kept.get(key)
        if known is None:
            body()
            kept[key] = [dict(memory.cells) for memory in memories]
            return
        for memory, cells in zip(memories, known, strict=True):
            memory.cells.update(cells)

    return run
