"""Nothing less a number: the one difference whose sign gcc gets wrong where it stands in an expression.

In: the operands' type. Out: the name of a C function, which joins the prelude.

    0.0 - (double)n   ->   difference_f64(0.0, (double)n)

gcc reads the first as ``-(double)n``, which is -0.0 where n is 0: it asks whether the second operand can be -0.0, and
an integer or an absolute value can't. Of parameters it asks nothing.
"""

from __future__ import annotations

from halide_core import ir
from halide_core.ir import BinaryOp
from halide_core.ir.types import Type
from halide_core.runtime.codegen.names import tag
from halide_core.runtime.codegen.vector.prelude import Prelude


def is_negation(e: ir.Binary) -> bool:
    """True where a float, or an integer that was converted, is taken from 0; lanes have no such expressions in C."""
    inner = e.a.a if isinstance(e.a, ir.Cast) else e.a
    zero = isinstance(inner, ir.IntImm | ir.FloatImm) and inner.value == 0
    return zero and e.op is BinaryOp.SUB and e.type.is_float() and e.type.is_scalar()


def difference(prelude: Prelude, type: Type) -> str:
    """``f(a, b)``."""
    c = prelude.type(type)
    return prelude.define(f"difference_{tag(type)}", lambda: (c, f"{c} a, {c} b", ["return a - b;"]))
