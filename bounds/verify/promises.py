"""Claims that a run begins only where what is promised of its arguments is so.

In: an algorithm, and the context after the start-up checks. Out: Claims that each promise is one of these checks: what
the user requires, the ranges of Params, the shapes of buffers, and that points of dimension 0 lie side by side.

    im.dim(0).set_min(p)   ->   im.min.0 == p is checked

Later passes take them for granted: flattening takes the strides, and what simplifies takes the rest.
"""

from __future__ import annotations

from collections.abc import Iterator

from halide_core import ir
from halide_core.algorithm.float_arithmetic import through_float32
from halide_core.algorithm.model import Algorithm, ScalarParam
from halide_core.analysis.index import startup_condition, startup_index
from halide_core.bounds.verify.vc import Claim, ClaimKind, Context, Text
from halide_core.ir import BinaryOp, BufferField, Callee, ExprNode, Field
from halide_core.ir.types import INT64
from halide_core.loop_nest import Program


def promise_claims(program: Program, context: Context) -> Iterator[Claim]:
    """See the module's docstring."""
    checked = {node.fact for node in context.below(None) if node.check is not None}
    for name, promise in _promises(program.algorithm):
        text: Text = ("it is checked that ", promise)
        yield Claim(ClaimKind.STARTUP, name, text, context, ir.TRUE if promise in checked else ir.FALSE)


def _promises(algorithm: Algorithm) -> Iterator[tuple[str, ExprNode]]:
    for r in algorithm.requirements:
        yield "", startup_condition(r.condition)
    for p in algorithm.params:
        yield from ((p.name, through_float32(e)) for e in _within_limits(p))
    spread: set[Callee] = set()
    for c in algorithm.constraints:
        value = startup_index(c.value)
        if c.field is Field.STRIDE:
            spread |= {c.buffer} if c.dim == 0 else set()
            yield c.buffer.name, _strided(c.buffer, c.dim, value)
        else:
            yield c.buffer.name, ir.equal(BufferField(INT64, c.buffer, c.field, c.dim), value)
    for buffer in (*algorithm.images, *algorithm.outputs):
        if buffer.dimensions and buffer not in spread:
            yield buffer.name, _strided(buffer, 0, ir.ONE)


def _within_limits(p: ScalarParam) -> Iterator[ExprNode]:
    value = ir.ParamRef(p.computed, p)
    if p.low is not None:
        yield ir.less_equal(ir.const(p.low, p.computed), value)
    if p.high is not None:
        yield ir.less_equal(value, ir.const(p.high, p.computed))


def _strided(buffer: Callee, dim: int, stride: ExprNode) -> ExprNode:
    """A stride, which counts where there are two points."""
    given, extent = (BufferField(INT64, buffer, field, dim) for field in (Field.STRIDE, Field.EXTENT))
    return ir.binary(BinaryOp.OR, ir.equal(given, stride), ir.less(extent, ir.i64(2)))
