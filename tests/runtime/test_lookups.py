"""Lanes from anywhere in memory, loaded one by one: every element type, by indices of every width."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core.types import Float, Int, Type, UInt
from lowering.driver import lower
from runtime.emit_c import emit_c
from tests.apps.checking import computed, image, numbers, same, variables
from tests.targets import MIDDLE, host_without_avx512

x, y = variables("x y")
ELEMENTS = [UInt(8), Int(8), UInt(16), Int(16), UInt(32), Float(32), Int(64), Float(64)]
Index = Callable[[hl.ImageParam], hl.Expr]
INDICES: dict[str, tuple[Type, Index]] = {
    "bytes": (UInt(8), lambda at: hl.i32(at[x])),
    "signed bytes": (Int(8), lambda at: hl.i32(at[x]) + 128),
    "bytes that are computed": (UInt(8), lambda at: hl.i32(at[x] ^ hl.u8(0x5A))),
    "two bytes": (UInt(16), lambda at: hl.i32(at[x] & hl.u16(0xFF))),
    "clamped": (Int(32), lambda at: hl.clamp(at[x], 0, 255)),
    "clamped, and from below": (Int(32), lambda at: 120 + hl.clamp(at[x], -120, 135)),
    "of a row": (Int(32), lambda at: hl.clamp(at[x] + y, 0, 255)),
}


def looked_up(type: Type, index: str, lanes: int) -> hl.Func:
    """A table of the caller's, by numbers from memory."""
    kind, formula = INDICES[index]
    table = image(numbers((256,), np.int32).astype(type.dtype), "table")
    random = np.random.default_rng(5)
    low, high = kind.range if kind.bits() < 32 else (-300, 600)
    at = image(random.integers(low, high, 67, endpoint=True).astype(kind.dtype), "at")
    f = hl.Func("f")
    f[x, y] = table[formula(at)]
    return f.vectorize(x, lanes, hl.TailStrategy.GuardWithIf)


@pytest.mark.parametrize("index", list(INDICES))
@pytest.mark.parametrize("type", ELEMENTS, ids=str)
def test_elements_from_anywhere(type: Type, index: str) -> None:
    for lanes in (4, 8, 32):
        f = looked_up(type, index, lanes)
        wanted = f.evaluate([67, 2])
        same(computed(f, [67, 2]), wanted)
        same(np.asarray(f.realize([67, 2], target=host_without_avx512())), wanted)


def test_bytes_are_loaded_by_bytes() -> None:
    """As an index a byte needs no conversion; two indices of 32 bits leave a register at once."""
    text = emit_c(lower(looked_up(UInt(8), "bytes", 32)._request(target=MIDDLE)))
    assert "gather_u8x8_u8x8" in text and "i32x8_of_u8x8" not in text
    text = emit_c(lower(looked_up(UInt(8), "clamped", 32)._request(target=MIDDLE)))
    assert "gather_u8x8_i32x8" in text and "pairs[3] >> 32" in text
