"""First iterations that do more than the others, apart from them."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.ir import Block, ExprNode, For, Interval, LoopKind, LoopName, Store
from halide_core.ir.types import BOOL, INT64
from halide_core.ir.visitor import walk
from halide_core.lowering.passes.peel_first_iteration import separate_warm_ups

N, X = ir.index_variable("n"), ir.index_variable("x")


def rows(length: ExprNode) -> For:
    """``for x in (n, length): g[x] = x <= n ? 1 : 0``."""
    asked = ir.Select(INT64, ir.Binary(BOOL, ir.BinaryOp.LE, X, N), ir.ONE, ir.ZERO)
    loop = LoopName("f", 0, 0, "x")
    return For(loop, X, Interval(N, length), LoopKind.SERIAL, pure=True, body=Store("g", X, asked))


@pytest.mark.parametrize("length", [3, 5])
def test_first_iteration_and_the_others_are_all(length: int) -> None:
    block = separate_warm_ups(rows(ir.i64(length)), {})
    assert isinstance(block, Block)
    stored = [s for s in walk(block) if isinstance(s, Store)]
    assert [s.value for s in stored] == [ir.ONE, ir.ZERO]
    assert stored[0].index is N
    (rest,) = (s.bounds for s in walk(block) if isinstance(s, For))
    assert (rest.min, rest.len) == (ir.add(N, ir.ONE), ir.i64(length - 1))


@pytest.mark.parametrize(("copies", "rows_of_f"), [(1, 5), (4, 2)])
def test_what_stays_as_it_is_finds_the_copy_of_a_ring(copies: int, rows_of_f: int) -> None:
    """The number of the copy is a constant, or the row, where it is looked at again."""
    x, y = hl.Var("x"), hl.Var("y")
    g, h, k, f = (hl.Func(name) for name in "ghkf")
    g[x, y] = x * 3 + y
    h[x, y] = x - y * 2
    k[x, y] = g[x, y] * 2
    f[x, y] = k[x, y] + k[x + 1, y] + h[x, y] + h[x - 1, y]
    f.bound(y, 0, rows_of_f)
    g.compute_at(f, y).hoist_storage(hl.LoopLevel.root()).ring_buffer(copies).async_()
    k.compute_at(f, y)
    h.store_at(f, y).compute_at(f, x)
    window = [20, rows_of_f]
    assert np.array_equal(np.asarray(f.realize(window)), np.asarray(f.evaluate(window)))
