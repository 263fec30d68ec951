"""The signs of zeros, where C compilers get them wrong.

Floats made integers and floats again lose the sign: gcc makes one truncation of the two conversions where signals of
floats don't matter, and that keeps it. Nothing less an integer that is 0 is 0, and not -0.0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import halide_core as hl

x = hl.Var("x")
VALUES = [-0.0, 0.0, -0.25, 0.75, -0.99, 3.7, -3.7, 1e20, -1e20, np.nan, np.inf, -np.inf, 300.5, -129.4, 65536.7, 4e9]
TYPES = [sign(bits) for sign in (hl.Int, hl.UInt) for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("lanes", [0, 4, 16])
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_the_sign_of_zero_is_lost_in_an_integer(real: Any, lanes: int) -> None:
    source, f = hl.Buffer(np.array(VALUES * 2, real)), hl.Func("f")
    f[x] = tuple(hl.cast(back, hl.cast(type, source[x])) for type in TYPES for back in (hl.Float(32), hl.Float(64)))
    if lanes:
        f.vectorize(x, lanes)
    size = 2 * len(VALUES)
    for got, wanted in zip(f.realize([size]), f.evaluate([(0, size)]), strict=True):
        assert got.array.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("name", ["x86-64-linux-sse41", "x86-64-linux-avx-avx2-f16c-fma-sse41"])
def test_lanes_that_no_register_holds(name: str) -> None:
    target = hl.Target(name)
    if target.arch is not hl.get_host_target().arch:
        pytest.skip(f"{name} is not for this machine")
    source, f = hl.Buffer(np.array(VALUES, np.float32)), hl.Func("f")
    f[x] = hl.f32(hl.cast(hl.Int(64), source[x]))
    f.vectorize(x, 16)
    assert f.realize([16], target).array.tobytes() == f.evaluate([(0, 16)]).tobytes()


def test_nothing_less_an_integer_or_an_absolute_value_is_no_negative_zero() -> None:
    n, f = hl.Param(hl.Int(32), "n", 0), hl.Func("f")
    zero = hl.f64(0.0)
    f[x] = (
        zero - hl.f64(n), hl.f64(hl.cast(hl.UInt(32), 0)) - hl.f64(x), zero - hl.abs(hl.f64(x)),
        hl.f32(0.0) - hl.f32(n), zero - hl.select(n > 0, hl.f64(n), hl.f64(x)), zero - hl.f64(x) * hl.f64(x),
    )  # fmt: skip
    for got, wanted in zip(f.realize([4]), f.evaluate([(0, 4)]), strict=True):
        assert got.array.tobytes() == wanted.tobytes()


def test_what_turns_out_to_be_nothing_less_an_integer_is_no_negative_zero() -> None:
    a, b = (hl.Buffer(np.array(values, np.int16))[x] for values in ([0, 1, -7, 3], [0, 0, 2, -3]))
    f = hl.Func("f")
    f[x] = (
        hl.f32(a - a) - hl.f32(b), hl.f32(a * 0) - hl.f32(b), hl.f64(a % 1) - hl.f64(b), hl.f32(a - a) - hl.f32(x),
        hl.f32(a & 0) - hl.abs(hl.f32(b)), hl.f32(a ^ a) - hl.select(a > 0, hl.f32(b), 1.0),
        hl.f32(a * 0) * 3.0 - hl.f32(b),
    )  # fmt: skip
    for got, wanted in zip(f.realize([4]), f.evaluate([(0, 4)]), strict=True):
        assert got.array.tobytes() == wanted.tobytes()
