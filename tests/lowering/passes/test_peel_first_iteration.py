"""First iterations that do more than the others, apart from them."""

from __future__ import annotations

import pytest

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
