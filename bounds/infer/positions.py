"""Ends that hold under a condition: those of positions that are made of floats and Params.

In: a side of a box, where an end is a choice between a number and any int32. Out: the side without the choice, and the
conditions that a start-up check has to see to; the side as it was where a clamp around the position keeps it small.

    [|p| <= 2^28 ? floor(…) : -2^31, …]        ->   [floor(…), …],  |p| <= 2^28
    [max(|p| <= 2^28 ? floor(…) : -2^31, 0), …]  ->   as it is
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from halide_core import ir
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import Simplifier
from halide_core.bounds.engines.elimination import ANY_INT32, is_guard, mentions
from halide_core.bounds.infer.boxes import Side
from halide_core.ir import Binary, BinaryOp, ExprNode, Select
from halide_core.ir.visitor import Rewriter, nodes_of

Greatest = Callable[[ExprNode], ExprNode | None]
"""The greatest value of an expression in a whole run."""


def without_guards(side: Side, facts: Facts, greatest: Greatest) -> tuple[Side, list[ExprNode]]:
    """See the module's docstring."""
    guards = [e for e in nodes_of([side.low, side.high], Select) if is_guard(e)]
    if not guards:
        return side, []
    simplifier = Simplifier(facts)
    anything, kept = _Chosen(holds=False), _Chosen(holds=True)
    low, high = simplifier.expr(anything.expr(side.low)), simplifier.expr(anything.expr(side.high))
    least, most = ANY_INT32
    if facts.proves_le(ir.add(least, ir.ONE), low) and facts.proves_le(high, ir.sub(most, ir.ONE)):
        return side, []
    conditions: dict[ExprNode, None] = {}
    for guard in guards:
        condition = _in_a_run(guard.condition, kept, greatest) if isinstance(guard, Select) else None
        if condition is None:
            return side, []
        conditions.setdefault(condition)
    low, high = simplifier.expr(kept.expr(side.low)), simplifier.expr(kept.expr(side.high))
    return replace(side, low=low, high=high), list(conditions)


def _in_a_run(condition: ExprNode, kept: _Chosen, greatest: Greatest) -> ExprNode | None:
    """A condition on Params alone, under which one holds all through a run. The ends in it are chosen under conditions
    of their own, which are seen to as well."""
    if not mentions(condition):
        return kept.expr(condition)
    match condition:
        case Binary(op=BinaryOp.AND, a=a, b=b):
            both = _in_a_run(a, kept, greatest), _in_a_run(b, kept, greatest)
            return None if both[0] is None or both[1] is None else ir.conjunction(both[0], both[1])
        case Binary(op=BinaryOp.LE, a=a, b=b) if not mentions(b):
            most = greatest(kept.expr(a))
            return None if most is None else ir.less_equal(most, kept.expr(b))
        case Binary(op=BinaryOp.LE, a=a, b=b) if not mentions(a):
            least = greatest(ir.sub(ir.ZERO, kept.expr(b)))
            return None if least is None else ir.less_equal(kept.expr(a), ir.sub(ir.ZERO, least))
    return None


class _Chosen(Rewriter):
    """Decides every guard."""

    def __init__(self, *, holds: bool) -> None:
        super().__init__()
        self._holds = holds

    def rewrite_Select(self, e: Select) -> ExprNode:
        """One of its cases."""
        if not is_guard(e):
            return self.parts_of(e)
        return self.expr(e.a) if self._holds else e.b
