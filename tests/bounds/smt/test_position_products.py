"""Axioms about products of positions: they hold of numbers, and say enough where all corners are there."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
import z3

from halide_core import ir
from halide_core.analysis.constant_ranges import ConstantRanges
from halide_core.analysis.simplify import simplify
from halide_core.bounds.smt.position_products import PositionProducts
from halide_core.bounds.smt.positions import Part, Shape, shapes_of
from halide_core.ir import Call, Cast, ExprNode, Intrinsic, index_variable
from halide_core.ir.types import Float
from tests.support.integers import value

F64 = Float(64)
Place = tuple[int, int, int]
Positions = tuple[Callable[[ExprNode, ExprNode, ExprNode], ExprNode], Callable[[int, int, int], float]]


def _f(e: ExprNode) -> ExprNode:
    return Cast(F64, e)


def _c(number: float) -> ExprNode:
    return ir.const(number, F64)


FUNCTIONS: dict[str, Positions] = {
    "product": (lambda a, b, c: ir.mul(_f(a), _f(b)), lambda a, b, c: float(a * b)),
    "of positions, floored": (
        lambda a, b, c: Call(
            F64, Intrinsic.FLOOR, (ir.mul(ir.sub(ir.mul(_f(a), _c(0.3)), _c(1.0)), ir.add(_f(b), _c(0.7))),)
        ),
        lambda a, b, c: math.floor((a * 0.3 - 1.0) * (b + 0.7)),
    ),
    "of one that falls": (
        lambda a, b, c: ir.mul(ir.sub(_c(2.0), _f(a)), _f(b)),
        lambda a, b, c: (2.0 - a) * b,
    ),
    "less a product": (
        lambda a, b, c: ir.sub(_f(c), ir.mul(_f(a), ir.mul(_f(b), _c(0.5)))),
        lambda a, b, c: c - a * (b * 0.5),
    ),
}


def _shape(name: str, place: Place) -> tuple[Shape, dict[ExprNode, int]]:
    """The shape of a function at a place, of variables, and what these are."""
    found = [index_variable(f"{'abc'[i]}{at}") for i, at in enumerate(place)]
    (shape,) = (s for s in shapes_of(FUNCTIONS[name][0](*found), ConstantRanges().of) if s.is_product)
    return shape, dict(zip(found, place, strict=True))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_axioms_hold_of_numbers(name: str) -> None:
    rng = random.Random(name)
    holding = 0
    for _ in range(30):
        ends = [rng.sample(range(-9, 10), 3) for _ in range(2)]
        places = [(a, b, rng.randint(-2, 2)) for a in ends[0] for b in ends[1]]
        places += [(a, b, 0) for a in ends[0] for b in ends[1]]
        rng.shuffle(places)
        products, known = PositionProducts(), {}
        for place in dict.fromkeys(places):
            shape, at = _shape(name, place)
            known |= at
            for condition, fact in products.with_value(shape, z3.IntVal(int(FUNCTIONS[name][1](*place)))):
                if value(condition, known):
                    holding += 1
                    assert z3.is_true(z3.simplify(fact)), (name, place, condition, fact)
    assert holding > 300


def test_a_place_between_the_corners_is_between_their_values() -> None:
    products = PositionProducts()
    for place in ((0, -5, 0), (0, 7, 0), (9, -5, 0), (9, 7, 0)):
        assert not list(products.with_value(_shape("product", place)[0], z3.IntVal(place[0] * place[1])))
    shape, _ = _shape("product", (4, 1, 0))
    found = list(products.with_value(shape, z3.Int("p")))
    known = {index_variable(f"{name}{at}"): at for name, ats in (("a", (0, 4, 9)), ("b", (-5, 1, 7))) for at in ats}
    said = [fact for condition, fact in found if value(condition, known)]
    solver = z3.Solver()
    solver.add(*said, z3.Or(z3.Int("p") < -45, z3.Int("p") > 63))
    assert solver.check() == z3.unsat


def test_other_parts_of_a_function_have_a_say_too() -> None:
    shape, _ = _shape("less a product", (1, 2, 3))
    assert [len(shape.at(part)) for part in Part] == [1, 1, 1]
    assert simplify(shape.at(Part.BESIDE)[0]) is index_variable("c3")
