"""The lowest bits of an integer, without what doesn't reach them.

In: an expression, and a power of two. Out: one that differs from it by a multiple of that, and varies with less:
integers wrap by multiples of larger powers, and casts keep the bits that both types have.

    int32(f.min + x.outer*16), 2              ->   int32(f.min)
    ramp(int32(f.min + x.outer*16), 1, 8), 2  ->   ramp(int32(f.min), 1, 8)
"""

from __future__ import annotations

from halide_core import ir
from halide_core.ir import Binary, BinaryOp, Broadcast, Cast, ExprNode, IntImm, Ramp
from halide_core.ir.types import Type


def without_multiples(op: BinaryOp, a: ExprNode, b: ExprNode) -> ExprNode:
    """A first operand of the same result, where an operator takes its lowest bits: a remainder by a power of two, or a
    mask of ones; ``a`` for all others."""
    if op is not BinaryOp.MOD and op is not BinaryOp.BIT_AND:
        return a
    number = number_in_lanes(b)
    of = 0 if number is None else number if op is BinaryOp.MOD else number + 1
    return a if of <= 0 or of & (of - 1) else _low(a, of)


def _low(e: ExprNode, of: int) -> ExprNode:
    match e:
        case IntImm(value=value):
            return e if 0 <= value < of else ir.const(value % of, e.type)
        case Binary(op=BinaryOp.ADD | BinaryOp.SUB as op, a=a, b=b):
            return _sum(e, op, _low(a, of), _low(b, of))
        case Binary(op=BinaryOp.MUL, a=a, b=b) if any(
            k is not None and k % of == 0 for k in map(number_in_lanes, (a, b))
        ):
            return _zero(e.type)
        case Cast(a=a) if _has(e.type, of) and _has(a.type, of):
            low = _low(a, of)
            return e if low is a else Cast(e.type, low)
        case Broadcast(a=a):
            low = _low(a, of)
            return e if low is a else Broadcast(e.type, low)
        case Ramp(base=base, stride=stride):
            low = _low(base, of)
            if (step := number_in_lanes(stride)) is not None and step % of == 0:
                return Broadcast(e.type, low)
            return e if low is base else Ramp(e.type, low, stride)
    return e


def number_in_lanes(e: ExprNode) -> int | None:
    """The constant that an integer is, in all lanes if it has several; None of others."""
    match e:
        case IntImm(value=value) | Broadcast(a=IntImm(value=value)):
            return value
    return None


def _sum(e: Binary, op: BinaryOp, a: ExprNode, b: ExprNode) -> ExprNode:
    if number_in_lanes(b) == 0:
        return a
    if number_in_lanes(a) == 0 and op is BinaryOp.ADD:
        return b
    return e if a is e.a and b is e.b else Binary(e.type, op, a, b)


def _zero(type: Type) -> ExprNode:
    none = ir.const(0, type.element_of())
    return none if type.is_scalar() else Broadcast(type, none)


def _has(type: Type, of: int) -> bool:
    """True of an integer type with the bits that count."""
    return type.is_integer() and not type.is_bool() and of <= 1 << (type.bits() - 1)
