"""Lanes of 64 bits that are divided by constants: numbers of 32 bits, larger ones, and both in a vector."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from halide_core.ir import BinaryOp
from halide_core.ir.types import Int, UInt
from halide_core.lowering.driver import lower
from halide_core.runtime.codegen.unit import emit_c
from halide_core.runtime.codegen.vector.wide_quotients import is_wide

x = hl.Var("x")
DIVISORS = (3, 5, 7, 10, 499, 998, 999, 2398, 65535, 65537, 2**30 - 1, 2**30 + 1, 2**31 - 1, 2**31 + 1, 2**40 + 3)
TARGETS = ("x86-64-linux", "x86-64-linux-sse41", "x86-64-linux-avx-avx2-f16c-fma-sse41", "")


def numbers() -> np.ndarray:
    """Rows of 64: ends of int32 and what is near multiples, with and without one that is none; and ends of int64."""
    rng = np.random.default_rng(3)
    small = rng.integers(-(2**31), 2**31, 64 * 40)
    near = np.array([k * c + d for c in DIVISORS[:12] for k in (-3, -1, 0, 1, 2, 2**31 // c) for d in (-1, 0, 1)])
    ends = np.array([-(2**31), 2**31 - 1, -(2**31) + 1, 0, 1, -1, 2**31 - 2])
    within = np.resize(np.concatenate([small, near[(near >= -(2**31)) & (near < 2**31)], ends]), 64 * 48)
    mixed = within.copy()
    mixed[::37] = rng.integers(-(2**62), 2**62, len(mixed[::37]))
    far = np.array([-(2**63), 2**63 - 1, -(2**31) - 1, 2**31, 2**32, -(2**32), 2**31 + 1, -(2**63) + 1])
    return np.concatenate([within, mixed, np.resize(far, 64)])


@pytest.mark.parametrize("lanes", [2, 3, 4, 8, 16])
@pytest.mark.parametrize("name", TARGETS)
def test_quotients_and_remainders_are_those_of_integers(name: str, lanes: int) -> None:
    target = hl.Target(name) if name else hl.get_jit_target_from_environment()
    if target.arch is not hl.get_host_target().arch:
        pytest.skip(f"{name} is not for this machine")
    values = numbers()
    source, f = hl.Buffer(values), hl.Func("f")
    f[x] = tuple(e for c in DIVISORS for e in (source[x] // hl.i64(c), source[x] % hl.i64(c)))
    f.vectorize(x, lanes)
    found = f.realize([len(values)], target)
    for k, c in enumerate(DIVISORS):
        wanted = [int(n) // c for n in values], [int(n) % c for n in values]
        np.testing.assert_array_equal(np.asarray(found[2 * k]), wanted[0], err_msg=f"//{c}")
        np.testing.assert_array_equal(np.asarray(found[2 * k + 1]), wanted[1], err_msg=f"%{c}")


def test_lanes_that_are_divided_so() -> None:
    assert is_wide(Int(64, 8))
    assert not any(is_wide(type) for type in (Int(64), Int(64, 3), UInt(64, 8), Int(32, 8)))
    source, f = hl.ImageParam(hl.Int(64), 1, "source"), hl.Func("f")
    f[x] = source[x] % 7
    f.vectorize(x, 8)
    assert f"wide_{BinaryOp.MOD.name.lower()}_i64x8(" in emit_c(lower(f._request()))
