"""Terms for the solver of truth values, bits, absolute values and floats: true of each value, and as tight as known."""

from __future__ import annotations

import math
from itertools import product

import pytest
import z3

from halide_core import ir
from halide_core.analysis.bit_counts import ones
from halide_core.bounds.smt.floats import float_range
from halide_core.bounds.smt.terms import Z3Terms
from halide_core.ir import Binary, BinaryOp, Call, Cast, ExprNode, Intrinsic, Select, Variable
from halide_core.ir.types import BOOL, INT32, Float, Int, Type, UInt
from tests.support.term_values import check_term

P, Q = Variable(BOOL, "p"), Variable(BOOL, "q")
BYTE, WORD = Variable(Int(8), "b"), Variable(UInt(16), "w")
FLOAT = Float(32)
TRUTH_OPERATORS = [
    BinaryOp.AND,
    BinaryOp.OR,
    BinaryOp.BIT_AND,
    BinaryOp.BIT_OR,
    BinaryOp.BIT_XOR,
    BinaryOp.MIN,
    BinaryOp.MAX,
    BinaryOp.EQ,
    BinaryOp.NE,
    BinaryOp.LT,
    BinaryOp.LE,
]


@pytest.mark.parametrize("op", TRUTH_OPERATORS)
def test_operator_of_truths(op: BinaryOp) -> None:
    for p, q in product((0, 1), (0, 1)):
        check_term(Binary(BOOL, op, P, Q), {P: p, Q: q})


@pytest.mark.parametrize("value", [-128, -127, -1, 0, 1, 127])
def test_absolute_value(value: int) -> None:
    absolute = Call(UInt(8), Intrinsic.ABS, (BYTE,))
    check_term(absolute, {BYTE: value})
    assert Z3Terms().of(absolute).range == (0, 128)


@pytest.mark.parametrize("value", [-128, -3, 0, 1, 127])
@pytest.mark.parametrize("type", [BOOL, UInt(8), Int(16), UInt(16), INT32])
def test_cast_of_an_integer(type: Type, value: int) -> None:
    check_term(Cast(type, BYTE), {BYTE: value})


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("type", [BOOL, UInt(8), INT32])
def test_cast_of_a_truth(type: Type, value: int) -> None:
    check_term(Cast(type, P), {P: value})


def small(e: ExprNode, most: int) -> ExprNode:
    """An expression kept in (0, most)."""
    return ir.maximum(ir.minimum(e, ir.const(most, e.type)), ir.const(0, e.type))


def number(value: float) -> ExprNode:
    return ir.const(value, FLOAT)


HALF = Cast(FLOAT, small(BYTE, 9))


@pytest.mark.parametrize(
    ("e", "wanted"),
    [
        (Cast(INT32, number(3.75)), (3, 3)),
        (Cast(INT32, number(-3.75)), (-3, -3)),
        (Cast(UInt(8), number(-3.75)), (0, 0)),
        (Cast(UInt(8), number(300.0)), (255, 255)),
        (Cast(INT32, Select(FLOAT, P, number(1.5), number(7.5))), (1, 7)),
        (Cast(INT32, Select(FLOAT, P, number(7.5), number(-1.5))), (-1, 7)),
        (Cast(INT32, HALF), (0, 9)),
        (Cast(INT32, Cast(FLOAT, BYTE)), (-128, 127)),
        (Binary(UInt(16), BinaryOp.BIT_AND, WORD, ir.const(20, UInt(16))), (0, 20)),
        (Binary(UInt(16), BinaryOp.BIT_AND, ir.const(20, UInt(16)), WORD), (0, 20)),
        (Binary(Int(8), BinaryOp.BIT_AND, small(BYTE, 50), BYTE), (0, 50)),
        (Binary(Int(8), BinaryOp.BIT_AND, BYTE, small(BYTE, 50)), (0, 50)),
        (Binary(Int(8), BinaryOp.BIT_AND, BYTE, Variable(Int(8), "c")), (-128, 127)),
        (Select(Int(8), P, small(BYTE, 50), ir.const(-4, Int(8))), (-4, 50)),
    ],
)
def test_range(e: ExprNode, wanted: tuple[int, int]) -> None:
    assert Z3Terms().of(e).range == wanted


@pytest.mark.parametrize(
    ("a", "b", "at_most", "less"),
    [
        (number(1.5), number(2.5), True, True),
        (number(2.5), number(2.5), True, False),
        (HALF, number(9.1), True, True),
        (HALF, number(9.0), True, None),
        (HALF, number(8.9), None, None),
        (number(2.5), number(1.5), False, False),
        (HALF, number(math.inf), True, True),
    ],
)
def test_floats_are_compared_by_their_ranges(a: ExprNode, b: ExprNode, at_most: bool | None, less: bool | None) -> None:
    for op, known in ((BinaryOp.LE, at_most), (BinaryOp.LT, less)):
        z = Z3Terms().of(Binary(BOOL, op, a, b)).z
        assert (z3.is_true(z), z3.is_false(z)) == (known is True, known is False)


A, B = Variable(FLOAT, "a"), Variable(FLOAT, "b")
GIVEN: dict[ExprNode, tuple[float, float]] = {A: (-2.0, 3.0), B: (1.0, 5.0)}


@pytest.mark.parametrize(
    ("op", "wanted"),
    [
        (BinaryOp.ADD, (-1.0, 8.0)),
        (BinaryOp.SUB, (-7.0, 2.0)),
        (BinaryOp.MUL, (-10.0, 15.0)),
        (BinaryOp.MIN, (-2.0, 3.0)),
        (BinaryOp.MAX, (1.0, 5.0)),
    ],
)
def test_range_of_an_operator_of_floats(op: BinaryOp, wanted: tuple[float, float]) -> None:
    found = float_range(Binary(FLOAT, op, A, B), lambda _: (0, 0), GIVEN)
    assert found is not None
    assert wanted[0] - 1e-4 <= found[0] <= wanted[0]
    assert wanted[1] <= found[1] <= wanted[1] + 1e-4


@pytest.mark.parametrize(("least", "most", "known"), [(0.0, 9e36, True), (0.0, 1e37, False), (-1e37, 0.0, False)])
def test_range_of_floats_that_reaches_its_limit_is_given_up(least: float, most: float, known: bool) -> None:
    found = float_range(Cast(Float(64), A), lambda _: (0, 0), {A: (least, most)})
    assert (found is not None) == known


def is_one_value(a: ExprNode, b: ExprNode) -> bool:
    """True where the terms of two expressions are always equal, by their axioms."""
    terms = Z3Terms()
    x, y = terms.of(a), terms.of(b)
    solver = z3.Solver()
    solver.add(*(terms.axioms[i] for i in x.axioms | y.axioms), x.z != y.z)
    return bool(solver.check() == z3.unsat)


@pytest.mark.parametrize("op", [BinaryOp.BIT_AND, BinaryOp.BIT_OR, BinaryOp.BIT_XOR, BinaryOp.SHL, BinaryOp.SHR])
def test_operator_of_bits_is_one_function_however_its_operands_are_written(op: BinaryOp) -> None:
    n, m = Variable(UInt(32), "n"), Variable(UInt(32), "m")
    plain, longer = Cast(INT32, n), Binary(INT32, BinaryOp.ADD, Cast(INT32, n), ir.const(0, INT32))
    assert is_one_value(*(Binary(UInt(32), op, Cast(UInt(32), e), m) for e in (plain, longer)))
    assert not is_one_value(*(Binary(UInt(32), op, e, m) for e in (n, Variable(UInt(32), "k"))))


def test_bits_of_numbers_alone_are_a_number() -> None:
    """Also where one of the two was simplified."""
    zero, quotient = ir.const(0, UInt(64)), ir.div(ir.const(3, UInt(64)), ir.const(8, UInt(64)))
    bits = [Call(UInt(64), Intrinsic.REINTERPRET, (Cast(Float(64), n),)) for n in (zero, quotient)]
    assert is_one_value(*bits)


def test_range_of_a_float_times_itself_has_no_number_below_0() -> None:
    x = Cast(FLOAT, Variable(INT32, "n"))
    found = float_range(Binary(FLOAT, BinaryOp.MUL, x, x), lambda e: INT32.range, {})
    assert found is not None
    assert found[0] == 0
    assert found[1] >= 2.0**62


MASKS = (0, 1, 3, 7, 127)
BITS = {BinaryOp.BIT_AND: (*MASKS, -1, -8, -128), BinaryOp.BIT_OR: MASKS, BinaryOp.BIT_XOR: (*MASKS, -1)}


@pytest.mark.parametrize("op", BITS)
@pytest.mark.parametrize("type", [Int(8), UInt(8)])
def test_bits_set_cleared_and_turned_by_numbers_are_arithmetic(op: BinaryOp, type: Type) -> None:
    n = Variable(type, "n")
    for value, k in product((-128, -77, -4, -1, 0, 1, 6, 7, 127), BITS[op]):
        a, b = (v % 256 if type.is_uint() else v for v in (value, k))
        check_term(Binary(type, op, n, ir.const(b, type)), {n: a})
        check_term(Binary(type, op, ir.const(b, type), n), {n: a})


@pytest.mark.parametrize("op", [BinaryOp.SHL, BinaryOp.SHR])
def test_a_shift_by_one_of_a_few_amounts_is_one_of_a_few_products(op: BinaryOp) -> None:
    n, m = Variable(INT32, "n"), Variable(INT32, "m")
    for value, by in product((-(2**31), -77, -1, 0, 6, 2**31 - 1), range(-1, 6)):
        check_term(Binary(INT32, op, n, small(m, 4)), {n: value, m: by})


@pytest.mark.parametrize("bits", [8, 32])
def test_a_count_of_bits_is_no_more_than_there_are(bits: int) -> None:
    assert Z3Terms().of(ones(Variable(UInt(bits), "n"))).range == (0, bits)
