"""Linear interpolation with Halide's rounding, in arithmetic that every type can do exactly.

In: two values and a weight in [0, 1], a float or an unsigned integer whose greatest value means 1. Out: an Expr.

    lerp(u8 0, u8 255, 0.5)   ->   (0*(255 - w) + 255*w)/255 with w = u8(255*0.5) = 127, so 127
"""

from __future__ import annotations

from halide_core import ir
from halide_core.errors import TypeMismatchError
from halide_core.ir import ExprNode
from halide_core.ir.types import Float, Int, Type, UInt
from halide_core.lang.expr import Expr, ExprLike, as_node

_FLOAT32, _FLOAT64 = Float(32), Float(64)


def lerp(zero: ExprLike, one: ExprLike, weight: ExprLike) -> Expr:
    """``zero`` for weight 0, ``one`` for weight 1, and in between; integers of up to 32 bits are rounded exactly.

    Of two bools it is ``one`` where the weight is above a half.

    Raises:
        TypeMismatchError: values of two types, a signed or constant weight out of range, integers of 64 bits.
    """
    a, b = as_node(zero), as_node(one)
    if isinstance(a, ir.IntImm) and a.type.is_int():  # a signed constant takes the type of the other value
        a = _constant(a, b.type)
    if isinstance(b, ir.IntImm) and b.type.is_int():
        b = _constant(b, a.type)
    w = as_node(weight)
    _check(a.type, b.type, w)
    if a.type.is_float():
        share = _float_weight(w, a.type)
        rest = ir.sub(ir.const(1, a.type), share)
        return Expr.of(ir.add(ir.mul(a, rest), ir.mul(b, share)))
    if a.type.is_bool():
        return Expr.of(ir.Select(a.type, _is_above_half(w), b, a))
    return Expr.of(_integer_lerp(a, b, w))


def _is_above_half(weight: ExprNode) -> ExprNode:
    half = 0.5 if weight.type.is_float() else weight.type.range[1] // 2
    return ir.less(ir.const(half, weight.type), weight)


def _constant(value: ir.IntImm, type: Type) -> ExprNode:
    if type.is_float():
        return ir.const(value.value, type)
    if not type.can_represent(value.value):
        raise TypeMismatchError(
            f"lerp() between {type} and the constant {value.value}, which is not a value of {type}."
        )
    return ir.const(value.value, type)


def _check(a: Type, b: Type, weight: ExprNode) -> None:
    if a is not b:
        raise TypeMismatchError(f"lerp() needs two values of one type, not {a} and {b}.")
    if a.is_handle() or (a.is_integer() and a.bits() > 32):
        raise TypeMismatchError(f"lerp() between values of {a} is not supported.")
    if not weight.type.is_float() and not weight.type.is_uint():
        raise TypeMismatchError(f"The weight of lerp() must be a float or an unsigned integer, not {weight.type}.")
    if a.is_integer() and isinstance(weight, ir.FloatImm) and not 0.0 <= weight.value <= 1.0:
        raise TypeMismatchError(f"The weight of lerp() between integers must be in [0, 1], not {weight.value}.")


def _float_weight(weight: ExprNode, type: Type) -> ExprNode:
    if weight.type.is_float():
        return ir.cast(type, weight)
    whole = ir.const(weight.type.range[1], type)
    if weight.type.bits() >= 32:  # more digits than float32 has
        wide = ir.div(ir.cast(_FLOAT64, weight), ir.const(weight.type.range[1], _FLOAT64))
        return ir.cast(type, wide)
    return ir.div(ir.cast(type, weight), whole)


def _integer_lerp(a: ExprNode, b: ExprNode, weight: ExprNode) -> ExprNode:
    type = a.type
    bits = type.bits()
    unsigned, wide = UInt(bits), UInt(2 * bits)
    bias = ir.const(type.range[0], unsigned)
    low, high = (ir.cast(unsigned, e) for e in (a, b))
    if type.is_int():
        low, high = ir.sub(low, bias), ir.sub(high, bias)
    share = _integer_weight(weight, unsigned)
    rest = ir.sub(ir.const(unsigned.range[1], unsigned), share)
    total = ir.add(ir.mul(ir.cast(wide, low), ir.cast(wide, rest)), ir.mul(ir.cast(wide, high), ir.cast(wide, share)))
    # total/(2^bits - 1), rounded: exact for every product of two such numbers, and without a division.
    result = ir.cast(unsigned, _rounded_shift(ir.add(_rounded_shift(total, bits), total), bits))
    return ir.cast(type, ir.add(result, bias)) if type.is_int() else result


def _rounded_shift(e: ExprNode, bits: int) -> ExprNode:
    half = ir.const(1 << (bits - 1), e.type)
    return ir.binary(ir.BinaryOp.SHR, ir.add(e, half), ir.const(bits, Int(e.type.bits())))


def _integer_weight(weight: ExprNode, type: Type) -> ExprNode:
    """The weight as an integer whose greatest value means 1."""
    whole = type.range[1]
    if weight.type.is_float():
        exact = _FLOAT64 if type.bits() == 32 else weight.type
        return ir.cast(type, ir.mul(ir.const(whole, exact), ir.cast(exact, weight)))
    most = weight.type.range[1]
    if weight.type.bits() <= type.bits():  # 2^n - 1 divides 2^m - 1 for widths that are powers of two
        return ir.mul(ir.cast(type, weight), ir.const(whole // most, type))
    return ir.cast(type, ir.div(weight, ir.const(most // whole, weight.type)))
