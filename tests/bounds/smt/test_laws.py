"""Laws of operators: what z3 proves of them, and what it refutes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from halide_core import ir
from halide_core.algorithm.law import Law
from halide_core.bounds.smt.laws import prove_law
from halide_core.ir import BinaryOp, ExprNode, Variable
from halide_core.ir.types import BOOL, Float, Int, Type, UInt

Combine = Callable[[Sequence[ExprNode], Sequence[ExprNode]], Sequence[ExprNode]]


def law(types: Sequence[Type], combine: Combine, *neutral: float) -> Law:
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


# -- floats, as if they were not rounded

F16, F32, MOST = Float(16), Float(32), float("inf")


def _limited(x: Sequence[ExprNode], y: Sequence[ExprNode]) -> Sequence[ExprNode]:
    return [ir.minimum(ir.add(x[0], y[0]), ir.const(1000.0, F32))]


@pytest.mark.parametrize(("types", "combine", "neutral", "wanted"), [
    ([F32], _op(BinaryOp.ADD), (-0.0,), "ppp"),
    ([F32], _op(BinaryOp.MAX), (-MOST,), "ppp"),
    ([F32], _op(BinaryOp.MAX), (0,), "prp"),
    ([F32, F32], _complex, (1, 0), "ppp"),
    ([Int(32), F32], _first_least, (0, MOST), "ppr"),
    ([Int(32), F32], _first_least, (0, 1e30), "prr"),
    ([F32], _limited, (-0.0,), "rrr"),
    ([F32], lambda x, y: [ir.maximum(ir.minimum(x[0], y[0]), ir.const(-3.0, F32))], (MOST,), "prp"),
])  # fmt: skip
def test_floats_are_numbers_that_are_not_rounded(
    types: Sequence[Type], combine: Combine, neutral: Sequence[float], wanted: str
) -> None:
    one = law(types, combine, *neutral)
    assert not one.exact
    assert statuses(one) == wanted


def test_floats_that_are_rounded_to_a_narrower_type_are_of_the_table() -> None:
    def wide(x: Sequence[ExprNode], y: Sequence[ExprNode]) -> Sequence[ExprNode]:
        return [ir.Cast(F16, ir.add(ir.Cast(F32, x[0]), ir.Cast(F32, y[0])))]

    assert law([F16], wide, -0.0).known
    assert not law([F32], _limited, -0.0).known


@pytest.mark.parametrize("op", [BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL])
def test_no_number_stands_for_infinity_where_it_is_reckoned_with(op: BinaryOp) -> None:
    def far(x: Sequence[ExprNode], y: Sequence[ExprNode]) -> Sequence[ExprNode]:
        return [ir.Select(F32, ir.less(ir.binary(op, y[0], ir.const(1.0, F32)), x[0]), x[0], y[0])]

    assert statuses(law([F32], far, MOST))[1] == "u"


def test_of_quotients_and_of_what_becomes_an_integer_nothing_is_known() -> None:
    assert statuses(law([F32], _op(BinaryOp.DIV), 1.0))[0] != "p"

    def whole(x: Sequence[ExprNode], y: Sequence[ExprNode]) -> Sequence[ExprNode]:
        return [ir.add(ir.Cast(F32, ir.Cast(Int(32), x[0])), y[0])]

    assert statuses(law([F32], whole, 0.0)) != "ppp"
