"""Consequences of a condition where it holds, or where it does not: ranges for the prover, and values to put in place.

In: a condition, and whether it holds. Out: facts about int64 atoms; and, for a condition that is the same all through a
run, what its parts are worth.

    n >= 8 holds        ->   8 <= int64(n);  (n >= 8) is true, (n < 8) is false, and by the bound (n > 5) is true
    n == 4 holds        ->   int64(n) in [4, 4];  n is 4
"""

from __future__ import annotations

from halide_core import ir
from halide_core.analysis.index import exact_index
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import Simplifier
from halide_core.ir import (
    Access,
    Binary,
    BinaryOp,
    BufferField,
    Call,
    Cast,
    ExprNode,
    IntImm,
    Load,
    Not,
    ParamRef,
    Variable,
)
from halide_core.ir.types import BOOL, INT32, INT64
from halide_core.ir.visitor import Rewriter, has

_COMPARISONS = frozenset({BinaryOp.LT, BinaryOp.LE, BinaryOp.EQ, BinaryOp.NE})
_OPPOSITE = {BinaryOp.EQ: BinaryOp.NE, BinaryOp.NE: BinaryOp.EQ}


def assume_condition(facts: Facts, condition: ExprNode, holds: bool = True) -> None:
    """Adds the bounds of single atoms that a condition gives where it holds, or where it does not."""
    match condition:
        case Not(a=a):
            assume_condition(facts, a, not holds)
        case Binary(op=BinaryOp.AND | BinaryOp.OR as op, a=a, b=b) if (op is BinaryOp.AND) is holds:
            assume_condition(facts, a, holds)
            assume_condition(facts, b, holds)
        case Binary(op=BinaryOp.LT | BinaryOp.LE | BinaryOp.EQ | BinaryOp.NE as op, a=a, b=b):
            x, y = exact_index(a), exact_index(b)
            if x is None or y is None:
                return
            if op is BinaryOp.EQ or op is BinaryOp.NE:
                if (op is BinaryOp.EQ) is holds:
                    _at_most(facts, x, y, ir.ZERO)
                    _at_most(facts, y, x, ir.ZERO)
            elif holds:
                _at_most(facts, x, y, ir.ONE if op is BinaryOp.LT else ir.ZERO)
            else:
                _at_most(facts, y, x, ir.ZERO if op is BinaryOp.LT else ir.ONE)


def _at_most(facts: Facts, a: ExprNode, b: ExprNode, slack: ExprNode) -> None:
    """``a + slack <= b``."""
    simplifier = Simplifier(facts)
    if not isinstance(a, IntImm | Binary):
        facts.assume_at_most(a, simplifier.expr(ir.sub(b, slack)))
    if not isinstance(b, IntImm | Binary):
        facts.assume_at_least(b, simplifier.expr(ir.add(a, slack)))


class Implied(Rewriter):
    """Decides comparisons of single numbers by facts about them: where ``n > 73`` holds, ``n > 50`` does."""

    def __init__(self, facts: Facts) -> None:
        super().__init__()
        self._simplifier = Simplifier(facts)

    def rewrite_Binary(self, e: Binary) -> ExprNode:
        """A comparison's truth, where it is certain: of other types than int64, by the numbers that these are."""
        if e.op in _COMPARISONS and e.a.type is not INT64:
            x, y = exact_index(e.a), exact_index(e.b)
            if x is not None and y is not None:
                found = self._simplifier.expr(Binary(BOOL, e.op, x, y))
                if isinstance(found, IntImm):
                    return found
        return self.parts_of(e)


def known_values(condition: ExprNode, holds: bool = True) -> dict[ExprNode, ExprNode]:
    """The values of the parts of a condition. None, unless it is the same all through a run."""
    found: dict[ExprNode, ExprNode] = {}
    if not has(condition, Variable, Access, Load, Call):
        _learn(found, condition, holds)
    return found


def _learn(found: dict[ExprNode, ExprNode], e: ExprNode, holds: bool) -> None:
    if isinstance(e, IntImm):
        return
    found[e] = ir.TRUE if holds else ir.FALSE
    match e:
        case Not(a=a):
            _learn(found, a, not holds)
        case Binary(op=BinaryOp.AND | BinaryOp.OR as op, a=a, b=b) if (op is BinaryOp.AND) is holds:
            _learn(found, a, holds)
            _learn(found, b, holds)
        case Binary(op=BinaryOp.LT as op, a=a, b=b) if a.type.is_integer():
            found[ir.less_equal(b, a)] = ir.FALSE if holds else ir.TRUE
        case Binary(op=BinaryOp.LE as op, a=a, b=b) if a.type.is_integer():
            found[ir.less(b, a)] = ir.FALSE if holds else ir.TRUE
        case Binary(op=BinaryOp.EQ | BinaryOp.NE as op, a=a, b=b) if a.type.is_integer():
            found[Binary(BOOL, _OPPOSITE[op], a, b)] = ir.FALSE if holds else ir.TRUE
            if (op is BinaryOp.EQ) is holds:
                _equal(found, a, b)
                _equal(found, b, a)


def _equal(found: dict[ExprNode, ExprNode], leaf: ExprNode, value: ExprNode) -> None:
    if not isinstance(value, IntImm):
        return
    match leaf:
        case ParamRef() | BufferField():
            found[leaf] = value
        case Cast(a=BufferField() as field) if leaf.type is INT32:
            found[field] = ir.i64(value.value)
