"""Conditions as bounds of variables: true of every point that meets them, exact for unit factors, honest where not."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import simplify
from halide_core.bounds.engines.conditions import Conditions
from halide_core.ir import BinaryOp, ExprNode, Not
from halide_core.ir.types import BOOL
from halide_core.ir.visitor import Substitution

x, y, z = (ir.index_variable(n) for n in "xyz")
LOW, HIGH = -6, 7


def number(value: int) -> ExprNode:
    return ir.i64(value)


def conditions(*met: ExprNode) -> Conditions:
    """After some conditions were met."""
    found = Conditions(Facts())
    for each in met:
        found.meet(each)
    return found


def truth(e: ExprNode, **values: int) -> int:
    """An expression's value."""
    found = simplify(Substitution({ir.index_variable(n): number(v) for n, v in values.items()}).expr(e))
    assert isinstance(found, ir.IntImm)
    return found.value


def minimum(a: ExprNode, b: ExprNode) -> ExprNode:
    """``min(a, b)``."""
    return ir.binary(BinaryOp.MIN, a, b)


def maximum(a: ExprNode, b: ExprNode) -> ExprNode:
    """``max(a, b)``."""
    return ir.binary(BinaryOp.MAX, a, b)


CONDITIONS = {
    "<": ir.less(x, y),
    "<=": ir.less_equal(x, ir.add(y, number(2))),
    ">": ir.less(y, x),
    "==": ir.equal(x, ir.sub(y, number(1))),
    "both": ir.conjunction(ir.less(x, y), ir.less_equal(number(-2), x)),
    "not <": Not(BOOL, ir.less(x, y)),
    "not <=": Not(BOOL, ir.less_equal(x, y)),
    "not or": Not(BOOL, ir.binary(BinaryOp.OR, ir.less(x, y), ir.less(number(3), x))),
    "twice": ir.less_equal(ir.mul(x, number(2)), y),
    "minus": ir.less_equal(y, ir.sub(number(4), x)),
    "of a minimum": ir.less_equal(y, minimum(ir.add(x, number(1)), ir.sub(number(4), x))),
    "of a maximum": ir.less(maximum(x, ir.sub(number(-2), x)), y),
    "of a part of a maximum": ir.less(number(0), ir.add(maximum(ir.sub(x, y), number(-1)), number(1))),
    "minus twice": ir.less(ir.sub(y, ir.mul(x, number(2))), number(3)),
}


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_bounds_of_a_variable_say_what_its_conditions_do(condition: ExprNode) -> None:
    found = conditions(condition)
    lows, highs = found.about(x)
    assert found.about(x) == ([], []), "used up"
    for at, other in product(range(LOW, HIGH), range(LOW, HIGH)):
        above = all(truth(e, y=other) <= at for e in lows)
        below = all(at <= truth(e, y=other) for e in highs)
        assert (above and below) == bool(truth(condition, x=at, y=other))
    assert not found.lost


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_what_a_variable_that_leaves_says_of_others_stays(condition: ExprNode) -> None:
    found = conditions(condition)
    found.without(x, number(LOW), number(HIGH - 1))
    lows, highs = found.about(y)
    for other in range(2 * LOW, 2 * HIGH):
        above = all(truth(e) <= other for e in lows)
        below = all(other <= truth(e) for e in highs)
        possible = any(truth(condition, x=at, y=other) for at in range(LOW, HIGH))
        assert above and below if possible else not (above and below)


def test_two_conditions_of_a_variable_that_leaves_are_combined() -> None:
    found = conditions(ir.less(y, x), ir.less(x, z))
    found.without(x, number(-100), number(100))
    assert not found.lost
    lows, highs = found.about(y)
    assert lows == []
    assert [simplify(e) for e in highs] == [number(99), simplify(ir.sub(z, number(2)))]


def test_factors_that_are_combined_lose_something() -> None:
    found = conditions(ir.less_equal(y, ir.mul(x, number(2))), ir.less_equal(ir.mul(x, number(3)), z))
    found.without(x, number(-100), number(100))
    assert found.lost
    whole = conditions(ir.less_equal(y, ir.mul(x, number(2))), ir.less_equal(x, z))
    whole.without(x, number(-100), number(100))
    assert not whole.lost


@pytest.mark.parametrize(
    ("condition", "lost"),
    [
        (ir.TRUE, False),
        (ir.binary(BinaryOp.OR, ir.less(x, y), ir.less(y, z)), True),
        (ir.equal(ir.mul(x, number(2)), y), False),
        (Not(BOOL, ir.equal(x, y)), True),
        (ir.binary(BinaryOp.NE, x, y), True),
        (ir.Variable(BOOL, "b"), True),
    ],
)
def test_condition_that_is_not_understood_is_told(condition: ExprNode, lost: bool) -> None:
    assert conditions(condition).lost is lost


def test_condition_on_a_value_of_memory_loses_nothing() -> None:
    f = hl.Func("f")
    f[hl.Var("i")] = hl.ImageParam(hl.Int(32), 1, "im")[hl.Var("i")]
    (value,) = f.function.definitions[0].values
    assert not conditions(ir.binary(BinaryOp.NE, value, ir.const(3, value.type))).lost


def test_condition_that_is_hidden_from_its_variable_is_told() -> None:
    hidden = ir.less(ir.add(x, ir.mod(y, number(4))), z)
    found = conditions(hidden)
    found.about(y)
    assert found.lost
    seen = conditions(hidden)
    assert not seen.lost
    seen.about(x)
    assert not seen.lost
    partly = conditions(ir.less(ir.add(x, ir.div(x, number(4))), z))
    assert partly.about(x) == ([], [])
    assert partly.lost


@pytest.mark.parametrize(("closing", "left", "lost"), [(lambda e: e, 1, False), (lambda e: None, 0, True)])
def test_conditions_that_can_t_be_closed_are_lost(
    closing: Callable[[ExprNode], ExprNode | None], left: int, lost: bool
) -> None:
    found = conditions(ir.less(x, y))
    found.close(closing)
    assert found.lost is lost
    assert len(found.about(x)[1]) == left


def test_no_more_than_so_many_conditions_wait() -> None:
    found = conditions(*(ir.less(ir.index_variable(f"a{i}"), x) for i in range(5)))
    for i in range(5):
        found.meet(ir.less(x, ir.index_variable(f"b{i}")))
    found.without(x, number(-9), number(9))
    assert found.lost
    assert len(found._waiting) == 16


def test_what_has_a_variable_inside_a_product_leaves_with_it() -> None:
    """``x*n <= y`` says nothing of ``y`` once ``x`` is gone, whether or not anyone asked for it."""
    n = ir.index_variable("n")
    for leave in (lambda c: c.without(x, number(0), number(9)), lambda c: c.about(x)):
        found = conditions(ir.less_equal(ir.mul(x, n), y))
        leave(found)
        assert found.lost
        assert found.about(y) == ([], [])
