"""Facts inside a loop: its variable's range, and that it runs at least once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import simplify
from halide_core.ir import ExprNode, Interval
from halide_core.ir.visitor import substitute, walk
from halide_core.lowering.driver import LoweringTrace, lower
from halide_core.lowering.passes.simplify_stmt import assume_loop, simplify_tree

x, n, m = (ir.index_variable(name) for name in "xnm")


@pytest.mark.parametrize(
    ("low", "length", "e", "wanted"),
    [
        (ir.ZERO, n, ir.maximum(n, ir.ONE), n),
        (ir.ZERO, n, ir.maximum(n, ir.i64(2)), ir.maximum(n, ir.i64(2))),
        (ir.ZERO, n, ir.minimum(x, ir.sub(n, ir.ONE)), x),
        (ir.ZERO, n, ir.maximum(x, ir.ZERO), x),
        (m, n, ir.maximum(x, m), x),
        (m, n, ir.maximum(n, ir.ONE), n),
        (ir.i64(3), ir.i64(4), ir.minimum(x, ir.i64(6)), x),
        (ir.i64(3), ir.i64(4), ir.maximum(x, ir.i64(3)), x),
        (ir.i64(3), ir.i64(4), ir.less(x, ir.i64(7)), ir.TRUE),
        (ir.i64(3), ir.i64(4), ir.less(x, ir.i64(6)), ir.less(x, ir.i64(6))),
    ],
)
def test_what_holds_in_a_loop(low: ExprNode, length: ExprNode, e: ExprNode, wanted: ExprNode) -> None:
    facts = Facts()
    assume_loop(facts, x, Interval(low, length))
    assert simplify(e, facts) is simplify(wanted)


def test_a_loop_of_one_iteration_is_that_iteration() -> None:
    """Its variable is its min, also inside; a parallel loop stays, since the run may ask for its task."""
    f, x = hl.Func("f"), hl.Var("x")
    f[x] = x
    stored = lower_to(f, "fill")
    loop = next(s for s in walk(stored) if isinstance(s, ir.For))
    once = replace(loop, bounds=Interval(n, ir.ONE))
    left = simplify_tree(once)
    assert not [s for s in walk(left) if isinstance(s, ir.For)]
    assert [s.args for s in walk(left) if isinstance(s, ir.Provide)] == [(n,)]
    parallel = replace(once, kind=ir.LoopKind.PARALLEL)
    assert isinstance(simplify_tree(parallel), ir.For)


@pytest.mark.parametrize(
    ("guard", "length"),
    [
        (ir.less(x, ir.i64(7)), 4),
        (ir.less_equal(x, ir.i64(7)), 5),
        (ir.conjunction(ir.less(x, n), ir.less(x, ir.i64(7))), 4),
        (ir.less(ir.add(x, ir.i64(96)), ir.i64(100)), 1),
        (ir.less(x, ir.i64(11)), 8),
        (ir.less(ir.i64(7), x), 8),
        (ir.less(ir.mul(x, ir.i64(2)), ir.i64(9)), 8),
        (ir.less(x, n), 8),
    ],
)
@pytest.mark.parametrize("through", [False, True])
def test_iterations_that_a_constant_guards_are_no_part_of_a_loop(guard: ExprNode, length: int, through: bool) -> None:
    """Of 8 from 3 on; also where a variable stands between; only where nothing is beside the guard."""
    f, var, at = hl.Func("f"), hl.Var("x"), ir.index_variable("at")
    f[var] = var
    loop = next(s for s in walk(lower_to(f, "fill")) if isinstance(s, ir.For))
    store = next(s for s in walk(loop) if isinstance(s, ir.Provide))
    body = ir.Block((ir.Let(at, x, Interval(x, ir.ONE)), ir.If(substitute(guard, {x: at}), store, None)))
    whole = replace(loop, var=x, bounds=Interval(ir.i64(3), ir.i64(8)), kind=ir.LoopKind.VECTORIZED)
    guarded = replace(whole, body=body if through else ir.If(guard, store, None))
    left = [s.bounds.len for s in walk(simplify_tree(guarded)) if isinstance(s, ir.For)]
    assert left == [ir.i64(length)]
    nothing = replace(whole, body=ir.If(ir.less(x, ir.i64(3)), store, None))
    assert not [s for s in walk(simplify_tree(nothing)) if isinstance(s, ir.Provide)]
    beside = replace(whole, body=ir.Block((store, guarded.body)))
    assert [s.bounds.len for s in walk(simplify_tree(beside)) if isinstance(s, ir.For)] == [ir.i64(8)]


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("wide", [20, 21, 13])
def test_what_a_split_leaves_of_a_tile_is_vectors_too(lanes: int, wide: int) -> None:
    f, x, xi = hl.Func("f"), hl.Var("x"), hl.Var("xi")
    f[x] = x * 3 + 1
    f.split(x, x, xi, wide, hl.TailStrategy.RoundUp).vectorize(xi, lanes, hl.TailStrategy.GuardWithIf)
    assert not [s for s in walk(lower_to(f, "limits")) if isinstance(s, ir.If)][1:]
    assert np.array_equal(np.asarray(f.realize([wide * 3])), np.arange(wide * 3) * 3 + 1)


def test_a_variable_is_what_was_bound_last() -> None:
    f, x = hl.Func("f"), hl.Var("x")
    f[x] = x
    store = next(s for s in walk(lower_to(f, "fill")) if isinstance(s, ir.Provide))
    at = ir.index_variable("at")
    here = replace(store, args=(ir.minimum(at, n),))
    for first, second in ((ir.i64(3), n), (n, ir.i64(3)), (ir.add(n, n), ir.i64(3)), (ir.i64(3), ir.add(n, ir.ONE))):
        lets = (ir.Let(at, first, None), here, ir.Let(at, second, None), here)
        left = [s.args[0] for s in walk(simplify_tree(ir.Block(lets))) if isinstance(s, ir.Provide)]
        alone = [simplify_tree(ir.Block((ir.Let(at, value, None), here))) for value in (first, second)]
        assert left == [s.args[0] for block in alone for s in walk(block) if isinstance(s, ir.Provide)]


def lower_to(f: hl.Func, name: str) -> ir.Stmt:
    """The tree that a pass left."""
    trace = LoweringTrace()
    lower(f._request(), trace=trace)
    return dict(trace.passes)[name]


def test_memory_of_a_loop_without_iterations_goes_with_it() -> None:
    x, y, im = hl.Var("x"), hl.Var("y"), hl.ImageParam(hl.UInt(8), 2, "im")
    im.set(np.zeros((12, 12), np.uint8))
    g, w, f = hl.BoundaryConditions.repeat_edge(im), hl.Func("w"), hl.Func("f")
    r = hl.RDom([(0, 0), (0, 4)], "r")
    w[x, y] = hl.u8(2)
    r.where(g[x + 1, y + 1] < 9)
    w[x, y] = hl.select(x < 1, g[x, y] + g[x - 1, y + 7], hl.undef(hl.UInt(8))) + hl.u8(r[0])
    f[x, y] = w[x, y]
    w.compute_root()
    g.compute_at(w, r[0]).store_at(w, r[1])
    assert np.asarray(f.realize([3, 2])).tolist() == [[2] * 3] * 2
