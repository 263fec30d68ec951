"""Whole loops of producers inside tiles: vectorized and unrolled whatever the tiles' tails."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.ir import Block, For, Interval, Let, LoopKind, LoopName
from halide_core.lowering.passes.constant_lengths import make_lengths_constant
from tests.support.interpreted import run_program

x, y, xo, yo, xi, yi = hl.vars("x y xo yo xi yi")
Tail = hl.TailStrategy
WINDOW = [(0, 19), (0, 7)]


def tiled(tail: hl.TailStrategy, way: Callable[[hl.Func], object]) -> hl.Func:
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = x * y + x
    g[x, y] = f[x - 1, y] + f[x + 1, y + 1]
    g.tile(x, y, xo, yo, xi, yi, 8, 4, tail)
    f.compute_at(g, xo)
    way(f)
    return g


def agrees(g: hl.Func) -> None:
    wanted = g.evaluate([extent for _, extent in WINDOW])
    np.testing.assert_array_equal(np.asarray(g.realize([extent for _, extent in WINDOW])), wanted)
    for name, found in run_program(g, WINDOW, rng=random.Random(3)).items():
        np.testing.assert_array_equal(found, wanted, name)


@pytest.mark.parametrize(
    ("tail", "way"),
    [
        (Tail.GuardWithIf, lambda f: f.vectorize(x)),
        (Tail.GuardWithIf, lambda f: f.vectorize(x).unroll(y)),
        (Tail.RoundUp, lambda f: f.unroll(x)),
        (Tail.RoundUp, lambda f: f.vectorize(x)),
        (Tail.PredicateStores, lambda f: f.vectorize(y).unroll(x)),
    ],
)
def test_whole_producer_of_a_tile(tail: hl.TailStrategy, way: Callable[[hl.Func], object]) -> None:
    agrees(tiled(tail, way))


@pytest.mark.parametrize("tail", [Tail.GuardWithIf, Tail.RoundUp, Tail.ShiftInwards, Tail.PredicateStores])
@pytest.mark.parametrize(
    "way",
    [
        lambda f: f.align_bounds(x, 4).unroll(x),
        lambda f: f.align_bounds(x, 4).vectorize(x, 4, Tail.RoundUp).unroll(x),
        lambda f: f.align_bounds(x, 8, 3).vectorize(x, 4, Tail.GuardWithIf).unroll(x).unroll(y),
        lambda f: f.vectorize(x, 4, Tail.GuardWithIf).unroll(x),
        lambda f: f.align_extent(x, 4).vectorize(x),
    ],
)
def test_whole_producer_that_is_aligned_or_in_vectors(tail: hl.TailStrategy, way: Callable[[hl.Func], object]) -> None:
    agrees(tiled(tail, way))


def test_whole_update_of_a_tile() -> None:
    f, r = hl.Func("total"), hl.RDom([(0, 3)])
    f[x, y] = x - y
    f[x, y] += r.x * x
    g = hl.Func("g")
    g[x, y] = f[x, y] + f[x + 2, y]
    g.tile(x, y, xo, yo, xi, yi, 8, 4, Tail.GuardWithIf)
    f.compute_at(g, xo).vectorize(x)
    f.update().vectorize(x).unroll(y)
    agrees(g)


def test_length_without_a_constant_bound_is_refused() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = x * y
    g[x, y] = f[x, y] + f[x + 1, y]
    f.compute_at(g, y).vectorize(x)
    with pytest.raises(hl.ScheduleError, match="the length of the loop is not a constant"):
        g.realize([8, 8])


def test_variable_of_a_loop_has_no_value_that_a_let_gave_it_elsewhere() -> None:
    outer, inner = ir.index_variable("outer"), ir.index_variable("inner")
    name = LoopName("f", 0, 0, "x")
    body = ir.AllocateFlat("g", hl.Int(32), inner, None)
    lanes = For(name, inner, Interval(ir.ZERO, ir.add(outer, ir.ONE)), LoopKind.VECTORIZED, True, body)
    first = Block((Let(outer, ir.i64(3), None), lanes))
    loop = For(name, outer, Interval(ir.ZERO, ir.i64(10)), LoopKind.SERIAL, True, lanes)
    made = make_lengths_constant(Block((first, loop)))
    assert isinstance(made, Block) and made.stmts[1] is loop
