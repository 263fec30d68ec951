"""Storage layout: where points lie in a Func's memory.

In: a program and one directive. Out: the program with the Func's layout changed. No value depends on it.

    g.reorder_storage(y, x)   ->   allocate g(…) with y dense
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from halide_core.algorithm.model import Function
from halide_core.analysis.index import startup_index
from halide_core.analysis.simplify import simplify
from halide_core.ir.memory import Layout, plain_layout
from halide_core.loop_nest import Program
from halide_core.schedule.storage_directives import (
    AlignStorage,
    BoundStorage,
    ReorderStorage,
    StorageDirective,
    StoreIn,
)
from halide_core.scheduling.legality import refuse, require_dimension

_T = TypeVar("_T")


def lay_out(program: Program, func: Function, d: StorageDirective) -> Program:
    """Changes the layout of a Func, or of a case's copy of it.

    Rewrite: of the layout of ``allocate g(…)`` alone.

    Legal when: the Func has the dimensions; that memory of a set length, the last one that is
    set, is long enough is for bounds inference.

    Raises: ScheduleError.
    """
    before = program.layouts.get(func, plain_layout(func.dimensions))
    return replace(program, layouts={**program.layouts, func: _changed(before, func, d)})


def laid_out(func: Function, directives: Iterable[StorageDirective]) -> Layout:
    """The layout of a Func that is in no program, under some directives. Raises: ScheduleError."""
    layout = plain_layout(func.dimensions)
    for d in directives:
        layout = _changed(layout, func, d)
    return layout


def _changed(layout: Layout, func: Function, d: StorageDirective) -> Layout:
    match d:
        case ReorderStorage(vars=names):
            wanted = [require_dimension(func, v, d) for v in names]
            if len(set(wanted)) != len(wanted):
                refuse(d, "each dimension can be named only once.")
            rest = iter(wanted)
            return replace(layout, order=tuple(next(rest) if dim in wanted else dim for dim in layout.order))
        case AlignStorage(var=var, alignment=k):
            return replace(layout, alignments=_with(layout.alignments, require_dimension(func, var, d), k))
        case BoundStorage(var=var, length=e):
            length = simplify(startup_index(e))
            return replace(layout, extents=_with(layout.extents, require_dimension(func, var, d), length))
        case StoreIn(memory=memory):
            return replace(layout, memory=memory, asked=(d.spelled(), d.location))


def _with(values: tuple[_T, ...], at: int, value: _T) -> tuple[_T, ...]:
    return (*values[:at], value, *values[at + 1 :])
