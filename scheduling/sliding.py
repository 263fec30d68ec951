"""Sliding dimensions: where the loops of a Func may leave out what earlier iterations computed.

In: a fully scheduled program. Out: for each Func whose memory outlives an iteration of a loop around it, the program
with holes of their own for the loops over each dimension that can slide; and what stands in the way of the others.

    for y: { label g: for y' in ?cpu g.y: … }   ->   for y: { label g: for y' in ?loop g.y: … }     (g stored outside)
    … and g.split(y, yo, yi, 3)                 ->   the same, with the obligation that 3 <= ?loop g.y.len
    … and g.bound(y, 0, 3)                      ->   "y" does not slide: g.bound(y, 0, 3) rests on its length

Nothing is decided here. Bounds inference answers a loop hole with the whole compute bounds, or with what is new in an
iteration, where it can tell (``bounds.infer.sliding``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from halide_core.algorithm.model import Function
from halide_core.analysis.length import raised
from halide_core.ir import ExprNode, HoleKind, Let, LoopKind
from halide_core.ir.printer import dim_name, format_expr
from halide_core.ir.visitor import Substitution, subexpressions
from halide_core.loop_nest import Guard, Loop, Nest, Obligation, Program, StageKey, hole, stage_loops
from halide_core.schedule.directives import AlignBounds, Directive

_WHOLE = frozenset({LoopKind.VECTORIZED, LoopKind.UNROLLED})


@dataclass(frozen=True, slots=True, eq=False)
class Obstacle:
    """A dimension of which every iteration computes all that it needs, and what asks for that: a directive or a loop
    that rests on its length, or a stage that runs over something else."""

    func: Function
    dim: int
    by: Directive | Loop | StageKey

    @property
    def told(self) -> str:
        """Why it does not slide, in words."""
        name = dim_name(self.func, self.dim)
        match self.by:
            case Directive() as directive:
                why = f"{directive.own.spelled()} rests on its length"
            case Loop(name=loop, kind=kind):
                why = f'the {kind.value} loop "{loop.var}" rests on its length'
            case StageKey(stage=stage):
                at = format_expr(self.func.definitions[stage].args[self.dim])
                why = f"stage {stage} writes at {at}, not at {name}"
        return f'"{name}" does not slide: {why}'


def sliding_dimensions(program: Program, func: Function) -> tuple[int, ...]:
    """The dimensions of a Func of which an iteration may compute a part: those that every stage has a pure loop over,
    and so passes through unchanged where it reads its own Func (syntactic separation); whose length no directive rests
    on."""
    if not _outlives(program, func):
        return ()
    return tuple(d for d in range(func.dimensions) if _obstacle(program, func, d) is None)


def obstacles(program: Program, func: Function) -> tuple[Obstacle, ...]:
    """The other dimensions of a Func whose memory outlives an iteration."""
    if not _outlives(program, func):
        return ()
    found = (_obstacle(program, func, d) for d in range(func.dimensions))
    return tuple(each for each in found if each is not None)


def _outlives(program: Program, func: Function) -> bool:
    """True where there is a loop between a Func's memory and what computes it."""
    return func not in program.algorithm.outputs and program.computed[func] != program.stored[func]


def _obstacle(program: Program, func: Function, d: int) -> Obstacle | None:
    ends: set[ExprNode] = set()
    for stage in program.stages(func):
        if not func.pure_dims(stage)[d]:
            return Obstacle(func, d, StageKey(func, stage))
        interval = hole(HoleKind.CPU, func, stage, d)
        ends |= {interval.min, interval.len}
    for o in program.obligations:
        if not ends.isdisjoint(subexpressions([o.condition])) and not _bears_less(program, func, o):
            return Obstacle(func, d, o.directive)
    for key in program.keys(func):
        for loop in stage_loops(program, key):
            if loop.kind in _WHOLE and not ends.isdisjoint(subexpressions([loop.bounds.len])):
                return Obstacle(func, d, loop)
    return None


def _bears_less(program: Program, func: Function, o: Obligation) -> bool:
    """True where a directive does not need the loops to be as long as what is needed: one that speaks of that alone;
    and a shifted split of a single stage, as points that are kept may be computed again. Of several stages each would
    have a length of its own."""
    if isinstance(o.directive, AlignBounds):
        return True
    return raised(o.condition) is not None and len(func.definitions) == 1 and func not in program.together


def give_loop_holes(program: Program, func: Function) -> Program:
    """The program with loop holes in the sliding dimensions of a Func; the program itself where there are none."""
    dims = sliding_dimensions(program, func)
    if not dims:
        return program
    program = replace(program, sliding={**program.sliding, func: dims})
    for stage in program.stages(func):
        values: dict[ExprNode, ExprNode] = {}
        for d in dims:
            # A stage reads its own Func where it writes, so that all stages need the same: one loop hole is for all.
            old, new = hole(HoleKind.CPU, func, stage, d), hole(HoleKind.LOOP, func, 0, d)
            values[old.min], values[old.len] = new.min, new.len
        to = Substitution(values)
        for key in program.nests:
            # A stage that shares loops with one of the Func's may begin, or end, where that one's loops do.
            beside = func in program.together and key.func in program.beside(func)
            if beside or (key.func is func and key.stage == stage):
                program = program.with_nest(key, _with_holes(program.nests[key], to))
        raising = [o for o in program.obligations if o.func is func and raised(o.condition) is not None]
        shorter = [replace(o, condition=to.expr(o.condition)) for o in raising]
        more = [new for new, o in zip(shorter, raising, strict=True) if new.condition is not o.condition]
        program = replace(program, obligations=(*program.obligations, *more))
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
        ranges=tuple([to.interval(own) for own in nest.ranges]),
        witnesses=tuple([Let(w.var, to.expr(w.value), None) for w in nest.witnesses]),
    )
