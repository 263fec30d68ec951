"""Quotients of small integers by constants: the bits of a division, with its instruction and without."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from halide_core import ir
from halide_core.ir.types import Float, Int, Type, UInt
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


def test_what_is_divided_after_all() -> None:
    byte, wide = (ir.Load(type, "m", ir.ZERO) for type in (UInt(8), Int(32)))
    first, rest = reciprocal(divided(byte, 255.0)) or (0, 0)
    assert (first, rest) == (float(np.float32(1 / 255)), float(np.float32(1 / 255 - float(np.float32(1 / 255)))))
    assert reciprocal(divided(wide, 255.0)) is None
    for by in (1e38, 0.0, -0.0, float("nan")):
        assert reciprocal(divided(byte, by)) is None
