"""Signed sums and products of constants that leave their type: an error where they are written.

In: the expressions of a definition. Out: nothing, or a DefinitionError.

    f[x] = x + (hl.i32(2147483647) + 1)   ->   DefinitionError: 2147483647 + 1 is 2147483648, which is no int32 …

Arithmetic of 8 and 16 bits wraps, and so does unsigned arithmetic; of wider signed types nobody means it to.
"""

from __future__ import annotations

from collections.abc import Iterable

from halide_core.errors import DefinitionError
from halide_core.ir import Binary, BinaryOp, Cast, ExprNode, IntImm, const
from halide_core.ir.visitor import subexpressions

_OVERFLOWING = {BinaryOp.ADD: int.__add__, BinaryOp.SUB: int.__sub__, BinaryOp.MUL: int.__mul__}
_LEAST_BITS = 32


def refuse_constant_overflow(exprs: Iterable[ExprNode]) -> None:
    """Raises DefinitionError for a signed sum, difference or product of constants that its type of 32 or 64 bits can't
    hold."""
    known: dict[ExprNode, int] = {}
    for e in subexpressions(exprs):
        match e:
            case IntImm(value=value):
                known[e] = value
            case Cast(type=type, a=a) if a in known and type.is_integer():
                folded = const(known[a], type)
                assert isinstance(folded, IntImm)
                known[e] = folded.value
            case Binary(op=op, a=a, b=b) if op in _OVERFLOWING and a in known and b in known and e.type.is_integer():
                value = _OVERFLOWING[op](known[a], known[b])
                if e.type.is_int() and e.type.bits() >= _LEAST_BITS and not e.type.can_represent(value):
                    raise DefinitionError(
                        f"{e!r} is {value}, which is no {e.type}: signed arithmetic of {e.type.bits()} bits must not "
                        f"overflow. Convert an operand to a wider or an unsigned type."
                    )
                folded = const(value, e.type)
                assert isinstance(folded, IntImm)
                known[e] = folded.value
