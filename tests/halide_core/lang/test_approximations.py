"""Functions made of others: how far they are from the exact ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

import halide_core as hl

x = hl.Var("x")


def test_erf_is_close_everywhere() -> None:
    numbers = np.concatenate([np.linspace(-6, 6, 4001), 10.0 ** np.arange(-30, 0)]).astype(np.float32)
    f = hl.Func("f")
    f[x] = hl.erf(hl.Buffer(numbers)[x])
    exact = np.array([math.erf(n) for n in numbers.tolist()])
    found = np.asarray(f.realize([numbers.size])).astype(np.float64)
    assert (np.abs(found - exact) <= 1e-6 * np.abs(exact)).all()
    assert hl.evaluate(hl.erf(hl.f32(0))) == 0
    with pytest.raises(hl.TypeMismatchError, match="float64"):
        hl.erf(hl.f64(x))
