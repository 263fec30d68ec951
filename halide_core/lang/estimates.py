"""Estimates of the values of inputs and outputs, for tools that choose schedules.

In: an input, or an output. Out: expressions, undefined where nothing was noted.

    estimates_of(Parameter n, n.set_estimate(100))   ->   scalar_estimate = 100
"""

from __future__ import annotations

from dataclasses import dataclass

from halide_core import ir
from halide_core.algorithm.model import Function, Image, ScalarParam
from halide_core.lang.arguments.ranges import Range
from halide_core.lang.expr import Expr
from halide_core.schedule.directives import Estimate


@dataclass(frozen=True, slots=True)
class ArgumentEstimates:
    """Estimates of an argument's values; one that was not given is undefined, or an empty list."""

    scalar_def: Expr
    scalar_min: Expr
    scalar_max: Expr
    scalar_estimate: Expr
    buffer_estimates: list[Range]


def expected(buffer: Image | Function, dim: int) -> tuple[Expr, Expr]:
    """The least coordinate and the extent that are expected of a dimension."""
    noted: tuple[ir.ExprNode | None, ir.ExprNode | None] = (None, None)
    if isinstance(buffer, Image):
        noted = buffer.estimates.get(dim, noted)
    else:
        name = buffer.args[dim]
        for d in buffer.directives:
            if isinstance(d, Estimate) and d.var == name:
                noted = (d.min, d.extent)
    least, extent = (Expr() if e is None else Expr.of(e) for e in noted)
    return least, extent


def estimates_of(source: Image | Function | ScalarParam) -> ArgumentEstimates:
    """Everything that is known in advance of an argument's values."""
    if not isinstance(source, ScalarParam):
        boxes = [Range(*expected(source, d)) for d in range(source.dimensions)]
        return ArgumentEstimates(Expr(), Expr(), Expr(), Expr(), boxes)
    known = (source.value, source.low, source.high, source.estimate)
    given, low, high, estimate = (Expr() if v is None else Expr.of(ir.const(v, source.computed)) for v in known)
    return ArgumentEstimates(given, low, high, estimate, [])
