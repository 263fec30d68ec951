"""Terms whose operators don't ask for sorts: the same as z3's own operators build."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
import z3

from halide_core.bounds.smt.formulas import (
    Number,
    Truth,
    as_number,
    boolean,
    both,
    choice,
    either,
    implies,
    integer,
    literal,
    literal_truth,
    logical,
    opposite,
)
from halide_core.ir import BinaryOp

CONTEXT = z3.Context()
x, y = integer("x", CONTEXT), integer("y", CONTEXT)
p, q = boolean("p", CONTEXT), boolean("q", CONTEXT)
X, Y = z3.Ints("x y", CONTEXT)
P, Q = z3.Bools("p q", CONTEXT)
ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.mod]
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@pytest.mark.parametrize("op", [*ARITHMETIC, *COMPARISONS])
@pytest.mark.parametrize("other", [7, -3, 1 << 63, -(1 << 70), None])
def test_operators_build_what_z3_builds(op: Callable[[Any, Any], Any], other: int | None) -> None:
    ours, theirs = op(x, y if other is None else other), op(X, Y if other is None else other)
    assert ours.eq(theirs)
    assert type(ours) is (Number if op in ARITHMETIC else Truth)


def test_literals_stand_on_either_side() -> None:
    assert operator.mul(5, x).eq(operator.mul(5, X))
    assert (-x).eq(-X)
    for value in (0, -1, 1 << 62, 1 << 64):
        assert literal(value, CONTEXT).eq(z3.IntVal(value, CONTEXT))
    assert literal_truth(True, CONTEXT).eq(z3.BoolVal(True, CONTEXT))
    assert literal_truth(False, CONTEXT).eq(z3.BoolVal(False, CONTEXT))


def test_logic_builds_what_z3_builds() -> None:
    assert both(p, q).eq(z3.And(P, Q))
    assert either(p, q).eq(z3.Or(P, Q))
    assert opposite(p).eq(z3.Not(P))
    assert implies(p, q).eq(z3.Implies(P, Q))
    assert (p == q).eq(P == Q)
    assert (p != q).eq(P != Q)
    assert choice(p, x, y).eq(z3.If(P, X, Y))
    assert type(choice(p, p, q)) is Truth
    assert as_number(p).eq(z3.If(P, 1, 0))


@pytest.mark.parametrize("op", list(BinaryOp))
def test_operators_on_truth_values(op: BinaryOp) -> None:
    """``int`` of Python's truth values says what each means."""
    meanings: dict[BinaryOp, Callable[[Any, Any], Any]] = {
        BinaryOp.AND: min, BinaryOp.BIT_AND: min, BinaryOp.MIN: min, BinaryOp.MUL: min,
        BinaryOp.OR: max, BinaryOp.BIT_OR: max, BinaryOp.MAX: max,
        BinaryOp.EQ: operator.eq, BinaryOp.NE: operator.ne, BinaryOp.BIT_XOR: operator.ne,
        BinaryOp.LT: operator.lt, BinaryOp.LE: operator.le,
    }  # fmt: skip
    meant = meanings.get(op)
    for a in (False, True):
        for b in (False, True):
            found = logical(op, literal_truth(a, CONTEXT), literal_truth(b, CONTEXT))
            assert (found is None) == (meant is None)
            if found is not None and meant is not None:
                assert z3.is_true(z3.simplify(found)) == bool(meant(a, b))
