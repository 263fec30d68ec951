"""Expressions without idle cases: worth the same wherever the decisions hold; what an idle case asks is not asked."""

from __future__ import annotations

from bounds.claims import Claim, Kind, Status, nothing
from bounds.decided import has_cases, without_idle_cases
from bounds.solver import Prover
from halide_core import ir
from halide_core.ir import Expr
from halide_core.types import BOOL, INT64

a, b, c = (ir.Variable(INT64, name) for name in "abc")
p, q = (ir.Variable(BOOL, name) for name in "pq")


def _select(condition: Expr, one: Expr, other: Expr) -> Expr:
    return ir.Select(INT64, condition, one, other)


def test_only_the_case_that_is_certain_is_left() -> None:
    asked: list[Expr] = []

    def decide(condition: Expr) -> bool | None:
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


def test_cases_that_facts_rule_out_don_t_hold_a_claim_up() -> None:
    context = nothing().holds(ir.less(a, b), ir.less_equal(c, a))
    nested: Expr = c
    for k in range(12):
        nested = _select(
            ir.less(ir.add(b, ir.i64(k)), a), ir.add(b, ir.i64(k)), ir.minimum(nested, ir.add(a, ir.i64(k)))
        )
    (result,) = Prover().prove([Claim(Kind.QUERY, "f", ("it is below",), context, ir.less(nested, b), None)])
    assert result.status is Status.PROVEN
