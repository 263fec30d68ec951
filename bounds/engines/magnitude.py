"""Recognition of absolute values and absolute differences of int32s, which are uint32s.

In: an expression. Out: the int64 that it is the magnitude of; None where it is none.

    x < y ? uint32(y) - uint32(x) : uint32(x) - uint32(y)   ->   int64(x) - int64(y)
"""

from __future__ import annotations

from halide_core import ir
from halide_core.ir import Binary, BinaryOp, Call, Cast, ExprNode, Intrinsic, Select
from halide_core.ir.types import INT32, INT64, UInt


def magnitude_of(e: ExprNode) -> ExprNode | None:
    """See the module's docstring."""
    match e:
        case Call(function=Intrinsic.ABS, args=(a,)) if a.type is INT32:
            return Cast(INT64, a)
        case Select(condition=Binary(op=BinaryOp.LT, a=a, b=b)) if a.type is INT32:
            x, y = Cast(UInt(32), a), Cast(UInt(32), b)
            if e.a is ir.sub(y, x) and e.b is ir.sub(x, y):
                return ir.sub(Cast(INT64, a), Cast(INT64, b))
    return None
