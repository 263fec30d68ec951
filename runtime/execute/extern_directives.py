"""The directives that extern stages take, and what becomes of those that name a place in one.

In: Funcs and their directives. Out: a ScheduleError for those that would have no effect; the directives of a copy.
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core.algorithm.model import Function, callees, realization_order
from halide_core.errors import ScheduleError
from halide_core.ir.names import OUTERMOST
from halide_core.runtime.execute.extern_blocks import calls, loops_of
from halide_core.runtime.execute.extern_calls import FuncImage
from halide_core.schedule.directives import (
    Async,
    AtLevel,
    Bound,
    ComputeAt,
    ComputeRoot,
    Directive,
    Estimate,
    Fuse,
    Rename,
    Reorder,
    Split,
    StoreAt,
    StoreRoot,
    Traverse,
)
from halide_core.schedule.storage_directives import AlignStorage, Memoize, ReorderStorage

_LOOPS = (Split, Fuse, Reorder, Rename, Traverse)
_LEGAL = (
    *_LOOPS, AlignStorage, Async, Bound, ComputeAt, ComputeRoot, Estimate, Memoize, ReorderStorage, StoreAt, StoreRoot,
)  # fmt: skip
"""Directives about extern stages."""


def reads_stages(f: Function) -> bool:
    """True where a Func is, or depends on, an extern stage, or what stands for a Func that is computed apart."""
    within = realization_order([f])
    read = [c for g in within for c in callees(g)]
    return any(g.extern is not None for g in within) or any(isinstance(c, FuncImage) for c in read)


def is_at_extern(d: Directive) -> bool:
    """True where a directive names a place in an extern stage."""
    return isinstance(d, AtLevel) and isinstance(d.consumer, Function) and d.consumer.extern is not None


def before_externs(f: Function) -> list[Directive]:
    """The directives of a Func. One whose place is a loop of an extern stage is computed before a call of that, at the
    root of its part."""
    if not any(map(is_at_extern, f.directives)):
        return f.directives
    at = next(d.location for d in f.directives if is_at_extern(d))
    return [*(d for d in f.directives if not is_at_extern(d)), ComputeRoot(func=f, location=at)]


def check_schedules(order: Sequence[Function]) -> None:
    """Raises ScheduleError for a directive that an extern stage can't have, or that names a loop that it hasn't."""
    for f in order:
        for d in f.directives:
            if f.extern is not None and not isinstance(d, _LEGAL):
                raise ScheduleError(
                    f'{d.spelled()}: "{f.name}" is an extern stage, which a C function computes. Legal are places, '
                    f"loops around calls (split, tile, reorder, fuse, serial, parallel), bound(), memoize(), "
                    f"reorder_storage() and align_storage().",
                    d.location,
                )
            consumer = getattr(d, "consumer", None)
            if is_at_extern(d):
                assert isinstance(consumer, Function) and isinstance(d, AtLevel)
                if d.var != OUTERMOST and d.var not in _called(consumer):
                    raise ScheduleError(
                        f'{d.spelled()}: "{consumer.name}" is an extern stage and has no loop "{d.var}" that calls its '
                        f"function. What is passed to it is computed before it: write {f.name}.compute_root().",
                        d.location,
                    )


def _called(e: Function) -> list[str]:
    """The loops that call an extern stage's function, the outermost first."""
    return loops_of(e, 0).order[: len(calls(e))]
