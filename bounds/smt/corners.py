"""Lemmas about products of what varies in loops: each lies between its corners.

In: a claim. Out: conditions that hold in its context, for a solver to which a product is one more unknown.

    a*b where a and b only grow or only fall with x, and low <= x <= high
        ->   min(aᵢ*bⱼ) <= a*b <= max(aᵢ*bⱼ), where i and j are low or high; of a factor that is constant the sign tells
             which of them is the least

Variables go from the innermost one outwards, and the corners have lemmas of their own about what is further out, until
they are made of fields of buffers and Params, as start-up checks are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import TypeAlias

from halide_core import ir
from halide_core.analysis.simplify import simplify
from halide_core.bounds.engines.monotone import Direction, Directions
from halide_core.bounds.verify.vc import Claim, Context
from halide_core.ir import Binary, BinaryOp, ExprNode, Hole, IntImm, Variable
from halide_core.ir.logic import any_of, conjuncts, negation
from halide_core.ir.types import INT32, INT64
from halide_core.ir.visitor import Closing, subexpressions, substitute

_Product: TypeAlias = tuple[ExprNode, ExprNode]
_MOST = 64
"""No lemmas are made of more products than that."""


def corner_lemmas(claim: Claim) -> list[ExprNode]:
    """See the module's docstring; none where no product varies, or too many do."""
    nodes = claim.context.below(None)
    holes = Closing({node.variable: node.fact for node in nodes if isinstance(node.variable, Hole)})
    said = [claim.conclusion, *(node.fact for node in nodes if node.check is None)]
    products = dict.fromkeys(_products([holes.expr(e) for e in said]))
    if len(products) > _MOST:
        return []
    return list(_Lemmas(nodes, holes).about(products))


def _products(exprs: Sequence[ExprNode]) -> Iterator[_Product]:
    for e in subexpressions(exprs):
        match e:
            case Binary(op=BinaryOp.MUL, a=a, b=b) if e.type is INT64 and not isinstance(b, IntImm):
                yield a, b


class _Lemmas:
    """The lemmas of one context."""

    def __init__(self, nodes: Sequence[Context], holes: Closing) -> None:
        self._nodes = nodes
        self._holes = holes
        self._low: dict[Variable, ExprNode] = {}
        self._high: dict[Variable, ExprNode] = {}
        self._left: dict[_Product, None] = {}
        self._lets = {node.variable for node in nodes if node.variable is not None}
        self._depths: dict[ExprNode, int] = {}
        for depth, node in enumerate(nodes):
            for e in subexpressions([node.fact if node.variable is None else node.variable]):
                self._depths.setdefault(e, depth)

    def about(self, products: dict[_Product, None]) -> Iterator[ExprNode]:
        """All of them. What a let names is between the ends that guards give it, and is its value."""
        self._left = products
        for node in reversed(self._nodes):
            var = node.variable
            if isinstance(var, Variable):
                if var in self._low and var in self._high:
                    yield from self._apart(var)
                yield from self._renamed(var, node.fact)
            elif var is None and node.check is None:
                for loop in self._learned(self._holes.expr(node.fact)):
                    if loop not in self._lets:
                        yield from self._apart(loop)
            if len(self._left) > _MOST:
                return

    def _learned(self, fact: ExprNode) -> list[Variable]:
        """Takes in a fact. Returns: the variables of which it gives the second end."""
        found: list[Variable] = []
        for each in conjuncts(fact):
            if not (isinstance(each, Binary) and each.op in (BinaryOp.LE, BinaryOp.LT)):
                continue
            a, b, apart = each.a, each.b, ir.i64(int(each.op is BinaryOp.LT))
            if isinstance(a, Variable) and self._limits(a, b):
                if a not in self._high and a in self._low:
                    found.append(a)
                self._high.setdefault(a, simplify(ir.sub(b, apart)))
            if isinstance(b, Variable) and self._limits(b, a):
                if b not in self._low and b in self._high:
                    found.append(b)
                self._low.setdefault(b, simplify(ir.add(a, apart)))
        return found

    def _limits(self, v: Variable, end: ExprNode) -> bool:
        """True where an end says of a loop or a let more than what a type of coordinates says of all, and is further
        out."""
        if v.type is not INT64 or (isinstance(end, IntImm) and end.value in INT32.range):
            return False
        return not isinstance(end, Variable) or self._depths.get(end, 0) < self._depths.get(v, 0)

    def _apart(self, v: Variable) -> Iterator[ExprNode]:
        """Products that vary with a variable, between those at its ends."""
        directions = Directions(v)
        for a, b in tuple(self._left):
            moving = [directions.of(e) for e in (a, b)]
            if set(moving) == {Direction.CONSTANT}:
                continue
            if v not in self._lets:
                del self._left[a, b]
            if Direction.UNKNOWN in moving:
                continue
            one, other = (self._at_ends(e, v) for e in (a, b))
            corners = dict.fromkeys((x, y) for x in one for y in other)
            self._left |= corners
            if Direction.CONSTANT in moving:
                constant, moves = (a, moving[1]) if moving[0] is Direction.CONSTANT else (b, moving[0])
                yield from _in_order([ir.mul(x, y) for x, y in corners], ir.mul(a, b), constant, moves)
            else:
                values = [ir.mul(x, y) for x, y in corners]
                yield ir.less_equal(reduce(ir.minimum, values), ir.mul(a, b))
                yield ir.less_equal(ir.mul(a, b), reduce(ir.maximum, values))

    def _at_ends(self, e: ExprNode, v: Variable) -> list[ExprNode]:
        return list(dict.fromkeys(simplify(substitute(e, {v: end})) for end in (self._low[v], self._high[v])))

    def _renamed(self, v: Variable, value: ExprNode) -> Iterator[ExprNode]:
        """Products of what a let names, with what it stands for in its place."""
        names = {v: self._holes.expr(value)}
        for a, b in tuple(self._left):
            x, y = (simplify(substitute(e, names)) for e in (a, b))
            if (x, y) != (a, b):
                del self._left[a, b]
                self._left[x, y] = None
                yield ir.binary(BinaryOp.EQ, ir.mul(a, b), ir.mul(x, y))


def _in_order(
    corners: Sequence[ExprNode], product: ExprNode, constant: ExprNode, moves: Direction
) -> Iterator[ExprNode]:
    """Of a product of which one factor is constant: which of its two corners is below it, and which above."""
    low, high = (corners[0], corners[-1]) if moves is Direction.GROWS else (corners[-1], corners[0])
    positive = ir.less_equal(ir.ZERO, constant)
    for condition, below, above in ((positive, low, high), (negation(positive), high, low)):
        for each in (ir.less_equal(below, product), ir.less_equal(product, above)):
            yield any_of([negation(condition), each])
