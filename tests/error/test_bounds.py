"""Regions that can't be bounded, and coordinates that leave int32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import halide_core as hl
from tests.support.blame import refused

x, y, xo, xi = (hl.Var(n) for n in "x y xo xi".split())


def table() -> hl.Func:
    h = hl.Func("table")
    h[x] = x * 2
    return h.compute_root()


def index() -> hl.ImageParam:
    ip = hl.ImageParam(hl.Int(32), 1, "index")
    ip.set(np.array([2, 0, 1, 3], np.int32))
    return ip


def test_access_without_a_bound_is_refused() -> None:
    f, h, ip = hl.Func("f"), table(), index()
    f[x] = h[ip[x]]
    refused(hl.BoundsError, lambda: f.realize([4]), '"f"', '"table"', "index", "hl.clamp", at="f[x] = h[ip[x]]")
    g = hl.Func("g")
    g[x] = h[hl.clamp(ip[x], 0, 3)]
    assert np.asarray(g.realize([4])).tolist() == [4, 0, 2, 6]


def test_access_of_an_input_without_a_bound_is_refused() -> None:
    f, ip = hl.Func("f"), index()
    f[x] = ip[ip[x]]
    refused(hl.BoundsError, lambda: f.realize([4]), '"f"', '"index"', "hl.clamp", at="f[x] = ip[ip[x]]")


def test_update_at_a_place_without_a_bound_is_refused() -> None:
    f, ip, r = hl.Func("f"), index(), hl.RDom([(0, 4)])
    f[x] = 0

    def scatter() -> Any:
        f[ip[r.x]] += 1
        return f.realize([4])

    refused(hl.BoundsError, scatter, '"f"', "hl.clamp", at="f[ip[r.x]] += 1")


def test_access_that_a_float_leads_to_is_refused() -> None:
    f, h = hl.Func("f"), table()
    f[x] = h[hl.i32(hl.exp(hl.f32(x)) * 10.0)]
    refused(hl.BoundsError, lambda: f.realize([4]), '"table"', "hl.clamp", at="f[x] = h[hl.i32(hl.exp")


def test_nothing_is_refused_when_the_func_is_inlined() -> None:
    f, h, ip = hl.Func("f"), hl.Func("h"), index()
    h[x] = x * 2
    f[x] = h[ip[x]]
    assert np.asarray(f.realize([4])).tolist() == [4, 0, 2, 6]


@pytest.mark.parametrize("low", [2**30 - 3, 2**31 - 8, -(2**30) - 1, -(2**31)])
def test_window_beyond_the_limit_is_refused(low: int) -> None:
    f, out = hl.Func("f"), hl.Buffer(hl.Int(32), [8])
    f[x] = x
    out.set_min([low])
    out.fill(7)
    named = ('Pipeline "f"', '"f"', "dimension 0", f"from {low} to {low + 7}")
    refused(hl.PipelineError, lambda: f.realize(out), *named, at="f.realize(out)")
    assert out.all_equal(7)


@pytest.mark.parametrize("low", [2**30 - 7, -(2**30)])
def test_window_within_the_limit_is_accepted(low: int) -> None:
    f, out = hl.Func("f"), hl.Buffer(hl.Int(32), [8])
    f[x] = x
    out.set_min([low])
    f.realize(out)
    assert np.asarray(out).tolist() == list(range(low, low + 8))


def test_buffer_beyond_int32_is_refused() -> None:
    out = hl.Buffer(hl.Int(32), [8])
    refused(hl.HalideError, lambda: out.set_min([2**31 - 4]), "int32", at="out.set_min([2**31 - 4])")
    refused(hl.HalideError, lambda: hl.Buffer(hl.Int(32), [8]).set_min([2**40]), "int32", at="2**40")


def test_coordinate_that_overflows_is_refused() -> None:
    f, g = hl.Func("f"), table()
    f[x] = g[x * 1000000]
    assert np.asarray(f.realize([4])).tolist() == [0, 2000000, 4000000, 6000000]
    named = ('Pipeline "f"', "x*1000000", "int32", "3999000000")
    refused(hl.PipelineError, lambda: f.realize([4000]), *named, at="f.realize([4000])")


@pytest.mark.parametrize("placed", ["inline", "root", "tile"])
def test_coordinate_that_overflows_on_the_way_is_refused(placed: str) -> None:
    f, g, h = hl.Func("f"), hl.Func("g"), hl.Func("h")
    ip = hl.ImageParam(hl.Int(32), 1, "ip")
    ip.set(np.arange(10, dtype=np.int32))
    h[x] = hl.BoundaryConditions.repeat_edge(ip)[x]
    g[x] = h[x * 65536]
    f[x] = g[x * 65536]
    if placed == "root":
        g.compute_root()
        h.compute_root()
    elif placed == "tile":
        f.split(x, xo, xi, 4, hl.TailStrategy.GuardWithIf)
        g.compute_at(f, xo)
        h.compute_at(f, xo)
    assert np.asarray(f.realize([1])).tolist() == [0]
    refused(hl.PipelineError, lambda: f.realize([4]), 'Pipeline "f"', "65536", "int32", at="f.realize([4])")


def test_param_that_makes_a_coordinate_overflow_is_refused() -> None:
    p, f, g = hl.Param(hl.Int(32), "p", 3), hl.Func("f"), table()
    f[x] = g[x + p]
    assert np.asarray(f.realize([2])).tolist() == [6, 8]
    p.set(2**31 - 2)
    refused(hl.PipelineError, lambda: f.realize([8]), 'Pipeline "f"', "p", "int32", at="f.realize([8])")


def test_memory_that_can_t_be_had_is_an_error() -> None:
    n, big, f = hl.Param(hl.Int(32), "n", 2**30 - 1), hl.Func("big"), hl.Func("f")
    big[x, y] = x + y
    big.compute_root()
    f[x] = big[x * n, x * n]  # 2^60 numbers
    refused(hl.PipelineError, lambda: f.realize([2]), 'Pipeline "f"', '"big', "memory", at="f.realize([2])")
    n.set(3)
    assert np.asarray(f.realize([2])).tolist() == [0, 6]


def test_input_too_small_for_whole_vectors_says_what_is_computed() -> None:
    def doubled(tail: hl.TailStrategy) -> hl.Func:
        f, ip = hl.Func("f"), hl.ImageParam(hl.Int(32), 1, "in")
        ip.set(np.arange(20, dtype=np.int32))
        f[x] = ip[x] * 2
        return f.vectorize(x, 16, tail)

    f = doubled(hl.TailStrategy.RoundUp)
    told = ('"in"', "from 0 to 31", "where 0 to 19 is asked for", "GuardWithIf")
    refused(hl.PipelineError, lambda: f.realize([20]), *told, at="f.realize([20])")
    g = doubled(hl.TailStrategy.GuardWithIf)
    assert np.asarray(g.realize([20])).tolist() == list(range(0, 40, 2))
    alone = refused(hl.PipelineError, lambda: g.realize([21]), '"in"', "from 0 to 20", at="g.realize([21])")
    assert "GuardWithIf" not in alone.message
