"""Strides that a program knows: those of the memory that the caller passes.

In: a program. Out: the inputs and outputs of which it reads or promises strides. Of others memory may be copied, and so
any is taken; of these a copy with other strides would be another input.

    f(x) = im(x) + im.stride(1)   ->   {im}
"""

from __future__ import annotations

from halide_core import ir
from halide_core.algorithm.model import Algorithm, Function, Image
from halide_core.algorithm.snapshot import expressions_of
from halide_core.errors import PipelineError
from halide_core.ir import Field
from halide_core.ir.types import INT32
from halide_core.ir.visitor import subexpressions


def with_strides(algorithm: Algorithm) -> frozenset[ir.Callee]:
    """The inputs and outputs whose strides are read as values, or promised."""
    roots = [e for f in algorithm.functions for e in expressions_of(f)]
    roots += [e for r in algorithm.requirements for e in r.exprs()]
    roots += [c.value for c in algorithm.constraints]
    fields = (e for e in subexpressions(roots) if isinstance(e, ir.BufferField))
    read = {e.buffer for e in fields if e.field is Field.STRIDE}
    return frozenset(read | {c.buffer for c in algorithm.constraints if c.field is Field.STRIDE})


def is_dense(buffer: Image | Function) -> bool:
    """True where neighbours in dimension 0 are neighbours in memory: unless a stride is promised."""
    return (Field.STRIDE, 0) not in buffer.constraints


def any_stride(buffer: Image | Function) -> ir.ExprNode:
    """The promise about the stride of dimension 0 that says nothing: it is what it is."""
    return ir.BufferField(INT32, buffer, Field.STRIDE, 0)


def not_dense(name: str, stride: int) -> PipelineError:
    """The error where a dense copy can't be taken for memory, as the program knows its strides."""
    return PipelineError(
        f'Buffer "{name}" has stride {stride} in dimension 0, and must have 1: the pipeline reads or promises its '
        f"strides, so that no dense copy can be taken for it. The legal choices: dense memory "
        f"(numpy.ascontiguousarray), dim(0).set_stride({stride}), or dim(0).set_stride(hl.Expr()) for any stride."
    )
