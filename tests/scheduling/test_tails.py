"""Tail strategies: on definitions and updates, outputs and producers, loops of all kinds, windows of all lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core.ir import For, If
from halide_core.ir.visitor import walk
from tests.support.checking import image, numbers
from tests.support.dumps import traced

x, y, xo, xi = (hl.Var(n) for n in "x y xo xi".split())
Tail = hl.TailStrategy
NEW = [Tail.Predicate, Tail.PredicateLoads, Tail.PredicateStores, Tail.RoundUpAndBlend, Tail.ShiftInwardsAndBlend]


def expected(f: hl.Func, window: Any) -> None:
    """The compiled result is that of the reference."""
    np.testing.assert_array_equal(np.asarray(f.realize(window)), f.evaluate(window), strict=True)


@pytest.mark.parametrize("how", ["serial", "vectorize", "parallel", "unroll"])
@pytest.mark.parametrize("tail", NEW)
def test_definition_and_update(tail: Tail, how: str) -> None:
    im = image(numbers((6, 40), np.int32), "im")
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = im[x, y] * 3
    g[x, y] += g[x, y] * im[x, 0]
    f[x, y] = g[x, y] + g[x + 1, y]
    f[x, y] = f[x, y] * 5 + x
    for stage in (g.compute_root(), g.update(), f, f.update()):
        stage.split(x, xo, xi, 8, tail)
        if how != "serial":
            getattr(stage, how)(xo if how == "parallel" else xi)
    for width in (8, 16, 19, 25) + (() if tail is Tail.ShiftInwardsAndBlend else (1, 7)):
        expected(f, [width, 3])


@pytest.mark.parametrize("tail", [Tail.Predicate, Tail.PredicateLoads, Tail.PredicateStores])
def test_reduction_loop(tail: Tail) -> None:
    im = image(numbers((23,), np.int32), "im")
    r, ro, ri = hl.RDom([(1, 21)], "r"), hl.RVar("ro"), hl.RVar("ri")
    f = hl.Func("f")
    f[x] = 1
    f[x] = f[x] * 3 + im[r.x]
    f.update().split(r.x, ro, ri, 4, tail).unroll(ri)
    expected(f, [3])


@pytest.mark.parametrize("tail", NEW)
def test_input_is_read_no_further(tail: Tail) -> None:
    im = image(numbers((19,), np.int32), "im")
    f = hl.Func("f")
    f[x] = im[x] + 1
    f[x] += im[x] * 2
    f.vectorize(x, 8, tail).update().vectorize(x, 8, tail)
    expected(f, [19])


def test_blend_runs_each_iteration_once() -> None:
    f = hl.Func("f")
    f[x] = x
    f[x] = f[x] * 2 + 1  # doing it twice would show
    f.update().split(x, xo, xi, 8, Tail.ShiftInwardsAndBlend)
    expected(f, [19])
    expected(f, [8])


def test_blend_of_a_split_of_a_split() -> None:
    f = hl.Func("f")
    f[x] = x
    f[x] = f[x] * 2 + 1
    t = hl.Var("t")
    f.update().split(x, xo, xi, 8, Tail.ShiftInwardsAndBlend).split(xi, xi, t, 3, Tail.ShiftInwardsAndBlend)
    f.update().reorder(xo, t, xi)
    expected(f, [29])


def test_steady_part_has_no_guard() -> None:
    f = hl.Func("f")
    f[x] = x
    f[x] = f[x] * 2 + 1
    f.update().vectorize(x, 8, Tail.ShiftInwardsAndBlend)
    parts = [s for s in walk(traced(f).passes[-1][1]) if isinstance(s, For) and str(s.loop) == "f.s1.x"]
    assert [any(isinstance(s, If) for s in walk(part)) for part in parts] == [False] * (len(parts) - 1) + [True]
    assert not any(isinstance(s, For) for part in parts[:-1] for s in walk(part.body))  # whole vectors alone
    expected(f, [61])
