"""Constant upper limits of lengths, for memory that can live on the stack.

    constant_limit(min(xo*64 + 64, n) - xo*64)   ->   64
    constant_limit(max(min(xo*64 + 64, n) - xo*64, 16))   ->   64
    constant_limit((n + 40)/8 - n/8)             ->   5
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from halide_core.analysis.linear import Linear, linear_of
from halide_core.analysis.prover import Facts
from halide_core.ir import Binary, BinaryOp, ExprNode, IntImm, Select

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
            operands, either = _operands(atom, c)
            others = [_limit(form.replacing(atom, linear_of(e)), facts, depth - 1) for e in operands]
            if not either:
                others = [_greatest(others)]
            match atom:
                case Binary(op=BinaryOp.DIV, a=a, b=IntImm(value=by)) if by > 0:
                    others.append(_without_quotient(form, atom, linear_of(a), by, facts, depth))
            for other in others:
                if other is not None and (found is None or other < found):
                    found = other
    return found


def _without_quotient(
    form: Linear, quotient: ExprNode, of: Linear, by: int, facts: Facts, depth: int
) -> int | None:
    """The limit of a form, by that of a multiple of it that has what is divided in place of the quotient: what is left
    out by rounding is from 0 to ``by - 1``, and counts where the quotient is taken away."""
    times = by // gcd(form.terms[quotient], by)
    form = form.times(times)
    c = form.terms[quotient] // by
    above = of if c > 0 else of.plus(Linear({}, 1 - by))
    limit = _limit(form.plus(Linear({quotient: 1}, 0), -c * by).plus(above, c), facts, depth - 1)
    return None if limit is None else limit // times


def _operands(atom: ExprNode, c: int) -> tuple[tuple[ExprNode, ...], bool]:
    """The expressions one of which an atom is, and True where the form is no smaller with either of them in its place:
    the lesser of two is at most the one and the other. Else the greater of their limits counts."""
    match atom:
        case Binary(op=BinaryOp.MIN | BinaryOp.MAX as op, a=a, b=b):
            return (a, b), (op is BinaryOp.MIN) == (c > 0)
        case Select(a=a, b=b):
            return (a, b), False
    return (), True


def _greatest(limits: Sequence[int | None]) -> int | None:
    known = [limit for limit in limits if limit is not None]
    return max(known) if len(known) == len(limits) else None
