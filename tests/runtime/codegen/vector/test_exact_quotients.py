"""Quotients by constants: the bits of a division, with its instruction and without."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from halide_core import ir
from halide_core.ir import Intrinsic
from halide_core.ir.types import Float, Int, Type, UInt
from halide_core.runtime.codegen.vector import exact_quotients
from halide_core.runtime.codegen.vector.exact_quotients import reciprocal
from tests.runtime.codegen.test_expr import Batch
from tests.support import emitted

DIVISORS = (255.0, 3.0, -3.0, 0.1, 9.0, 65535.0, 2.2, 1e-38, 1e38, 7e37, -0.0, float("inf"), float("nan"))


def divided(a: ir.ExprNode, by: float) -> ir.Binary:
    real = a.type.with_code(Float(32).code()).with_bits(32)
    found = ir.div(ir.cast(real, a), ir.const(by, real))
    assert isinstance(found, ir.Binary)
    return found


@pytest.mark.parametrize("flags", [emitted.NATIVE, ("-O2",), emitted.SANITIZED], ids=str)
@pytest.mark.parametrize("type", [UInt(8), Int(8), UInt(16), Int(16)], ids=str)
def test_every_number_has_the_bits_of_a_division(type: Type, flags: Sequence[str]) -> None:
    a = np.arange(type.range[0], type.range[1] + 1).astype(type.dtype)
    for lanes in (1, 4, 8, 16):
        batch = Batch({"a": a}, lanes)
        for by in DIVISORS:
            with np.errstate(all="ignore"):
                wanted = a.astype(np.float32) / np.float32(by)
            batch.add(f"by {by}", divided(batch.value("a"), by), wanted)
        batch.check(flags)


FLOAT_DIVISORS = (3.0, -3.0, 9.0, 255.0, 10.0, 0.1, 0.3, 7.0, 273.0, 5e8, 3e-9, 1e-38, 1e38)
FRACTIONS = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-38, -1e-36, 1e-30, 3e-20, 3e38, -1.0, 0.1)


def hard_numbers(type: Type, by: float, draws: np.random.Generator) -> np.ndarray:
    """Numbers whose quotients are about in the middle between two others, of all sizes, beside extremes."""
    digits, number = exact_quotients._DIGITS[type.bits()], abs(Fraction(by))
    mantissa = int(number / exact_quotients._unit(number, digits))
    found = [float(x) for x, *_ in exact_quotients._doubtful(mantissa, digits)]
    found += list(draws.integers(1 << (digits - 1), 1 << digits, 64).astype(float))
    sizes = draws.integers(-140, 100, len(found)) if type.bits() == 32 else draws.integers(-1070, 900, len(found))
    with np.errstate(all="ignore"):
        scaled = np.ldexp(found, np.where(draws.random(len(found)) < 0.5, -digits, sizes))
        every = np.concatenate([FRACTIONS, scaled, -scaled]).astype(type.dtype)
    return np.resize(every, (len(every) + 15) // 16 * 16)


@pytest.mark.parametrize("flags", [emitted.NATIVE, ("-O2", "-mavx2", "-mfma"), ("-O2",), emitted.SANITIZED], ids=str)
@pytest.mark.parametrize("type", [Float(32), Float(64)], ids=str)
def test_the_hardest_numbers_have_the_bits_of_a_division(type: Type, flags: Sequence[str]) -> None:
    draws = np.random.default_rng(5)
    divisors = [float(type.dtype.type(by)) for by in FLOAT_DIVISORS]
    divisors += [float(type.dtype.type(np.ldexp(draws.uniform(1, 2), draws.integers(-29, 29)))) for _ in range(24)]
    a = np.concatenate([hard_numbers(type, by, draws) for by in divisors])
    for lanes in (1, 4, 16):
        batch = Batch({"a": a}, lanes)
        value = batch.value("a")
        whole = ir.Call(value.type, Intrinsic.TRUNC, (value,))
        for by in divisors:
            with np.errstate(all="ignore"):
                divided = (numbers / type.dtype.type(by) for numbers in (a, np.trunc(a)))
                batch.add(f"by {by}", ir.div(value, ir.const(by, value.type)), next(divided))
                batch.add(f"whole by {by}", ir.div(whole, ir.const(by, whole.type)), next(divided))
        batch.check(flags)


def test_most_divisors_have_parts() -> None:
    draws = np.random.default_rng(6)
    for bits, kind in ((32, np.float32), (64, np.float64)):
        found = [
            exact_quotients._parts(bits, float(kind(draws.uniform(1, 2))), exact_quotients._DIGITS[bits])
            for _ in range(400)
        ]
        assert sum(parts is not None for parts in found) > 340


def test_which_numbers_are_looked_at() -> None:
    """Whole numbers are far from the least one; of others a scalar is divided."""
    byte, real = ir.Load(UInt(8), "m", ir.ZERO), ir.Load(Float(32), "m", ir.ZERO)
    number = ir.cast(Float(32), byte)
    three, half = ir.const(3.0, Float(32)), ir.const(0.5, Float(32))
    for whole in (number, ir.add(number, number), ir.mul(number, three), ir.Call(real.type, Intrinsic.FLOOR, (real,))):
        found = reciprocal(ir.div(whole, three))
        assert found is not None and not found.small
    for other in (real, ir.mul(number, half), ir.Call(real.type, Intrinsic.ABS, (real,))):
        assert reciprocal(ir.div(other, three)) is None
        lanes = Float(32, 8)
        found = reciprocal(ir.div(ir.Broadcast(lanes, other), ir.const(3.0, lanes)))
        assert found is not None and found.small
    narrow = Float(32, 2)
    assert reciprocal(ir.div(ir.Broadcast(narrow, real), ir.const(3.0, narrow))) is None


def test_what_is_divided_after_all() -> None:
    byte = ir.Load(UInt(8), "m", ir.ZERO)
    found = reciprocal(divided(byte, 255.0))
    assert found is not None
    assert found.first < 1 / 255 and found.first + found.rest == pytest.approx(1 / 255, rel=2**-46)
    for by in (1e38, 0.0, -0.0, float("nan"), float("inf"), 16.0):
        assert reciprocal(divided(byte, by)) is None
    wide = ir.Load(Int(32), "m", ir.ZERO)  # numbers of 32 bits have digits that bytes lack
    assert reciprocal(divided(byte, 0.1)) is not None
    assert reciprocal(divided(wide, 0.1)) is None
    assert reciprocal(divided(wide, 255.0)) is not None
