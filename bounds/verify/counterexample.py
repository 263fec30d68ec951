"""A state that a solver found, as a counterexample that people can check.

In: a claim, and values of its leaves. Out: a Counterexample, which is certain where evaluation confirms it.

    x < n,  {x: 5, n: 4}   ->   fails for x = 5, n = 4
"""

from __future__ import annotations

from collections.abc import Collection

from halide_core.bounds.verify.vc import Claim, Counterexample
from halide_core.ir import ExprNode
from halide_core.ir.brief import brief
from halide_core.ir.visitor import subexpressions
from halide_core.reference.concrete import evaluate
from halide_core.reference.scalar_ops import Value


def confirmed(claim: Claim, leaves: dict[ExprNode, int], invented: Collection[ExprNode]) -> Counterexample:
    """A model as a counterexample: certain if, evaluated, every hypothesis holds and the conclusion does not, and
    no value of a Func had to be made up for it."""
    values: dict[ExprNode, Value] = dict(leaves)
    mentioned = _mentioned(claim)
    certain = not any(e in invented for e in mentioned)
    try:
        for node in claim.context.below(None):
            found = evaluate(node.fact, values)
            if node.variable is not None:
                values[node.variable] = found
            elif not found:
                certain = False
        certain = certain and not evaluate(claim.conclusion, values)
    except LookupError:
        certain = False
    named = {brief(e): int(values[e]) for e in mentioned if e in values}
    return Counterexample(named, certain)


def _mentioned(claim: Claim) -> list[ExprNode]:
    """All that a claim is made of, its leaves among it, in a fixed order."""
    return list(subexpressions([node.fact for node in claim.context.below(None)] + [claim.conclusion]))
