"""Small memory that C keeps in local variables: accumulators, above all.

In: a pipeline's body. Out: for each allocation whose every access is at a constant place, its places. An array that is
read and written through a pointer stays in memory; named values of the same size stay in registers. Copies of a loop
allocate buffers of the same name, each for lanes of its own; none stands inside of another's block, so that a buffer is
what was allocated last by its name.

    allocate acc[32];  acc[ramp(0, 1, 16)] = …;  acc[ramp(16, 1, 16)] = …    ->   {0: 16, 16: 16}
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from halide_core import ir
from halide_core.ir import (
    AllocateFlat,
    ExprNode,
    FirstLanes,
    For,
    Fork,
    IntImm,
    Load,
    LoopKind,
    PrefetchLine,
    Remember,
    Stmt,
    Store,
    WriteFile,
)
from halide_core.ir.memory import MemoryType
from halide_core.ir.visitor import nodes_of, stmt_exprs, sub_stmts, walk

_MOST = 64
"""A buffer of more places stays an array: no machine has as many registers, and C compilers get slow."""

Places = dict[int, int]
"""The first element of each place, and how many elements it has."""


def find_registers(body: Stmt) -> dict[AllocateFlat, Places]:
    """The allocations that can be local variables, each with its places."""
    found = _AccessSearch()
    found.look(body, ())
    return {each: dict(sorted(places.items())) for each, places in found.places.items() if found.fits(each)}


class Registers:
    """The local variables of a program whose statements are emitted in order: a buffer is what was allocated last by
    its name."""

    def __init__(self, body: Stmt) -> None:
        self._places = find_registers(body)
        arrays = {s.buffer for s in walk(body) if isinstance(s, AllocateFlat) and s not in self._places}
        self.always: Final = frozenset(each.buffer for each in self._places) - arrays
        """The buffers that are local variables wherever they are allocated."""
        self._here: dict[str, Places] = {}

    def __contains__(self, buffer: object) -> bool:
        return buffer in self._here

    def allocate(self, stmt: AllocateFlat) -> Places | None:
        """The places of a buffer from here on; None where it is memory."""
        places = self._places.get(stmt)
        if places is None:
            self._here.pop(stmt.buffer, None)
        else:
            self._here[stmt.buffer] = places
        return places


def place_of(index: ExprNode) -> tuple[int, int] | None:
    """The place of an access: its first element and its length; None where it is not constant and dense."""
    match index:
        case IntImm(value=value) | ir.Broadcast(a=IntImm(value=value)):
            return value, 1
        case ir.Ramp(base=IntImm(value=value), stride=stride, type=type) if stride is ir.ONE:
            return value, type.lanes()
    return None


class _AccessSearch:
    """Every access to allocated memory. ``tasks``: the parallel loops and the sides of forks around a statement; what
    is allocated outside of one and used inside is shared memory."""

    def __init__(self) -> None:
        self.places: dict[AllocateFlat, Places] = {}
        self._tasks: dict[AllocateFlat, tuple[Stmt, ...]] = {}
        self._refused: set[AllocateFlat] = set()
        self._here: dict[str, AllocateFlat] = {}

    def look(self, stmt: Stmt, tasks: tuple[Stmt, ...]) -> None:
        match stmt:
            case AllocateFlat(buffer=buffer, type=type, limit=limit, memory=memory):
                self.places.setdefault(stmt, {})
                if limit is None or memory is MemoryType.Heap or type.is_bool():
                    self._refused.add(stmt)
                self._here[buffer], self._tasks[stmt] = stmt, tasks
            case Store(buffer=buffer, index=index):
                self._access(buffer, index, tasks)
            case PrefetchLine(buffer=buffer) if buffer in self._here and self._tasks[self._here[buffer]] != tasks:
                self._refuse(buffer)
            case WriteFile(func=func) | Remember(func=func):  # it is written from memory, or kept
                self._refuse(*(func.component_name(k) for k in range(len(func.types))))
            case FirstLanes(body=body):
                # Lanes of a local variable can't be left out; but nobody looks at those of what is used inside alone.
                inside = list(walk(body))
                own = {s.buffer for s in inside if isinstance(s, AllocateFlat)}
                loads = (e for s in inside for e in nodes_of(stmt_exprs(s), Load))
                used = {*(s.buffer for s in inside if isinstance(s, Store)), *(e.buffer for e in loads)}
                self._refuse(*(used - own))
            case For(kind=LoopKind.PARALLEL):
                self._exprs(stmt, tasks)
                self.look(stmt.body, (*tasks, stmt))
                return
            case Fork(producer=producer, consumer=consumer):
                self.look(producer, (*tasks, producer))
                self.look(consumer, (*tasks, consumer))
                return
        self._exprs(stmt, tasks)
        for s in sub_stmts(stmt):
            self.look(s, tasks)

    def _exprs(self, stmt: Stmt, tasks: tuple[Stmt, ...]) -> None:
        for e in nodes_of(stmt_exprs(stmt), Load):
            self._access(e.buffer, e.index, tasks)

    def _refuse(self, *buffers: str) -> None:
        self._refused.update(self._here[buffer] for buffer in buffers if buffer in self._here)

    def _access(self, buffer: str, index: ExprNode, tasks: tuple[Stmt, ...]) -> None:
        here = self._here.get(buffer)
        if here is None:
            return  # an argument's memory
        place = place_of(index)
        shared = self._tasks[here] != tasks
        if shared or place is None or self.places[here].setdefault(place[0], place[1]) != place[1]:
            self._refused.add(here)

    def fits(self, allocation: AllocateFlat) -> bool:
        """True where the places are few, and apart from each other."""
        places = sorted(self.places[allocation].items())
        apart = all(a + n <= b for (a, n), (b, _) in pairwise(places))
        return allocation not in self._refused and apart and 0 < len(places) <= _MOST
