"""The loops phase (section 2.8.2): split, fuse, reorder and the traversal orders.

In: a program with holes and one directive. Out: the program with one nest rewritten; loop names stay unique
(lemma 2.4), and what a rewrite knows of the old variable stays with its let.
"""

from __future__ import annotations

from dataclasses import replace

from halide_core import ir
from halide_core.algorithm.rename import UniqueNames
from halide_core.analysis.index import startup_index
from halide_core.analysis.simplify import simplify
from halide_core.ir import Interval, IntImm, Let, LoopKind, Variable
from halide_core.loop_nest import LENGTH_LIMIT, Guard, Loop, Nest, Obligation, Program
from halide_core.schedule.directives import AllowRaceConditions, Fuse, Rename, Reorder, Split, TailStrategy, Traverse
from halide_core.scheduling.legality import refuse, require_loop, require_new_names, stage_key
from halide_core.scheduling.reductions import at_once, in_new_order
from halide_core.scheduling.tails import GUARDED, SHIFTED, tail_of


def split(program: Program, d: Split) -> Program:
    """Splits a loop into an outer and an inner one of ``factor`` steps.

    Args:
        program: the program.
        d: ``old``, ``outer``, ``inner`` (names), ``factor`` (a positive start-up expression), ``tail``.

    Rewrite::

        for x in (m, n): s
        ->  for xo in (0, ceil(n/k)):
                for xi in (0, k):
                    let x = m + xo*k + xi            GuardWithIf: s under if x < m + n;  RoundUp: s
                    let x = m + min(xo*k, n - k) + xi    ShiftInwards, with the obligation k <= n
                                                         ShiftInwardsAndBlend: s under if m + xo*k <= x, too
                    s

    Predicate, PredicateLoads, PredicateStores and RoundUpAndBlend are GuardWithIf: what they may not touch beyond the
    end isn't touched, and neither is what they may.

    Legal when: ``old`` names a loop, the other names are new, and the tail strategy fits (``tails``). ShiftInwards
    repeats iterations, so only pure definitions take it; ShiftInwardsAndBlend leaves out those that would be repeated,
    and is for updates too. RoundUp adds iterations, which must fall outside the compute bounds: only loops over a whole
    dimension, or the outer loops of their splits, take it. GuardWithIf, and the Predicates, are always legal.

    Raises: ScheduleError. Source: figure 2.12 (restated in the design), section 2.8.2.
    """
    key = stage_key(program, d)
    nest = program.nests[key]
    at = require_loop(nest, d.old, d)
    old = nest.loops[at]
    require_new_names(nest, (d.outer, d.inner), (d.old,), d)
    if old.kind in (LoopKind.VECTORIZED, LoopKind.UNROLLED):
        refuse(d, f'"{d.old}" is {old.kind.value}; split it before that directive.')
    factor = simplify(startup_index(d.factor))
    tail = tail_of(key, old, d)
    m, n = old.bounds.min, old.bounds.len
    outer_name, inner_name = (replace(old.name, var=v) for v in (d.outer, d.inner))
    outer_var, inner_var = fresh_variables(nest, f"{old.var.name}.{d.outer}", f"{old.var.name}.{d.inner}")
    count = simplify(ir.div(ir.add(n, ir.sub(factor, ir.ONE)), factor))
    said = (old.reduces, old.fused, old.partition)
    outer = Loop(outer_name, outer_var, Interval(ir.ZERO, count), old.kind, *said)
    inner = Loop(inner_name, inner_var, Interval(ir.ZERO, factor), LoopKind.SERIAL, *said)
    start = ir.mul(outer_var, factor)
    within: Interval | None = None
    guards: tuple[Guard, ...] = ()
    obligations: list[Obligation] = []
    if not isinstance(factor, IntImm):
        obligations.append(Obligation(key.func, ir.less(ir.ZERO, factor), d, key))
    if tail.exact:
        within = old.bounds
    elif tail.strategy in SHIFTED:
        start = ir.minimum(start, ir.sub(n, factor))
        within = old.bounds
        obligations.append(Obligation(key.func, ir.less_equal(factor, n), d, key))
        if tail.strategy is TailStrategy.ShiftInwardsAndBlend:
            guards = (Guard(ir.less_equal(ir.add(m, ir.mul(outer_var, factor)), old.var)),)
    elif tail.strategy in GUARDED:
        guards = (Guard(ir.less(old.var, ir.add(m, n))),)
    step = Let(old.var, simplify(ir.add(ir.add(m, start), inner_var)), within)
    rounds = tail.strategy is TailStrategy.RoundUp and not tail.exact
    offset = ir.sub(old.var, m)
    witnesses = (Let(outer_var, ir.div(offset, factor), None), Let(inner_var, ir.sub(offset, start), None))
    changed = Nest(
        (*nest.loops[:at], outer, inner, *nest.loops[at + 1 :]),
        (step, *guards, *nest.steps),
        nest.core,
        nest.overcomputes or rounds,
        (*nest.witnesses, *witnesses),
        nest.waiver,
        nest.order,
        atomic=nest.atomic,
    )
    return replace(program.with_nest(key, changed), obligations=(*program.obligations, *obligations))


def fresh_variables(nest: Nest, *wanted: str) -> list[Variable]:
    """Variables for new loops. Loop names can be used again once a loop is gone; variables can't, since the let of
    the old loop keeps its own."""
    names = UniqueNames(
        [loop.var.name for loop in nest.loops] + [step.var.name for step in nest.steps if isinstance(step, Let)]
    )
    return [ir.index_variable(names.fresh(name)) for name in wanted]


def fuse(program: Program, d: Fuse) -> Program:
    """Makes one loop of two nested ones.

    Args:
        program: the program.
        d: ``inner``, ``outer`` (the loops), ``fused`` (the new name).

    Rewrite::

        for y in (my, ny): for x in (mx, nx): s
        ->  for t in (0, nx*ny): let x = mx + t mod nx;  let y = my + t div nx;  s

    with the obligation that nx*ny is a number of int64, and so is what further splits make of it.

    Legal when: both are pure; or ``inner`` is immediately inside ``outer``, or may be brought there (``reductions``).
    One loop over a dimension and over a reduction is a reduction loop: each point takes its iterations in their order.

    Raises: ScheduleError. Source: section 2.8.2.
    """
    key = stage_key(program, d)
    nest = program.nests[key]
    i, o = require_loop(nest, d.inner, d), require_loop(nest, d.outer, d)
    inner, outer = nest.loops[i], nest.loops[o]
    require_new_names(nest, (d.fused,), (d.inner, d.outer), d)
    if not (inner.pure and outer.pure) and i != o + 1:
        brought = [loop for loop in nest.loops if loop is not inner]
        brought.insert(brought.index(outer) + 1, inner)
        program = in_new_order(program, key, brought, d)
        nest = program.nests[key]
    if LoopKind.SERIAL is not inner.kind or LoopKind.SERIAL is not outer.kind:
        refuse(d, "both loops must be serial; fuse them first, and then say how the fused loop is run.")
    (var,) = fresh_variables(nest, f"{inner.var.name}.{d.fused}")
    name = replace(inner.name, var=d.fused)
    (mx, nx), (my, ny) = (inner.bounds.min, inner.bounds.len), (outer.bounds.min, outer.bounds.len)
    reduces = tuple(dict.fromkeys((*inner.reduces, *outer.reduces)))
    bounds, said = Interval(ir.ZERO, simplify(ir.mul(nx, ny))), inner.partition or outer.partition
    fused = Loop(name, var, bounds, LoopKind.SERIAL, reduces, fused=True, partition=said)
    x = Let(inner.var, simplify(ir.add(mx, ir.mod(var, nx))), inner.bounds)
    y = Let(outer.var, simplify(ir.add(my, ir.div(var, nx))), outer.bounds)
    loops = tuple(fused if loop is inner else loop for loop in nest.loops if loop is not outer)
    row, column = ir.sub(outer.var, my), ir.sub(inner.var, mx)
    witness = Let(var, ir.add(ir.mul(row, nx), column), None)
    changed = replace(nest, loops=loops, steps=(x, y, *nest.steps), witnesses=(*nest.witnesses, witness))
    changed_program = program.with_nest(key, changed)
    countable = ir.less_equal(ir.mul(nx, ny), ir.i64(LENGTH_LIMIT))
    if simplify(countable) is ir.TRUE:
        return changed_program
    return replace(changed_program, obligations=(*program.obligations, Obligation(key.func, countable, d, key)))


def reorder(program: Program, d: Reorder) -> Program:
    """Permutes loops among the places that they have.

    Args:
        program: the program.
        d: ``vars``, the loops' new order, innermost first.

    Rewrite::

        reorder(y, x):   for y: for x: s   ->   for x: for y: s

    Legal when: each name is a loop, and reduction loops that trade places may (``reductions``).

    Raises: ScheduleError. Source: section 2.8.2 (swap).
    """
    key = stage_key(program, d)
    nest = program.nests[key]
    places = [require_loop(nest, v, d) for v in d.vars]
    loops = list(nest.loops)
    for place, source in zip(sorted(places, reverse=True), places, strict=True):
        loops[place] = nest.loops[source]
    return in_new_order(program, key, loops, d)


def traverse(program: Program, d: Traverse) -> Program:
    """Says how a loop is run.

    Args:
        program: the program.
        d: ``var`` (the loop), ``kind`` (serial, parallel, vectorized or unrolled).

    Rewrite::

        for x in (m, n): s   ->   parallel x in (m, n): s

    Legal when: any loop may be serial or unrolled; parallel and vectorized ones must be pure (definition 2.16), or
    keep iterations apart, unless updates were made atomic before, or the user allowed race conditions.
    Vectorized and unrolled loops need a constant length, which is known, and checked, after bounds inference.
    Of vectorized loops inside one another the innermost makes vectors, and the others as many of them as they are long.

    Raises: ScheduleError. Source: sections 2.8.2 and 2.8.6.
    """
    key = stage_key(program, d)
    nest = program.nests[key]
    at = require_loop(nest, d.var, d)
    loop = nest.loops[at]
    if not loop.pure and d.kind in (LoopKind.PARALLEL, LoopKind.VECTORIZED):
        program = at_once(program, key, loop, d)
        nest = program.nests[key]
    loops = (*nest.loops[:at], replace(loop, kind=d.kind), *nest.loops[at + 1 :])
    return program.with_nest(key, replace(nest, loops=loops))


def allow_races(program: Program, d: AllowRaceConditions) -> Program:
    """Takes the user's word that iterations of the stage's reduction loops never meet.

    Args:
        program: the program.
        d: the stage.

    Rewrite: none. Directives after this one may make reduction loops parallel or vectorized (``traverse``).

    Legal when: always. What it stands in for is a claim of the certificate, which is then assumed.
    """
    key = stage_key(program, d)
    return program.with_nest(key, replace(program.nests[key], waiver=d))


def rename(program: Program, d: Rename) -> Program:
    """Gives a loop another name.

    Args:
        program: the program.
        d: ``old`` (the loop), ``new``.

    Rewrite::

        for x [f.s0.x] in (m, n): s   ->   for x [f.s0.z] in (m, n): s

    Legal when: ``old`` names a loop, and no other loop of the stage has the new name (lemma 2.4).

    Raises: ScheduleError.
    """
    key = stage_key(program, d)
    nest = program.nests[key]
    at = require_loop(nest, d.old, d)
    require_new_names(nest, (d.new,), (d.old,), d)
    loop = nest.loops[at]
    loops = (*nest.loops[:at], replace(loop, name=replace(loop.name, var=d.new)), *nest.loops[at + 1 :])
    return program.with_nest(key, replace(nest, loops=loops))
