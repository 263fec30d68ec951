"""Prefetches: what an iteration of a loop asks for before it begins.

In: a program whose loops, labels and allocations are where they stay, and a directive. Out: the program with a
statement at the head of a loop.

    f.prefetch(g, y, y, 2):   for y: s   ->   for y: { prefetch g for y + 2, GuardWithIf; s }

Which points that is follows from bounds; no value and no bound depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from halide_core import ir
from halide_core.algorithm.model import Algorithm, Function, callees
from halide_core.analysis.index import startup_index
from halide_core.errors import IgnoredDirectiveWarning, warn_user
from halide_core.ir import Access, Callee, IntImm, LoopKind, LoopName
from halide_core.ir.memory import PrefetchBoundStrategy
from halide_core.ir.printer import format_expr
from halide_core.ir.visitor import stmt_exprs, subexpressions, walk
from halide_core.loop_nest import Loop, Obligation, Program, StageKey, path_to, stage_path
from halide_core.schedule.access_directives import Prefetch
from halide_core.schedule.directives import ComputeAt, ComputeRoot, StoreAt, StoreRoot
from halide_core.schedule.storage_directives import HoistStorage
from halide_core.scheduling.legality import (
    described,
    find_loop,
    levels_text,
    no_loop,
    pasted,
    refuse,
    require_loop,
    stage_key,
)
from halide_core.scheduling.placement import store_levels_of_every_copy


def prefetch(program: Program, d: Prefetch) -> Program:
    """Puts a prefetch at the head of a loop.

    Args:
        program: the program.
        d: ``fetched`` (a Func or an input), ``at`` and ``source`` (loops of the stage), ``offset``, ``strategy``.

    Rewrite: see the module's docstring. An offset that is not a constant leaves the obligation that it is no less
    than 0.

    Legal when: ``source`` is ``at`` or around it; ``fetched`` is of the pipeline, and its memory, where what runs in
    ``at`` reads it, lives around the loop; and neither the loop nor one around it is vectorized, since lanes have no
    beginning of their own. Where nothing in the loop reads it, or ``at`` was split away, there is nothing to ask for: a
    warning says so.

    Raises: ScheduleError, with the legal choices.
    """
    key = stage_key(program, d)
    nest = program.nests[key]
    at = find_loop(nest, d.at)
    if at is None:
        told = f"{no_loop(nest, d.at, d)} So this has no effect."
        warn_user(f"{d.own.spelled()}: {told}", IgnoredDirectiveWarning, d.location)
        return program
    source = require_loop(nest, d.source, d)
    loop = nest.loops[at]
    if source > at:
        legal = described(nest.loops[: at + 1])
        refuse(d, f'"{d.source}" is a loop inside "{d.at}", which has no iteration yet. The legal loops: {legal}.')
    around = path_to(program, loop.name)
    lanes = _lanes(around)
    if lanes is not None:
        refuse(
            d,
            f'"{lanes.name.var}" of "{program.named[lanes.name.func].own.name}" is vectorized, and "{d.at}" has '
            f"no beginning that its lanes share. The legal choices:\n{_loops_text(program, key, d) or '    none'}",
        )
    callee = _fetched(program, loop.name, d)
    if callee is None:
        return program
    if not _outlives(program, callee, around):
        assert isinstance(callee, Function)
        texts = (_memory_text(program, callee, around), _loops_text(program, key, d))
        legal = "\n".join(text for text in texts if text) or "    none"
        refuse(
            d,
            f'the memory of "{callee.own.name}" lives inside "{d.at}": when an iteration begins, there is none. '
            f"The legal choices:\n{legal}",
        )
    offset = startup_index(d.offset)
    asked = ir.PrefetchRegion(callee, nest.loops[source].var, offset, d.strategy)
    obligations = program.obligations
    if not isinstance(offset, IntImm):
        obligations = (*obligations, Obligation(key.func, ir.less_equal(ir.ZERO, offset), d, key))
    known = program.prefetches.get(loop.name, ())
    return replace(
        program, prefetches={**program.prefetches, loop.name: (*known, asked)}, obligations=obligations
    )


def _lanes(around: Sequence[Loop]) -> Loop | None:
    """The outermost of some loops that is vectorized."""
    return next((loop for loop in around if loop.kind is LoopKind.VECTORIZED), None)


def _outlives(program: Program, callee: Callee, around: Sequence[Loop]) -> bool:
    """True where memory is there when an iteration of the innermost of some loops begins."""
    if not isinstance(callee, Function) or callee in program.algorithm.outputs:
        return True
    return program.stored[callee] in (None, *(loop.name for loop in around[:-1]))


def _memory_text(program: Program, callee: Function, around: Sequence[Loop]) -> str:
    """Directives by which the memory would be there when an iteration of the innermost of some loops begins."""
    outer = (None, *(loop.name for loop in around[:-1]))
    stored = [level for level in store_levels_of_every_copy(program, callee) if level in outer]
    if stored:
        return levels_text(program, callee, StoreAt, StoreRoot, stored)
    if any(isinstance(d, StoreAt | HoistStorage) for d in callee.directives):
        return ""  # these would have to go
    return levels_text(program, callee, ComputeAt, ComputeRoot, [None])


def _loops_text(program: Program, key: StageKey, d: Prefetch) -> str:
    """The directive for each loop that it is legal of, in every case of the stage."""
    keys = [each for each in program.keys(key.func) if each.stage == key.stage]
    legal = [[loop.name.var for loop in program.nests[each].loops if _begins(program, loop, d)] for each in keys]
    loops = program.nests[key].loops
    source = require_loop(program.nests[key], d.source, d)
    plain = d.strategy is PrefetchBoundStrategy.GuardWithIf
    rest = format_expr(d.offset) + ("" if plain else f", hl.PrefetchBoundStrategy.{d.strategy.name}")
    lines = []
    for i, loop in enumerate(loops):
        if all(loop.name.var in names for names in legal):
            at, further = (pasted(each.name.var, each.reduces) for each in (loop, loops[min(i, source)]))
            call = f"prefetch({d.fetched.own.name}, {at}, {further}, {rest})"
            lines.append(f"    {d.own.subject()}.{call}")
    return "\n".join(lines)


def _begins(program: Program, loop: Loop, d: Prefetch) -> bool:
    """True where iterations of a loop can begin with it."""
    around = path_to(program, loop.name)
    callee = _named(_read_inside(program, loop.name), d)
    return callee is not None and _lanes(around) is None and _outlives(program, callee, around)


def refuse_prefetches_of_others(algorithm: Algorithm) -> None:
    """Refuses prefetches of what a pipeline neither computes nor reads, before Funcs are inlined. Of what its loops
    just do not read a prefetch does nothing; of another pipeline's Func it is a mistake.

    Raises: ScheduleError.
    """
    asked = [d for d in algorithm.directives if isinstance(d, Prefetch)]
    if not asked:
        return
    there = [*algorithm.functions, *(callee for f in algorithm.functions for callee in callees(f))]
    for d in asked:
        if _named(there, d) is None:
            name = d.fetched.own.name
            refuse(d, f'nothing reads memory of "{name}", which is no part of the pipeline.')


def _fetched(program: Program, loop: LoopName, d: Prefetch) -> Callee | None:
    """The callee that the directive names, as it is read inside a loop: a case of a specialized stage reads copies.
    None, and a warning, where nothing there reads it."""
    read = _read_inside(program, loop)
    callee = _named(read, d)
    if callee is not None:
        return callee
    name = d.fetched.own.name
    legal = ", ".join(dict.fromkeys(each.own.name for each in read)) or "none"
    inlined = isinstance(d.fetched, Function) and d.fetched not in program.algorithm.functions
    advice = f" Where it is inlined it has none, and {name}.compute_root() gives it some." if inlined else ""
    told = f'nothing in loop "{d.at}" reads memory of "{name}", so this has no effect.{advice}'
    warn_user(f"{d.own.spelled()}: {told} What is read there: {legal}.", IgnoredDirectiveWarning, d.location)
    return None


def _read_inside(program: Program, loop: LoopName) -> list[Callee]:
    """The callees that are read inside a loop."""
    read: dict[Callee, None] = {}
    for f in program.algorithm.functions:
        for key in program.keys(f):
            if any(each.name == loop for each in stage_path(program, key)):
                read.update(dict.fromkeys(_callees(program, key)))
    return list(read)


def _named(read: Sequence[Callee], d: Prefetch) -> Callee | None:
    """The callee that the directive names, among those that are read."""
    wanted = d.fetched.own
    for callee in read:
        own = callee.own
        if own is wanted or (isinstance(own, Function) and isinstance(wanted, Function) and own.name == wanted.name):
            return callee
    return None


def _callees(program: Program, key: StageKey) -> list[Callee]:
    exprs = [e for s in walk(program.nests[key].core) for e in stmt_exprs(s)]
    return [e.callee for e in subexpressions(exprs) if isinstance(e, Access)]
