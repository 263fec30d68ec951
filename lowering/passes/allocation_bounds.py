"""Constant upper limits of lengths, for memory that can live on the stack.

    constant_limit(min(xo*64 + 64, n) - xo*64)   ->   64
"""

from __future__ import annotations

from halide_core.analysis.linear import Linear, linear_of
from halide_core.analysis.prover import Facts
from halide_core.ir import Binary, BinaryOp, ExprNode

_DEPTH = 4


def constant_limit(length: ExprNode, facts: Facts) -> int | None:
    """The least constant found that a length never exceeds; None where none was."""
    return _limit(linear_of(length), facts, _DEPTH)


def _limit(form: Linear, facts: Facts, depth: int) -> int | None:
    best: float = form.const
    for atom, c in form.terms.items():
        low, high = facts.constant_range(atom)
        best += c * (high if c > 0 else low)
    found = int(best) if best < 1 << 31 else None
    if depth:
        for atom, c in form.terms.items():
            for e in _above(atom, c):
                other = _limit(form.replacing(atom, linear_of(e)), facts, depth - 1)
                if other is not None and (found is None or other < found):
                    found = other
    return found


def _above(atom: ExprNode, c: int) -> tuple[ExprNode, ...]:
    """Expressions that make the form no smaller when one of them stands for the atom."""
    match atom:
        case Binary(op=BinaryOp.MIN, a=a, b=b) if c > 0:
            return (a, b)
        case Binary(op=BinaryOp.MAX, a=a, b=b) if c < 0:
            return (a, b)
    return ()
