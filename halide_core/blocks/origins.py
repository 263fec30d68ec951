"""Inputs that begin elsewhere than at 0, as Buffers may.

In: outputs, and where each input begins. Out: outputs that read inputs which begin at 0, as arrays do.

    image from -3 on:   f[x] = image[x - 1] + image.min   ->   f[x] = image[x - 1 + 3] + -3
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from halide_core import ir
from halide_core.algorithm.model import Function, Image, Requirement
from halide_core.algorithm.rename import Renamed
from halide_core.blocks.reductions import copied
from halide_core.ir import Access, BufferField, Field

Origins = Mapping[Image, Sequence[int]]
"""The mins of inputs, x first."""


class _FromZero(Renamed):
    """Reads from copies, and inputs from 0 on."""

    def __init__(self, to: dict[ir.Callee, ir.Callee], origins: Origins) -> None:
        super().__init__(to)
        self._origins = origins

    def rewrite_Access(self, e: Access) -> ir.ExprNode:
        """An access as far from the beginning as it was."""
        if not isinstance(e.callee, Image) or e.callee not in self._origins:
            return super().rewrite_Access(e)
        args = zip(map(self.expr, e.args), self._origins[e.callee], strict=True)
        return Access(e.type, e.callee, tuple([_less(a, low) for a, low in args]), e.component, e.stage)

    def rewrite_BufferField(self, e: BufferField) -> ir.ExprNode:
        """Where the input begins for its user."""
        if isinstance(e.buffer, Image) and e.buffer in self._origins and e.field is Field.MIN:
            return ir.const(self._origins[e.buffer][e.dim], e.type)
        return super().rewrite_BufferField(e)


def _less(arg: ir.ExprNode, low: int) -> ir.ExprNode:
    return ir.sub(arg, ir.const(low, arg.type)) if low else arg


def from_zero(
    outputs: Sequence[Function], requirements: Sequence[Requirement], origins: Origins
) -> tuple[tuple[Function, ...], tuple[Requirement, ...]]:
    """Outputs, and requirements of them, over inputs that begin at 0."""
    if not any(any(mins) for mins in origins.values()):
        return tuple(outputs), tuple(requirements)
    to = copied(outputs, {}, lambda callees: _FromZero(callees, origins))
    for f in to.values():  # those of definitions are among the requirements, and say of shapes what the user's do
        f.definitions = [replace(d, requirements=()) for d in f.definitions]
    shifted = _FromZero(dict(to.items()), origins)
    required = tuple(
        Requirement(
            shifted.expr(r.condition),
            tuple(shifted.expr(m) if isinstance(m, ir.ExprNode) else m for m in r.message),
        )
        for r in requirements
    )
    return tuple(to[f] for f in outputs), required
