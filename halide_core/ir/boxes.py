"""Points, boxes and the windows of arguments, as conditions.

In: points, boxes and buffers. Out: conditions on them.

    inside((x, y), ((0, w), (0, h)))   ->   0 <= x && x < w && 0 <= y && y < h
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core import ir
from halide_core.ir import BinaryOp, BufferField, Callee, ExprNode, Field, Interval
from halide_core.ir.logic import all_of, any_of, within
from halide_core.ir.types import INT64

WINDOW_LIMIT = 1 << 30
"""Windows of outputs lie within ±2^30; every program refuses others when it starts."""


def inside(point: Sequence[ExprNode], box: Sequence[Interval]) -> ExprNode:
    """A point lies in a box."""
    return all_of(within(e, over) for e, over in zip(point, box, strict=True))


def differs(a: Sequence[ExprNode], b: Sequence[ExprNode]) -> ExprNode:
    """Two points are not the same one."""
    return any_of(ir.binary(BinaryOp.NE, x, y) for x, y in zip(a, b, strict=True))


def contains(box: tuple[Interval, ...], other: tuple[Interval, ...]) -> ExprNode:
    """A box contains another, unless that has no point."""
    empty = any_of(ir.less_equal(i.len, ir.ZERO) for i in other)
    around = all_of(
        all_of((ir.less_equal(a.min, b.min), ir.less_equal(ir.add(b.min, b.len), ir.add(a.min, a.len))))
        for a, b in zip(box, other, strict=True)
    )
    return any_of((empty, around))


def fields(callee: Callee) -> list[tuple[ExprNode, ExprNode]]:
    """Minimum and extent of each dimension of an argument."""
    return [
        (BufferField(INT64, callee, Field.MIN, d), BufferField(INT64, callee, Field.EXTENT, d))
        for d in range(callee.dimensions)
    ]


def window_of(callee: Callee) -> tuple[Interval, ...]:
    """The box that an argument's buffer spans: of an output, what the caller asks for."""
    return tuple(Interval(start, extent) for start, extent in fields(callee))


def within_limit(callee: Callee) -> ExprNode:
    """The window of an output lies within the limit, in every dimension."""
    least, most = ir.i64(-WINDOW_LIMIT), ir.i64(WINDOW_LIMIT)
    return all_of(
        ir.conjunction(ir.less_equal(least, start), ir.less_equal(ir.add(start, extent), ir.add(most, ir.ONE)))
        for start, extent in fields(callee)
    )
