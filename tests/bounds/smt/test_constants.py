"""Numbers as the solver's terms have them: quotients and remainders of the language."""

from __future__ import annotations

from itertools import product

from halide_core import ir
from halide_core.bounds.smt.constants import all_ones, constant_of, euclid
from halide_core.errors import Location
from halide_core.ir import BinaryOp, Intrinsic
from halide_core.ir.types import INT32, INT64, Float, UInt
from halide_core.reference.scalar_ops import binary_function

NUMBERS = range(-5, 6)


def test_quotient_and_remainder_are_those_of_the_language() -> None:
    for a, b in product(NUMBERS, NUMBERS):
        assert euclid(a, b) == tuple(binary_function(op, INT64)(a, b) for op in (BinaryOp.DIV, BinaryOp.MOD))


def test_greatest_number_of_as_many_bits() -> None:
    assert [all_ones(most) for most in (0, 1, 2, 3, 4, 255, 256)] == [0, 1, 3, 3, 7, 255, 511]


def test_what_is_made_of_numbers_alone_is_one() -> None:
    real = ir.cast(Float(64), ir.div(ir.const(5, UInt(64)), ir.const(2, UInt(64))))
    bits = ir.Call(UInt(64), Intrinsic.REINTERPRET, (real,))
    assert constant_of(bits) == 0x4000000000000000
    assert constant_of(ir.less(real, ir.const(2.5, Float(64)))) == 1
    assert constant_of(real) is None
    assert constant_of(ir.add(bits, ir.Variable(UInt(64), "n"))) is None


def test_a_broken_promise_is_no_number() -> None:
    three, low, high = (ir.const(n, INT32) for n in (3, 5, 9))
    assert constant_of(ir.Promise(INT32, three, low, high, Location("user.py", 7))) is None
