"""Where memory and iterations go: trees by hand, one step each."""

from __future__ import annotations

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.ir import AllocateFlat, Block, Expr, For, Interval, LoopKind, LoopName, Store
from halide_core.types import BOOL, INT64
from halide_core.visit import walk
from lowering.hoist_storage import _larger
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
