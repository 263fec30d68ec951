"""Proofs by cases: what is proven holds for all small numbers, and the shapes that slides have are proven."""

from __future__ import annotations

import itertools
import random

import pytest

from halide_core import ir
from halide_core.analysis.infeasible import contradict
from halide_core.analysis.linear import Linear
from halide_core.bounds.verify.by_cases import CaseProver
from halide_core.bounds.verify.vc import Claim, ClaimKind, Context, nothing
from halide_core.ir import BinaryOp, ExprNode, Select, Variable
from halide_core.ir.logic import any_of, negation
from halide_core.ir.types import BOOL, INT64
from halide_core.reference.scalar_ops import binary_function

p, y, m, n = (Variable(INT64, name) for name in "pymn")
NAMES = (p, y, m)


def proven(context: Context, conclusion: ExprNode) -> bool:
    return CaseProver().proves(Claim(ClaimKind.COVERAGE, "f", ("a claim",), context, conclusion))


def at_least(e: ExprNode, least: ExprNode) -> ExprNode:
    return ir.less_equal(least, e)


def test_a_step_of_a_window() -> None:
    new = Select(INT64, ir.less_equal(y, m), ir.sub(y, ir.ONE), ir.add(y, ir.ONE))
    before = nothing().holds(at_least(y, m), at_least(p, ir.sub(y, ir.ONE)), ir.less_equal(p, ir.add(y, ir.ONE)))
    context = before.holds(negation(at_least(p, new)))
    assert proven(context, ir.less(m, y))
    assert proven(context, at_least(p, ir.sub(y, ir.i64(2))))
    assert proven(context, ir.less_equal(p, y))
    assert not proven(context, ir.less_equal(p, ir.sub(y, ir.ONE)))
    assert not proven(before, ir.less(m, y))


def test_definitions_and_facts_that_contradict_each_other() -> None:
    context = nothing().defines(n, ir.add(y, ir.ONE)).holds(ir.less_equal(n, m))
    assert proven(context, ir.less(y, m))
    assert proven(context.holds(ir.less_equal(m, y)), ir.FALSE)
    assert not proven(context, ir.FALSE)


def test_halves_of_the_lesser_of_two() -> None:
    least = ir.minimum(y, m)
    half = ir.binary(BinaryOp.DIV, least, ir.i64(2))
    assert proven(nothing(), ir.less_equal(ir.mul(half, ir.i64(2)), y))
    assert proven(nothing().holds(ir.less_equal(ir.i64(4), y), ir.less_equal(ir.i64(6), m)), at_least(half, ir.i64(2)))
    assert not proven(nothing(), at_least(half, ir.ZERO))


def test_sums_of_ten_minima_are_given_up() -> None:
    """2^10 forms follow from one comparison."""
    prover = CaseProver()
    pairs = [(Variable(INT64, f"a{k}"), Variable(INT64, f"b{k}")) for k in range(10)]
    total = ir.ZERO
    for a, b in pairs:
        total = ir.add(total, ir.minimum(a, b))
    assert not proven(nothing().holds(at_least(total, ir.ZERO)), at_least(m, ir.ZERO))
    opposite = Claim(ClaimKind.COVERAGE, "f", ("a claim",), nothing(), ir.less(total, ir.ZERO))
    assert not prover.proves(opposite)
    assert prover.gave_up


def test_what_a_tile_reads_lies_in_it_wherever_it_begins() -> None:
    """Sums in which the lesser of two is a number like any other; by the cases of ten of them there is no end."""
    begin = ir.ZERO
    for k in range(10):
        begin = ir.add(begin, ir.minimum(Variable(INT64, f"a{k}"), Variable(INT64, f"b{k}")))
    inside = nothing().holds(ir.less_equal(ir.ZERO, n), ir.less(n, ir.i64(8)))
    half = ir.binary(BinaryOp.DIV, ir.add(begin, n), ir.i64(2))
    first = ir.binary(BinaryOp.DIV, begin, ir.i64(2))
    prover = CaseProver()
    for conclusion, holds in (
        (ir.conjunction(ir.less_equal(first, half), ir.less_equal(half, ir.add(first, ir.i64(4)))), True),
        (ir.less_equal(half, ir.add(first, ir.i64(3))), False),
    ):
        assert prover.proves(Claim(ClaimKind.COVERAGE, "f", ("a claim",), inside, conclusion)) is holds


def drawn_number(rng: random.Random, depth: int) -> ExprNode:
    kind = rng.randrange(7) if depth else rng.randrange(2)
    if kind == 0:
        return ir.i64(rng.randint(-3, 3))
    if kind == 1:
        return rng.choice(NAMES)
    a, b = drawn_number(rng, depth - 1), drawn_number(rng, depth - 1)
    match kind:
        case 2:
            return ir.add(a, b)
        case 3:
            return ir.sub(a, b)
        case 4:
            return rng.choice([ir.minimum, ir.maximum])(a, b)
        case 5:
            return ir.binary(BinaryOp.DIV, a, ir.i64(rng.randint(2, 3)))
    return Select(INT64, drawn_condition(rng, depth - 1), a, b)


def drawn_condition(rng: random.Random, depth: int) -> ExprNode:
    kind = rng.randrange(7) if depth else rng.randrange(4)
    if kind < 4:
        op = (BinaryOp.LT, BinaryOp.LE, BinaryOp.EQ, BinaryOp.NE)[kind]
        return ir.Binary(BOOL, op, drawn_number(rng, depth), drawn_number(rng, depth))
    a, b = drawn_condition(rng, depth - 1), drawn_condition(rng, depth - 1)
    if kind == 4:
        return negation(a)
    return ir.conjunction(a, b) if kind == 5 else any_of((a, b))


def value(e: ExprNode, at: dict[ExprNode, int]) -> int:
    match e:
        case Variable():
            return at[e]
        case ir.IntImm(value=known):
            return known
        case ir.Not(a=a):
            return 1 - value(a, at)
        case Select(condition=condition, a=a, b=b):
            return value(a if value(condition, at) else b, at)
        case ir.Binary(op=op, a=a, b=b):
            return int(binary_function(op, a.type)(value(a, at), value(b, at)))
    raise AssertionError(e)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_proven_holds(seed: int) -> None:
    rng = random.Random(seed)
    proofs = 0
    for _ in range(150):
        facts = [drawn_condition(rng, 2) for _ in range(rng.randrange(3))]
        conclusion = any_of((drawn_condition(rng, 2), negation(rng.choice([*facts, ir.FALSE]))))
        if not proven(nothing().holds(*facts), conclusion):
            continue
        proofs += 1
        for numbers in itertools.product(range(-4, 5), repeat=len(NAMES)):
            at: dict[ExprNode, int] = dict(zip(NAMES, numbers, strict=True))
            assert not all(value(fact, at) for fact in facts) or value(conclusion, at), (facts, conclusion, numbers)
    assert proofs > 15


@pytest.mark.parametrize("seed", range(4))
def test_forms_that_contradict_each_other_have_no_state(seed: int) -> None:
    rng = random.Random(seed)
    found = 0
    for _ in range(300):
        forms = [
            Linear({v: c for v in NAMES if (c := rng.randint(-3, 3))}, rng.randint(-4, 4))
            for _ in range(rng.randint(2, 5))
        ]
        if contradict(forms):
            found += 1
            for numbers in itertools.product(range(-5, 6), repeat=len(NAMES)):
                at = dict(zip(NAMES, numbers, strict=True))
                assert any(sum(c * at[a] for a, c in f.terms.items()) + f.const < 0 for f in forms), forms
    assert found > 15
    assert not contradict([Linear({p: 2, y: -2}, 1), Linear({y: 2, p: -2}, 1)])  # p = y
    assert contradict([Linear({p: 2, y: -2}, -1), Linear({y: 2, p: -2}, 1)])  # 1 <= 2p - 2y <= 1


def test_what_is_alone_goes_first() -> None:
    """A point between the least one of a step and the greatest one of the step before, of a pyramid's window: rational
    numbers are there, and no integers."""
    e, q, r = (Variable(INT64, name) for name in "eqr")  # q is (m + e)/4, r is m/4, and e is at least 4y
    quotients = [Linear({q: 4, m: -1, e: -1}, 3), Linear({q: -4, m: 1, e: 1}, 0), Linear({r: -4, m: 1}, 0)]
    known = [*quotients, Linear({e: 1, y: -4}, 0), Linear({q: 2, p: -1}, 1), Linear({p: 1, r: -2, y: -2}, 4)]
    below = Linear({y: 2, r: 2, p: -1}, -4)
    assert contradict([Linear({p: 1, q: -2}, 3), below, *known])
    assert not contradict([Linear({p: 1, q: -2}, 4), below, *known])
