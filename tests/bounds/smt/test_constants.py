"""Numbers as the solver's terms have them: quotients and remainders of the language."""

from __future__ import annotations

from itertools import product

from halide_core.bounds.smt.constants import all_ones, euclid
from halide_core.ir import BinaryOp
from halide_core.ir.types import INT64
from halide_core.reference.scalar_ops import binary_function

NUMBERS = range(-5, 6)


def test_quotient_and_remainder_are_those_of_the_language() -> None:
    for a, b in product(NUMBERS, NUMBERS):
        assert euclid(a, b) == tuple(binary_function(op, INT64)(a, b) for op in (BinaryOp.DIV, BinaryOp.MOD))


def test_greatest_number_of_as_many_bits() -> None:
    assert [all_ones(most) for most in (0, 1, 2, 3, 4, 255, 256)] == [0, 1, 3, 3, 7, 255, 511]
