"""Extern stages inside of loops: the Funcs whose loops call a C function, and what an iteration of them computes.

In: Funcs of which some are extern stages at levels. Out: for each Func whose outer loops have one inside, these, and
a pipeline for one of their iterations, in which the stage is at the root.

    e.compute_at(f, y), f(x, y) reads e and g, g at root   ->   for each row of f: f(x, y), which reads e and an image

Loops further in are those of a part of that pipeline, in turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from halide_core import ir
from halide_core.algorithm.model import Function, callees, realization_order
from halide_core.errors import ScheduleError
from halide_core.ir.names import OUTERMOST
from halide_core.runtime.execute.extern_blocks import WindowLoop, loops_of, within_window
from halide_core.schedule.directives import (
    AtLevel,
    ComputeAt,
    ComputeRoot,
    Directive,
    StoreRoot,
    Trace,
)
from halide_core.scheduling.phase0.copies import copied, place


@dataclass(slots=True, eq=False)
class CallingLoops:
    """A Func whose outer loops call C functions: the level, and the loops down to it."""

    func: Function
    stage: int
    var: str
    steps: tuple[WindowLoop, ...]

    def has(self, level: AtLevel) -> bool:
        """True where a level is the block's, or outside of it."""
        if not isinstance(level.consumer, Function) or level.consumer.own is not self.func.own:
            return False
        order = loops_of(self.func, self.stage).order
        return level.var == OUTERMOST or (level.var in order and order.index(level.var) <= order.index(self.var))


def level_of(e: Function) -> ComputeAt | None:
    """The loop that an extern stage is computed in; None where it is at the root."""
    match place(e):
        case ComputeAt(consumer=Function(extern=None), var=var) as at if var != OUTERMOST:
            return at
    return None


def blocks_of(order: Sequence[Function], outputs: Sequence[Function]) -> dict[Function, CallingLoops]:
    """The Funcs whose outer loops have extern stages inside, each with the outermost of the levels that these are at.

    Raises:
        ScheduleError: a level that is in none of the pipeline's loops, or in one whose iterations compute no window.
    """
    found: dict[Function, CallingLoops] = {}
    for e in order:
        at = level_of(e) if e.extern else None
        if at is None:
            continue
        top = _around(e, at, order, outputs)
        while (outer := level_of(top)) is not None:
            at, top = outer, _around(top, outer, order, outputs)
        block = _block(e, at, top)
        if top not in found or found[top].has(at):
            found[top] = block
    return {top: _with_outer_levels(block, found) for top, block in found.items()}


def _with_outer_levels(block: CallingLoops, blocks: Mapping[Function, CallingLoops]) -> CallingLoops:
    """A block's loops down to the outermost level at which anything inside is computed, so that this is computed once
    for each iteration of its own loop."""
    for g in inside(block, blocks):
        at = place(g)
        if isinstance(at, ComputeAt) and at.var not in (OUTERMOST, block.var) and block.has(at):
            steps = loops_of(block.func, block.stage).steps(at.var)
            if steps is not None:
                block = CallingLoops(block.func, block.stage, at.var, steps)
    return block


def _around(e: Function, at: ComputeAt, order: Sequence[Function], outputs: Sequence[Function]) -> Function:
    consumer = at.consumer
    assert isinstance(consumer, Function)
    top = next((f for f in order if f.own is consumer.own), None)
    if top is None or e not in realization_order([top]):
        raise ScheduleError(f'{at.spelled()}: "{consumer.name}" does not use "{e.name}".', at.location)
    if place(top) is None and top not in outputs:
        raise ScheduleError(f'{at.spelled()}: "{consumer.name}" is computed inline and has no loops.', at.location)
    return top


def _block(e: Function, at: ComputeAt, top: Function) -> CallingLoops:
    stages = range(len(top.definitions)) if at.stage < 0 else (at.stage,)
    for stage in stages:
        steps = loops_of(top, stage).steps(at.var)
        if steps is not None:
            return CallingLoops(top, stage, at.var, steps)
    raise ScheduleError(
        f'{at.spelled()}: an iteration of loop "{at.var}" must compute a window of "{top.name}", for which the extern '
        f'stage "{e.name}" is called: loops of dimensions, and outer parts of such, in that order, with constant '
        f"factors. compute_root() is legal.",
        at.location,
    )


def inside(block: CallingLoops, blocks: Mapping[Function, CallingLoops]) -> list[Function]:
    """The Funcs that an iteration of a block computes, the block's own last: those it reads that are neither at the
    root nor extern stages of no level, nor blocks themselves."""
    found: dict[Function, None] = {}
    waiting = [block.func]
    while waiting:
        f = waiting.pop()
        if f in found:
            continue
        found[f] = None
        for g in callees(f):
            elsewhere = not isinstance(g, Function) or isinstance(place(g), ComputeRoot) or g in blocks
            if isinstance(g, Function) and not elsewhere and (not g.extern or level_of(g) is not None):
                waiting.append(g)
    return [f for f in realization_order([block.func]) if f in found]


def iteration(block: CallingLoops, functions: Iterable[Function], sources: Mapping[ir.Callee, ir.Callee]) -> Function:
    """A copy of a block's Func, and of those that its iterations compute, for one iteration: what is at a level outside
    of it, or its own, is at the root. Other Funcs are read as the given sources."""
    to = dict(sources)
    del to[block.func]
    made: dict[Function, Function] = {}
    for f in functions:
        to[f] = made[f] = copied(f, f.name, to, _within(f, block))
    tell_copies(made)
    result = made[block.func]
    result.definitions = [replace(d, partial=()) for d in result.definitions]  # 0 is where nothing is defined
    return result


def tell_copies(made: Mapping[Function, Function]) -> None:
    """Has directives name copies of Funcs, also of those that were copied later."""
    to: dict[ir.Callee, ir.Callee] = dict(made.items())
    for copy in made.values():
        copy.directives = [d.renamed(to) for d in copy.directives]


def _within(f: Function, block: CallingLoops) -> list[Directive]:
    if f is block.func:
        traced = [d for d in f.directives if isinstance(d, Trace)]
        return [*within_window(f, block.steps), *traced]
    found: list[Directive] = []
    at = place(f)
    computed = isinstance(at, ComputeAt) and block.has(at)
    for d in f.directives:
        if not isinstance(d, AtLevel) or not block.has(d):
            found.append(d)
        elif isinstance(d, ComputeAt):
            found.append(ComputeRoot(func=f, location=d.location))
        elif not computed:
            found.append(StoreRoot(func=f, location=d.location))
    return found
