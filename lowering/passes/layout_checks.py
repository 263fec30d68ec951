"""Start-up checks of what later passes take for granted of the caller's arguments, and of what the user promised.

In: a filled tree, headed by the reply to bounds queries. Out: the tree with checks right after that reply; and, by a
pass of its own, with a reply that proposes regions which keep the promises.

    assert in.stride.0 == 1        flat indices take dimension 0 as dense
    assert w >= 1                  a Param's promised range
    assert out.min.0 == 0          a promise about a buffer's shape
"""

from __future__ import annotations

from dataclasses import replace

from halide_core import ir
from halide_core.algorithm.float_arithmetic import through_float32
from halide_core.algorithm.model import Algorithm, Constraint, Requirement, ScalarParam
from halide_core.analysis.index import startup_condition, startup_index
from halide_core.ir import (
    AnswerQuery,
    Assert,
    Block,
    BufferField,
    Callee,
    ExprNode,
    Failure,
    Field,
    Interval,
    ParamRef,
    Stmt,
)
from halide_core.ir.types import INT64, Float
from halide_core.ir.visitor import Substitution

_WORD = {Field.MIN: "min", Field.EXTENT: "extent", Field.STRIDE: "stride"}
_FAILURE = {
    Field.MIN: Failure.ARGUMENT_BOUNDS,
    Field.EXTENT: Failure.ARGUMENT_EXTENT,
    Field.STRIDE: Failure.ARGUMENT_STRIDE,
}


def check_layouts(stmt: Stmt, algorithm: Algorithm) -> Stmt:
    """Inserts the checks."""
    checks = [c for p in algorithm.params for c in _range_checks(p)]
    checks += [_required(r) for r in algorithm.requirements]
    spread = frozenset(c.buffer for c in algorithm.constraints if c.field is Field.STRIDE and c.dim == 0)
    buffers: list[Callee] = [*algorithm.images, *algorithm.outputs]
    checks += [_dense(b) for b in buffers if b.dimensions and b not in spread]
    checks += [_promised(c) for c in algorithm.constraints]
    assert isinstance(stmt, Block)
    at = next(i for i, s in enumerate(stmt.stmts) if isinstance(s, AnswerQuery))
    return Block((*stmt.stmts[: at + 1], *checks, *stmt.stmts[at + 1 :]))


def propose_promised(stmt: Stmt, algorithm: Algorithm) -> Stmt:
    """The reply, with regions that have the promised least coordinates and extents. What is needed may lie outside of
    such a region: the run that follows says so. Until here the reply is what is accessed, which claims are about."""
    assert isinstance(stmt, Block)
    return Block(tuple(_keeping(s, algorithm) if isinstance(s, AnswerQuery) else s for s in stmt.stmts))


def _keeping(reply: AnswerQuery, algorithm: Algorithm) -> AnswerQuery:
    """A constraint may speak of the shapes that are asked for, its own buffer's above all: these count as no smaller
    than what is needed, so that asking again with the regions of the reply comes to a fixed point, if there is one."""
    promised = {(c.buffer, c.field, c.dim): startup_index(c.value) for c in algorithm.constraints}
    shapes: dict[ExprNode, ExprNode] = {}
    for buffer, box in reply.regions:
        for d, needed in enumerate(box):
            least, extent = (BufferField(INT64, buffer, field, d) for field in (Field.MIN, Field.EXTENT))
            known = ir.Select(INT64, ir.equal(extent, ir.ZERO), needed.min, ir.minimum(least, needed.min))
            shapes[least], shapes[extent] = known, ir.maximum(extent, needed.len)

    def side(callee: Callee, dim: int, needed: Interval) -> Interval:
        least = promised.get((callee, Field.MIN, dim))
        extent = promised.get((callee, Field.EXTENT, dim))
        start = needed.min if least is None else Substitution(shapes).expr(least)
        length = needed.len if least is None else ir.maximum(ir.ZERO, ir.sub(ir.add(needed.min, needed.len), start))
        if extent is not None:
            own = BufferField(INT64, callee, Field.EXTENT, dim)
            length = Substitution({**shapes, own: ir.maximum(own, length)}).expr(extent)
        return Interval(start, length)

    regions = tuple((b, tuple(side(b, d, i) for d, i in enumerate(box))) for b, box in reply.regions)
    return replace(reply, regions=regions)


def _dense(buffer: Callee) -> Stmt:
    stride = BufferField(INT64, buffer, Field.STRIDE, 0)
    return Assert(
        _stride_is(buffer, 0, ir.ONE),
        Failure.ARGUMENT_STRIDE,
        (f'buffer "{buffer.name}" must have stride 1 in dimension 0, not ', stride),
    )


def _stride_is(buffer: Callee, dim: int, value: ExprNode) -> ExprNode:
    """The stride of a dimension with one point or none is never used."""
    stride, extent = (BufferField(INT64, buffer, field, dim) for field in (Field.STRIDE, Field.EXTENT))
    return ir.binary(ir.BinaryOp.OR, ir.equal(stride, value), ir.less(extent, ir.i64(2)))


def _promised(c: Constraint) -> Stmt:
    given, value = BufferField(INT64, c.buffer, c.field, c.dim), startup_index(c.value)
    holds = _stride_is(c.buffer, c.dim, value) if c.field is Field.STRIDE else ir.equal(given, value)
    told = f'buffer "{c.buffer.name}" must have {_WORD[c.field]} '
    return Assert(holds, _FAILURE[c.field], (told, value, f" in dimension {c.dim}, not ", given))


def _required(r: Requirement) -> Stmt:
    return Assert(startup_condition(r.condition), Failure.ASSERTION, r.message)


def _range_checks(p: ScalarParam) -> list[Stmt]:
    value = ParamRef(p.computed, p)
    checks: list[Stmt] = []
    if p.low is not None:
        low = ir.const(p.low, p.computed)
        checks.append(_checked(ir.less_equal(low, value), p, "at least", low))
    if p.high is not None:
        high = ir.const(p.high, p.computed)
        checks.append(_checked(ir.less_equal(value, high), p, "at most", high))
    return checks


def _checked(holds: ExprNode, p: ScalarParam, word: str, limit: ExprNode) -> Stmt:
    given: ExprNode = ParamRef(p.computed, p)
    if p.type.is_narrow_float():
        limit, given = ir.cast(Float(32), limit), ir.cast(Float(32), given)
    message = (f'parameter "{p.name}" must be {word} ', limit, ", not ", given)
    return Assert(through_float32(holds), Failure.PARAMETER_RANGE, message)
