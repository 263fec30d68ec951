"""Lanes that several operations use are loaded once: gcc would load them for each."""

from __future__ import annotations

import re

import numpy as np
import pytest

import halide_core as hl
from halide_core.ir.types import Type
from halide_core.lowering.driver import lower
from halide_core.runtime.codegen.unit import emit_c
from tests.support.checking import variables

x, y = variables("x y")
EXACT = hl.TailStrategy.GuardWithIf


def _picture(type: Type) -> hl.Buffer:
    return hl.Buffer(np.random.default_rng(8).integers(0, 100, (9, 70)).astype(type.dtype))


def _median(type: Type, lanes: int) -> hl.Func:
    """Of three neighbours: two of them are used twice. Columns of vectors are no neighbours, and so as long as said."""
    data, f = _picture(type), hl.Func("f")
    a, b, c = (data[x + k, y] for k in range(3))
    f[x, y] = hl.max(hl.min(a, b), hl.min(hl.max(a, b), c))
    return f.vectorize(x, lanes, EXACT).reorder(y, x)


def _kept(f: hl.Func) -> set[str]:
    """The macros that keep what was loaded, by which size of vectors differ."""
    return set(re.findall(r"\b(LOADED\w*)\(t\d", emit_c(lower(f._request()))))


@pytest.mark.parametrize(
    ("type", "lanes", "macro"),
    [
        (hl.UInt(16), 8, "LOADED"),
        (hl.UInt(16), 16, "LOADED_32"),
        (hl.Float(32), 16, "LOADED_64"),
        (hl.Int(64), 2, "LOADED"),
        (hl.UInt(8), 32, "LOADED_32"),
    ],
)
def test_lanes_that_are_used_twice_stay_in_their_register(type: Type, lanes: int, macro: str) -> None:
    f = _median(type, lanes)
    assert _kept(f) == {macro}
    np.testing.assert_array_equal(f.realize([67, 9]), f.evaluate([67, 9]))


def test_vectors_that_fill_no_register_stay_as_they_are() -> None:
    f = _median(hl.UInt(8), 4)
    assert not _kept(f)
    np.testing.assert_array_equal(f.realize([67, 9]), f.evaluate([67, 9]))


def test_lanes_that_are_used_once_or_not_next_to_each_other_stay_as_they_are() -> None:
    data, f, g = _picture(hl.Int(32)), hl.Func("f"), hl.Func("g")
    f[x, y] = data[x, y] + data[x + 1, y]
    g[x, y] = data[x * 3, y] * data[x * 3, y] + data[hl.clamp(data[x, y], 0, 60), y]
    for func in (f, g):
        func.vectorize(x, 8, EXACT)
        assert not _kept(func)
        np.testing.assert_array_equal(func.realize([20, 9]), func.evaluate([20, 9]))
