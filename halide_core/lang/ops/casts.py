"""Conversions: ``cast``, ``saturating_cast``, and a short name of each for every type.

In: a type and an operand or a number. Out: an Expr of the type. A number becomes a literal at once.

    u8(x)      ->   uint8(x)                         wraps
    u8_sat(x)  ->   uint8(min(max(x, 0), 255))       keeps inside
"""

from __future__ import annotations

import sys

from halide_core import ir
from halide_core.checks import shown
from halide_core.errors import TypeMismatchError
from halide_core.ir.types import Float, Int, Type, UInt
from halide_core.lang.expr import Expr, ExprLike, as_node, is_plain

_FLOAT32, _FLOAT64 = Float(32), Float(64)


def check_type(what: str, type: object) -> None:
    """Refuses what is no type of numbers, in the words of the function that was given it."""
    if not isinstance(type, Type):
        given = shown(type)
        raise TypeMismatchError(f"{what}() needs a type such as hl.UInt(8), and then a value; {given} is no type.")
    if type.is_handle() or type.is_vector():
        raise TypeMismatchError(f"{what}() needs a scalar number type such as hl.UInt(8), not {type}.")


def cast(type: Type, value: ExprLike) -> Expr:
    """``value`` converted to ``type``: integers wrap, floats are cut off towards zero and kept inside the type."""
    check_type("cast", type)
    if isinstance(value, bool | int) and is_plain(value):
        if type.is_float() and abs(value) > sys.float_info.max:
            raise TypeMismatchError(f"cast() can't make a {type} of {shown(value)}: it is beyond the largest.")
        return Expr.of(ir.const(bool(value) if type.is_bool() else value, type))
    if isinstance(value, float) and is_plain(value):
        return Expr.of(ir.const(value, type) if type.is_float() else ir.Cast(type, ir.const(value, _FLOAT64)))
    return Expr.of(ir.cast(type, as_node(value)))


def saturating_cast(type: Type, value: ExprLike) -> Expr:
    """``value`` converted to ``type``; what lies outside becomes its least or greatest value."""
    check_type("saturating_cast", type)
    node = as_node(value)
    if type.is_integer() and node.type.is_integer():
        (low, high), (least, most) = type.range, node.type.range
        if low > least:
            node = ir.maximum(node, ir.const(low, node.type))
        if high < most:
            node = ir.minimum(node, ir.const(high, node.type))
    return Expr.of(ir.cast(type, node))


def i8(value: ExprLike) -> Expr:
    """``cast(Int(8), value)``."""
    return cast(Int(8), value)


def i16(value: ExprLike) -> Expr:
    """``cast(Int(16), value)``."""
    return cast(Int(16), value)


def i32(value: ExprLike) -> Expr:
    """``cast(Int(32), value)``."""
    return cast(Int(32), value)


def i64(value: ExprLike) -> Expr:
    """``cast(Int(64), value)``."""
    return cast(Int(64), value)


def u8(value: ExprLike) -> Expr:
    """``cast(UInt(8), value)``."""
    return cast(UInt(8), value)


def u16(value: ExprLike) -> Expr:
    """``cast(UInt(16), value)``."""
    return cast(UInt(16), value)


def u32(value: ExprLike) -> Expr:
    """``cast(UInt(32), value)``."""
    return cast(UInt(32), value)


def u64(value: ExprLike) -> Expr:
    """``cast(UInt(64), value)``."""
    return cast(UInt(64), value)


def f32(value: ExprLike) -> Expr:
    """``cast(Float(32), value)``."""
    return cast(_FLOAT32, value)


def f64(value: ExprLike) -> Expr:
    """``cast(Float(64), value)``."""
    return cast(_FLOAT64, value)


def i8_sat(value: ExprLike) -> Expr:
    """``saturating_cast(Int(8), value)``."""
    return saturating_cast(Int(8), value)


def i16_sat(value: ExprLike) -> Expr:
    """``saturating_cast(Int(16), value)``."""
    return saturating_cast(Int(16), value)


def i32_sat(value: ExprLike) -> Expr:
    """``saturating_cast(Int(32), value)``."""
    return saturating_cast(Int(32), value)


def i64_sat(value: ExprLike) -> Expr:
    """``saturating_cast(Int(64), value)``."""
    return saturating_cast(Int(64), value)


def u8_sat(value: ExprLike) -> Expr:
    """``saturating_cast(UInt(8), value)``."""
    return saturating_cast(UInt(8), value)


def u16_sat(value: ExprLike) -> Expr:
    """``saturating_cast(UInt(16), value)``."""
    return saturating_cast(UInt(16), value)


def u32_sat(value: ExprLike) -> Expr:
    """``saturating_cast(UInt(32), value)``."""
    return saturating_cast(UInt(32), value)


def u64_sat(value: ExprLike) -> Expr:
    """``saturating_cast(UInt(64), value)``."""
    return saturating_cast(UInt(64), value)
