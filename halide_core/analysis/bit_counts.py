"""The number of bits that are set in an unsigned integer, as sums of its fields; and recognition of such sums.

In: an unsigned expression. Out: an expression of the ordinary operators, so that every pass knows it. In the other
direction: what an expression counts the bits of, if it is such a sum.

    ones(a: uint8)   ->   b = (a & 0x55) + (a >> 1 & 0x55); c = (b & 0x33) + (b >> 2 & 0x33); (c & 15) + (c >> 4 & 15)
"""

from __future__ import annotations

from halide_core import ir
from halide_core.ir import Binary, BinaryOp, ExprNode, IntImm
from halide_core.ir.types import Int


def shifted_right(a: ExprNode, count: int) -> ExprNode:
    """``a >> count``."""
    return ir.binary(BinaryOp.SHR, a, ir.const(count, Int(a.type.bits())))


def _field(a: ExprNode, width: int) -> ExprNode:
    """The lower ``width`` bits of every 2*``width``."""
    bits = a.type.bits()
    mask = sum(((1 << width) - 1) << at for at in range(0, bits, 2 * width))
    return ir.binary(BinaryOp.BIT_AND, a, ir.const(mask, a.type))


def _summed(a: ExprNode, width: int) -> ExprNode:
    """The sums of neighbouring fields of a width."""
    return ir.add(_field(a, width), _field(shifted_right(a, width), width))


def ones(a: ExprNode) -> ExprNode:
    """The population count of an unsigned integer: sums of neighbours, in fields that double."""
    width = 1
    while width < a.type.bits():
        a = _summed(a, width)
        width *= 2
    return a


def counted(e: ExprNode) -> ExprNode | None:
    """The expression whose bits ``e`` counts; None where it is no such sum, or one of signed numbers, which counts
    otherwise."""
    width = e.type.bits() // 2 if e.type.is_uint() else 0
    if not width:
        return None
    while width:
        match e:
            case Binary(op=BinaryOp.ADD, a=Binary(op=BinaryOp.BIT_AND, a=a)) if e is _summed(a, width):
                e = a
            case _:
                return None
        width //= 2
    return e


def leading_zeros(a: ExprNode) -> ExprNode:
    """The number of clear bits above the highest set bit of an unsigned integer."""
    return ones(_inverse(_spread(a)))


def trailing_zeros(a: ExprNode) -> ExprNode:
    """The number of clear bits below the lowest set bit of an unsigned integer."""
    return ones(ir.binary(BinaryOp.BIT_AND, _inverse(a), ir.sub(a, ir.const(1, a.type))))


def _inverse(a: ExprNode) -> ExprNode:
    return ir.binary(BinaryOp.BIT_XOR, a, ir.const(-1, a.type))


def _spread(a: ExprNode) -> ExprNode:
    """The highest bit that is set, and all below it."""
    width = 1
    while width < a.type.bits():
        a = ir.binary(BinaryOp.BIT_OR, a, shifted_right(a, width))
        width *= 2
    return a


def spread_of(e: ExprNode) -> ExprNode | None:
    """The ``a`` whose leading zeros ``e``, which bits are counted of, has as its bits; None where it is none."""
    match e:
        case Binary(op=BinaryOp.BIT_XOR, a=spread, b=IntImm()):
            a = spread
            while isinstance(a, Binary) and a.op is BinaryOp.BIT_OR:
                a = a.a
                if e is _inverse(_spread(a)):
                    return a
    return None
