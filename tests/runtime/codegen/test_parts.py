"""Functions of what computes: which are told to leave values where they are, so that gcc makes vectors of loops."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from halide_core.lowering.driver import lower
from halide_core.runtime.codegen.unit import emit_c
from tests.support.checking import variables

x, y = variables("x y")
FLOATS = hl.Buffer(np.random.default_rng(3).normal(0, 40, (6, 40)).astype(np.float32))
BYTES = hl.Buffer(np.random.default_rng(4).integers(0, 255, (6, 40)).astype(np.uint8))


def _of(value: hl.Expr) -> hl.Func:
    f = hl.Func("f")
    f[x, y] = value
    return f


def _is_unmerged(f: hl.Func) -> bool:
    return "noinline UNMERGED" in emit_c(lower(f._request()))


@pytest.mark.parametrize(
    "value",
    [
        hl.clamp(FLOATS[x, y], 0.0, 9.0),
        hl.select(FLOATS[x, y] > 1, FLOATS[x, y], 0.0),
        hl.cast(hl.Int(32), FLOATS[x, y]),
        hl.lerp(FLOATS[x, y], 3.0, hl.clamp(FLOATS[y, 0], 0.0, 1.0)),
    ],
    ids=["clamp", "select", "cast", "lerp"],
)
def test_loops_that_choose_between_floats(value: hl.Expr) -> None:
    f = _of(value)
    assert _is_unmerged(f)
    np.testing.assert_array_equal(f.realize([40, 6]), f.evaluate([40, 6]))
    assert not _is_unmerged(f.vectorize(x, 8, hl.TailStrategy.ShiftInwards))


@pytest.mark.parametrize("value", [hl.min(BYTES[x, y], 9), FLOATS[x, y] * 2, BYTES[hl.clamp(x, 2, 9), y]])
def test_loops_that_choose_between_integers_or_nothing(value: hl.Expr) -> None:
    assert not _is_unmerged(_of(value))
