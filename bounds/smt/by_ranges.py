"""Claims that constant ranges decide: no solver need be asked, however many products there are.

In: a Claim. Out: the start-up checks that it rests on, or None where ranges alone don't tell; ``range_lemmas``: what
ranges tell of the floats in it.

    p <= 6   ⇒   (extent + p - 1)/p*p <= 2^63 - 1     rests on the check of p
    0 <= x <= 3   ->   0 <= int32(float32(x)*(float32(x) + 0.5)) <= 10
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TypeGuard

from halide_core import ir
from halide_core.analysis.constant_ranges import ConstantRanges
from halide_core.analysis.interval import EVERYTHING, Range, meet, of_integers, type_range
from halide_core.analysis.linear import linear_of, to_expr
from halide_core.bounds.smt.floats import converted_range
from halide_core.bounds.verify.fused_lengths import checked_length
from halide_core.bounds.verify.vc import Claim, Context
from halide_core.ir import Assert, Binary, BinaryOp, BufferField, Cast, ExprNode, IntImm, ParamRef
from halide_core.ir.logic import conjuncts
from halide_core.ir.types import INT64
from halide_core.ir.visitor import factors, subexpressions
from halide_core.loop_nest import LENGTH_LIMIT

_EXTREMES = (BinaryOp.MIN, BinaryOp.MAX)
_FEW = 6
"""A sum with more choices in it is not looked into: each is taken both ways."""


class _Ranges(ConstantRanges):
    """Ranges that know what fields of buffers, and sums, are limited to: of a window the last coordinate is."""

    def __init__(self) -> None:
        super().__init__()
        self._limits: dict[object, Range] = {}
        self._products: list[Counter[ExprNode]] = []
        """Lengths whose product is limited, none of them negative where the limit holds."""

    def learn_product(self, lengths: Iterable[ExprNode]) -> None:
        """Takes in that the product of some lengths is no more than loops can count."""
        self._products.append(Counter(lengths))
        self._known.clear()

    def _limit(self, e: ExprNode, over: Range) -> None:
        key, const = _limited(e)
        if key is None:
            super()._limit(e, over)
        else:
            known = meet(self._limits.get(key, EVERYTHING), (over[0] - const, over[1] - const))
            if known[0] <= known[1]:  # where conditions contradict each other nothing runs
                self._limits[key] = known
                self._known.clear()

    def _compute(self, e: ExprNode) -> Range:
        if _is_of_floats(e):
            return converted_range(e.a, e.type, self.of, {})
        found = self._by_cases(e, super()._compute(e))
        if self._products and isinstance(e, Binary) and e.op is BinaryOp.MUL and e.type is INT64:
            return self._of_product(e, found)
        key, const = _limited(e)
        limit = None if key is None else self._limits.get(key)
        if limit is None:
            return found
        both = meet(found, (limit[0] + const, limit[1] + const))
        return both if both[0] <= both[1] else found

    def _of_product(self, e: Binary, found: Range) -> Range:
        mine = [*factors(e)]
        if Counter(mine) in self._products and all(self.of(length)[0] >= 0 for length in mine):
            both = meet(found, (0, LENGTH_LIMIT))
            return both if both[0] <= both[1] else found  # where conditions contradict each other nothing runs
        return found

    def _by_cases(self, e: ExprNode, found: Range) -> Range:
        """The range of a sum of which one term is the lesser or greater of two: what each of those makes it may
        have a limit, as the last coordinate of a window that a tile ends in has."""
        if not (isinstance(e, Binary) and e.op in (BinaryOp.ADD, BinaryOp.SUB) and e.type is INT64):
            return found
        form = linear_of(e)
        for atom, c in form.terms.items():
            match atom:
                case Binary(op=BinaryOp.MIN | BinaryOp.MAX as op) if _choices(e) <= _FEW:
                    one, other = (self.of(to_expr(form.replacing(atom, linear_of(each)))) for each in (atom.a, atom.b))
                    greatest = (op is BinaryOp.MAX) == (c > 0)
                    whole = of_integers(BinaryOp.MAX if greatest else BinaryOp.MIN, one, other)
                    both = meet(found, whole)
                    return both if both[0] <= both[1] else found
        return found


def _choices(e: ExprNode) -> int:
    """The number of choices of the lesser or greater of two in an expression."""
    return sum(1 for each in subexpressions([e]) if isinstance(each, Binary) and each.op in _EXTREMES)


def _limited(e: ExprNode) -> tuple[object, int]:
    """A key for all expressions that differ by constants, and by how much this one does; None for what has none."""
    match e:
        case BufferField():
            return e, 0
        case Binary(op=BinaryOp.ADD | BinaryOp.SUB) if e.type is INT64:
            form = linear_of(e)
            return frozenset(form.terms.items()), form.const
    return None, 0


def checks_by_ranges(claim: Claim) -> tuple[Assert, ...] | None:
    """The checks that a claim rests on by constant ranges, as few as it does with; None where it doesn't hold by
    them."""
    nodes = claim.context.below(None)
    about = _symbols(claim.conclusion)
    checks = [node.check for node in nodes if node.check is not None]
    near = [c for c in checks if not about.isdisjoint(_symbols(c.condition))]
    limits = [c for c in near if _is_of_limits(c.condition)]
    kept = next((some for some in (limits, near) if _holds(claim.conclusion, nodes, some)), None)
    if kept is None:
        return None
    for check in tuple(kept):
        others = [each for each in kept if each is not check]
        if _holds(claim.conclusion, nodes, others):
            kept = others
    return tuple(kept)


def _symbols(e: ExprNode) -> set[ExprNode]:
    return {each for each in subexpressions([e]) if isinstance(each, ParamRef | BufferField)}


def _is_of_limits(e: ExprNode) -> bool:
    """True of comparisons with constants."""
    return all(map(_is_limit, conjuncts(e)))


def _is_limit(e: ExprNode) -> bool:
    match e:
        case Binary(op=BinaryOp.LT | BinaryOp.LE, a=a, b=b):
            return isinstance(a, IntImm) or isinstance(b, IntImm)
    return False


def range_lemmas(claim: Claim) -> list[ExprNode]:
    """The ranges of the integers in a claim that are made of floats, by those of the loops that they are made of: a
    solver is not told of floats."""
    casts = dict.fromkeys(e for e in subexpressions([claim.conclusion]) if _is_of_floats(e))
    if not casts:
        return []
    ranges = _learned(claim.context.below(None), ())
    found: list[ExprNode] = []
    for e in casts:
        low, high = ranges.of(e)
        if (low, high) != type_range(e.type):
            found += [ir.less_equal(ir.const(int(low), e.type), e), ir.less_equal(e, ir.const(int(high), e.type))]
    return found


def _is_of_floats(e: ExprNode) -> TypeGuard[Cast]:
    return isinstance(e, Cast) and e.type.is_integer() and e.a.type.is_float()


def _holds(conclusion: ExprNode, nodes: Sequence[Context], checks: Collection[Assert]) -> bool:
    return _is_certain(conclusion, _learned(nodes, checks))


def _learned(nodes: Sequence[Context], checks: Collection[Assert]) -> ConstantRanges:
    """The ranges by what holds in a context, of start-up checks by some."""
    ranges = _Ranges()
    for _ in range(2):  # what an end is compared with may have a limit of its own only further on
        for node in nodes:
            if node.variable is not None:
                ranges.let(node.variable, node.fact)
            elif node.check is None or node.check in checks:
                ranges.learn(node.fact)
                product = None if node.check is None else checked_length(node.fact)
                if product is not None:
                    ranges.learn_product(product.lengths)
    return ranges


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
