"""Prefetches that are refused, or do nothing: of what isn't read, or has no memory yet; in lanes; of an earlier
iteration."""

from __future__ import annotations

from typing import Any

import pytest

import halide_core as hl
from tests.support.blame import refused

x, y, z, xo, xi = (hl.Var(n) for n in "x y z xo xi".split())
Pair = tuple[hl.Func, hl.Func, hl.ImageParam]


@pytest.fixture
def pair() -> Pair:
    """g, f that reads it, and the input that g reads."""
    im = hl.ImageParam(hl.UInt(8), 2, "im")
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = hl.i32(im[x, y])
    f[x, y] = g[x, y] + g[x, y + 1]
    g.compute_root()
    return g, f, im


def test_wrong_arguments(pair: Pair) -> None:
    g, f, im = pair
    bad: Any = "y"
    far: Any = hl.TailStrategy.GuardWithIf
    refused(hl.ScheduleError, lambda: f.prefetch(bad, y, y), "'y'", "ImageParam", at="f.prefetch(bad, y, y)")
    refused(hl.ScheduleError, lambda: f.prefetch(g, bad, y), "'y'", at="f.prefetch(g, bad, y)")
    refused(hl.ScheduleError, lambda: f.prefetch(g, y, y, -1), "negative: -1", at="f.prefetch(g, y, y, -1)")
    refused(hl.ScheduleError, lambda: f.prefetch(g, y, y, x), "offset", at="f.prefetch(g, y, y, x)")
    refused(hl.ScheduleError, lambda: f.prefetch(im, y, y, 1, far), "PrefetchBoundStrategy", at="1, far)")
    assert not [d for d in hl.Schedule(f).directives() if "prefetch" in d]


def test_loop_that_is_not_there_has_no_effect_and_those_that_are_there_are_listed(pair: Pair) -> None:
    g, f, _ = pair
    plain = f.loop_nest()
    f.prefetch(g, z, y)
    with pytest.warns(hl.IgnoredDirectiveWarning, match=r'f\.prefetch\(g, z, y, 1\).*no loop "z".*x, y\.'):
        assert f.loop_nest() == plain


def test_loop_that_was_split_is_not_there(pair: Pair) -> None:
    g, f, _ = pair
    f.split(x, xo, xi, 4)
    plain = f.loop_nest()
    f.prefetch(g, x, x, 2)
    with pytest.warns(hl.IgnoredDirectiveWarning, match=r'no loop "x".*xi, xo, y\.'):
        assert f.loop_nest() == plain


def test_loop_that_points_are_counted_in_is_there(pair: Pair) -> None:
    g, f, _ = pair
    f.prefetch(g, y, z)
    refused(hl.ScheduleError, f.loop_nest, 'no loop "z"', "x, y", at="f.prefetch(g, y, z)")


def test_loop_further_in_has_no_iteration_yet(pair: Pair) -> None:
    g, f, _ = pair
    f.prefetch(g, y, x)
    refused(hl.ScheduleError, f.loop_nest, '"x" is a loop inside "y"', at="f.prefetch(g, y, x)")


def test_what_the_pipeline_does_not_have(pair: Pair) -> None:
    _, f, _ = pair
    other = hl.Func("other")
    other[x] = x
    f.prefetch(other, y, y)
    refused(hl.ScheduleError, f.loop_nest, "no part of the pipeline", at="f.prefetch(other, y, y)")


def test_an_input_that_the_pipeline_does_not_read(pair: Pair) -> None:
    _, f, _ = pair
    other = hl.ImageParam(hl.UInt(8), 2, "other")
    f.prefetch(other, y, y)
    refused(hl.ScheduleError, f.loop_nest, "no part of the pipeline", at="f.prefetch(other, y, y)")


def test_what_is_not_read_there_is_a_warning(pair: Pair) -> None:
    _, f, im = pair
    plain = f.loop_nest()
    f.prefetch(im, y, y)
    with pytest.warns(hl.IgnoredDirectiveWarning, match=r'reads memory of "im", so this has no effect.*there: g\.'):
        assert f.loop_nest() == plain


def test_inlined_func_has_no_memory_to_ask_for(pair: Pair) -> None:
    g, f, _ = pair
    g.compute_inline()
    plain = f.loop_nest()
    f.prefetch(g, y, y)
    with pytest.warns(hl.IgnoredDirectiveWarning, match=r"Where it is inlined it has none.*there: im\."):
        assert f.loop_nest() == plain


def test_memory_inside_the_loop(pair: Pair) -> None:
    g, f, _ = pair
    g.compute_at(f, y)
    f.prefetch(g, y, y)
    named = ('the memory of "g" lives inside "y"', "g.store_root()")
    refused(hl.ScheduleError, f.loop_nest, *named, at="f.prefetch(g, y, y)")


def test_lanes_have_no_beginning(pair: Pair) -> None:
    g, f, _ = pair
    f.vectorize(x, 4).prefetch(g, hl.Var("x.v"), y)
    refused(hl.ScheduleError, f.loop_nest, '"x.v"', "vectorized", at="prefetch(g, hl.Var(")
