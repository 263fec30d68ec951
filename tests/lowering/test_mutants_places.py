"""Where memory and iterations go: trees by hand, one step each."""

from __future__ import annotations

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.algorithm import Function
from halide_core.ir import AllocateFlat, Block, Expr, For, Interval, LoopKind, LoopName, PrefetchRegion, Store
from halide_core.storage import PrefetchBoundStrategy
from halide_core.types import BOOL, INT64
from halide_core.visit import walk
from lowering.hoist_storage import _larger
from lowering.interpreter_prefetch import is_inside
from lowering.warm_up import separate_warm_ups
from tests.scheduling.dumps import after

N, X = ir.index_variable("n"), ir.index_variable("x")


def rows(length: Expr) -> For:
    """``for x in (n, length): g[x] = x <= n ? 1 : 0``."""
    asked = ir.Select(INT64, ir.Binary(BOOL, ir.BinaryOp.LE, X, N), ir.ONE, ir.ZERO)
    loop = LoopName("f", 0, 0, "x")
    return For(loop, X, Interval(N, length), LoopKind.SERIAL, pure=True, body=Store("g", X, asked))


@pytest.mark.parametrize("length", [3, 5])
def test_first_iteration_and_the_others_are_all(length: int) -> None:
    block = separate_warm_ups(rows(ir.i64(length)))
    assert isinstance(block, Block)
    stored = [s for s in walk(block) if isinstance(s, Store)]
    assert [s.value for s in stored] == [ir.ONE, ir.ZERO]
    assert stored[0].index is N
    (rest,) = (s.bounds for s in walk(block) if isinstance(s, For))
    assert (rest.min, rest.len) == (ir.add(N, ir.ONE), ir.i64(length - 1))


@pytest.mark.parametrize("limits", [(4, 7), (7, 4), (None, 7), (7, None), (None, None)])
def test_memory_for_two_is_limited_where_both_are(limits: tuple[int | None, int | None]) -> None:
    a, b = (AllocateFlat("g", hl.Int(32), N, limit) for limit in limits)
    assert _larger(a, b).limit == (None if None in limits else 7)


def test_last_directive_that_traces_is_blamed() -> None:
    x, outer = hl.Var("x"), hl.Var("outer")
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = x * 3
    g[x] = f[x] + 1
    f.compute_at(g, x).trace_realizations().debug_to_file("f.tmp")
    g.split(x, outer, x, 4).vectorize(x)
    with pytest.raises(hl.ScheduleError, match=r"f\.debug_to_file\(.*vectorized loop"):
        after(g, "simplify")


def test_prefetch_of_an_input_is_not_of_a_func_of_its_name() -> None:
    x, y = hl.Var("x"), hl.Var("y")
    image, g, f = hl.ImageParam(hl.Int(32), 1, "g"), hl.Func("g"), hl.Func("f")
    g[x] = x * 2
    f[x, y] = g[x + y] + image[x + y]
    g.compute_root()
    f.prefetch(image, y, y, 2)
    (region,) = [s for s in walk(after(f, "prefetch")) if isinstance(s, PrefetchRegion)]
    assert not isinstance(region.func, Function)


@pytest.mark.parametrize("strategy", PrefetchBoundStrategy)
def test_prefetch_says_where_it_stays_inside(strategy: PrefetchBoundStrategy) -> None:
    g = hl.Func("g")
    g[hl.Var("x")] = 0
    for box in (None, (Interval(ir.ZERO, N),)):
        region = PrefetchRegion(g.function, X, ir.ONE, strategy, box)
        assert is_inside(region) == (box is not None and strategy is not PrefetchBoundStrategy.NonFaulting)
