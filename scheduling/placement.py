"""The compute and storage phases (sections 2.8.3 and 2.8.4): where a Func is computed, and where its memory lives.

In: a program and one directive. Out: the program with one label, or one allocation, moved; it still dominates
every use (lemma 2.5).

    g.compute_at(f, xo):   label g: …; label f: for xo: s   ->   label f: for xo: { label g: …; s }
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.ir import LoopKind, LoopName
from halide_core.ir.names import OUTERMOST
from halide_core.ir.printer import format_expr
from halide_core.loop_nest import Hoisting, Level, Loop, Program, StageKey, consumers, path_to, stage_loops, stage_path
from halide_core.schedule.directives import AtLevel, ComputeAt, ComputeRoot, Directive, StoreAt, StoreRoot
from halide_core.schedule.storage_directives import FoldStorage, HoistStorage, HoistStorageRoot
from halide_core.scheduling.legality import levels_text, refuse, require_dimension, require_own_memory

Uses = dict[Function, list[StageKey]]


def uses(program: Program) -> Uses:
    """The stages that read each Func; the loops and compute phases leave this as it is."""
    return consumers(program)


def common_path(program: Program, stages: list[StageKey]) -> tuple[Loop, ...]:
    """The loops around every one of some stages, outermost first."""
    common: tuple[Loop, ...] | None = None
    for key in stages:
        path = stage_path(program, key)
        if common is None:
            common = path
        else:
            same = 0
            while same < min(len(common), len(path)) and common[same].name == path[same].name:
                same += 1
            common = common[:same]
    return common or ()


def legal_compute_levels(program: Program, func: Function, readers: list[StageKey]) -> list[Level]:
    """Every level at which a Func's label dominates its uses, outermost first."""
    return [None, *(loop.name for loop in common_path(program, readers) if loop.kind is not LoopKind.AT_ONCE)]


def compute_at(program: Program, d: ComputeAt, readers: list[StageKey]) -> Program:
    """Moves a Func's label to just inside a loop of a consumer.

    Args:
        program: the program.
        d: ``consumer`` and ``var``, which name the loop.
        readers: the stages that read the Func.

    Rewrite: see the module's docstring. ``Var.outermost()`` is the place that the consumer itself is computed in.

    Legal when: every use of the Func is inside the loop (lemma 2.5). Of an output it has no effect.

    Raises: ScheduleError, with the legal levels. Source: section 2.8.3.
    """
    func = program.named[d.func.name]
    levels = legal_compute_levels(program, func, readers)
    for level in reversed(levels):
        if _is(program, level, d):
            return replace(program, computed={**program.computed, func: level})
    every = uses(program)
    legal = _in_every_copy(program, func, lambda copy: legal_compute_levels(program, copy, every[copy]))
    name = func.own.name
    refuse(
        d,
        f"{_missed(program, name, d)} The legal levels:\n"
        f"{levels_text(program, func, ComputeAt, ComputeRoot, legal)}\n"
        f'"{name}" is used in:\n{_uses_text(program, [key for copy in _copies(program, func) for key in every[copy]])}',
    )


def _missed(program: Program, name: str, d: ComputeAt) -> str:
    """Why a place is no level."""
    consumer = d.consumer.own.name
    if d.consumer.name not in program.named:
        return f'"{consumer}" has no loops here: it is inlined where it is used, or no part of the pipeline.'
    if d.var == OUTERMOST:
        return f'not every use of "{name}" is where "{consumer}" is computed.'
    of = f'"{consumer}"' if d.stage < 0 else f'stage {d.stage} of "{consumer}"'
    return f'not every use of "{name}" is inside a loop "{d.var}" of {of}.'


def _in_every_copy(program: Program, func: Function, legal: Callable[[Function], list[Level]]) -> list[Level]:
    """Those of a Func's legal levels whose loops are around its copies too: one directive speaks of them all."""
    levels = legal(func)
    for other in _copies(program, func):
        theirs = [_loop_as_written(program, level) for level in legal(other)]
        levels = [level for level in levels if _loop_as_written(program, level) in theirs]
    return levels


def _copies(program: Program, func: Function) -> list[Function]:
    """The Funcs of a program that are the user's one Func: it, and its copies."""
    return [other for other in program.algorithm.functions if other.own is func.own]


def _loop_as_written(program: Program, level: Level) -> tuple[Function, str] | None:
    return None if level is None else (program.named[level.func].own, level.var)


def _uses_text(program: Program, readers: list[StageKey]) -> str:
    lines = []
    for key in readers:
        around = " > ".join(program.told(loop.name) for loop in stage_path(program, key))
        when = program.taken(key)
        case = "" if when is ir.TRUE else f" where {format_expr(when)}"
        lines.append(f"    {key.func.own.name}.s{key.stage}{case}: {around or 'no loop'}")
    return "\n".join(lines)


def compute_root(program: Program, d: ComputeRoot) -> Program:
    """Moves a Func's label to the top: always legal."""
    func = program.named[d.func.name]
    return replace(program, computed={**program.computed, func: None})


def compute_where_used(program: Program, func: Function, readers: list[StageKey]) -> Program:
    """A Func that can't be inlined and has no directive: its label goes to the innermost legal loop."""
    level = legal_compute_levels(program, func, readers)[-1]
    return replace(program, computed={**program.computed, func: level})


def legal_store_levels(program: Program, func: Function) -> list[Level]:
    """Every level at which a Func's allocation may stand, outermost first: around its label, with no parallel
    or vectorized loop between them, since the iterations of such a loop would share the memory."""
    path = path_to(program, program.computed[func])
    levels: list[Level] = [None]
    for loop in path:
        if loop.kind in (LoopKind.PARALLEL, LoopKind.VECTORIZED):
            levels = []
        levels.append(loop.name)
    return levels


def store_at(program: Program, d: StoreAt) -> Program:
    """Moves a Func's allocation to just inside a loop around its label.

    Args:
        program: the program.
        d: ``consumer`` and ``var``, which name the loop.

    Rewrite::

        allocate g(…); for y: for x: { label g: …; s }   ->   for y: { allocate g(…); for x: { label g: …; s } }

    Legal when: the loop is around the label (lemma 2.5), and no loop from it down to the label is parallel or
    vectorized.

    Raises: ScheduleError, with the legal levels. Source: section 2.8.4.
    """
    require_own_memory(program, program.named[d.func.name], d)
    return _store(program, d)


def store_root(program: Program, d: StoreRoot) -> Program:
    """Moves a Func's allocation to the top; legal as in ``store_at``, and of an output, which stays where it is."""
    return _store(program, d)


def _store(program: Program, d: StoreAt | StoreRoot) -> Program:
    func = program.named[d.func.name]
    for level in legal_store_levels(program, func):
        if _is(program, level, d):
            return replace(program, stored={**program.stored, func: level})
    name, legal = func.own.name, store_levels_of_every_copy(program, func)
    refuse(
        d,
        f'the memory of "{name}" can\'t live there: its level must be a loop around the place where "{name}" is '
        f"computed, and no loop between the two may be parallel or vectorized. The legal levels:\n"
        f"{levels_text(program, func, StoreAt, StoreRoot, legal)}",
    )


def store_levels_of_every_copy(program: Program, func: Function) -> list[Level]:
    """The legal levels of a Func's memory, as far as its copies for other cases have them too."""
    return _in_every_copy(program, func, lambda copy: legal_store_levels(program, copy))


def legal_hoist_levels(program: Program, func: Function) -> list[Level]:
    """Every level at which a Func's memory may be allocated, outermost first: around the place where it lives, with no
    loop between them whose iterations would share it, or that is written out."""
    levels: list[Level] = [None]
    for loop in path_to(program, program.stored[func]):
        if loop.kind is not LoopKind.SERIAL:
            levels = []
        if loop.kind is not LoopKind.UNROLLED:
            levels.append(loop.name)
    return levels


def hoist_storage(program: Program, func: Function, d: HoistStorage | HoistStorageRoot) -> Program:
    """Allocates a Func's memory further out than it lives.

    Args:
        program: the program, its allocations where they stay.
        func: the Func, or a case's copy of it.
        d: names the loop, or none.

    Rewrite::

        for y: for x: { allocate g(…); s }   ->   for y: { allocate g(…), as large as the largest; for x: s }

    Legal when: the loop is around the allocation, and no loop from it down to there is parallel, vectorized or
    unrolled. That the size has a bound is for lowering to find.

    Raises: ScheduleError, with the legal levels.
    """
    if isinstance(d, HoistStorage) and d.consumer.name == func.name:  # hl.LoopLevel.inlined(): where it lives
        return program
    for level in legal_hoist_levels(program, func):
        if _is(program, level, d):
            names = [loop.name for loop in path_to(program, program.stored[func])]
            around = () if level is None else tuple(names[: names.index(level) + 1])
            return replace(program, hoisted={**program.hoisted, func: Hoisting(around, d)})
    legal = _in_every_copy(program, func, lambda copy: legal_hoist_levels(program, copy))
    refuse(
        d,
        f'the memory of "{func.own.name}" can\'t be allocated there: the level must be a loop around the place '
        f"where it lives, and no loop between the two may be parallel, vectorized or unrolled. The legal levels:\n"
        f"{levels_text(program, func, HoistStorage, HoistStorageRoot, legal)}",
    )


def _is(program: Program, level: Level, d: Directive) -> bool:
    """True where a level is the one that a directive names."""
    if not isinstance(d, AtLevel):
        return level is None
    if d.var == OUTERMOST:
        around = program.named.get(d.consumer.name)
        return around is not None and level == program.computed[around]
    if level is None:
        return False
    own = level.func == d.consumer.name and level.var == d.var and d.stage in (-1, level.stage)
    return own or level in _shared(program, d)


def _shared(program: Program, d: AtLevel) -> Iterator[LoopName]:
    """The loops of other stages that stages of the consumer run in, by the name that these have for them."""
    for key, joined in program.joined.items():
        if key.func.name == d.consumer.name and d.stage in (-1, key.stage) and d.var in joined.names:
            yield stage_loops(program, key)[joined.names.index(d.var)].name


def store_where_computed(program: Program, func: Function) -> Program:
    """A Func without a storage directive lives where it is computed."""
    return replace(program, stored={**program.stored, func: program.computed[func]})


def fold_storage(program: Program, func: Function, d: FoldStorage) -> Program:
    """Asks for a number of slots in one dimension of a Func's memory.

    Args:
        program: the program.
        func: the Func, or a case's copy of it.
        d: ``var``, one of its dimensions, and ``extent``.

    Rewrite::

        allocate g(…)   ->   allocate g(…) folding y by k

    Legal when: the Func has the dimension; that points that count at one time have slots of their
    own is for bounds inference to prove, or to check at start-up.

    Raises: ScheduleError.
    """
    require_dimension(func, d.var, d)
    kept = [(f, other) for f, other in program.folded if f is not func or other.var != d.var]
    return replace(program, folded=(*kept, (func, d)))
