"""The fused multiply-add in C: the same bits alone, in lanes, with its instruction and without, and as defined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from halide_core import ir
from halide_core.ir import Intrinsic
from halide_core.ir.types import Float, Type
from halide_core.reference.fma import fused_product
from halide_core.runtime.codegen.vector.x86_builtins import Builtin
from halide_core.runtime.codegen.vector.x86_builtins import fused_product as arm
from tests.runtime.codegen.test_expr import FLOATS, NUMBERS, Batch
from tests.support import emitted


def batch_of(type: Type, lanes: int) -> Batch:
    """``a*b + c`` on difficult numbers: c any of them, and what cancels the rounded product."""
    random = np.random.default_rng(5)
    special = np.array([*NUMBERS, 1 + 2.0**-23, 1 - 2.0**-24, 2.0**-149, 2.0**100], type.dtype)
    left, right = np.repeat(special, len(special)), np.tile(special, len(special))
    left = np.concatenate([left, random.normal(0, 1, 512).astype(type.dtype)])
    right = np.concatenate([right, random.normal(0, 1, 512).astype(type.dtype)])
    left, right = left[: len(left) // 16 * 16], right[: len(right) // 16 * 16]
    batch = Batch({"a": left, "b": right}, lanes)
    a, b = map(batch.value, "ab")
    fused = fused_product(type)
    with np.errstate(all="ignore"):
        cancelled = (left * right) * type.dtype.type(-1)
        near = (left * right) * type.dtype.type(2.0**24)
    thirds = {
        "a": (a, left),
        "cancelled": (ir.mul(ir.mul(a, b), batch.constant(-1.0, type)), cancelled),
        "near": (ir.mul(ir.mul(a, b), batch.constant(2.0**24, type)), near),
    }
    for name, (c, third) in thirds.items():
        wanted = [fused(*map(float, each)) for each in zip(left, right, third, strict=True)]
        batch.add(name, ir.Call(a.type, Intrinsic.FMA, (a, b, c)), np.array(wanted, type.dtype))
    return batch


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 16])
def test_fused_product_is_rounded_once(type: Type, lanes: int) -> None:
    batch_of(type, lanes).check()


@pytest.mark.parametrize("flags", [("-O2",), ("-O0",), ("-O2", "-mavx2", "-mfma"), emitted.SANITIZED], ids=str)
def test_fused_product_has_the_same_bits_on_every_machine(flags: Sequence[str]) -> None:
    """Without the instruction float64 is what runs, and the C library's function where that is not enough."""
    for lanes in (1, 8, 16):
        batch_of(Float(32), lanes).check(flags)


def test_fused_product_names_one_instruction() -> None:
    assert arm(Float(32, 16)) == Builtin("vfmaddps512_mask", "({v})a, ({v})b, ({v})c, -1, 4")
    assert arm(Float(64, 4)) == Builtin("vfmaddpd256", "({v})a, ({v})b, ({v})c")
    assert arm(Float(32, 4)) == Builtin("vfmaddps", "({v})a, ({v})b, ({v})c")
    assert arm(Float(32, 2)) is None
