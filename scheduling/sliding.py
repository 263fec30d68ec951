"""Sliding dimensions: where the loops of a Func may leave out what earlier iterations computed.

In: a fully scheduled program. Out: for each Func whose memory outlives an iteration of a loop around it, the program
with holes of their own for the loops over each dimension that can slide.

    for y: { label g: for y' in ?cpu g.y: … }   ->   for y: { label g: for y' in ?loop g.y: … }     (g stored outside)

Nothing is decided here. Bounds inference answers a loop hole with the whole compute bounds, or with what is new in an
iteration, where it can tell (``bounds.sliding``).
"""

from __future__ import annotations

from dataclasses import replace

from halide_core.algorithm import Function
from halide_core.ir import Access, Expr, HoleKind, Let, LoopKind
from halide_core.program import Guard, Nest, Program, hole, path_to, provided
from halide_core.visit import Substitution, stmt_exprs, subexpressions, walk

_WHOLE = frozenset({LoopKind.VECTORIZED, LoopKind.UNROLLED})


def sliding_dimensions(program: Program, func: Function) -> tuple[int, ...]:
    """The dimensions of a Func of which an iteration may compute a part: those that every stage has a pure loop over,
    and passes through unchanged where it reads its own Func; whose length no directive rests on."""
    if func in program.algorithm.outputs or program.computed[func] == program.stored[func]:
        return ()
    between = path_to(program, program.computed[func])[len(path_to(program, program.stored[func])) :]
    if not between:
        return ()
    return tuple(d for d in range(func.dimensions) if _slides(program, func, d))


def _slides(program: Program, func: Function, d: int) -> bool:
    ends: set[Expr] = set()
    for stage in program.stages(func):
        if not func.pure_dims(stage)[d]:
            return False
        interval = hole(HoleKind.CPU, func, stage, d)
        ends |= {interval.min, interval.len}
    if any(ends.intersection(subexpressions([o.condition])) for o in program.obligations):
        return False
    for key in program.keys(func):
        nest = program.nests[key]
        at = provided(nest.core).args[d]
        own = [e for s in walk(nest.core) for e in subexpressions(stmt_exprs(s)) if isinstance(e, Access)]
        if any(e.callee is func and e.args[d] is not at for e in own):
            return False
        for loop in nest.loops:
            if loop.kind in _WHOLE and ends.intersection(subexpressions([loop.bounds.len])):
                return False
    return True


def give_loop_holes(program: Program, func: Function) -> Program:
    """The program with loop holes in the sliding dimensions of a Func; the program itself where there are none."""
    dims = sliding_dimensions(program, func)
    if not dims:
        return program
    program = replace(program, sliding={**program.sliding, func: dims})
    for stage in program.stages(func):
        values: dict[Expr, Expr] = {}
        for d in dims:
            old, new = hole(HoleKind.CPU, func, stage, d), hole(HoleKind.LOOP, func, 0, d)
            values[old.min], values[old.len] = new.min, new.len
        to = Substitution(values)
        for key in program.keys(func):
            if key.stage == stage:
                program = program.with_nest(key, _with_holes(program.nests[key], to))
    return program


def _with_holes(nest: Nest, to: Substitution) -> Nest:
    def renewed(step: Let | Guard) -> Let | Guard:
        if isinstance(step, Guard):
            return Guard(to.expr(step.condition))
        return Let(step.var, to.expr(step.value), None if step.within is None else to.interval(step.within))

    return replace(
        nest,
        loops=tuple([replace(loop, bounds=to.interval(loop.bounds)) for loop in nest.loops]),
        steps=tuple([renewed(step) for step in nest.steps]),
        witnesses=tuple([Let(w.var, to.expr(w.value), None) for w in nest.witnesses]),
    )
