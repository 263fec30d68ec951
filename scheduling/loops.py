"""The loops phase (section 2.8.2): split, fuse, reorder and the traversal orders.

In: a program with holes and one directive. Out: the program with one nest rewritten; loop names stay unique
(lemma 2.4), and what a rewrite knows of the old variable stays with its let.
"""

from __future__ import annotations

from dataclasses import replace

from halide_core import ir
from halide_core.algorithm import UniqueNames
from halide_core.growth import growth
from halide_core.index import startup_index
from halide_core.ir import Access, Expr, Interval, IntImm, Let, LoopKind, Variable
from halide_core.program import LENGTH_LIMIT, Guard, Loop, Nest, Obligation, Program, StageKey, provided
from halide_core.schedule import AllowRaceConditions, Fuse, Rename, Reorder, Split, TailStrategy, Traverse
from halide_core.simplify import simplify
from halide_core.visit import subexpressions
from scheduling.legality import described, refuse, require_loop, require_new_names, stage_key

_PREDICATED = (
    TailStrategy.GuardWithIf, TailStrategy.Predicate, TailStrategy.PredicateLoads, TailStrategy.PredicateStores
)  # fmt: skip
"""Legal of every loop. What they tell apart is which memory beyond the loop's end may be touched; here it is none."""
_GUARDED = (*_PREDICATED, TailStrategy.RoundUpAndBlend)
"""Those by which iterations beyond the end do nothing. A blend would write what it found there: so it is left alone."""
_SHIFTED = (TailStrategy.ShiftInwards, TailStrategy.ShiftInwardsAndBlend)
_GUARD_CHOICES = ", ".join(f"TailStrategy.{t.value}" for t in _PREDICATED)


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

    Legal when: ``old`` names a loop, the other names are new, and the tail strategy fits. ShiftInwards repeats
    iterations, so only pure definitions take it; ShiftInwardsAndBlend leaves out those that would be repeated, and is
    for updates too. RoundUp adds iterations, which must fall outside the compute bounds: only loops over a whole
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
    if isinstance(factor, IntImm) and factor.value <= 0:
        refuse(d, f"the factor must be positive, not {factor.value}.")
    exact = _divides(factor, old.bounds.len)
    tail = _tail(d, old, exact, steered=_steers_itself(key))
    m, n = old.bounds.min, old.bounds.len
    outer_name, inner_name = (replace(old.name, var=v) for v in (d.outer, d.inner))
    outer_var, inner_var = _fresh_variables(nest, f"{old.var.name}.{d.outer}", f"{old.var.name}.{d.inner}")
    count = simplify(ir.div(ir.add(n, ir.sub(factor, ir.ONE)), factor))
    outer = Loop(outer_name, outer_var, Interval(ir.ZERO, count), old.kind, old.pure, old.fused)
    inner = Loop(inner_name, inner_var, Interval(ir.ZERO, factor), LoopKind.SERIAL, old.pure, old.fused)
    start = ir.mul(outer_var, factor)
    within: Interval | None = None
    guards: tuple[Guard, ...] = ()
    obligations: list[Obligation] = []
    if not isinstance(factor, IntImm):
        obligations.append(Obligation(key.func, ir.less(ir.ZERO, factor), d, key))
    if exact:
        within = old.bounds
    elif tail in _SHIFTED:
        start = ir.minimum(start, ir.sub(n, factor))
        within = old.bounds
        obligations.append(Obligation(key.func, ir.less_equal(factor, n), d, key))
        if tail is TailStrategy.ShiftInwardsAndBlend:
            guards = (Guard(ir.less_equal(ir.add(m, ir.mul(outer_var, factor)), old.var)),)
    elif tail in _GUARDED:
        guards = (Guard(ir.less(old.var, ir.add(m, n))),)
    step = Let(old.var, simplify(ir.add(ir.add(m, start), inner_var)), within)
    rounds = tail is TailStrategy.RoundUp and not exact
    offset = ir.sub(old.var, m)
    witnesses = (Let(outer_var, ir.div(offset, factor), None), Let(inner_var, ir.sub(offset, start), None))
    changed = Nest(
        (*nest.loops[:at], outer, inner, *nest.loops[at + 1 :]),
        (step, *guards, *nest.steps),
        nest.core,
        nest.overcomputes or rounds,
        (*nest.witnesses, *witnesses),
        nest.waiver,
    )
    return replace(program.with_nest(key, changed), obligations=(*program.obligations, *obligations))


def _fresh_variables(nest: Nest, *wanted: str) -> list[Variable]:
    """Variables for new loops. Loop names can be used again once a loop is gone; variables can't, since the let of
    the old loop keeps its own."""
    names = UniqueNames(
        [loop.var.name for loop in nest.loops] + [step.var.name for step in nest.steps if isinstance(step, Let)]
    )
    return [ir.index_variable(names.fresh(name)) for name in wanted]


def _divides(factor: Expr, length: Expr) -> bool:
    return isinstance(factor, IntImm) and isinstance(length, IntImm) and length.value % factor.value == 0


def _steers_itself(key: StageKey) -> bool:
    """Whether a stage reads its own Func in an index or a condition: there, garbage would do harm."""
    func, definition = key.func, key.func.definitions[key.stage]
    roots = [*definition.args, definition.predicate]
    if definition.domain is not None:
        roots.append(definition.domain.predicate)
    for e in subexpressions(definition.values):
        if isinstance(e, Access):
            roots.extend(e.args)
    return any(isinstance(e, Access) and e.callee is func for e in subexpressions(roots))


def _tail(d: Split, old: Loop, exact: bool, *, steered: bool) -> TailStrategy:
    """The strategy that Auto stands for, or the one asked for if it is legal."""
    grows = growth(old.bounds.len) is not None and not old.fused
    if d.tail is TailStrategy.Auto:
        if not old.pure:
            return TailStrategy.GuardWithIf
        if not grows or (d.stage > 0 and steered):
            return TailStrategy.GuardWithIf
        return TailStrategy.RoundUp if d.stage > 0 else TailStrategy.ShiftInwards
    if exact or d.tail in _PREDICATED:
        return d.tail
    if not old.pure:
        refuse(
            d,
            f'"{d.old}" is a reduction loop, and {d.tail.value} would run it on points that its RDom does not have. '
            f"The legal choices: {_GUARD_CHOICES}.",
        )
    if d.tail is TailStrategy.RoundUp and not grows:
        refuse(
            d,
            f'"{d.old}" is the inner loop of a split, or a fused loop: rounding it up would run into points that other '
            "iterations compute. The legal choice: TailStrategy.GuardWithIf, or a factor that divides its length.",
        )
    if d.tail is TailStrategy.RoundUp and steered:
        refuse(
            d,
            f'"{d.func.name}" steers itself here: an index or a condition reads it, and rounding up would let it read '
            "points that have no value. The legal choice: TailStrategy.GuardWithIf.",
        )
    if d.tail in _SHIFTED:
        if d.tail is TailStrategy.ShiftInwards and d.stage > 0:
            refuse(
                d,
                "ShiftInwards repeats iterations, and repeating an update definition can change its result. The legal "
                "choices: TailStrategy.ShiftInwardsAndBlend, TailStrategy.GuardWithIf, TailStrategy.RoundUp.",
            )
        if isinstance(old.bounds.len, IntImm):
            factor = startup_index(d.factor)
            if not isinstance(factor, IntImm) or factor.value > old.bounds.len.value:
                refuse(
                    d,
                    f'"{d.old}" takes {old.bounds.len.value} steps, fewer than the factor, so nothing can be shifted. '
                    "The legal choice: TailStrategy.GuardWithIf.",
                )
        elif growth(old.bounds.len) is None:
            refuse(
                d,
                f'the length of "{d.old}" is not one that bounds inference can raise to the factor. '
                "The legal choices: TailStrategy.GuardWithIf, TailStrategy.RoundUp.",
            )
    return d.tail


def fuse(program: Program, d: Fuse) -> Program:
    """Makes one loop of two nested ones.

    Args:
        program: the program.
        d: ``inner``, ``outer`` (the loops), ``fused`` (the new name).

    Rewrite::

        for y in (my, ny): for x in (mx, nx): s
        ->  for t in (0, nx*ny): let x = mx + t mod nx;  let y = my + t div nx;  s

    with the obligation that nx*ny is a number of int64, and so is what further splits make of it.

    Legal when: both are pure, or both are reduction loops of which ``inner`` is immediately inside ``outer``.

    Raises: ScheduleError. Source: section 2.8.2.
    """
    key = stage_key(program, d)
    nest = program.nests[key]
    i, o = require_loop(nest, d.inner, d), require_loop(nest, d.outer, d)
    inner, outer = nest.loops[i], nest.loops[o]
    require_new_names(nest, (d.fused,), (d.inner, d.outer), d)
    if i == o:
        refuse(d, "a loop can't be fused with itself.")
    if inner.pure != outer.pure:
        refuse(d, "only two pure loops or two reduction loops can be fused; reorder can bring others together.")
    if not inner.pure and i != o + 1:
        refuse(d, f'reduction loops keep their order: "{d.inner}" must be immediately inside "{d.outer}".')
    if LoopKind.SERIAL is not inner.kind or LoopKind.SERIAL is not outer.kind:
        refuse(d, "both loops must be serial; fuse them first, and then say how the fused loop is run.")
    (var,) = _fresh_variables(nest, f"{inner.var.name}.{d.fused}")
    name = replace(inner.name, var=d.fused)
    (mx, nx), (my, ny) = (inner.bounds.min, inner.bounds.len), (outer.bounds.min, outer.bounds.len)
    fused = Loop(name, var, Interval(ir.ZERO, simplify(ir.mul(nx, ny))), LoopKind.SERIAL, inner.pure, fused=True)
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

    Legal when: each name is a loop, named once, and no two reduction loops trade order (a product of swaps).

    Raises: ScheduleError. Source: section 2.8.2 (swap).
    """
    key = stage_key(program, d)
    nest = program.nests[key]
    places = [require_loop(nest, v, d) for v in d.vars]
    if len(set(places)) != len(places):
        refuse(d, "each loop can be named only once.")
    loops = list(nest.loops)
    for place, source in zip(sorted(places, reverse=True), places, strict=True):
        loops[place] = nest.loops[source]
    before = [loop for loop in nest.loops if not loop.pure]
    after = [loop for loop in loops if not loop.pure]
    if before != after:
        refuse(
            d,
            "it would change the order of reduction loops, and with it the result. "
            f"They must stay, innermost first: {described(before)}.",
        )
    return program.with_nest(key, replace(nest, loops=tuple(loops)))


def traverse(program: Program, d: Traverse) -> Program:
    """Says how a loop is run.

    Args:
        program: the program.
        d: ``var`` (the loop), ``kind`` (serial, parallel, vectorized or unrolled).

    Rewrite::

        for x in (m, n): s   ->   parallel x in (m, n): s

    Legal when: any loop may be serial or unrolled; parallel and vectorized ones must be pure (definition 2.16), unless
    updates were made atomic before, or the user allowed race conditions.
    Vectorized and unrolled loops need a constant length, which is known, and checked, after bounds inference.
    Of vectorized loops inside one another the innermost makes vectors, and the others as many of them as they are long.

    Raises: ScheduleError. Source: sections 2.8.2 and 2.8.6.
    """
    key = stage_key(program, d)
    nest = program.nests[key]
    at = require_loop(nest, d.var, d)
    loop = nest.loops[at]
    if not loop.pure and d.kind in (LoopKind.PARALLEL, LoopKind.VECTORIZED):
        if provided(nest.core).atomic:
            _check_atomic(key, d)
        elif nest.waiver is None:
            pure = described(each for each in nest.loops if each.pure)
            refuse(
                d,
                f'"{d.var}" is a reduction loop: its iterations depend on each other. The pure loops of this stage, '
                f"innermost first: {pure}. Before this line, {d.subject()}.atomic() makes iterations that meet take "
                f"turns; and where you know that no two iterations write one point, "
                f"{d.subject()}.allow_race_conditions() takes your word for it.",
            )
    loops = (*nest.loops[:at], replace(loop, kind=d.kind), *nest.loops[at + 1 :])
    return program.with_nest(key, replace(nest, loops=loops))


def _check_atomic(key: StageKey, d: Traverse) -> None:
    """Threads update one point in one step where it is one number that machines exchange as a whole."""
    types = key.func.types
    if d.kind is not LoopKind.PARALLEL:
        return
    if len(types) > 1 or types[0].is_bool() or types[0].is_narrow_float():
        what = f"{len(types)} values" if len(types) > 1 else f"a {types[0]}"
        refuse(
            d,
            f'a point of "{key.func.name}" has {what}, which no machine updates in one step between threads. The legal '
            f"choices: a vectorized loop, a pure one, or partial results by rfactor.",
        )


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
