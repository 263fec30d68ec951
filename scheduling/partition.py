"""Partitioning of loops into a head, a steady part and a tail: a mark, which the pass of that name heeds.

In: a program and one directive. Out: the program with loops that have the mark.

    f.partition(x, Partition.Never):   for x in (0, n): f[x] = g[max(x - 1, 0)]   stays one loop
"""

from __future__ import annotations

from dataclasses import replace

from halide_core.loop_nest import Program
from halide_core.schedule.access_directives import PartitionLoop
from halide_core.scheduling.legality import require_loop, stage_key


def partition(program: Program, d: PartitionLoop) -> Program:
    """Marks a loop, or all that the stage has by now.

    Args:
        program: the program.
        d: ``var`` (the loop, or None), ``policy``.

    Rewrite: none here. What a split makes of the loop has the mark too, and so has what it is fused into; a later
    directive about a loop is the one that counts.

    Legal when: the stage has the loop.

    Raises: ScheduleError.
    """
    key = stage_key(program, d)
    nest = program.nests[key]
    at = None if d.var is None else require_loop(nest, d.var, d)
    loops = [replace(each, partition=d) if at in (None, i) else each for i, each in enumerate(nest.loops)]
    return program.with_nest(key, replace(nest, loops=tuple(loops)))
