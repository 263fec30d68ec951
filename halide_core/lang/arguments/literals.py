"""Python's and numpy's numbers as nodes: alone, or beside an operand whose type they take.

In: a number, and perhaps a type. Out: a literal, or an error where the type can't hold the number.

    literal(2**40)   ->   int64        literal_as(300, UInt(8))   ->   TypeMismatchError: 300 is not a value of uint8 …
"""

from __future__ import annotations

import math

import numpy as np

from halide_core import ir
from halide_core.checks import shown
from halide_core.errors import PrecisionWarning, TypeMismatchError, warn_user
from halide_core.ir.types import BOOL, INT32, Float, Int, Type, type_of_dtype
from halide_core.own_name import stands_for_halide

_FLOAT32 = Float(32)


def literal(value: object) -> ir.ExprNode:
    """The node of a number on its own."""
    match value:
        case bool() | np.bool_():
            return ir.const(bool(value), BOOL)
        case int():
            for type in (INT32, Int(64)):
                if type.can_represent(value):
                    return ir.const(value, type)
            raise TypeMismatchError(f"{shown(value)} does not fit into int64.")
        case np.floating() | np.integer():
            known = type_of_dtype(value.dtype)
            if known is None:
                raise TypeMismatchError(f"A numpy {value.dtype} can't be used in an expression.")
            return ir.const(value.item(), known)
        case float():
            return _float_literal(value, _FLOAT32)
    if isinstance(value, tuple | list):
        raise TypeMismatchError(f"A {type_name(value)} can't be used in an expression: a Tuple is no single value.")
    raise TypeMismatchError(
        f"A {type_name(value)} can't be used in an expression: an Expr, a Var, a Func call or a number is needed."
    )


def type_name(value: object) -> str:
    """The name of a value's Python type, for messages."""
    return type(value).__name__


def _float_literal(value: float, type: Type) -> ir.ExprNode:
    node = ir.const(value, type)
    assert isinstance(node, ir.FloatImm)
    # A decimal such as 0.1 is inexact in any binary format: only digits that float32 can't even print are news. Scripts
    # that were written for Halide look for a warning of each.
    slack = 0.0 if stands_for_halide() else abs(value) * 1e-6
    if math.isfinite(value) and type.bits() == 32 and abs(node.value - value) > slack:
        warn_user(f"{value!r} becomes {node.value!r} as a float32.", PrecisionWarning)
    return node


def literal_as(value: object, type: Type) -> ir.ExprNode:
    """A Python number as a value of ``type``, the other operand's; an error where that would change it.

    Only a number that needs 64 bits, and that the type doesn't have, stays an int64.
    """
    if isinstance(value, float):
        # As in Halide it is a float32 beside a float of 16 bits, which then widens.
        return _float_literal(value, type if type.is_float() and not type.is_narrow_float() else _FLOAT32)
    if isinstance(value, int):
        if not type.can_represent(int(value)):
            if type.is_integer() and not INT32.can_represent(value) and Int(64).can_represent(value):
                return literal(value)  # an int64 of its own, as in Halide; the other operand widens
            raise TypeMismatchError(
                f"The constant {shown(value)} is not a value of {type}, the type of the other operand. "
                f"Convert that operand first, for example with hl.i32(…)."
            )
        return ir.const(value, type)
    return literal(value)
