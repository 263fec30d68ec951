"""Expressions without idle cases: worth the same wherever the decisions hold; what an idle case asks is not asked."""

from __future__ import annotations

from functools import partial, reduce
from itertools import product

from halide_core import ir
from halide_core.analysis.prune_selects import assume, has_cases, without_idle_cases
from halide_core.analysis.simplify import simplify
from halide_core.bounds.smt.prover import Prover
from halide_core.bounds.verify.vc import Claim, ClaimKind, Status, nothing
from halide_core.ir import ExprNode
from halide_core.ir.types import BOOL, INT64
from halide_core.ir.visitor import Substitution

a, b, c = (ir.Variable(INT64, name) for name in "abc")
p, q = (ir.Variable(BOOL, name) for name in "pq")


def _select(condition: ExprNode, one: ExprNode, other: ExprNode) -> ExprNode:
    return ir.Select(INT64, condition, one, other)


def test_only_the_case_that_is_certain_is_left() -> None:
    asked: list[ExprNode] = []

    def decide(condition: ExprNode) -> bool | None:
        asked.append(condition)
        return {p: True}.get(condition)

    inner = _select(q, a, b)
    e = ir.less(_select(p, ir.add(inner, ir.ONE), _select(ir.less(a, b), c, a)), c)
    assert without_idle_cases(e, decide) is ir.less(ir.add(inner, ir.ONE), c)
    assert asked == [p, q], "what an idle case asks is not asked"


def test_extremes_quotients_and_selects_have_cases() -> None:
    cased = [ir.minimum(a, b), ir.maximum(a, b), ir.div(a, b), ir.mod(a, b), _select(p, a, b)]
    assert all(has_cases(ir.add(c, e)) for e in cased)
    assert not any(has_cases(e) for e in (a, ir.add(a, b), ir.mul(a, b), ir.less(a, b)))


def test_nothing_decided_gives_the_same_node() -> None:
    e = ir.minimum(_select(p, a, b), c)
    assert without_idle_cases(e, lambda _: None) is e


def test_what_a_condition_decides_is_worth_the_same_under_it() -> None:
    """Against every truth of the conditions, which also tell where there is something to decide."""
    r = ir.Variable(BOOL, "r")
    either, both = (ir.binary(op, p, q) for op in (ir.BinaryOp.OR, ir.BinaryOp.AND))
    three = ir.binary(ir.BinaryOp.OR, either, r)
    conditions = [p, either, both, three, ir.binary(ir.BinaryOp.AND, both, r), ir.binary(ir.BinaryOp.AND, either, r)]
    states = [Substitution(dict(zip((p, q, r), t, strict=True))) for t in product((ir.FALSE, ir.TRUE), repeat=3)]
    for known, nested, holds in product(conditions, conditions, (True, False)):
        e = ir.minimum(_select(nested, a, b), c)
        left = assume(e, known, holds=holds)
        met = [at for at in states if simplify(at.expr(known)) is (ir.TRUE if holds else ir.FALSE)]
        for at in met:
            assert simplify(at.expr(left)) is simplify(at.expr(e)), (known, nested, holds)
        assert (left is e) == (len({simplify(at.expr(nested)) for at in met}) > 1), (known, nested, holds)


def test_long_conditions_are_compared_once_a_pair() -> None:
    """Trying their parts in every order would never end."""
    many = [[ir.Variable(BOOL, f"{name}{i}") for i in range(24)] for name in "st"]
    every = reduce(ir.conjunction, many[0])
    some = reduce(partial(ir.binary, ir.BinaryOp.OR), many[1])
    e = _select(some, a, b)
    assert assume(e, every, holds=True) is e
    assert assume(e, ir.conjunction(every, many[1][11]), holds=True) is a


def test_cases_that_facts_rule_out_don_t_hold_a_claim_up() -> None:
    context = nothing().holds(ir.less(a, b), ir.less_equal(c, a))
    nested: ExprNode = c
    for k in range(12):
        nested = _select(
            ir.less(ir.add(b, ir.i64(k)), a), ir.add(b, ir.i64(k)), ir.minimum(nested, ir.add(a, ir.i64(k)))
        )
    (result,) = Prover().prove([Claim(ClaimKind.QUERY, "f", ("it is below",), context, ir.less(nested, b), None)])
    assert result.status is Status.PROVEN
