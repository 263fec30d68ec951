"""Int32 coordinates that need a claim to be the int64 numbers that stand for them: those that could leave int32."""

from __future__ import annotations

import pytest

import halide_core as hl
from halide_core.analysis.constant_ranges import ConstantRanges
from halide_core.analysis.index import TargetExprs, stage_variables
from halide_core.bounds.verify.arithmetic import in_int64, overflowing
from halide_core.ir import Binary, BinaryOp, ExprNode, Variable, pure_variable
from halide_core.ir.types import INT64, UInt
from halide_core.ir.visitor import subexpressions

x = hl.Var("x")


def claimed(coordinate: hl.Expr) -> tuple[set[ExprNode], ExprNode]:
    """The expressions that need a claim so that a coordinate is its int64 number, and the coordinate."""
    f = hl.Func("f")
    f[x] = coordinate
    (e,) = f.function.definitions[0].values
    found = set(in_int64([e], TargetExprs(stage_variables(f.function, 0))))
    return found - {pure_variable("x")}, e


@pytest.mark.parametrize(
    "coordinate",
    [
        hl.min(x, 7),
        hl.max(x, 7),
        x % 7,
        x // 7,
        x >> 2,
        hl.select(x < 3, x, 7),
        hl.min(hl.max(x, 2), x % 5),
    ],
)
def test_no_claim_is_needed_of_what_lies_between_its_operands(coordinate: hl.Expr) -> None:
    assert claimed(coordinate)[0] == set()


@pytest.mark.parametrize("coordinate", [x + 7, x - 7, x * 7, x // -1, x << 2])
def test_a_claim_is_needed_of_what_may_be_larger_than_its_operands(coordinate: hl.Expr) -> None:
    found, e = claimed(coordinate)
    assert found == {e}


def test_operands_need_the_claim_where_what_is_made_of_them_needs_none() -> None:
    found, e = claimed(hl.min(x + 7, x * 2))
    assert e not in found
    assert len(found) == 2


def test_sums_of_int64_are_exact_in_coordinates_and_wrap_in_values() -> None:
    """Where a value does not count, nobody need have computed the values that it is made of."""
    f = hl.Func("f")
    f[x] = hl.i64(x) * 2 + 1
    (e,) = f.function.definitions[0].values
    exprs = TargetExprs(stage_variables(f.function, 0))
    assert {part.type for part in subexpressions([exprs.index(e)]) if isinstance(part, Binary)} == {INT64}
    assert {part.type for part in subexpressions([exprs.value(e)]) if isinstance(part, Binary)} == {UInt(64)}


@pytest.mark.parametrize("op", [BinaryOp.MIN, BinaryOp.MAX, BinaryOp.DIV, BinaryOp.MOD, BinaryOp.BIT_AND])
def test_no_claim_is_needed_of_what_numbers_of_int64_can_not_leave(op: BinaryOp) -> None:
    anything, other = Variable(INT64, "a"), Variable(INT64, "b")
    assert not overflowing([Binary(INT64, op, anything, other)], ConstantRanges())


@pytest.mark.parametrize("op", [BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL])
def test_a_claim_is_needed_of_sums_and_products(op: BinaryOp) -> None:
    e = Binary(INT64, op, Variable(INT64, "a"), Variable(INT64, "b"))
    assert overflowing([e], ConstantRanges()) == [e]
