"""Fused multiply-adds: an update that adds a product of floats to its own point rounds the sum once.

In: a Func and one of its updates. Out: the update's values, in which such sums are calls of FMA. It is decided on the
definitions as the user wrote them, before any schedule, so no schedule can change what is rounded how; the compiler
and the reference semantics both ask here.

    f[x, y] += a[x, r]*b[r, y]          ->   f[x, y] = fma(a[x, r], b[r, y], f[x, y])
    f[x] = f[x] - 2*g[x]: float32       ->   f[x] = fma(-2, g[x], f[x])
    f[x] += a[x]*b[x] + c[x]            stays: what is added is a sum
    f[x] = a[x]*b[x] + c[x]             stays: no update, so nothing accumulates

Floats of 16 bits are stored and converted, and have no product. Under the target's ``strict_float`` nothing is fused.
"""

from __future__ import annotations

from dataclasses import replace

from halide_core import ir
from halide_core.algorithm.model import Algorithm, Definition, Function
from halide_core.ir import BinaryOp, ExprNode, Intrinsic


def fuse_products(algorithm: Algorithm) -> Algorithm:
    """The algorithm, a copy that is the compiler's own, with its products fused in place."""
    for f in algorithm.functions:
        f.definitions = [_fused(f, d) if i else d for i, d in enumerate(f.definitions)]
    return algorithm


def _fused(function: Function, definition: Definition) -> Definition:
    values = fused_values(function, definition)
    same = all(a is b for a, b in zip(values, definition.values, strict=True))
    return definition if same else replace(definition, values=values)


def fused_values(function: Function, update: Definition) -> tuple[ExprNode, ...]:
    """The values of an update of ``function``; those where nothing is fused are the same objects."""
    return tuple([_value(function, update, k, value) for k, value in enumerate(update.values)])


def _value(function: Function, update: Definition, component: int, value: ExprNode) -> ExprNode:
    if not value.type.is_float() or value.type.is_narrow_float():
        return value
    match value:
        case ir.Binary(op=BinaryOp.ADD, a=own, b=ir.Binary(op=BinaryOp.MUL, a=a, b=b)) if _is_own(
            own, function, update, component
        ):
            return ir.Call(value.type, Intrinsic.FMA, (a, b, own))
        case ir.Binary(op=BinaryOp.ADD, a=ir.Binary(op=BinaryOp.MUL, a=a, b=b), b=own) if _is_own(
            own, function, update, component
        ):
            return ir.Call(value.type, Intrinsic.FMA, (a, b, own))
        case ir.Binary(op=BinaryOp.SUB, a=own, b=ir.Binary(op=BinaryOp.MUL, a=a, b=b)) if _is_own(
            own, function, update, component
        ):
            return ir.Call(value.type, Intrinsic.FMA, (*_negative(a, b), own))
    return value


def _is_own(e: ExprNode, function: Function, update: Definition, component: int) -> bool:
    """True where an expression is what the updated point had before."""
    if not isinstance(e, ir.Access) or e.callee is not function or e.component != component:
        return False
    return all(a is b for a, b in zip(e.args, update.args, strict=True))


def _negative(a: ExprNode, b: ExprNode) -> tuple[ExprNode, ExprNode]:
    """Factors of the negative product; a change of sign is exact."""
    if isinstance(a, ir.FloatImm):
        return ir.const(-a.value, a.type), b
    if isinstance(b, ir.FloatImm):
        return a, ir.const(-b.value, b.type)
    return ir.mul(a, ir.const(-1.0, a.type)), b
