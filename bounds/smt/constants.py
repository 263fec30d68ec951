"""Arithmetic of constants, for terms of a solver.

In: Python numbers. Out: Python numbers, as the language's semantics have them. ``with_numbers``: an expression with
its integers that are made of numbers alone, written as numbers.

    with_numbers(float32(1/2)*q)   ->   float32(0)*q
"""

from __future__ import annotations

from halide_core import ir
from halide_core.bounds.engines.float_ends import is_constant
from halide_core.ir import Cast, ExprNode, IntImm
from halide_core.ir.visitor import Substitution, subexpressions
from halide_core.reference.concrete import evaluate


def euclid(a: int, b: int) -> tuple[int, int]:
    """Quotient and remainder; both are 0 where the divisor is."""
    if b == 0:
        return 0, 0
    r = a % abs(b)
    return (a - r) // b, r


def all_ones(most: int) -> int:
    """The greatest number of as many bits."""
    return int((1 << most.bit_length()) - 1)


def constant_of(e: ExprNode) -> int | None:
    """The integer or truth value that an expression made of numbers alone is; None of others, and of a broken
    promise."""
    if not e.type.is_integer() or not is_constant(e):
        return None
    try:
        return int(evaluate(e, {}))
    except LookupError:
        return None


def with_numbers(e: ExprNode) -> ExprNode:
    """See the module's docstring."""
    sources = (each.a for each in subexpressions([e]) if isinstance(each, Cast) and each.type.is_float())
    made = {a: constant_of(a) for a in sources if not isinstance(a, IntImm)}
    values = {a: ir.const(n, a.type) for a, n in made.items() if n is not None}
    return Substitution(values).expr(e) if values else e
