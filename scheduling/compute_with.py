"""Loops of several stages in one: the outermost loops of a stage become those of a stage of another Func.

In: a program whose loops are what directives made of them, and the directives ``compute_with``. Out: the program with
these loops shared; each stage runs the iterations that it had, one after another, after those of the stage it joined.

    label f.s0: for y in Y: f[y] = …;  label g.s0: for y' in Y': g[y'] = …
    ->  label f: label g: label f.s0: for y'' in hull(Y, Y'): { if y'' in Y: { let y = y''; f[y] = … }
                                                                label g.s0: if y'' in Y': { let y' = y''; g[y'] = … } }

Stages that share loops are of Funcs none of which reads another, itself or by way of others: so neither needs what the
other one computes, and all that they read is computed before, or in these loops before both. What is computed in a
shared loop is for all the stages in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.simplify import simplify
from halide_core.errors import IgnoredDirectiveWarning, warn_user
from halide_core.ir import ExprNode, Interval, Let, LoopKind, Variable
from halide_core.ir.logic import all_of
from halide_core.ir.names import OUTERMOST
from halide_core.ir.types import INT64
from halide_core.ir.visitor import free_variables
from halide_core.loop_nest import (
    Guard,
    Joined,
    Loop,
    Nest,
    Program,
    StageKey,
    Together,
    consumers,
    level_site,
    stage_loops,
)
from halide_core.schedule.directives import ComputeAt, ComputeRoot, ComputeWith, LoopAlignStrategy
from halide_core.scheduling.legality import described, levels_text, refuse, stage_key
from halide_core.scheduling.loops import fresh_variables

# -- which Funcs are computed together


def keep_together(program: Program, directives: Sequence[ComputeWith]) -> Program:
    """The program with Funcs whose stages are to share loops next to one another in realization order.

    Raises: ScheduleError, where one of them needs another one.
    """
    group: dict[Function, list[Function]] = {}
    for d in directives:
        one, other = _own(program, d, program.named[d.func.name]), _own(program, d, _other(program, d).func)
        if one is other:
            refuse(d, f'both stages are of "{one.own.name}", whose stages run one after another.')
        joined = list(dict.fromkeys([*group.get(other, [other]), *group.get(one, [one])]))
        group.update(dict.fromkeys(joined, joined))
    if not group:
        return program
    order = _contracted(program, directives, group)
    together = {f: Together(tuple([g for g in order if g in members]), ()) for f, members in group.items()}
    return replace(program, algorithm=replace(program.algorithm, functions=tuple(order)), together=together)


def _other(program: Program, d: ComputeWith) -> StageKey:
    """The stage that another one joins."""
    func = program.named.get(d.other.name)
    if func is None:
        name = d.other.own.name
        refuse(d, f'"{name}" has no loops here: it is inlined where it is used, or no part of the pipeline.')
    if d.other_stage >= len(func.definitions):
        refuse(d, f'"{func.own.name}" has {len(func.definitions) - 1} update definitions.')
    return StageKey(func, d.other_stage)


def _own(program: Program, d: ComputeWith, func: Function) -> Function:
    copies = [f for f in program.algorithm.functions if f.own is func.own]
    if len(copies) > 1 or func.own is not func:
        refuse(
            d,
            f'"{func.own.name}" is computed anew in each of several stages that use it, so that there is no one place '
            f"for both. {func.own.name}.compute_root() has one.",
        )
    return func


def _contracted(
    program: Program, directives: Sequence[ComputeWith], group: dict[Function, list[Function]]
) -> list[Function]:
    """The Funcs, producers first, those of a group side by side."""
    readers = consumers(program)
    producers: dict[Function, list[Function]] = {f: [] for f in program.algorithm.functions}
    for f, keys in readers.items():
        for key in keys:
            producers[key.func].append(f)
    found: dict[Function, None] = {}
    open_groups: list[Function] = []

    def visit(f: Function) -> None:
        if f in found:
            return
        members = sorted(group.get(f, [f]), key=program.algorithm.functions.index)
        if members[0] in open_groups:
            cycle = [g.own.name for g in open_groups[open_groups.index(members[0]) :]]
            at = [d for d in directives if _other(program, d).func in group.get(f, ())][-1]
            names = " and ".join(f'"{g.own.name}"' for g in members)
            by = f", by way of {', '.join(cycle[1:])}" if len(cycle) > 1 else ""
            refuse(
                at,
                f"one of {names} needs what another one computes{by}: all of that must be computed before. "
                f"A producer goes into a loop of its consumer by compute_at.",
            )
        open_groups.append(members[0])
        for g in members:
            for p in producers[g]:
                visit(p)
        open_groups.pop()
        found.update(dict.fromkeys(members))

    for f in program.algorithm.functions:
        visit(f)
    return list(found)


# -- how their loops become one


def join_all(program: Program, directives: Sequence[ComputeWith]) -> Program:
    """Joins the stages of one group of Funcs, all of which have their place."""
    funcs = program.beside(program.named[directives[0].func.name])
    # What a specialization that was made later has of its stage, the stage has for all its cases.
    told = [replace(d, branch=d.given_to, given_to=None) if d.given_to is not None else d for d in directives]
    waiting = list({stage_key(program, d): d for d in told}.values())  # of one stage the last call counts
    while waiting:
        begun = {stage_key(program, d) for d in waiting}
        ready = [d for d in waiting if _other(program, d) not in begun]
        if not ready:
            refuse(waiting[0], "stages are to run in each other's loops in a circle.")
        for d in ready:
            program = join(program, d)
        waiting = [d for d in waiting if d not in ready]
    for loop, position in _shared_loops(program, funcs).items():
        program = _over_all(program, loop, position)
    together = Together(funcs, _in_order(program, funcs, directives[-1]))
    return replace(program, together={**program.together, **dict.fromkeys(funcs, together)})


def _in_order(program: Program, funcs: Sequence[Function], d: ComputeWith) -> tuple[StageKey, ...]:
    """The stages with loops of their own, so that each Func's come one after another, those that joined one with it."""
    at: dict[StageKey, StageKey] = {}
    for f in funcs:
        for stage in program.stages(f):
            root = key = StageKey(f, stage)
            while root in program.joined:
                root = level_site(program, program.joined[root].level).key
            at[key] = root
    found: list[StageKey] = []
    rest = list(dict.fromkeys(at.values()))
    done: set[StageKey] = set()
    while rest:
        for root in rest:
            stages = [key for key, r in at.items() if r is root or r == root]
            if all(key.stage == 0 or StageKey(key.func, key.stage - 1) in done for key in stages):
                break
        else:
            refuse(d, "stages would run before earlier stages of the same Func: these must be joined in their order.")
        rest.remove(root)
        found.append(root)
        done.update(stages)
    return tuple(found)


def join(program: Program, d: ComputeWith) -> Program:
    """Makes the outermost loops of a stage those of another one.

    Args:
        program: the program, with every loop and both Funcs' places as they stay.
        d: the stage, ``other`` and ``other_stage`` (the one that it joins), ``var`` (the innermost shared loop, by the
            name that the other one has for it; ``Var.outermost()`` for none), ``aligned`` (the loops that are moved to
            begin, or to end, with the other one's).

    Rewrite: see the module's docstring.

    Legal when: no Func of the two reads the other; both are computed at one place; the loops of the two, down to that
    one, are alike: serial, parallel, unrolled or vectorized, over dimensions or over reduction variables. Loops that
    are vectorized, and those inside of them, are each stage's own all the same: lanes have no order that sharing could
    change. So are the loops of a specialized stage, whose cases have these loops each for itself: a warning says so.

    Raises: ScheduleError. Source: Halide's directive of this name.
    """
    key, other = _shown(program, stage_key(program, d)), _shown(program, _other(program, d))
    _check_place(program, d, key, other)
    theirs, mine = stage_loops(program, other), program.nests[key].loops
    names = _names(program, other)
    if d.var == OUTERMOST:  # next to one another, and that is all
        return program
    if d.var not in names or theirs[names.index(d.var)].kind is LoopKind.AT_ONCE:
        where = f'stage {other.stage} of "{other.func.own.name}"'
        refuse(d, f'{where} has no loop "{d.var}". Its loops, innermost first: {described(theirs)}.')
    count = names.index(d.var) + 1
    _check_alike(program, d, key, theirs[:count], mine[:count])
    if _is_by_cases(program, d, (key, other), [loop.name.var for loop in theirs[:count]]):
        return program
    lanes = [at for at, loop in enumerate(theirs[:count]) if loop.kind is LoopKind.VECTORIZED]
    count = min([count, *lanes])
    if count == 0:
        _warn(d, f'"{d.var}" is vectorized and no loop is around it')
        return program
    for position in range(count):
        program = _shared(program, other, position)
    nest, ranges = program.nests[key], program.nests[other].ranges
    both_run = all_of((_runs(nest), _runs(program.nests[other])))
    strategies = dict(d.aligned)
    steps: list[Let | Guard] = []
    witnesses: list[Let] = []
    own: list[Interval] = []
    for loop, common, over, name in zip(mine[:count], stage_loops(program, other), ranges, names, strict=False):
        shift = _where(both_run, _shift(strategies.get(name, LoopAlignStrategy.Auto), loop.bounds, over), ir.ZERO)
        at = Interval(simplify(ir.sub(loop.bounds.min, shift)), loop.bounds.len)
        own.append(at)
        steps += _own_iterations(common.var, at, Let(loop.var, simplify(ir.add(common.var, shift)), loop.bounds))
        witnesses.append(Let(common.var, simplify(ir.sub(loop.var, shift)), None))
    changed = replace(
        nest, loops=nest.loops[count:], steps=(*steps, *nest.steps), witnesses=(*nest.witnesses, *witnesses),
        ranges=tuple(own),
    )  # fmt: skip
    level = stage_loops(program, other)[count - 1].name
    joined = Joined(level, tuple([loop.name.var for loop in mine[:count]]))
    return replace(program.with_nest(key, changed), joined={**program.joined, key: joined})


def _shown(program: Program, key: StageKey) -> StageKey:
    """The general case of a stage, or the first one, where every run of that one fails."""
    cases = [c.number for c in program.cases(key.func, key.stage) if not c.fails]
    return key if key.specialization in cases or not cases else key._replace(specialization=cases[0])


def _names(program: Program, key: StageKey) -> list[str]:
    """A stage's own names of its loops, outermost first."""
    joined = program.joined.get(key)
    return [*(joined.names if joined else ()), *(loop.name.var for loop in program.nests[key].loops)]


def _check_place(program: Program, d: ComputeWith, key: StageKey, other: StageKey) -> None:
    for each in (key, other):
        if each.func.extern is not None:
            refuse(d, f'"{each.func.own.name}" is an extern stage, which has no loops.')
    if d.branch.number:
        refuse(d, "a specialization has no loops of its own to share. Say this of the stage.")
    here, there = program.computed[key.func], program.computed[other.func]
    if here != there:
        one, two = (f'"{f.func.own.name}" is computed {_told(program, at)}' for f, at in ((key, here), (other, there)))
        legal = levels_text(program, key.func, ComputeAt, ComputeRoot, [there])
        refuse(d, f"{one}, and {two}. Both must be computed at one place, for example:\n{legal}")


def _told(program: Program, level: ir.LoopName | None) -> str:
    return "at the root" if level is None else f"inside {program.told(level)}"


def _check_alike(program: Program, d: ComputeWith, key: StageKey, theirs: Sequence[Loop], mine: Sequence[Loop]) -> None:
    if key in program.joined:
        refuse(d, "the stage is in the loops of another one already.")
    for position, loop in enumerate(theirs):
        legal = f"Its loops, innermost first: {described(program.nests[key].loops)}."
        if position >= len(mine):
            refuse(d, f'stage {key.stage} of "{key.func.own.name}" has no loop to go with "{loop.name.var}". {legal}')
        one = mine[position]
        if loop.kind is not one.kind:
            refuse(
                d,
                f'"{loop.name.var}" is {_kind(loop)} and the loop "{one.name.var}" that would be the same one is '
                f"{_kind(one)}: say of both how they are run.",
            )
        if loop.kind is LoopKind.PARALLEL and not (loop.pure and one.pure):
            refuse(d, f'"{loop.name.var}" is a parallel reduction loop, which other stages can\'t share.')


def _is_by_cases(program: Program, d: ComputeWith, keys: Sequence[StageKey], names: Sequence[str]) -> bool:
    """True where a stage is specialized, so that its loops stay its own; each case must have those that are named."""
    for key in keys:
        cases = [case.number for case in program.cases(key.func, key.stage) if not case.fails]
        if cases == [0]:
            continue
        here = f'stage {key.stage} of "{key.func.own.name}" is specialized'
        outer = [program.nests[key._replace(specialization=number)].loops[: len(names)] for number in cases]
        if len({tuple([(loop.name.var, loop.kind) for loop in loops]) for loops in outer}) > 1:
            refuse(d, f"{here}, and not every case of it has the loops {', '.join(names)} outermost and alike.")
        _warn(d, here)
        return True
    return False


def _warn(d: ComputeWith, why: str) -> None:
    told = f"{why}, so no loop is shared: both stages run one after another, each in loops of its own."
    warn_user(f"{d.spelled()}: {told}", IgnoredDirectiveWarning, d.location)


def _kind(loop: Loop) -> str:
    return loop.kind.name.lower()


def _own_iterations(var: ExprNode, own: Interval, let: Let) -> tuple[Let | Guard, ...]:
    """The guards by which a stage runs its own iterations of a shared loop, and its own variable inside."""
    return Guard(ir.less_equal(own.min, var)), Guard(ir.less(var, ir.add(own.min, own.len))), let


_STEPS = 3
"""The number of the steps above, which a stage has for each loop that it shares."""


def _shift(strategy: LoopAlignStrategy, own: Interval, other: Interval) -> ExprNode:
    """The offset of a stage's own variable from that of the shared loop."""
    match strategy:
        case LoopAlignStrategy.AlignStart:
            return simplify(ir.sub(own.min, other.min))
        case LoopAlignStrategy.AlignEnd:
            return simplify(ir.sub(ir.add(own.min, own.len), ir.add(other.min, other.len)))
    return ir.ZERO


def _shared(program: Program, key: StageKey, position: int) -> Program:
    """The program in which a loop of a stage may be others' too: the stage has its own variable in a let."""
    joined, nest = program.joined.get(key), program.nests[key]
    at = position - (len(joined.names) if joined else 0)
    if at < nest.shared:
        return program
    loop = nest.loops[at]
    (var,) = fresh_variables(nest, f"{loop.var.name}.all")
    assert isinstance(var, Variable)
    steps = _own_iterations(var, loop.bounds, Let(loop.var, var, loop.bounds))
    before = _STEPS * len(nest.ranges)
    changed = replace(
        nest,
        loops=(*nest.loops[:at], replace(loop, var=var), *nest.loops[at + 1 :]),
        steps=(*nest.steps[:before], *steps, *nest.steps[before:]),
        witnesses=(*nest.witnesses, Let(var, loop.var, None)),
        shared=at + 1,
        ranges=(*nest.ranges, loop.bounds),
    )
    return program.with_nest(key, changed)


def _shared_loops(program: Program, funcs: Sequence[Function]) -> dict[Loop, int]:
    """The loops that stages of some Funcs share, each with how many others are around it there."""
    return {
        stage_loops(program, key)[position]: position
        for key, nest in program.nests.items()
        if key.func in funcs
        for position in range(len(nest.ranges))
    }


def _over_all(program: Program, loop: Loop, position: int) -> Program:
    """The program in which a shared loop has the iterations of all its stages that have points.

    A stage without points may have a long range of one dimension all the same, and what its window says of where it
    begins is nothing that start-up checks: of such a stage, the loop has none, at a place where another stage has some.
    """
    parts = {
        each: (_runs(nest), nest.ranges[position])
        for each, nest in program.nests.items()
        if position < len(nest.ranges) and stage_loops(program, each)[position] is loop
    }
    _, one = next(iter(parts.values()))
    if all(own.min is one.min and own.len is one.len for _, own in parts.values()):
        return program
    named: list[Let] = []
    ranges: list[Interval] = []
    for each, (runs, own) in parts.items():
        over = own
        if runs is not ir.TRUE:
            others = [parts[other] for other in parts if other is not each]
            elsewhere = reduce(lambda start, part: _where(part[0], part[1].min, start), others, ir.ZERO)
            first, count = _named(program.nests[each], position)
            named.append(Let(first, _where(runs, own.min, elsewhere), None))
            named.append(Let(count, _where(runs, own.len, ir.ZERO), None))
            over = Interval(first, count)
        ranges.append(over)
        program = program.with_nest(each, _inside(program.nests[each], position, loop.var, over))
    low = reduce(ir.minimum, [over.min for over in ranges])
    end = reduce(ir.maximum, [ir.add(over.min, over.len) for over in ranges])
    bounds = Interval(simplify(low), simplify(ir.sub(end, low)))
    owner = level_site(program, loop.name).key
    nest = program.nests[owner]
    loops = tuple([replace(each, bounds=bounds) if each is loop else each for each in nest.loops])
    return program.with_nest(owner, replace(nest, loops=loops, steps=(*nest.steps, *named)))


def _named(nest: Nest, position: int) -> list[Variable]:
    """Names for where a stage's iterations of a shared loop begin, and for how many there are."""
    let = nest.steps[position * _STEPS + _STEPS - 1]
    assert isinstance(let, Let)
    return fresh_variables(nest, f"{let.var.name}.first", f"{let.var.name}.count")


def _inside(nest: Nest, position: int, var: Variable, own: Interval) -> Nest:
    """The nest of a stage that runs its iterations of a shared loop in a part of that one."""
    at = position * _STEPS
    let = nest.steps[at + _STEPS - 1]
    assert isinstance(let, Let)
    shift = ir.sub(let.value, var)
    steps = _own_iterations(var, own, replace(let, within=Interval(simplify(ir.add(own.min, shift)), own.len)))
    return replace(nest, steps=(*nest.steps[:at], *steps, *nest.steps[at + _STEPS :]))


def _runs(nest: Nest) -> ExprNode:
    """The condition on which the loops of a stage have iterations, as far as no variable decides it."""
    own = [*nest.ranges, *(loop.bounds for loop in nest.loops[nest.shared :])]
    lengths = dict.fromkeys(each.len for each in own)
    return all_of(simplify(ir.less(ir.ZERO, each)) for each in lengths if not free_variables(each))


def _where(condition: ExprNode, one: ExprNode, other: ExprNode) -> ExprNode:
    return simplify(ir.Select(INT64, condition, one, other))
