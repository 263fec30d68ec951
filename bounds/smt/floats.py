"""Constant ranges of floating-point values, for indices that are made of them.

In: a float expression, and the ranges of the integers in it. Out: an interval that holds its value, which is then
finite and no NaN; None where that is not sure.

    float32(x)*0.5 + 1    with 0 <= x <= 255   ->   (0.99…, 128.5…)

Arithmetic rounds: an end that is no float is moved outwards by more than a rounding can.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from halide_core import ir
from halide_core.algorithm.model import ScalarParam
from halide_core.analysis.constant_ranges import ConstantRanges
from halide_core.analysis.interval import EVERYTHING, EXACT, Range, meet
from halide_core.analysis.value_range import ValueRanges
from halide_core.ir import BinaryOp, ExprNode
from halide_core.ir.logic import negation
from halide_core.ir.types import Type
from halide_core.ir.visitor import subexpressions


def float_range(e: ExprNode, integers: Callable[[ExprNode], Range], known: Mapping[ExprNode, Range]) -> Range | None:
    """See the module's docstring. ``known``: the ranges of unknowns."""
    found = _Floats(integers, known).of(e)
    return None if any(map(math.isinf, found)) else found


def converted_range(
    e: ExprNode, type: Type, integers: Callable[[ExprNode], Range], known: Mapping[ExprNode, Range]
) -> Range:
    """The range of a float as an integer, where a NaN is 0."""
    return _Floats(integers, known).converted(e, type)


def declared_ranges(exprs: Iterable[ExprNode]) -> dict[ExprNode, Range]:
    """The ranges that the Params in some expressions are declared to have, which start-up checks see to. What passes
    those is no NaN."""
    found: dict[ExprNode, Range] = {}
    for e in subexpressions(exprs):
        if isinstance(e, ir.ParamRef) and isinstance(e.param, ScalarParam):
            low, high = e.param.low, e.param.high
            if low is not None and high is not None and not e.type.is_bool() and not e.type.is_narrow_float():
                found[e] = (low, high)
    return found


def kept_ranges(e: ExprNode) -> list[ExprNode]:
    """The conditions that the Params in an expression are in the ranges that they are declared to have."""
    return _kept(declared_ranges((e,)))


def _kept(declared: Mapping[ExprNode, Range]) -> list[ExprNode]:
    ends = [(ir.const(low, p.type), p, ir.const(high, p.type)) for p, (low, high) in declared.items()]
    return [ir.less_equal(*pair) for low, p, high in ends for pair in ((low, p), (p, high))]


def where_declared(
    exprs: Iterable[ExprNode], given: Mapping[ExprNode, Range], otherwise: Callable[[ExprNode], Range]
) -> tuple[Callable[[ExprNode], Range | None], list[ExprNode]] | None:
    """Ranges of floats that are made of Params with declared ranges, and the conditions that these are kept; None where
    there are no such Params. ``given``: the ranges of other unknowns; ``otherwise``: those of integers, in any case."""
    declared = declared_ranges(exprs)
    if not declared:
        return None
    known = {**given, **declared}
    integers = ConstantRanges(known)
    inside = _kept(declared)

    def integer_range(e: ExprNode) -> Range:
        return meet(integers.of(e), otherwise(e))

    return lambda e: float_range(e, integer_range, known), inside


def infinite(e: ExprNode) -> Range | None:
    """The range of an infinite constant, which arithmetic has none for."""
    return (e.value, e.value) if isinstance(e, ir.FloatImm) and math.isinf(e.value) else None


def order(strict: bool, x: Range | None, y: Range | None) -> bool | None:
    """True where ``a < b``, or ``a <= b``, for numbers of two ranges; None where that depends."""
    if x is None or y is None:
        return None
    if x[1] < y[0] or (x[1] == y[0] and not strict):
        return True
    if y[1] < x[0] or (y[1] == x[0] and strict):
        return False
    return None


def by_integers(op: BinaryOp, a: ExprNode, b: ExprNode) -> ExprNode | None:
    """``a < b`` or ``a <= b`` of numbers, one of them a constant, by comparisons of what the other is chosen from, down
    to integers; None where it is made of anything else.

        0.5 <= max(float32(n), 0.0)   ->   1 <= n || false
    """
    match a, b:
        case ir.FloatImm(value=x), ir.FloatImm(value=y):
            return ir.TRUE if x < y or (x == y and op is BinaryOp.LE) else ir.FALSE
        case ir.FloatImm(value=c), ir.Cast(a=n) if _exact(n, c, a.type):
            return _at_least(n, math.floor(c) + 1 if op is BinaryOp.LT else math.ceil(c))
        case ir.Cast(a=n), ir.FloatImm(value=c) if _exact(n, c, a.type):
            most = math.ceil(c) - 1 if op is BinaryOp.LT else math.floor(c)
            return negation(_at_least(n, most + 1))
        case ir.FloatImm(), ir.Binary(op=BinaryOp.MIN | BinaryOp.MAX as chosen, a=p, b=q):
            both = by_integers(op, a, p), by_integers(op, a, q)
            return _joined(BinaryOp.OR if chosen is BinaryOp.MAX else BinaryOp.AND, *both)
        case ir.Binary(op=BinaryOp.MIN | BinaryOp.MAX as chosen, a=p, b=q), ir.FloatImm():
            both = by_integers(op, p, b), by_integers(op, q, b)
            return _joined(BinaryOp.OR if chosen is BinaryOp.MIN else BinaryOp.AND, *both)
        case ir.FloatImm(), ir.Select(condition=c, a=p, b=q):
            return _chosen(c, by_integers(op, a, p), by_integers(op, a, q))
        case ir.Select(condition=c, a=p, b=q), ir.FloatImm():
            return _chosen(c, by_integers(op, p, b), by_integers(op, q, b))
    return None


def _exact(n: ExprNode, c: float, type: Type) -> bool:
    """True where a float of an integer compares with a constant as the integer does: all that near are floats."""
    return n.type.is_integer() and not n.type.is_bool() and type.bits() >= 32 and abs(c) < EXACT


def _at_least(n: ExprNode, least: int) -> ExprNode:
    low, high = n.type.range
    return ir.TRUE if least <= low else ir.FALSE if least > high else ir.less_equal(ir.const(least, n.type), n)


def _joined(op: BinaryOp, one: ExprNode | None, other: ExprNode | None) -> ExprNode | None:
    return None if one is None or other is None else ir.binary(op, one, other)


def _chosen(condition: ExprNode, one: ExprNode | None, other: ExprNode | None) -> ExprNode | None:
    return None if one is None or other is None else ir.Select(one.type, condition, one, other)


class _Floats(ValueRanges):
    """Ranges of floats of a claim: all that is known of integers and of unknowns is given."""

    def __init__(self, integers: Callable[[ExprNode], Range], known: Mapping[ExprNode, Range]) -> None:
        super().__init__()
        self._integers = integers
        self._known.update(known)

    def of(self, e: ExprNode) -> Range:
        """The range of one expression."""
        return self._integers(e) if e.type.is_integer() and e not in self._known else super().of(e)

    def _compute(self, e: ExprNode) -> Range:
        match e:
            case ir.ParamRef() | ir.Access():
                return EVERYTHING
            case ir.Promise():  # a claim takes it as an assumption of its own
                return EVERYTHING
        return super()._compute(e)
