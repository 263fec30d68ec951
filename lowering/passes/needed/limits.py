"""Limits of a loop's variable beyond which no iteration makes anything that is needed.

In: a form that is not negative in each iteration which makes something that is needed. Out: the least or the greatest
value of the variable for which that can be.

    8*x + 7 - 100              ->   12 <= x
    99 - min(8*x, m - 8)       ->   x <= select(m - 8 <= 99, last, 12)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from halide_core import ir
from halide_core.analysis.linear import Linear, linear_of, to_expr
from halide_core.analysis.simplify import Simplifier
from halide_core.ir import Binary, BinaryOp, ExprNode, Select, Variable
from halide_core.ir.types import INT64
from halide_core.ir.visitor import free_variables
from halide_core.lowering.passes.loop_shapes import threshold


@dataclass(frozen=True, slots=True)
class LoopLimit:
    """The least value of a variable, or its greatest one (``up``)."""

    at: ExprNode
    up: bool


@dataclass(frozen=True, slots=True)
class LoopEnds:
    """The variable of a loop, and the ends that it has."""

    var: Variable
    first: ExprNode
    last: ExprNode


def limits(form: Linear, loop: LoopEnds, simplifier: Simplifier) -> Iterator[LoopLimit]:
    """See the module's docstring."""
    varying = [atom for atom in form.terms if loop.var in free_variables(atom)]
    if len(varying) != 1:
        return
    (atom,) = varying
    if atom is loop.var:
        yield LoopLimit(simplifier.expr(threshold(form, loop.var)), form.terms[atom] < 0)
    elif isinstance(atom, Binary) and atom.op in (BinaryOp.MIN, BinaryOp.MAX):
        sides = [form.replacing(atom, linear_of(side)) for side in (atom.a, atom.b)]
        if (atom.op is BinaryOp.MIN) == (form.terms[atom] > 0):  # neither side is negative then
            for side in sides:
                yield from limits(side, loop, simplifier)
        else:
            yield from _of_either(sides, loop, simplifier)


def _of_either(sides: list[Linear], loop: LoopEnds, simplifier: Simplifier) -> Iterator[LoopLimit]:
    """The limits where one of two forms is not negative."""
    fixed = [side for side in sides if not any(loop.var in free_variables(atom) for atom in side.terms)]
    found = [list(limits(side, loop, simplifier)) for side in sides if side not in fixed]
    for one in found[0] if found else ():
        if fixed:
            end = loop.last if one.up else loop.first
            always = simplifier.expr(ir.less_equal(ir.ZERO, to_expr(fixed[0])))
            yield LoopLimit(simplifier.expr(Select(INT64, always, end, one.at)), one.up)
            continue
        for other in found[1]:
            if other.up is one.up:
                pick = simplifier.maximum if one.up else simplifier.minimum
                yield LoopLimit(pick(one.at, other.at), one.up)
