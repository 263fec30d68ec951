"""The bounds phase (section 2.8.5): what the user promises of a Func's compute bounds.

In: a program and one directive. Out: the program with obligations on cpu holes; bounds inference makes its answers
meet them, and checks at start-up that what is needed lies inside.

    f.bound(c, 0, 3)        ->   assert ?cpu f.c.min == 0;  assert ?cpu f.c.len == 3
    f.align_bounds(x, 8)    ->   assert ?cpu f.x.min % 8 == 0;  assert ?cpu f.x.len % 8 == 0
"""

from __future__ import annotations

from dataclasses import replace

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.index import startup_index
from halide_core.analysis.simplify import simplify
from halide_core.loop_nest import Obligation, Program, cpu_box
from halide_core.schedule.directives import AlignBounds, Bound
from halide_core.scheduling.legality import refuse, require_dimension


def bound(program: Program, d: Bound) -> Program:
    """Sets the compute bounds of one dimension of a Func's last stage.

    Args:
        program: the program.
        d: ``var`` (a pure variable of the Func), ``min`` (None to leave it open) and ``extent``, which is
            positive where it is a constant.

    Rewrite: see the module's docstring.

    Legal when: the Func has the variable, and the dimension is bounded once.

    Raises: ScheduleError. Source: section 2.8.5.
    """
    func = program.named[d.func.name]
    dim = require_dimension(func, d.var, d)
    _require_first(program, func, d, "bounded")
    extent = simplify(startup_index(d.extent))
    hole = cpu_box(func, len(func.definitions) - 1)[dim]
    asked = [Obligation(func, ir.equal(hole.len, extent), d)]
    if d.min is not None:
        asked.insert(0, Obligation(func, ir.equal(hole.min, simplify(startup_index(d.min))), d))
    return replace(program, obligations=(*program.obligations, *asked))


def align(program: Program, d: AlignBounds) -> Program:
    """Makes the compute bounds of one dimension of a Func's last stage fall on multiples.

    Args:
        program: the program.
        d: ``var`` (a pure variable of the Func), ``modulus``, and ``remainder`` (None to leave the minimum as it is).

    Rewrite: see the module's docstring; a modulus that is no constant must be positive, which start-up checks.

    Legal when: the Func has the variable, and the dimension is aligned once.

    Raises: ScheduleError. Source: section 2.8.5.
    """
    func = program.named[d.func.name]
    dim = require_dimension(func, d.var, d)
    _require_first(program, func, d, "aligned")
    modulus = simplify(startup_index(d.modulus))
    hole = cpu_box(func, len(func.definitions) - 1)[dim]
    asked = []
    if not isinstance(modulus, ir.IntImm):
        asked.append(Obligation(func, ir.less(ir.ZERO, modulus), d))
    if d.remainder is not None:
        given = startup_index(d.remainder)
        rest = ir.ZERO if given is ir.ZERO else simplify(ir.mod(given, modulus))
        asked.append(Obligation(func, ir.equal(ir.mod(hole.min, modulus), rest), d))
    asked.append(Obligation(func, ir.equal(ir.mod(hole.len, modulus), ir.ZERO), d))
    return replace(program, obligations=(*program.obligations, *asked))


def _require_first(program: Program, func: Function, d: Bound | AlignBounds, done: str) -> None:
    """Of two that speak of one dimension an answer could heed one only."""
    for o in program.obligations:
        if o.func is func and isinstance(o.directive, type(d)) and d.var in o.directive.variables():
            refuse(d, f'"{d.var}" is {done} already, by {o.directive.spelled()}. Keep one of the two.')
