"""Start-up checks of what later passes take for granted of the caller's arguments.

In: a filled tree, headed by the reply to bounds queries. Out: the tree with checks right after that reply.

    assert in.stride.0 == 1        flat indices take dimension 0 as dense
    assert w >= 1                  a Param's promised range
"""

from __future__ import annotations

from halide_core import ir
from halide_core.algorithm import Algorithm, Parameter
from halide_core.ir import AnswerQuery, Assert, Block, BufferField, Callee, Expr, Failure, Field, ParamRef, Stmt
from halide_core.types import INT64


def check_layouts(stmt: Stmt, algorithm: Algorithm) -> Stmt:
    """Inserts the checks."""
    checks = [c for p in algorithm.params for c in _range_checks(p)]
    buffers: list[Callee] = [*algorithm.images, *algorithm.outputs]
    checks += [_dense(b) for b in buffers if b.dimensions]
    assert isinstance(stmt, Block)
    at = next(i for i, s in enumerate(stmt.stmts) if isinstance(s, AnswerQuery)) + 1
    return Block((*stmt.stmts[:at], *checks, *stmt.stmts[at:]))


def _dense(buffer: Callee) -> Stmt:
    stride = BufferField(INT64, buffer, Field.STRIDE, 0)
    extent = BufferField(INT64, buffer, Field.EXTENT, 0)
    # The stride of a dimension with one point or none is never used.
    dense = ir.binary(ir.BinaryOp.OR, ir.equal(stride, ir.ONE), ir.less(extent, ir.i64(2)))
    return Assert(
        dense,
        Failure.ARGUMENT_STRIDE,
        (f'buffer "{buffer.name}" must have stride 1 in dimension 0, not ', stride),
    )


def _range_checks(p: Parameter) -> list[Stmt]:
    value = ParamRef(p.type, p)
    checks: list[Stmt] = []
    if p.low is not None:
        low = ir.const(p.low, p.type)
        checks.append(_checked(ir.less_equal(low, value), p, "at least", low))
    if p.high is not None:
        high = ir.const(p.high, p.type)
        checks.append(_checked(ir.less_equal(value, high), p, "at most", high))
    return checks


def _checked(holds: Expr, p: Parameter, word: str, limit: Expr) -> Stmt:
    message = (f'parameter "{p.name}" must be {word} ', limit, ", not ", ParamRef(p.type, p))
    return Assert(holds, Failure.PARAMETER_RANGE, message)
