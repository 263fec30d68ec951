"""Vectors of every register width: what an instruction gives is what the operator means, and lanes alone give."""

from __future__ import annotations

import pytest

from halide_core.ir import BinaryOp, Intrinsic
from halide_core.ir.types import Float, Int, Type, UInt
from halide_core.runtime.codegen.vector.prelude import Prelude
from halide_core.runtime.codegen.vector.x86_builtins import (
    Builtin,
    conversion,
    magnitude,
    minimum,
    product,
    rounding,
    truncation,
)
from tests.runtime.codegen.test_expr import float_batch, integer_batch


@pytest.mark.parametrize("type", [UInt(8), Int(16), UInt(32), Int(64)], ids=str)
@pytest.mark.parametrize("size", [32, 64])
def test_integer_operators_of_whole_registers(type: Type, size: int) -> None:
    integer_batch(type, size // type.bytes()).check()


@pytest.mark.parametrize("type", [UInt(8), Int(8), Int(16)], ids=str)
def test_integers_that_fill_a_register_once_they_are_wide(type: Type) -> None:
    integer_batch(type, 8).check()


@pytest.mark.parametrize("lanes", [2, 4])
@pytest.mark.parametrize("type", [UInt(8), Int(8), UInt(16), Int(16)], ids=str)
def test_integers_that_fill_less_than_a_register(type: Type, lanes: int) -> None:
    integer_batch(type, lanes).check()


@pytest.mark.parametrize("type", [Float(32), Float(64)], ids=str)
def test_float_operators_of_half_a_register(type: Type) -> None:
    float_batch(type, 32 // type.bytes()).check()


@pytest.mark.parametrize("lanes", [4, 8])
def test_float64_in_registers_with_other_instructions(lanes: int) -> None:
    """Without wide registers the generic form is what runs."""
    float_batch(Float(64), lanes).check(("-O2",))


def test_names_of_instructions() -> None:
    """One of each kind; a vector that is no register has none."""
    assert minimum(BinaryOp.MIN, Float(32, 16)) == Builtin("minps512_mask", "({v})a, ({v})b, ({v})a, -1, 4")
    assert minimum(BinaryOp.MAX, UInt(8, 32)) == Builtin("pmaxub256", "({v})a, ({v})b")
    assert minimum(BinaryOp.MAX, Int(64, 2)) == Builtin("pmaxsq128_mask", "({v})a, ({v})b, ({v})a, -1")
    assert minimum(BinaryOp.MAX, UInt(8, 8)) == Builtin("pmaxub", "({v})a, ({v})b", "defined(__clang__)")
    assert product(UInt(16, 32)) == Builtin("pmullw512_mask", "({v})a, ({v})b, ({v})a, -1")
    assert product(UInt(32, 16)) is None
    assert magnitude(Int(8, 16)) == Builtin("pabsb128", "({v})a")
    assert rounding(Intrinsic.CEIL, Float(64, 4)) == Builtin("roundpd256", "({v})a, 10")
    assert rounding(Intrinsic.EXP, Float(32, 16)) is None
    assert minimum(BinaryOp.MAX, Float(32, 2)) is None
    assert minimum(BinaryOp.MAX, UInt(8, 24)) is None


@pytest.mark.parametrize("type", [Int(8, 2), Int(8, 8), UInt(16, 4), Int(32, 2)], ids=str)
def test_part_of_a_register(type: Type) -> None:
    """A part of a register has a whole one's instruction, and is the low part of its result."""
    found, whole = minimum(BinaryOp.MIN, type), minimum(BinaryOp.MIN, type.with_lanes(128 // type.bits()))
    assert found is not None and whole is not None
    assert (found.builtin, found.low) == (whole.builtin, type.bits() * type.lanes())
    assert "({v})" not in found.arguments
    assert truncation(Float(32, 8)) == Builtin("cvttps2dq256", "({v})x")
    assert truncation(Float(64, 8)) is None


CONVERSIONS = {
    (Int(32, 16), UInt(8, 16)): "pmovzxbd512_mask",
    (Int(32, 16), Int(16, 16)): "pmovsxwd512_mask",
    (UInt(16, 32), UInt(8, 32)): "pmovzxbw512_mask",
    (Int(64, 8), Int(8, 8)): "pmovsxbq512_mask",
    (Int(32, 8), UInt(16, 8)): "pmovzxwd256",
    (Int(32, 8), UInt(8, 8)): "pmovzxbd256",
    (Int(16, 8), Int(8, 8)): "pmovsxbw128",
    (UInt(8, 16), Int(32, 16)): "pmovdb512_mask",
    (Int(16, 32), Int(32, 32)): None,
    (Int(32, 8), Int(64, 8)): "pmovqd512_mask",
    (Int(16, 8), UInt(32, 8)): "pmovdw256_mask",
    (UInt(8, 8), UInt(32, 8)): "pmovdb256_mask",
    (Int(16, 4), Int(32, 4)): "pmovdw128_mask",
    (UInt(16, 4), UInt(8, 4)): "pmovzxbw128",
    (Int(16, 2), Int(8, 2)): "pmovsxbw128",
    (UInt(8, 2), Int(16, 2)): "pmovwb128_mask",
    (UInt(8, 4), UInt(64, 4)): "pmovqb256_mask",
    (Int(32, 3), Int(16, 3)): None,
    (Int(32, 8), UInt(32, 8)): None,
    (Float(32, 8), Int(16, 8)): None,
}


@pytest.mark.parametrize(("to", "source"), CONVERSIONS, ids=str)
def test_names_of_conversions(to: Type, source: Type) -> None:
    """Of what fills no register a whole one is given, of which the low part counts; of three lanes there is none."""
    arm, wanted = conversion(to, source), CONVERSIONS[to, source]
    assert wanted is None if arm is None else arm.builtin == wanted


def test_every_arm_has_a_generic_form_beside_it() -> None:
    """Compilers that lack the instruction, or don't know the question, take what follows #else."""
    prelude = Prelude()
    prelude.binary(BinaryOp.MIN, Float(32, 16))
    text = prelude.text()
    assert text.index("#ifndef __has_builtin\n") < text.index("#if __has_builtin(")
    assert "#if __has_builtin(__builtin_ia32_minps512_mask)" in text
    assert "#else\n    return select_f32x16((i32x16)(a < b), a, b);\n    #endif" in text


def test_conversions_go_in_steps_of_twice_the_width() -> None:
    """Bytes to floats: bytes, 16 bits, 32 bits, floats."""
    prelude = Prelude()
    prelude.convert(Float(32, 8), UInt(8, 8))
    text = prelude.text()
    assert "u16x8 u16x8_of_u8x8(" in text
    assert "i32x8 i32x8_of_u8x8(" in text
    assert "return f32x8_of_i32x8(i32x8_of_u8x8(a));" in text
