"""Quotients that are comparisons: gcc 12 makes masks of two of them that are lanes of one vector, and -1 of 1."""

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
