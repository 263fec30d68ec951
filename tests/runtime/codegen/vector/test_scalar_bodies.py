"""Floats as integers, one at a time: by choices, and by branches."""

from __future__ import annotations

import math

import numpy as np
import pytest

import halide_core as hl
from halide_core.ir.types import Type
from halide_core.lowering.driver import lower
from halide_core.runtime.codegen.unit import emit_c
from halide_core.runtime.codegen.vector.scalar_bodies import foreseen_from_float, scalar_from_float
from tests.support.checking import computed, same

INTEGERS = [*(hl.Int(b) for b in (8, 16, 32, 64)), *(hl.UInt(b) for b in (8, 16, 32, 64))]
FLOATS = [hl.Float(32), hl.Float(64)]
x = hl.Var("x")


def beside_the_ends(to: Type, source: Type) -> np.ndarray:
    """NaN, infinities, zeros, and numbers around those at the ends of a type."""
    low, high = to.range
    ends = [e + d for e in (low, high, high + 1) for d in (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0)]
    values = np.array([math.nan, math.inf, -math.inf, 0.0, -0.0, 0.5, -0.5, -0.99, 1.0, 99.7, *ends], source.dtype)
    return np.concatenate([values, np.nextafter(values, source.dtype.type(0)), np.arange(-20, 20).astype(source.dtype)])


@pytest.mark.parametrize("source", FLOATS, ids=str)
@pytest.mark.parametrize("to", INTEGERS, ids=str)
def test_floats_as_integers_in_loops_that_become_vectors_and_in_lookups(to: Type, source: Type) -> None:
    given = beside_the_ends(to, source)
    wanted = []
    for v in given.tolist():
        whole = 0 if math.isnan(v) else v if math.isinf(v) else math.trunc(v)
        wanted.append(int(min(max(whole, to.range[0]), to.range[1])))
    param, table = hl.ImageParam(source, 1, "v"), hl.ImageParam(hl.UInt(8), 1, "table")
    param.set(hl.Buffer(given))
    table.set(hl.Buffer(np.zeros(8, np.uint8)))
    plain, looked = hl.Func("plain"), hl.Func("looked")
    plain[x] = hl.cast(to, param[x])
    looked[x] = hl.cast(to, param[x]) + hl.cast(to, table[hl.i32(param[x]) & 7])
    kind = f"{str(to).replace('uint', 'u').replace('int', 'i')}_from_"
    assert f"{kind}foreseen_" in emit_c(lower(looked._request()))
    if to != hl.Int(64):  # which is a place in itself
        assert f"{kind}foreseen_" not in emit_c(lower(plain._request()))
    for f in (plain, looked):
        same(computed(f, [len(given)]), np.array(wanted, to.dtype))


@pytest.mark.parametrize("source", FLOATS, ids=str)
def test_integers_that_become_floats_again_have_no_negative_zero(source: Type) -> None:
    given = np.array([-0.0, -0.5, 0.5, -0.9, 3.5, -3.5] * 9, source.dtype)
    param, f = hl.ImageParam(source, 1, "v"), hl.Func("f")
    param.set(hl.Buffer(given))
    for to in (hl.Int(8), hl.Int(16), hl.Int(32), hl.Int(64)):
        f = hl.Func("f")
        f[x] = hl.cast(source, hl.cast(to, param[x]))
        got = computed(f, [len(given)])
        assert not np.signbit(got[got == 0]).any()
        same(got, np.trunc(given) + 0)


def test_lanes_that_become_floats_count_as_they_may_be_copies_of_a_scalar() -> None:
    param, one, f = hl.ImageParam(hl.Float(32), 1, "v"), hl.Func("one"), hl.Func("f")
    param.set(hl.Buffer(np.full(16, -0.5, np.float32)))
    one[()] = hl.i32(param[0])
    f[x] = hl.f32(one[()])
    one.compute_at(f, x)
    f.vectorize(x, 8)
    got = computed(f, [16])
    assert not np.signbit(got).any()
    assert "VEILED(n)" in emit_c(lower(f._request()))


def test_a_veil_is_where_integers_become_floats_again() -> None:
    int32, small, wide = hl.Int(32), hl.UInt(8), hl.Int(64)
    for to, veil, said in (
        (int32, True, "VEILED("), (int32, False, ""), (small, True, "VEILED_NARROW("), (small, False, ""),
        (wide, False, "VEILED("), (hl.UInt(32), False, "VEILED("),
    ):  # fmt: skip
        body = "".join(scalar_from_float(to, hl.Float(32), veil=veil))
        assert said in body
        assert ("VEILED" in body) == bool(said)
    assert "VEILED(" in "".join(foreseen_from_float(int32, hl.Float(32)))
