"""Limits on products that follow from start-up checks of products of lengths (``bounds.infer.fused_lengths``).

In: the start-up checks of a context. Out: conditions without products that make a product no greater than a checked
one.

    x*y*z is limited, 0 <= a <= x, 0 <= b <= y, 0 <= c <= z   ->   a*b*c is limited
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from halide_core import ir
from halide_core.bounds.verify.vc import Context
from halide_core.ir import Binary, BinaryOp, ExprNode, IntImm
from halide_core.ir.logic import all_of
from halide_core.ir.visitor import factors
from halide_core.loop_nest import LENGTH_LIMIT

_MOST_PERMUTED = 3
"""Of more factors than these only the order in which they are written is tried."""


@dataclass(frozen=True, slots=True)
class Checked:
    """Lengths whose product a start-up check limits."""

    lengths: tuple[ExprNode, ...]
    check: ExprNode


def checked_lengths(context: Context) -> list[Checked]:
    """The products that the start-up checks of a context limit."""
    found = (checked_length(node.fact) for node in context.below(None) if node.check is not None)
    return [each for each in found if each is not None]


def checked_length(check: ExprNode) -> Checked | None:
    """The product that the condition of a start-up check limits, if it is about one."""
    match check:
        case Binary(op=BinaryOp.LE, a=last, b=Binary(op=BinaryOp.DIV, a=IntImm(value=value), b=divisor)):
            return Checked((*map(_counted, factors(divisor)), last), check) if value == LENGTH_LIMIT else None
    return None


def _counted(factor: ExprNode) -> ExprNode:
    """The length that a factor of the divisor is, which is no less than one."""
    match factor:
        case Binary(op=BinaryOp.MAX, a=length, b=IntImm(value=1)):
            return length
    return factor


def as_checked(product: ExprNode, checks: Iterable[Checked]) -> Iterator[ExprNode]:
    """That some product is no greater than a checked one, as conditions without any product: that the check holds, and
    ``0 <= x <= a`` for each factor and length, in some order."""
    apart = tuple(factors(product))
    for checked in checks:
        for mine in dict.fromkeys((apart, _multiplied(apart))):
            if len(mine) == len(checked.lengths) > 1:
                orders = permutations(mine) if len(mine) <= _MOST_PERMUTED else [mine]
                yield from (_no_longer(order, checked) for order in orders)


def _multiplied(apart: Sequence[ExprNode]) -> tuple[ExprNode, ...]:
    """The same product of fewer factors: a constant multiplies the one before it, as a length of whole blocks is."""
    merged: list[ExprNode] = []
    for factor in apart:
        if merged and isinstance(factor, IntImm):
            merged[-1] = ir.mul(merged[-1], factor)
        else:
            merged.append(factor)
    return tuple(merged)


def _no_longer(order: Sequence[ExprNode], checked: Checked) -> ExprNode:
    """That no factor is longer than the length at its place."""
    ends = [pair for x, a in zip(order, checked.lengths, strict=True) for pair in ((ir.ZERO, x), (x, a))]
    return all_of((checked.check, *(ir.less_equal(least, most) for least, most in ends)))
