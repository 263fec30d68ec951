"""Regions as the engines make them: boxes, each side with what asks for it, and boxes that have points only sometimes.

In: the boxes of clauses. Out: the smallest box around several.

    [0, 9] where n > 0,  and  [5, 12]   ->   [select(n > 0, 0, 5), 12]
"""

from __future__ import annotations

from dataclasses import dataclass

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.prover import Facts
from halide_core.analysis.prune_selects import assume
from halide_core.analysis.simplify import Simplifier, simplify
from halide_core.bounds.query.answers import Engine, Evidence
from halide_core.ir import BinaryOp, BufferField, ExprNode, Field, Select
from halide_core.ir.types import INT64

_ORDER = tuple(Engine)
"""Of several engines that an answer comes from, it is named after the last here."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One dimension of a box: its least and greatest coordinate, and what asks for them."""

    low: ExprNode
    high: ExprNode
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """A region. None for a side asks for nothing in that dimension; where ``when`` is false it has no points."""

    sides: tuple[Side | None, ...]
    when: ExprNode = ir.TRUE

    def whole(self) -> list[Side]:
        """The sides of a region that says something of every dimension."""
        sides = [s for s in self.sides if s is not None]
        assert len(sides) == len(self.sides), "the first clause of a box must say something of every dimension"
        return sides


def union(box: Box | None, other: Box, facts: Facts) -> Box:
    """The smallest box around two; one without points does not widen it."""
    if box is None:
        return Box(tuple(other.whole()), other.when)
    simplifier = Simplifier(facts)
    when = simplifier.expr(other.when)
    if when is ir.FALSE:
        return box
    sides: list[Side | None] = []
    for mine, more in zip(box.whole(), other.sides, strict=True):
        if more is None:
            sides.append(mine)
            continue
        low, high = simplifier.minimum(mine.low, more.low), simplifier.maximum(mine.high, more.high)
        low = _where_any(simplifier, (box.when, mine.low), (when, more.low), low)
        high = _where_any(simplifier, (box.when, mine.high), (when, more.high), high)
        sides.append(Side(low, high, mine.evidence + more.evidence))
    return Box(tuple(sides), simplifier.expr(ir.binary(BinaryOp.OR, box.when, when)))


def _where_any(
    simplifier: Simplifier, a: tuple[ExprNode, ExprNode], b: tuple[ExprNode, ExprNode], both: ExprNode
) -> ExprNode:
    """The end of a union of two regions that each have points only under a condition."""
    (some_a, end_a), (some_b, end_b) = a, b
    if both is not end_a and some_b is not ir.TRUE:
        both = _choice(simplifier, some_b, both, end_a)
    if both is not end_b and some_a is not ir.TRUE:
        both = _choice(simplifier, some_a, both, end_b)
    return both


def _choice(simplifier: Simplifier, condition: ExprNode, a: ExprNode, b: ExprNode) -> ExprNode:
    """One of two ends. Regions of one condition come one after the other: each is chosen once."""
    a, b = simplifier.expr(assume(a, condition, holds=True)), simplifier.expr(assume(b, condition, holds=False))
    return a if a is b else simplifier.expr(Select(INT64, condition, a, b))


def window_box(f: Function) -> Box:
    """The region that the caller asks of an output: what its buffer spans."""
    sides: list[Side] = []
    for d in range(f.dimensions):
        start, extent = BufferField(INT64, f, Field.MIN, d), BufferField(INT64, f, Field.EXTENT, d)
        sides.append(Side(start, simplify(ir.sub(ir.add(start, extent), ir.ONE))))
    return Box(tuple(sides))


def last_engine(evidence: tuple[Evidence, ...]) -> Engine:
    """The last engine of the chain that had a part in it."""
    return max((e.ends.engine for e in evidence), key=_ORDER.index, default=Engine.INTERVAL)
