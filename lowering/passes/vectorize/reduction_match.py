"""Matches accumulating stores ``a[i] = a[i] op v``.

In: a store. Out: the operator that makes the new element of the old one, the operator that combines several values
before one is taken in, and the value; or None where the update is of another kind.

    f[x] = f[x] + g[r]        ->   +, +, g[r]
    f[x] = f[x] - g[r]        ->   -, +, g[r]
    f[x] = fma(a, b, f[x])    ->   +, +, a*b
"""

from __future__ import annotations

from halide_core import ir
from halide_core.ir import Binary, BinaryOp, Call, ExprNode, Intrinsic, Load, Store
from halide_core.ir.visitor import nodes_of

_ANY_ORDER = (
    BinaryOp.ADD, BinaryOp.MUL, BinaryOp.MIN, BinaryOp.MAX, BinaryOp.BIT_AND, BinaryOp.BIT_OR, BinaryOp.BIT_XOR,
)  # fmt: skip
_COMBINED = {BinaryOp.SUB: BinaryOp.ADD, **{op: op for op in _ANY_ORDER}}
"""The operator that combines several values before an operator accumulates them."""


def accumulation(store: Store) -> tuple[BinaryOp, BinaryOp, ExprNode] | None:
    """See the module's docstring. Truth values are left out: machines have no lanes of them."""
    own = Load(store.value.type, store.buffer, store.index)
    if own.type.is_bool():
        return None
    match store.value:
        case Call(function=Intrinsic.FMA, args=(a, b, c)) if c is own:
            op, new = BinaryOp.ADD, ir.mul(a, b)
        case Binary(op=op, a=a, b=new) if a is own and op in _COMBINED:
            pass
        case Binary(op=op, a=new, b=b) if b is own and op in _COMBINED and op is not BinaryOp.SUB:
            pass
        case _:
            return None
    if any(e.buffer == store.buffer for e in nodes_of((new,), Load)):
        return None
    return op, _COMBINED[op], new
