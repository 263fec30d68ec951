"""Divisions that a loop does not change leave it, and nothing else does."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from halide_core.analysis.linear import linear_of
from halide_core.ir import Binary, BinaryOp, Call, Cast, For, Let, Load, Stmt, Store, Variable
from halide_core.ir.types import INT64
from halide_core.ir.visitor import stmt_exprs, subexpressions, walk
from halide_core.lowering.driver import LoweringTrace, lower
from tests.support.interpreted import run_program

x, y = hl.Var("x"), hl.Var("y")


def lowered(f: hl.Func) -> Stmt:
    """The tree that the pass left."""
    trace = LoweringTrace()
    lower(f._request(), trace=trace)
    return dict(trace.passes)["divisions"]


def divisions(stmt: Stmt) -> int:
    """Counts remainders and quotients by no power of two in a statement."""
    found = [e for s in walk(stmt) for e in subexpressions(stmt_exprs(s))]
    return len({e for e in found if isinstance(e, Binary) and e.op in (BinaryOp.DIV, BinaryOp.MOD)})


def rows(divisor: object) -> hl.Func:
    """Each row from another one, which a remainder says."""
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x * 3 + y
    g.compute_root()
    f[x, y] = g[x, (y * 5) % divisor] + x  # type: ignore[operator]
    return f


def test_a_rows_place_is_computed_once_a_row() -> None:
    f = rows(7)
    inner = [s for s in walk(lowered(f)) if isinstance(s, For) and s.loop.func == "f" and s.loop.var == "x"]
    assert inner and all(divisions(s) == 0 for s in inner)
    assert any(isinstance(s, Let) and divisions(s) for s in walk(lowered(f)))


@pytest.mark.parametrize("n", [7, 0, -3])
def test_divisors_of_a_run(n: int) -> None:
    p = hl.Param(hl.Int(32), "n", n)
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x * 3 + y
    f[x, y] = g[x, hl.clamp((y * 5) % p, -20, 20)] + (y / p) * x
    g.compute_root()
    for window in ([(0, 9), (-4, 8)], [(0, 0), (0, 3)]):
        want = f.evaluate(window)
        for name, got in run_program(f, window).items():
            assert np.array_equal(got, want), name
        assert np.array_equal(np.asarray(f.realize([9, 8])), np.asarray(f.evaluate([9, 8])))


def test_what_a_branch_or_a_loop_alone_computes_stays_right() -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 6), (0, 4)], "r")
    f[x] = x
    r.where((r.y * 7) % 5 < 3)
    f[r.x] += f[r.y] % 7 + (r.y * 11) % 6
    want = f.evaluate([(0, 6)])
    for name, got in run_program(f, [(0, 6)]).items():
        assert np.array_equal(got, want), name


def test_a_name_that_a_func_has_is_not_taken() -> None:
    g, f = hl.Func("invariant"), hl.Func("f")
    g[x, y] = x * 3 + y
    g.compute_root()
    f[x, y] = g[x, (y * 5) % 7] + x
    assert np.array_equal(np.asarray(f.realize([9, 8])), np.asarray(f.evaluate([9, 8])))


def _choices(stmt: Stmt) -> int:
    """Counts the minima and maxima of indices that a statement computes."""
    found = [e for s in walk(stmt) for e in subexpressions(stmt_exprs(s))]
    kinds = (BinaryOp.MIN, BinaryOp.MAX)
    return len({e for e in found if isinstance(e, Binary) and e.op in kinds and e.type is INT64})


def _clamped_rows() -> hl.Func:
    image, f = hl.ImageParam(hl.Float(32), 2, "in"), hl.Func("f")
    image.set(np.arange(63, dtype=np.float32).reshape(7, 9))
    f[x, y] = image[x, hl.clamp(y, 0, 6)] + image[x + 1, hl.clamp(y + 1, 0, 6)]
    return f


def test_a_clamped_rows_place_is_computed_once_a_row_where_gcc_may_make_vectors() -> None:
    f = _clamped_rows()
    inner = [s for s in walk(lowered(f)) if isinstance(s, For) and s.loop.var == "x"]
    assert inner and not any(_choices(s.body) for s in inner)
    assert np.array_equal(f.realize([8, 9]), f.evaluate([8, 9]))


def test_a_clamped_rows_place_stays_in_loops_of_vectors() -> None:
    """Their lanes are loaded from wherever they are: it costs a C compiler little to move it."""
    f = _clamped_rows().vectorize(x, 4, hl.TailStrategy.ShiftInwards)
    tree = lowered(f)
    assert not any(isinstance(s, Let) and "invariant" in s.var.name for s in walk(tree))
    assert np.array_equal(f.realize([8, 9]), f.evaluate([8, 9]))


def test_a_looked_up_row_is_one_sum() -> None:
    """Of a place that varies by no steps, what a row has is added up before the loop, and its limit is one number."""
    source, f = hl.ImageParam(hl.Float(32), 2, "source"), hl.Func("f")
    source.set(hl.Buffer(np.arange(48, dtype=np.float32).reshape(6, 8)))
    f[x, y] = hl.BoundaryConditions.repeat_edge(source)[hl.i32(hl.floor(hl.f32(x) * 0.7)), y]
    loop = next(s for s in walk(lowered(f)) if isinstance(s, For) and s.loop.var == "x")
    (store,) = (s for s in walk(loop) if isinstance(s, Store))
    (place,) = (e.index for e in subexpressions([store.value]) if isinstance(e, Load))
    terms = linear_of(place).terms
    assert sorted(isinstance(atom, Variable) for atom in terms) == [False, True]
    limits = [e for e in subexpressions([place]) if isinstance(e, Binary) and e.op is BinaryOp.MIN]
    assert [linear_of(e.a).const for e in limits] == [0]
    window = [(-3, 20), (-2, 9)]
    for name, got in run_program(f, window).items():
        assert np.array_equal(got, f.evaluate(window)), name
    assert np.array_equal(np.asarray(f.realize([9, 8])), np.asarray(f.evaluate([9, 8])))


def test_a_looked_up_row_is_found_once_a_row() -> None:
    """The whole number below a float, and what is left of it, are no row's points' to find."""
    source, f = hl.ImageParam(hl.Float(32), 2, "source"), hl.Func("f")
    source.set(hl.Buffer(np.arange(48, dtype=np.float32).reshape(6, 8)))
    at = hl.f32(y) * 0.7
    f[x, y] = hl.BoundaryConditions.repeat_edge(source)[x, hl.i32(hl.floor(at))] * (at - hl.floor(at)) + hl.exp(at)
    loop = next(s for s in walk(lowered(f)) if isinstance(s, For) and s.loop.var == "x")
    assert not any(isinstance(e, Call | Cast) for s in walk(loop) for e in subexpressions(stmt_exprs(s)))
    window = [(-3, 20), (-2, 9)]
    for name, got in run_program(f, window).items():
        assert np.array_equal(got, f.evaluate(window)), name
    assert np.array_equal(np.asarray(f.realize([9, 8])), np.asarray(f.evaluate([9, 8])))


def test_an_int64_that_may_wrap_stays_as_it_is() -> None:
    """A number that is near the end of int64 is added to where the user did."""
    n, f = hl.Param(hl.Int(64), "n", 2**63 - 1), hl.Func("f")
    words = hl.ImageParam(hl.Int(64), 1, "words")
    words.set(hl.Buffer(np.int64([2**63 - 1, -(2**63), 0, 5])))
    f[x] = hl.min(words[x] + 1, n) - 1
    for name, got in run_program(f, [(0, 4)]).items():
        assert np.array_equal(got, f.evaluate([4])), name
    assert np.array_equal(np.asarray(f.realize([4])), np.asarray(f.evaluate([4])))
