"""Memoized Funcs: what their values depend on, and whether they can be remembered.

In: a program whose Funcs have their places. Out: the program that says by which key each of them is remembered.

    g.compute_root().memoize()   ->   g's memory tells what is computed;  lowering.passes.memory.remember does the rest
"""

from __future__ import annotations

from dataclasses import replace

from halide_core.algorithm.model import Function
from halide_core.ir import LoopKind
from halide_core.loop_nest import Level, Program, Remembered, path_to
from halide_core.schedule.directives import Async
from halide_core.schedule.storage_directives import Memoize
from halide_core.scheduling.legality import refuse


def _inside(program: Program, level: Level, func: Function) -> bool:
    """True where a place is inside of a Func's loops."""
    return any(loop.name.func == func.name for loop in path_to(program, level))


def memoize(program: Program, d: Memoize) -> Program:
    """Remembers a Func's values by all that they depend on.

    Raises: ScheduleError for a Func whose memory lives outside of loops around its computation, that shares loops, has
        a thread of its own, is computed in lanes, or computes another Func whose memory lives longer; and for one
        that reads an input without a tag, or an output that leaves points undefined.
    """
    func = program.named[d.func.name]
    name, path = func.own.name, path_to(program, program.computed[func])
    if program.computed[func] != program.stored[func]:
        refuse(
            d,
            f'"{name}" is computed inside of loops that its memory lives outside of, so that each time it computes a '
            f"part: it can't be memoized. Leave store_at() and store_root() out.",
        )
    if func in program.together:
        refuse(d, f'"{name}" shares loops with another Func (compute_with), which are not left out for it alone.')
    if any(isinstance(each, Async) for each in func.directives):
        refuse(d, f'"{name}" is async_(): what another thread waits for is not left out. Leave one of both out.')
    lanes = [loop for loop in path if loop.kind is LoopKind.VECTORIZED]
    if lanes:
        refuse(
            d,
            f'"{name}" is computed inside of the vectorized loop "{program.told(lanes[0].name)}", whose lanes have one '
            f"memory between them. Compute it outside of that loop.",
        )
    for other, place in program.computed.items():
        if _inside(program, place, func) and not _inside(program, program.stored[other], func):
            told = other.own.name
            refuse(
                d,
                f'"{name}" is memoized, and "{told}" is computed inside of its loops, with memory outside: '
                f'what is left out with "{name}" is missing there. Store "{told}" where it is computed.',
            )
    key = program.algorithm.memo_keys[func.own]
    if untold := key.untold():
        read = (*key.inputs, *key.kept)[0].own.name
        refuse(
            d,
            f'"{name}" depends on {untold}, which a key can\'t hold. Tag what is read with a number that '
            f"changes when they do: hl.memoize_tag({read}[…], version).",
        )
    known = Remembered(key.words, d.eviction_key, key.tagged, d)
    return replace(program, remembered={**program.remembered, func: known})
