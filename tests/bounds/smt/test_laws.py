"""Laws of operators: what z3 proves of them, and what it refutes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from halide_core import ir
from halide_core.algorithm.law import Law
from halide_core.bounds.smt.laws import prove_law
from halide_core.ir import BinaryOp, ExprNode, Variable
from halide_core.ir.types import BOOL, Int, Type, UInt

Combine = Callable[[Sequence[ExprNode], Sequence[ExprNode]], Sequence[ExprNode]]


def law(types: Sequence[Type], combine: Combine, *neutral: int) -> Law:
    """The law of an operator, commutativity included."""
    x, y = ([Variable(t, f"{name}{k}") for k, t in enumerate(types)] for name in "xy")
    constants = tuple(ir.const(v, t) for v, t in zip(neutral, types, strict=True))
    return Law(tuple(x), tuple(y), tuple(combine(x, y)), constants, commutes=True)


def statuses(one: Law) -> str:
    """The first letters of how the parts ended."""
    return "".join(status.value[0] for _, status in prove_law(one))


def _op(op: BinaryOp) -> Combine:
    return lambda x, y: [ir.binary(op, x[0], y[0])]


def _first_least(x: Sequence[ExprNode], y: Sequence[ExprNode]) -> Sequence[ExprNode]:
    return [ir.Select(a.type, ir.less(y[1], x[1]), b, a) for a, b in zip(x, y, strict=True)]


def _complex(x: Sequence[ExprNode], y: Sequence[ExprNode]) -> Sequence[ExprNode]:
    real = ir.sub(ir.mul(x[0], y[0]), ir.mul(x[1], y[1]))
    return [real, ir.add(ir.mul(x[0], y[1]), ir.mul(x[1], y[0]))]


@pytest.mark.parametrize("type", [UInt(8), Int(16), Int(32), UInt(64)], ids=str)
@pytest.mark.parametrize(("op", "neutral"), [
    (BinaryOp.ADD, 0), (BinaryOp.MUL, 1), (BinaryOp.MIN, None), (BinaryOp.BIT_AND, -1), (BinaryOp.BIT_OR, 0),
    (BinaryOp.BIT_XOR, 0),
])  # fmt: skip
def test_operator_of_the_table_is_proven(op: BinaryOp, neutral: int | None, type: Type) -> None:
    value = type.range[1] if neutral is None else neutral
    one = law([type], _op(op), value)
    assert one.known
    assert statuses(one) == "ppp"


@pytest.mark.parametrize("op", [BinaryOp.AND, BinaryOp.OR, BinaryOp.BIT_XOR, BinaryOp.MAX])
def test_operator_of_truth_values_is_proven(op: BinaryOp) -> None:
    assert statuses(law([BOOL], _op(op), op is BinaryOp.AND)) == "ppp"


def test_wrong_neutral_element_is_refuted() -> None:
    assert statuses(law([Int(32)], _op(BinaryOp.MAX), 0)) == "prp"
    assert statuses(law([UInt(32)], _op(BinaryOp.MAX), 0)) == "ppp"


def test_difference_and_quotient_are_not_associative() -> None:
    assert statuses(law([Int(8)], _op(BinaryOp.SUB), 0))[0] != "p"
    assert statuses(law([Int(8)], _op(BinaryOp.DIV), 1))[0] != "p"


def test_first_least_is_associative_and_does_not_commute() -> None:
    one = law([Int(32), UInt(8)], _first_least, 0, 255)
    assert not one.known
    assert statuses(one) == "ppr"


def test_product_of_complex_numbers_is_proven() -> None:
    one = law([Int(32), Int(32)], _complex, 1, 0)
    assert not one.known
    assert statuses(one) == "ppp"


def test_casts_widen_by_their_sign() -> None:
    def wide(x: Sequence[ExprNode], y: Sequence[ExprNode]) -> Sequence[ExprNode]:
        both = ir.add(ir.Cast(Int(32), x[0]), ir.Cast(Int(32), y[0]))
        return [ir.Cast(x[0].type, both)]

    assert statuses(law([Int(8)], wide, 0)) == "ppp"

    def saturating(x: Sequence[ExprNode], y: Sequence[ExprNode]) -> Sequence[ExprNode]:
        both = ir.add(ir.Cast(UInt(16), x[0]), ir.Cast(UInt(16), y[0]))
        return [ir.Cast(x[0].type, ir.minimum(both, ir.const(255, UInt(16))))]

    assert statuses(law([UInt(8)], saturating, 0)) == "ppp"
