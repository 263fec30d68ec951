"""Sums whose terms may be moved about: whatever is computed first, it stays in int64.

In: an int64 expression, or a linear form. Out: whether it is made of coordinates, lengths and numbers of 32 bits alone,
with factors that leave room. The user's own int64s are not near: ``p`` holds, but ``p + 1`` or ``p - x`` may wrap.

    i64(x) - 5 <= p   as   x <= p + 5     ->   not for an int64 p, which may be 2**63 - 1
    x*8 + 7 < n       as   x < (n - 7)/8  ->   always right
"""

from __future__ import annotations

from halide_core.analysis.linear import Linear
from halide_core.ir import (
    Binary,
    BinaryOp,
    BufferField,
    Cast,
    ExprNode,
    Hole,
    IntImm,
    Promise,
    RVarRef,
    Select,
    Variable,
)
from halide_core.ir.expr_nodes import remembered

_MOST_FACTOR = 1 << 28
"""Several coordinates of 32 bits, each so many times, are far from the ends of int64."""
_MOST_CONSTANT = 1 << 60


@remembered("_far")
def is_far(e: ExprNode) -> bool:
    """True of an int64 that may be near the ends of its type, as only values of the user's can: a sum that he did not
    write might wrap. Coordinates are not."""
    match e:
        case Cast(a=a):
            return not (a.type.is_bool() or (a.type.is_integer() and a.type.bits() <= 32))
        case Binary(op=BinaryOp.MOD, b=IntImm(value=k)) if abs(k) <= _MOST_FACTOR:
            return False
        case Binary(a=a, b=b) | Select(a=a, b=b):
            return is_far(a) or is_far(b)
        case Promise(value=value):
            return is_far(value)
        case IntImm(value=value):
            return abs(value) > _MOST_CONSTANT
    return not isinstance(e, Variable | RVarRef | BufferField | Hole)


def is_near(form: Linear) -> bool:
    """True of a form that can be solved for one of its terms."""
    few = all(abs(c) <= _MOST_FACTOR for c in form.terms.values()) and abs(form.const) <= _MOST_CONSTANT
    return few and not any(map(is_far, form.terms))
