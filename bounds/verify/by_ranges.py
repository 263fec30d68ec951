"""Claims that constant ranges decide: no solver need be asked, however many products there are.

In: a Claim. Out: the start-up checks that it rests on, or None where ranges alone don't tell.

    p <= 6   ⇒   (extent + p - 1)/p*p <= 2^63 - 1     rests on the check of p
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from halide_core import ir
from halide_core.analysis.constant_ranges import ConstantRanges
from halide_core.bounds.verify.vc import Claim, Context
from halide_core.ir import Assert, Binary, BinaryOp, ExprNode, IntImm, ParamRef, Variable
from halide_core.ir.logic import conjuncts
from halide_core.ir.visitor import subexpressions


def checks_by_ranges(claim: Claim) -> tuple[Assert, ...] | None:
    """The checks that a claim rests on by constant ranges, as few as it does with; None where it doesn't hold by
    them."""
    nodes = claim.context.below(None)
    kept = [node.check for node in nodes if node.check is not None and _is_of_params(node.check.condition)]
    if not _holds(claim.conclusion, nodes, kept):
        return None
    for check in tuple(kept):
        others = [each for each in kept if each is not check]
        if _holds(claim.conclusion, nodes, others):
            kept = others
    return tuple(kept)


def _is_limit(e: ExprNode) -> bool:
    """True of a comparison of a number with a constant."""
    match e:
        case Binary(op=BinaryOp.LT | BinaryOp.LE, a=a, b=b):
            return isinstance(a, IntImm) or isinstance(b, IntImm)
    return False


def _is_of_params(e: ExprNode) -> bool:
    limits = all(_is_limit(each) for each in conjuncts(e))
    return limits and any(isinstance(each, ParamRef) for each in subexpressions([e]))


def _holds(conclusion: ExprNode, nodes: Sequence[Context], checks: Collection[Assert]) -> bool:
    ranges = ConstantRanges()
    for node in nodes:
        if isinstance(node.variable, Variable):
            ranges.let(node.variable, node.fact)
        elif node.variable is None and (node.check is None or node.check in checks):
            ranges.learn(node.fact)
    return _is_certain(conclusion, ranges)


def _is_certain(e: ExprNode, ranges: ConstantRanges) -> bool:
    match e:
        case Binary(op=BinaryOp.AND, a=a, b=b):
            return _is_certain(a, ranges) and _is_certain(b, ranges)
        case Binary(op=BinaryOp.OR, a=a, b=b):
            return _is_certain(a, ranges) or _is_certain(b, ranges)
        case Binary(op=BinaryOp.LE, a=a, b=b) if a.type.is_integer():
            return ranges.of(a)[1] <= ranges.of(b)[0]
        case Binary(op=BinaryOp.LT, a=a, b=b) if a.type.is_integer():
            return ranges.of(a)[1] < ranges.of(b)[0]
    return e is ir.TRUE
