"""Squares of squares: what a compile does with one grows with its parts, not with the number that it is."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.analysis.index import exact_index
from halide_core.analysis.interval import of_integers
from halide_core.ir import BinaryOp, ExprNode
from halide_core.ir.types import INT32
from tests.support.checking import same, variables
from tests.support.raising import raised

x, y = variables("x y")
HEIGHT = 24
"""As numbers, its values have 16 million bits; as a tree, it has as many parts."""


def tower() -> hl.Expr:
    """``y`` squared, and so on; an int32, which wraps."""
    e = hl.Expr(y)
    for i in range(1, HEIGHT):
        e = e * e + y + i
    return e


def conditional(g: hl.Func) -> None:
    g[x, y] = hl.select((x < tower()) & (x > 3), 1, 2)


def predicated(g: hl.Func) -> None:
    r = hl.RDom([(0, 5)], "r")
    r.where(r.x < tower())
    g[x, y] = 0
    g[x, y] += r.x


@pytest.mark.parametrize("define", [conditional, predicated])
def test_program_of_a_tower_is_compiled(define: Callable[[hl.Func], None]) -> None:
    g = hl.Func("g")
    define(g)
    same(g.realize([6, 5]), np.asarray(g.evaluate([6, 5])))


def test_coordinate_of_a_tower_is_compiled_and_leaves_int32() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = x
    g[x, y] = f[hl.clamp(tower(), 0, 10), y]
    f.compute_root()
    g.compile_jit()
    raised(hl.PipelineError, lambda: g.realize([6, 5]), "leaves int32")


def test_shared_parts_are_looked_at_once() -> None:
    e: ExprNode = ir.cast(INT32, ir.index_variable("n"))
    for _ in range(HEIGHT):
        e = ir.binary(BinaryOp.MUL, e, e)
    asked: list[ExprNode] = []
    assert exact_index(e, lambda part: not asked.append(part)) is not None  # type: ignore[func-returns-value]
    assert len(asked) == HEIGHT


def test_ends_are_short_numbers_or_none() -> None:
    far = (2, 1 << 600)
    assert of_integers(BinaryOp.MUL, far, far) == (4, math.inf)
    assert of_integers(BinaryOp.MUL, far, (-(1 << 600), -1)) == (-math.inf, -2)
    low, high = of_integers(BinaryOp.MUL, (1 << 600, 1 << 600), (1 << 600, 1 << 600))
    assert low <= 1 << 1200
    assert high == math.inf
    assert of_integers(BinaryOp.ADD, (low, low), (-math.inf, math.inf)) == (-math.inf, math.inf)
