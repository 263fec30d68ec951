"""Checks of prefetches: those which say so must lie inside of memory.

In: a prefetch of a box of points, or of one place in flat memory. Out: a closure that does
nothing, or raises MemoryFault.
"""

from __future__ import annotations

from collections.abc import Callable

from halide_core import ir
from halide_core.ir.memory import PrefetchBoundStrategy
from halide_core.lowering.interpreter.code import Allocation, Code
from halide_core.lowering.interpreter.memory_model import OUTSIDE


def is_inside(stmt: ir.PrefetchRegion | ir.PrefetchLine) -> bool:
    """True where a prefetch says that what it asks for is there."""
    if isinstance(stmt, ir.PrefetchLine):
        return stmt.inside
    return stmt.box is not None and stmt.strategy is not PrefetchBoundStrategy.NonFaulting


def look_at(stmt: ir.PrefetchRegion | ir.PrefetchLine, code: Code, allocation: Allocation) -> Callable[[], None]:
    """The closure; ``code`` gives the box, or the place."""

    def run() -> None:
        ((numbers, _),) = code.run()
        memory = allocation.memories[0]
        if isinstance(stmt, ir.PrefetchLine):
            ends, found = [numbers], [memory.position(numbers[0])]
        else:
            firsts, lengths = numbers[::2], numbers[1::2]
            if any(n <= 0 for n in lengths):
                return
            ends = [firsts, [low + n - 1 for low, n in zip(firsts, lengths, strict=True)]]
            found = [memory.offset(at) for at in ends]
        for at, place in zip(ends, found, strict=True):
            if place == OUTSIDE:
                raise memory.outside(at, "prefetched", stmt)

    return run
