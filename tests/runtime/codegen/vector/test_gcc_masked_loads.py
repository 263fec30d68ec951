"""Choices in unrolled loops: gcc 12 loads what they read under the masks of other iterations, where it makes vectors of
groups."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core.lowering.driver import lower
from halide_core.runtime.codegen.unit import emit_c
from tests.support.checking import variables

x, c = variables("x c")
N = 132


def numbers(type: hl.Type, seed: int) -> hl.Buffer:
    return hl.Buffer(np.random.default_rng(seed).integers(0, 100, N).astype(str(type)))


def choice(compared: hl.Type, values: hl.Type) -> Callable[[hl.Expr], hl.Expr]:
    a, b, p, q = (numbers(t, seed) for seed, t in enumerate((compared, compared, values, values)))
    return lambda at: hl.select(a[at] < b[at], p[at], q[at])


def stays(f: hl.Func) -> bool:
    return "ONE_BY_ONE;" in emit_c(lower(f._request()))


@pytest.mark.parametrize("copies", [2, 3, 8])
@pytest.mark.parametrize("values", [hl.Float(32), hl.Float(64), hl.Int(16)], ids=str)
@pytest.mark.parametrize("compared", [hl.UInt(8), hl.Int(32)], ids=str)
def test_choices_of_an_unrolled_loop(compared: hl.Type, values: hl.Type, copies: int) -> None:
    f = hl.Func("f")
    f[x] = choice(compared, values)(x)
    f.unroll(x, copies, hl.TailStrategy.GuardWithIf)
    np.testing.assert_array_equal(np.asarray(f.realize([N])), f.evaluate([N]))


def test_choices_that_are_summed() -> None:
    f, r = hl.Func("f"), hl.RDom([(0, N)])
    f[()] = 0
    f[()] += choice(hl.UInt(8), hl.Int(32))(r.x)
    f.update().unroll(r.x, 4)
    assert stays(f)
    assert f.realize()[()] == f.evaluate([])[()]


def test_what_a_condition_takes_in() -> None:
    a, p, g, f = numbers(hl.UInt(8), 1), numbers(hl.Int(32), 2), hl.Func("g"), hl.Func("f")
    r = hl.RDom([(0, 1)])
    r.where(a[x + r] < 50)
    g[x] = 0
    g[x] += p[x + r]
    f[x] = g[x] * 2
    g.compute_at(f, x)
    f.unroll(x, 4)
    np.testing.assert_array_equal(np.asarray(f.realize([N])), f.evaluate([N]))


def test_what_gcc_may_make_vectors_of() -> None:
    """Loops without groups, or without choices of what memory has, and those that are vectors already."""
    take, p = choice(hl.UInt(8), hl.Float(32)), numbers(hl.Float(32), 1)
    makers: dict[str, tuple[hl.Expr, Callable[[hl.Func], hl.Func], bool]] = {
        "unrolled": (take(x), lambda f: f.unroll(x, 3), True),
        "lanes of copies": (take(x), lambda f: f.unroll(x, 4), False),
        "colours": (take(x + c), lambda f: f.bound(c, 0, 3).reorder(c, x).unroll(c), True),
        "a loop": (take(x), lambda f: f, False),
        "no choice": (p[x] * 2, lambda f: f.unroll(x, 4), False),
        "a choice of numbers": (hl.select(p[x] < 3, 1, 2), lambda f: f.unroll(x, 4), False),
        "lanes": (take(x), lambda f: f.unroll(x, 2).vectorize(x, 8), False),
    }
    for name, (value, schedule, expected) in makers.items():
        f = hl.Func("f")
        f[(c, x) if name == "colours" else x] = value
        schedule(f)
        assert stays(f) == expected, name


@pytest.mark.parametrize("values", [hl.Float(32), hl.Int(32), hl.UInt(8)], ids=str)
def test_what_is_written_is_read_first(values: hl.Type) -> None:
    """A search for the least: what isn't better leaves what is there, which gcc may read of all."""
    at, f, r = numbers(hl.UInt(16), 1), hl.Func("f"), hl.RDom([(0, 12)])
    f[x] = (hl.u16(65535), hl.cast(values, 0))
    better = at[x + r] < f[x][0]
    f[x] = (hl.select(better, at[x + r], f[x][0]), hl.select(better, hl.cast(values, r.x), f[x][1]))
    f.update().reorder(x, r.x)
    assert not stays(f)
    for got, wanted in zip(f.realize([100]), f.evaluate([100]), strict=True):
        np.testing.assert_array_equal(np.asarray(got), wanted)


@pytest.mark.parametrize("copies", [2, 3, 6, 12])
@pytest.mark.parametrize("values", [hl.Float(32), hl.Float(64), hl.Int(16), hl.UInt(8)], ids=str)
@pytest.mark.parametrize("compared", [hl.UInt(8), hl.Int(32)], ids=str)
def test_unrolled_choices_of_what_is_there(compared: hl.Type, values: hl.Type, copies: int) -> None:
    a, b, p, f = numbers(compared, 1), numbers(compared, 2), numbers(values, 3), hl.Func("f")
    f[x] = p[x]
    f[x] = hl.select(a[x] < b[x], hl.cast(values, x * 3), f[x])
    f.bound(x, 0, N).update().unroll(x, copies)
    assert not stays(f)
    np.testing.assert_array_equal(np.asarray(f.realize([N])), f.evaluate([N]))
