"""Records of a walk of a tree, for claims about several places at once.

In: nothing. Out: the types of loops entered, of memory touched, and of assignments, each with its context.

    Touch(callee=g, point=(x - 1, y), writer=None, reader=f.s0, loops=(y, x), …)   where f[x, y] reads g[x - 1, y]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.bounds.verify.memory import Reads
from halide_core.bounds.verify.vc import Context
from halide_core.ir import Access, Callee, ExprNode, Interval, Provide
from halide_core.loop_nest import StageKey

Boxes = Mapping[tuple[Function, int], tuple[Interval, ...]]
"""Where each stage computes, in variables that are bound where the Func's label stands, of all its cases: its compute
bounds, or what is new of them."""


@dataclass(frozen=True, slots=True, eq=False)
class Entered:
    """A loop on the way down, and the context just outside it."""

    loop: ir.For
    outside: Context


@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """One read or write of memory: where it is, inside which loops, and how far out its memory lives."""

    callee: Callee
    point: tuple[ExprNode, ...]
    writer: Provide | None
    """The assignment, where this is a write."""
    reader: StageKey
    context: Context
    loops: tuple[Entered, ...]
    private: int
    """The number of loops that are around the allocation too: those further in share the memory."""
    labels: Mapping[Callee, int]
    """The Funcs whose labels are around it, with the number of loops around each."""


@dataclass(frozen=True, slots=True, eq=False)
class ValueSite:
    """An assignment at a point that counts."""

    func: Function
    stage: int
    context: Context
    values: tuple[ExprNode, ...]
    reads: Reads
    read: tuple[Access, ...]
    """The reads of its values: points that were computed, as this one counts."""
