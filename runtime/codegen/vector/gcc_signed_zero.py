"""Nothing less a number: the one difference whose sign gcc gets wrong where it stands in an expression.

In: the operands' type. Out: the name of a C function, which joins the prelude.

    0.0 - (double)n                   ->   difference_f64(0.0, (double)n)
    (float)(a - a) - (float)n: int16  ->   difference_f32((float)(int16_t)(a - a), (float)n)

gcc reads the first as ``-(double)n``, which is -0.0 where n is 0: it asks whether the second operand can be -0.0, and
an integer or an absolute value can't. So it reads the second, as soon as it has found that ``a - a`` is 0. Of
parameters it asks nothing.
"""

from __future__ import annotations

from halide_core import ir
from halide_core.ir import BinaryOp, ExprNode, Intrinsic
from halide_core.ir.types import Type
from halide_core.runtime.codegen.names import tag
from halide_core.runtime.codegen.vector.prelude import Prelude


def is_negation(e: ir.Binary) -> bool:
    """True where a float, or an integer that was converted, is taken from 0, or an integer or an absolute value from
    what gcc may find to be 0; lanes have no such expressions in C."""
    if e.op is not BinaryOp.SUB or not e.type.is_float() or not e.type.is_scalar():
        return False
    inner = e.a
    while isinstance(inner, ir.Cast):
        inner = inner.a
    if isinstance(inner, ir.IntImm | ir.FloatImm):
        return inner.value == 0
    known = isinstance(inner, ir.Load | ir.ParamRef | ir.Variable | ir.BufferField)
    return not known and _is_no_negative_zero(e.b)


def _is_no_negative_zero(e: ExprNode) -> bool:
    """True of a float that gcc knows not to be -0.0."""
    match e:
        case ir.Cast(a=a):
            return a.type.is_integer() or _is_no_negative_zero(a)
        case ir.Call(function=function):
            return function is Intrinsic.ABS
        case ir.Select(a=a, b=b):
            return all(_is_no_negative_zero(each) or isinstance(each, ir.FloatImm) for each in (a, b))
        case ir.Promise(value=value):
            return _is_no_negative_zero(value)
        case ir.Print(a=a):
            return _is_no_negative_zero(a)
    return False


def difference(prelude: Prelude, type: Type) -> str:
    """``f(a, b)``."""
    c = prelude.type(type)
    return prelude.define(f"difference_{tag(type)}", lambda: (c, f"{c} a, {c} b", ["return a - b;"]))
