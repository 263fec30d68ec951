"""Where the parts of an expression count: under the conditions of all the cases that they stand in.

In: expressions. Out: for each of their subexpressions, conditions without which no value depends on it.

    select(0 < n, min(x*y, z), z)   ->   x*y: 0 < n;   z: nothing
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from halide_core.ir import Binary, BinaryOp, ExprNode, Select
from halide_core.ir.logic import negation
from halide_core.ir.visitor import parts, subexpressions

Guards = tuple[ExprNode, ...]
"""Conditions, outermost first, all of which hold."""


def guards(exprs: Iterable[ExprNode], *, connectives: bool = True) -> dict[ExprNode, Guards]:
    """The guards of every subexpression: of what stands in several places, those that all of these share.
    ``connectives``: the second operand of a conjunction counts where the first one holds."""
    roots = list(exprs)
    found: dict[ExprNode, Guards] = dict.fromkeys(roots, ())
    for e in reversed(list(subexpressions(roots))):  # users before operands
        for part, condition in _cases(e, connectives=connectives):
            here = found[e] if condition is None else (*found[e], condition)
            known = found.get(part)
            found[part] = here if known is None else tuple(c for c in known if c in here)
    return found


def _cases(e: ExprNode, *, connectives: bool) -> Iterator[tuple[ExprNode, ExprNode | None]]:
    """The operands, each with the condition under which it counts."""
    match e:
        case Select(condition=condition, a=a, b=b):
            yield from ((condition, None), (a, condition), (b, negation(condition)))
        case Binary(op=BinaryOp.AND, a=a, b=b) if connectives:
            yield from ((a, None), (b, a))
        case Binary(op=BinaryOp.OR, a=a, b=b) if connectives:
            yield from ((a, None), (b, negation(a)))
        case _:
            yield from ((part, None) for part in parts(e))
