"""Recognition of absolute values and absolute differences of int32s, which are uint32s.

In: an expression. Out: the int64 that it is the magnitude of; None where it is none.

    x < y ? uint32(y) - uint32(x) : uint32(x) - uint32(y)   ->   int64(x) - int64(y)
"""

from __future__ import annotations

from halide_core import ir
from halide_core.ir import Binary, BinaryOp, Call, Cast, ExprNode, IntImm, Intrinsic, Select
from halide_core.ir.types import INT32, INT64, UInt

_UINT32 = UInt(32)


def magnitude_of(e: ExprNode) -> ExprNode | None:
    """See the module's docstring."""
    match e:
        case Call(function=Intrinsic.ABS, args=(a,)) if a.type is INT32:
            return Cast(INT64, a)
        case Select(condition=Binary(op=BinaryOp.LT, a=a, b=b)) if a.type is INT32:
            if _is_difference(e.a, b, a) and _is_difference(e.b, a, b):
                return ir.sub(Cast(INT64, a), Cast(INT64, b))
    return None


def _is_difference(e: ExprNode, a: ExprNode, b: ExprNode) -> bool:
    """True of uint32(a) - uint32(b)."""
    return isinstance(e, Binary) and e.op is BinaryOp.SUB and _is_unsigned(e.a, a) and _is_unsigned(e.b, b)


def _is_unsigned(e: ExprNode, a: ExprNode) -> bool:
    """True of uint32(a), which is a number where ``a`` is one and was simplified."""
    if isinstance(e, IntImm) and isinstance(a, IntImm):
        return e.type is _UINT32 and e.value == a.value % 2**32
    return e is Cast(_UINT32, a)
