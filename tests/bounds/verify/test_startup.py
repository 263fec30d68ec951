"""Claims about the arithmetic of each start-up check by the others, through the variables that it is made of."""

from __future__ import annotations

import pytest

from halide_core import ir
from halide_core.analysis.constant_ranges import ConstantRanges
from halide_core.bounds.verify.memory import MemoryReads, Reads
from halide_core.bounds.verify.startup import StartupArithmetic
from halide_core.bounds.verify.vc import Claim, Context, nothing
from halide_core.ir import Assert, ExprNode, Failure, Let, Stmt

n, m, whole = (ir.index_variable(name) for name in ("n", "m", "whole"))
SHORT = Assert(ir.conjunction(ir.less_equal(ir.ZERO, n), ir.less_equal(n, ir.i64(9))), Failure.ASSERTION, ())
PRODUCT = ir.mul(ir.mul(n, m), n)


def claims(*stmts: Stmt) -> list[Claim]:
    """Of a start-up, whose checks all pass."""
    startup, reads, context = StartupArithmetic(ConstantRanges()), Reads(MemoryReads()), nothing()
    for stmt in stmts:
        startup.meet(stmt, reads)
        match stmt:
            case Let(var=var, value=value):
                context = context.defines(var, value)
            case Assert():
                context = context.checked(stmt)
    return list(startup.claims(context))


def checks_of(context: Context) -> list[Assert]:
    return [node.check for node in context.below(None) if node.check is not None]


@pytest.mark.parametrize("through", [False, True], ids=["itself", "a let"])
def test_check_does_not_show_what_it_rests_on(through: bool) -> None:
    used: ExprNode = whole if through else PRODUCT
    check = Assert(ir.less_equal(used, ir.i64(100)), Failure.ASSERTION, ())
    stmts: list[Stmt] = [Let(whole, PRODUCT, None)] if through else []
    found = {c.text[1]: checks_of(c.context) for c in claims(*stmts, check, SHORT)}
    assert found == {PRODUCT: [SHORT], PRODUCT.a: [SHORT]}


def test_what_no_check_rests_on_is_shown_by_all() -> None:
    check = Assert(ir.less_equal(m, ir.i64(100)), Failure.ASSERTION, ())
    found = {c.text[1]: checks_of(c.context) for c in claims(Let(whole, PRODUCT, None), check, SHORT)}
    assert found == {PRODUCT: [check, SHORT], PRODUCT.a: [check, SHORT]}


def test_arithmetic_that_constants_keep_in_int64_needs_no_claim() -> None:
    assert claims(Let(whole, ir.add(ir.ONE, ir.i64(2)), None), SHORT) == []


def test_arithmetic_in_a_case_stays_in_int64_where_that_is_taken() -> None:
    few = ir.less(m, ir.i64(9))
    (claim,) = claims(Let(whole, ir.Select(n.type, few, ir.mul(n, m), ir.ZERO), None), SHORT)
    assert few in [node.fact for node in claim.context.below(None)]


def test_a_message_of_a_refused_window_may_wrap() -> None:
    assert claims(Assert(ir.less_equal(n, ir.i64(9)), Failure.ASSERTION, ("wide: ", PRODUCT))) == []
