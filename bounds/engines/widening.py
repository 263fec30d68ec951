"""Integers of 32 bits as expressions of 64.

In: an int32 operation. Out: ``widened``: the int64 operation that has the same value, where it can't wrap;
``exact_value``: that which has the same value as long as it does not wrap. None for what is neither.

    widened(min(k, int32(y)))     ->   min(int64(k), int64(int32(y)))
    exact_value(k + int32(r))     ->   int64(k) + int64(int32(r))
    exact_value(int32(n*3))       ->   n*3, an int64
"""

from __future__ import annotations

from halide_core import ir
from halide_core.ir import Binary, BinaryOp, Cast, ExprNode, IntImm, Select
from halide_core.ir.types import INT32, INT64

_RING = frozenset({BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL})
_BITS = 31


def widened(e: ExprNode) -> ExprNode | None:
    """See the module's docstring."""
    assert e.type is INT32
    match e:
        case Binary(op=BinaryOp.MIN | BinaryOp.MAX | BinaryOp.MOD as op, a=a, b=b):
            return ir.binary(op, Cast(INT64, a), Cast(INT64, b))
        case Binary(op=BinaryOp.DIV, a=a, b=IntImm(value=k)) if k > 0:
            return ir.div(Cast(INT64, a), ir.i64(k))
        case Binary(op=BinaryOp.SHR, a=a, b=IntImm(value=k)) if 0 <= k < _BITS:
            return ir.div(Cast(INT64, a), ir.i64(1 << k))
        case Binary(op=BinaryOp.BIT_AND, a=a, b=IntImm(value=k)) if k >= 0 and k & (k + 1) == 0:
            return ir.mod(Cast(INT64, a), ir.i64(k + 1))
        case Select(condition=condition, a=a, b=b):
            return Select(INT64, condition, Cast(INT64, a), Cast(INT64, b))
    return None


def exact_value(e: ExprNode) -> ExprNode | None:
    """See the module's docstring."""
    assert e.type is INT32
    match e:
        case Binary(op=op, a=a, b=b) if op in _RING:
            return ir.binary(op, Cast(INT64, a), Cast(INT64, b))
        case Binary(op=BinaryOp.SHL, a=a, b=IntImm(value=k)) if 0 <= k < _BITS:
            return ir.mul(Cast(INT64, a), ir.i64(1 << k))
        case Cast(a=a) if a.type is INT64:
            return a
    return None
