"""Loops that run once or not at all: which ones are conditions, and that nothing but the loop goes."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.ir import Block, ExprNode, For, If, Interval, Let, LoopKind, LoopName, Stmt, Store
from halide_core.ir.types import INT32
from halide_core.ir.visitor import walk
from halide_core.lowering.passes.partition.once import run_once
from tests.support.checking import computed, image, numbers, same, variables
from tests.support.dumps import after
from tests.support.interpreted import run_program

n, m, tail, at = (ir.index_variable(name) for name in ("n", "m", "tail", "at"))
NAME = LoopName("f", 0, 0, "x")


def vectors(e: ExprNode, more: int = 0) -> ExprNode:
    return ir.div(ir.add(e, ir.i64(more)), ir.i64(16))


def loop(start: ExprNode, end: ExprNode, kind: LoopKind = LoopKind.SERIAL, body: Stmt | None = None) -> For:
    stored = Store("out", at, ir.const(1, INT32), False)
    return For(NAME, at, Interval(start, ir.sub(end, start)), kind, False, body or stored)


def is_condition(*stmts: Stmt) -> bool:
    """True where the loop at the end of a block is one."""
    found = list(walk(run_once(Block(stmts))))
    return not any(isinstance(s, For) for s in found) and any(isinstance(s, If) for s in found)


@pytest.mark.parametrize(
    ("start", "end", "wanted"),
    [
        (vectors(n), vectors(n, 15), True),
        (ir.mul(ir.div(n, ir.i64(2)), ir.i64(2)), n, True),
        (n, ir.minimum(m, ir.add(n, ir.ONE)), True),
        (vectors(n), vectors(n, 16 + 15), False),
        (vectors(n), vectors(m, 15), False),
        (ir.ZERO, n, False),
    ],
)
def test_at_most_one_iteration_is_a_condition(start: ExprNode, end: ExprNode, wanted: bool) -> None:
    assert is_condition(loop(start, end)) == wanted
    assert is_condition(Let(tail, start, None), loop(tail, end)) == wanted


def test_a_let_is_what_it_stands_for_where_it_is() -> None:
    """Of another n than that of here nothing follows."""
    before, again = Let(tail, vectors(n), None), Let(n, ir.mul(m, ir.i64(99)), None)
    assert is_condition(Let(n, m, None), before, loop(tail, vectors(n, 15)))
    assert not is_condition(before, again, loop(tail, vectors(n, 15)))


def test_a_variable_that_nothing_uses_goes() -> None:
    """As where the last vector is the one that ends with the row."""
    stored = Store("out", m, ir.const(1, INT32), False)
    only = run_once(loop(vectors(n), vectors(n, 15), body=stored))
    assert isinstance(only, If)
    assert only.then is stored


def test_loops_around_others_and_in_threads_stay() -> None:
    inner = loop(ir.ZERO, n)
    assert not is_condition(loop(vectors(n), vectors(n, 15), body=inner))
    assert not is_condition(loop(vectors(n), vectors(n, 15), LoopKind.PARALLEL))


@pytest.mark.parametrize("width", [0, 1, 15, 16, 17, 31, 32, 33])
@pytest.mark.parametrize("tails", [hl.TailStrategy.GuardWithIf, hl.TailStrategy.PredicateStores, hl.TailStrategy.Auto])
def test_rows_of_all_lengths_are_what_they_were(width: int, tails: hl.TailStrategy) -> None:
    x, y = variables("x y")
    pixels, f, g = image(numbers((5, 40), np.uint8), "pixels"), hl.Func("f"), hl.Func("g")
    f[x, y] = hl.u16(pixels[x, y]) * 3
    g[x, y] = f[x, y] + f[x, y + 1]
    f.compute_at(g, y).vectorize(x, 16, tails)
    before, behind = (sum(isinstance(s, For) for s in walk(after(g, name))) for name in ("conversions", "once"))
    assert behind < before
    box = [(2, width), (0, 4)]
    for found in run_program(g, box, after="once").values():
        same(found, g.evaluate(box))
    same(computed(g, box), g.evaluate(box))
