"""Integers of 32 bits as expressions of 64.

In: an int32 operation. Out: ``widened``: the int64 operation that has the same value, where it can't wrap;
``exact_value``: that which has the same value as long as it does not wrap. None for what is neither.

    widened(min(k, int32(y)))     ->   min(int64(k), int64(int32(y)))
    widened(k & -4)               ->   int64(k) div 4*4
    exact_value(k + int32(r))     ->   int64(k) + int64(int32(r))
    exact_value(int32(n*3))       ->   n*3, an int64
    exact_value(int32(uint32(k)*3:uint32))   ->   int64(k)*3
"""

from __future__ import annotations

from collections.abc import Callable

from halide_core import ir
from halide_core.analysis.interval import Range
from halide_core.analysis.value_range import ValueRanges
from halide_core.ir import Binary, BinaryOp, Cast, ExprNode, IntImm, Select
from halide_core.ir.types import INT32, INT64, UInt

_RING = frozenset({BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL})
_BITS = 31
_UINT32 = UInt(32)
_AMOUNTS = 8
"""A shift by one of more amounts is not taken apart."""


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
        case Binary(op=BinaryOp.BIT_AND, a=a, b=IntImm(value=k)) if is_mask(k):
            return ir.mod(Cast(INT64, a), ir.i64(k + 1))
        case Binary(op=BinaryOp.BIT_AND, a=a, b=IntImm(value=k)) if k < 0 and is_mask(-k - 1):
            return _rounded_down(a, -k)
        case Binary(op=BinaryOp.BIT_OR, a=a, b=IntImm(value=k)) if is_mask(k):
            return ir.add(_rounded_down(a, k + 1), ir.i64(k))
        case Binary(op=BinaryOp.BIT_XOR, a=a, b=IntImm(value=-1)):
            return ir.sub(ir.i64(-1), Cast(INT64, a))
        case Binary(op=BinaryOp.BIT_XOR, a=a, b=IntImm(value=k)) if is_mask(k):
            turned = ir.sub(ir.i64(k), ir.mod(Cast(INT64, a), ir.i64(k + 1)))
            return ir.add(_rounded_down(a, k + 1), turned)
        case Binary(op=BinaryOp.SHR, a=a, b=by) if (amounts := small_amounts(by, ValueRanges().of(by))) is not None:
            return _by_each(by, amounts, lambda k: ir.div(Cast(INT64, a), ir.i64(1 << k)))
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
        case Binary(op=BinaryOp.SHL, a=a, b=by) if (amounts := small_amounts(by, ValueRanges().of(by))) is not None:
            return _by_each(by, amounts, lambda k: ir.mul(Cast(INT64, a), ir.i64(1 << k)))
        case Cast(a=a) if a.type is INT64:
            return a
        case Cast(a=Binary(op=op) as a) if a.type is _UINT32 and op in _RING:
            return _congruent(a)
    return None


def _congruent(e: ExprNode) -> ExprNode:
    """An int64 that differs from a uint32 by a multiple of 2^32."""
    match e:
        case Binary(op=op, a=a, b=b) if op in _RING:
            return ir.binary(op, _congruent(a), _congruent(b))
        case Cast(a=a) if a.type in (INT32, INT64):
            return ir.cast(INT64, a)
    return ir.cast(INT64, e)


def is_mask(k: int) -> bool:
    """True where a number has ones below a place, and none above."""
    return k >= 0 and k & (k + 1) == 0


def small_amounts(by: ExprNode, of: Range) -> range | None:
    """The amounts that something is shifted by, of a constant range; None where there are many, or some turn the
    direction round or leave nothing."""
    low, high = of
    if not 0 <= low <= high < min(low + _AMOUNTS, by.type.bits() - 1):
        return None
    return range(int(low), int(high) + 1)


def _by_each(by: ExprNode, amounts: range, shifted: Callable[[int], ExprNode]) -> ExprNode:
    """A shift by an amount, as a choice between all that it can be."""
    found = shifted(amounts[-1])
    for k in reversed(amounts[:-1]):
        found = Select(INT64, ir.less_equal(by, ir.const(k, by.type)), shifted(k), found)
    return found


def _rounded_down(a: ExprNode, multiple: int) -> ExprNode:
    return ir.mul(ir.div(Cast(INT64, a), ir.i64(multiple)), ir.i64(multiple))
