"""Layouts of Funcs' memory: data that storage directives leave, and that flattening reads.

In: nothing. Out: types. A layout says where points are in memory, never what they hold.

    Layout(order=(1, 0), alignments=(1, 8), extents=(None, None))   y is dense; columns start at multiples of 8
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from halide_core.errors import Location
from halide_core.ir.expr_nodes import ExprNode
from halide_core.unsupported import PendingMembers


class MemoryType(Enum, metaclass=PendingMembers):
    """Where memory is taken from."""

    Auto = "Auto"
    Heap = "Heap"
    Stack = "Stack"
    Register = "Register"


class PrefetchBoundStrategy(Enum):
    """The treatment of a prefetch of points outside of the memory that there is."""

    Clamp = "Clamp"
    GuardWithIf = "GuardWithIf"
    NonFaulting = "NonFaulting"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the points of a Func are.

    ``order``: the dimensions from the dense one on. ``alignments``: of each dimension, what its length in memory is a
    multiple of. ``extents``: its length in memory, where that is set, by an expression that is known at start-up.
    ``asked``: the call that set the kind of memory, and its line.
    """

    order: tuple[int, ...]
    alignments: tuple[int, ...]
    extents: tuple[ExprNode | None, ...]
    memory: MemoryType = MemoryType.Auto
    asked: tuple[str, Location] | None = None

    def __str__(self) -> str:
        told = []
        if self.order != tuple(range(len(self.order))):
            told.append(f"order {self.order}")
        told += [f"dimension {d} aligned to {k}" for d, k in enumerate(self.alignments) if k > 1]
        told += [f"dimension {d} of {k}" for d, k in enumerate(self.extents) if k is not None]
        if self.memory is not MemoryType.Auto:
            told.append(f"in {self.memory.value}")
        return ", ".join(told)


def plain_layout(dimensions: int) -> Layout:
    """Dense, in the order of the dimensions."""
    return Layout(tuple(range(dimensions)), (1,) * dimensions, (None,) * dimensions)
