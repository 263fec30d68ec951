"""Where the parts of expressions count: under the conditions of the cases that all their places share."""

from __future__ import annotations

from halide_core import ir
from halide_core.bounds.query.path_conditions import guards
from halide_core.ir import BinaryOp, ExprNode, Select
from halide_core.ir.logic import negation

n, m = (ir.index_variable(name) for name in ("n", "m"))
POSITIVE, SMALL = ir.less(ir.ZERO, n), ir.less(m, ir.i64(9))
PRODUCT = ir.mul(n, m)


def select(condition: ExprNode, a: ExprNode, b: ExprNode) -> ExprNode:
    return Select(a.type, condition, a, b)


def test_a_case_counts_where_it_is_taken() -> None:
    found = guards([select(POSITIVE, PRODUCT, ir.add(m, ir.ONE))])
    assert found[PRODUCT] == (POSITIVE,)
    assert found[ir.add(m, ir.ONE)] == (negation(POSITIVE),)
    assert found[POSITIVE] == ()


def test_cases_in_cases_add_up() -> None:
    found = guards([select(POSITIVE, select(SMALL, PRODUCT, n), n)])
    assert found[PRODUCT] == (POSITIVE, SMALL)
    assert found[SMALL] == (POSITIVE,)


def test_places_share_what_guards_them_all() -> None:
    inner = select(SMALL, PRODUCT, n)
    assert guards([select(POSITIVE, ir.add(inner, PRODUCT), n)])[PRODUCT] == (POSITIVE,)
    assert guards([select(POSITIVE, inner, n), PRODUCT])[PRODUCT] == ()
    assert guards([select(POSITIVE, PRODUCT, ir.add(PRODUCT, ir.ONE))])[PRODUCT] == ()


def test_the_second_operand_counts_where_the_first_does_not_decide() -> None:
    large = ir.less(PRODUCT, m)
    assert guards([ir.conjunction(POSITIVE, large)])[PRODUCT] == (POSITIVE,)
    assert guards([ir.binary(BinaryOp.OR, POSITIVE, large)])[PRODUCT] == (negation(POSITIVE),)
