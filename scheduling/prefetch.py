"""Prefetches: what an iteration of a loop asks for before it begins.

In: a program whose loops, labels and allocations are where they stay, and a directive. Out: the program with a
statement at the head of a loop.

    f.prefetch(g, y, y, 2):   for y: s   ->   for y: { prefetch g for y + 2, GuardWithIf; s }

Which points that is follows from bounds; no value and no bound depends on it.
"""

from __future__ import annotations

from dataclasses import replace

from halide_core import ir
from halide_core.algorithm import Function
from halide_core.index import startup_index
from halide_core.ir import Access, Callee, IntImm, LoopKind, LoopName
from halide_core.program import Obligation, Program, StageKey, path_to, stage_path
from halide_core.schedule_stages import Prefetch
from halide_core.visit import stmt_exprs, subexpressions, walk
from scheduling.legality import described, refuse, require_loop, stage_key, users_own


def prefetch(program: Program, d: Prefetch) -> Program:
    """Puts a prefetch at the head of a loop.

    Args:
        program: the program.
        d: ``fetched`` (a Func or an input), ``at`` and ``source`` (loops of the stage), ``offset``, ``strategy``.

    Rewrite: see the module's docstring. An offset that is not a constant leaves the obligation that it is no less
    than 0.

    Legal when: ``source`` is ``at`` or around it; what runs in ``at`` reads ``fetched``, whose memory lives around the
    loop; and neither the loop nor one around it is vectorized, since lanes have no beginning of their own.

    Raises: ScheduleError, with the legal choices.
    """
    key = stage_key(program, d)
    nest = program.nests[key]
    at, source = require_loop(nest, d.at, d), require_loop(nest, d.source, d)
    loop = nest.loops[at]
    if source > at:
        legal = described(nest.loops[: at + 1])
        refuse(d, f'"{d.source}" is a loop inside "{d.at}", which has no iteration yet. The legal loops: {legal}.')
    around = path_to(program, loop.name)
    if any(each.kind is LoopKind.VECTORIZED for each in around):
        lanes = next(each for each in around if each.kind is LoopKind.VECTORIZED)
        refuse(
            d,
            f'"{lanes.name.var}" of "{users_own(program.named[lanes.name.func]).name}" is vectorized, and "{d.at}" has '
            f"no beginning that its lanes share. The legal choice: a loop around it.",
        )
    callee = _fetched(program, loop.name, d)
    if isinstance(callee, Function) and callee not in program.algorithm.outputs:
        lives = program.stored[callee]
        if lives == loop.name or lives not in (None, *(each.name for each in around)):
            inner = [each for each in nest.loops if each.kind is not LoopKind.VECTORIZED]
            refuse(
                d,
                f'the memory of "{users_own(callee).name}" lives inside "{d.at}": when an iteration begins, there is '
                f"none. The legal choices: {users_own(callee).name}.store_root(), or a loop of "
                f'"{users_own(key.func).name}" that this memory is around; its loops, innermost first: '
                f"{described(inner)}.",
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


def _fetched(program: Program, loop: LoopName, d: Prefetch) -> Callee:
    """What the directive names, as it is read inside a loop: a case of a specialized stage reads copies."""
    wanted = users_own(d.fetched) if isinstance(d.fetched, Function) else d.fetched
    read: dict[Callee, None] = {}
    for f in program.algorithm.functions:
        for key in program.keys(f):
            if any(each.name == loop for each in stage_path(program, key)):
                read.update(dict.fromkeys(_callees(program, key)))
    for callee in read:
        own = users_own(callee) if isinstance(callee, Function) else callee
        if own is wanted or (isinstance(own, Function) and isinstance(wanted, Function) and own.name == wanted.name):
            return callee
    legal = ", ".join(dict.fromkeys(users_own(c).name if isinstance(c, Function) else c.name for c in read)) or "none"
    refuse(
        d,
        f'nothing in loop "{d.at}" reads memory of "{d.fetched.name}"; a Func that is inlined has none. What is read '
        f"there: {legal}.",
    )


def _callees(program: Program, key: StageKey) -> list[Callee]:
    exprs = [e for s in walk(program.nests[key].core) for e in stmt_exprs(s)]
    return [e.callee for e in subexpressions(exprs) if isinstance(e, Access)]
