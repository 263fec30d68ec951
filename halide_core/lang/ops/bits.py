"""Integers as rows of bits: counting, cutting out and joining them, and reading them as another type.

In: integers, or a float whose bits are cut out. Out: Exprs of the ordinary operators, so that every pass knows them.

    popcount(u8 0b1011)                   ->   3
    concat_bits([u8 0x34, u8 0x12])       ->   uint16 0x1234
    extract_bits(UInt(8), u16 0x1234, 8)  ->   uint8 0x12
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core import ir
from halide_core.analysis.bit_counts import leading_zeros, ones, trailing_zeros
from halide_core.errors import DefinitionError, TypeMismatchError
from halide_core.ir import BinaryOp, ExprNode
from halide_core.ir.types import Int, Type, UInt
from halide_core.lang.expr import Expr, ExprLike, as_node, shift
from halide_core.lang.ops.casts import check_type


def _unsigned(name: str, value: ExprLike) -> tuple[ExprNode, Type]:
    """The value as an unsigned integer of its bits, and its own type."""
    node = as_node(value)
    if not node.type.is_integer():
        raise TypeMismatchError(f"{name}() needs an integer, not {node.type}.")
    return ir.cast(UInt(node.type.bits()), node), node.type


def popcount(value: ExprLike) -> Expr:
    """The number of set bits, in the value's type."""
    node, type = _unsigned("popcount", value)
    return Expr.of(ir.cast(type, node if type.is_bool() else ones(node)))


def count_leading_zeros(value: ExprLike) -> Expr:
    """The number of clear bits above the highest set one; all of them for 0. In the value's type."""
    node, type = _unsigned("count_leading_zeros", value)
    if type.is_bool():
        return ~Expr.of(node)
    return Expr.of(ir.cast(type, leading_zeros(node)))


def count_trailing_zeros(value: ExprLike) -> Expr:
    """The number of clear bits below the lowest set one; all of them for 0. In the value's type."""
    node, type = _unsigned("count_trailing_zeros", value)
    if type.is_bool():
        return ~Expr.of(node)
    return Expr.of(ir.cast(type, trailing_zeros(node)))


def reinterpret(type: Type, value: ExprLike) -> Expr:
    """The bits of ``value`` read as ``type``. Every NaN has the bits of the same one, 0x7FC00000 as a float32.

    Raises:
        TypeMismatchError: the two types differ in their bits.
    """
    check_type("reinterpret", type)
    node = as_node(value)
    if node.type.bits() != type.bits() or node.type.lanes() != type.lanes():
        raise TypeMismatchError(
            f"reinterpret() of {node.type} as {type}: both must have as many bits. Use hl.cast(…) to convert values."
        )
    if type is not node.type and (type.is_float() or node.type.is_float()):
        return Expr.of(ir.Call(type, ir.Intrinsic.REINTERPRET, (node,)))
    return Expr.of(ir.cast(type, node))


def extract_bits(type: Type, value: ExprLike, lsb: ExprLike) -> Expr:
    """The bits of ``value`` from bit ``lsb`` on, as many as ``type`` has; above the value's own all are 0. A float's
    are those that ``reinterpret`` gives."""
    check_type("extract_bits", type)
    given = as_node(value)
    bits = reinterpret(UInt(given.type.bits()), value) if given.type.is_float() else value
    node, _ = _unsigned("extract_bits", bits)
    moved = shift(BinaryOp.SHR, Expr.of(node), lsb)._node()
    return reinterpret(type, Expr.of(ir.cast(UInt(type.bits()), moved)))


def concat_bits(values: Sequence[ExprLike]) -> Expr:
    """The bits of 1, 2, 4 or 8 integers of one type as one integer; the first is the lowest."""
    if not isinstance(values, list | tuple) or not values or len(values) & (len(values) - 1):
        raise DefinitionError("concat_bits() takes a list of 1, 2, 4 or 8 values.")
    parts = [_unsigned("concat_bits", v) for v in values]
    type = parts[0][1]
    different = next((t for _, t in parts if t is not type), None)
    if different is not None:
        raise TypeMismatchError(f"concat_bits() needs values of one type, not {type} and {different}.")
    bits = type.bits() * len(values)
    if type.is_bool() or bits > 64:
        raise TypeMismatchError(f"concat_bits() of {len(values)} values of {type} would have {bits} bits.")
    wide = UInt(bits)
    result = ir.cast(wide, parts[0][0])
    for i, (part, _) in enumerate(parts[1:], 1):
        moved = ir.binary(BinaryOp.SHL, ir.cast(wide, part), ir.const(i * type.bits(), Int(bits)))
        result = ir.binary(BinaryOp.BIT_OR, result, moved)
    return Expr.of(ir.cast(type.with_bits(bits), result))
