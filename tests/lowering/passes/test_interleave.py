"""The vectors of one loop go through loops inside it in step, with memory of their own."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from halide_core.ir import AllocateFlat, For, LoopKind, Stmt
from halide_core.ir.visitor import walk
from halide_core.lowering.driver import LoweringTrace, lower
from tests.support.targets import NARROW

x, y = hl.Var("x"), hl.Var("y")


def windows(lanes: int, *, guarded: bool = False) -> hl.Func:
    """The greatest of five neighbours; of those up to the column, if guarded."""
    source = hl.ImageParam(hl.Int(32), 2, "source")
    source.set(np.random.default_rng(3).integers(-99, 99, (5, 40)).astype(np.int32))
    near = hl.RDom([(0, 5)], "near")
    if guarded:
        near.where(near.x <= x)
    f = hl.Func("f")
    f[x, y] = hl.maximum(near, source[x + near.x, y])
    return f.vectorize(x, lanes) if lanes > 1 else f


def vectorized(f: hl.Func) -> Stmt:
    trace = LoweringTrace()
    lower(f._request(target=NARROW), trace=trace)
    return dict(trace.passes)["vectorize"]


@pytest.mark.parametrize(("lanes", "copies"), [(4, 1), (8, 2), (16, 4)])
def test_a_loop_of_all_vectors_is_one_loop(lanes: int, copies: int) -> None:
    tree = vectorized(windows(lanes).never_partition(x))
    inner = [s for s in walk(tree) if isinstance(s, For) and s.kind is LoopKind.SERIAL and "near" in s.var.name]
    assert len(inner) == 1
    memory = [s.buffer for s in walk(tree) if isinstance(s, AllocateFlat)]
    assert len(memory) == len(set(memory)) == copies


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("lanes", [4, 8, 16, 32, 12])
def test_values_are_those_of_one_lane_after_another(lanes: int, guarded: bool) -> None:
    expected = np.asarray(windows(1, guarded=guarded).realize([36, 5]))
    assert np.array_equal(np.asarray(windows(lanes, guarded=guarded).realize([36, 5])), expected)


def test_blocks_side_by_side_keep_memory_of_their_own() -> None:
    """Unrolled copies inside the vectors bind and allocate under the same names."""
    xo, xi, yo, yi = (hl.Var(n) for n in ("xo", "xi", "yo", "yi"))
    f = windows(1)
    f.split(x, xo, xi, 32).split(y, yo, yi, 2).reorder(yi, xi, xo, yo).unroll(yi).vectorize(xi)
    expected = np.asarray(windows(1).realize([36, 5]))
    assert np.array_equal(np.asarray(f.realize([36, 5])), expected)
