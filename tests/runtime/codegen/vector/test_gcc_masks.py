"""Lanes that are comparisons, each put into its vector by itself: gcc 12 makes masks of them, and -1 of 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from tests.support.checking import variables

x, u = variables("x u")


@pytest.mark.parametrize("lanes", [2, 3, 4])
@pytest.mark.parametrize("type", [hl.UInt(8), hl.UInt(16), hl.UInt(32), hl.Int(16), hl.Int(64)], ids=str)
@pytest.mark.parametrize(
    "quotient",
    [lambda a: a // a, lambda a: a % a, lambda a: hl.cast(a.type(), 1) // a, lambda a: hl.cast(a.type(), 1) % a],
)
def test_quotients_that_are_0_or_1(quotient: Callable[[hl.Expr], hl.Expr], type: hl.Type, lanes: int) -> None:
    f, numbers = hl.Func("f"), hl.Buffer(np.arange(13).astype(str(type)) % 3)
    f[x] = quotient(numbers[x])
    f.vectorize(x, lanes, hl.TailStrategy.GuardWithIf)
    np.testing.assert_array_equal(np.asarray(f.realize([13])), f.evaluate([13]))


def conditions(type: hl.Type, length: int) -> hl.Func:
    """A row of ones and zeros, each of which C has as a comparison."""
    v, w = (hl.Buffer(np.random.default_rng(seed).integers(0, 4, (9, 20)).astype(str(type))) for seed in (1, 2))
    g = hl.Func("g")
    g[x, u] = hl.cast(type, v[x + 4, u] > w[x + 4, u])
    g.bound_extent(x, length).unroll(x)
    return g


@pytest.mark.parametrize("type", [hl.UInt(16), hl.Int(16)], ids=str)
def test_comparisons_that_are_gathered(type: hl.Type) -> None:
    f, g = hl.Func("f"), conditions(type, 16)
    f[x, u] = g[hl.select(hl.i64(x) < hl.i64(4), x + 4, x - 4), u]
    f.bound(x, 0, 8).vectorize(x, 8)
    g.compute_at(f, u)
    np.testing.assert_array_equal(np.asarray(f.realize([8, 9])), f.evaluate([8, 9]))


@pytest.mark.parametrize("type", [hl.UInt(8), hl.UInt(16), hl.Int(32)], ids=str)
@pytest.mark.parametrize("shifted", [lambda a, b: a >> b, lambda a, b: a << b], ids=["right", "left"])
def test_comparisons_that_are_shifted_by_nothing(
    shifted: Callable[[hl.Expr, hl.Expr], hl.Expr], type: hl.Type
) -> None:
    f, g = hl.Func("f"), conditions(type, 2)
    f[x, u] = shifted(g[1 - x, u], hl.cast(type, x // 2))
    f.bound(x, 0, 2).vectorize(x, 2)
    g.compute_at(f, u)
    np.testing.assert_array_equal(np.asarray(f.realize([2, 9])), f.evaluate([2, 9]))
