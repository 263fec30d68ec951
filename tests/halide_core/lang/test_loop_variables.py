"""Names for loops: a Var or an RVar where it doesn't matter which, and the place around all loops."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl

x, y = hl.Var("x"), hl.Var("y")


def test_either_variable_names_the_loop_that_its_own_names() -> None:
    r, f = hl.RDom([(0, 8)]), hl.Func("f")
    f[x] = 0
    f[x] += r.x * x
    f.split(hl.VarOrRVar(x), hl.VarOrRVar("xo", False), hl.VarOrRVar(hl.Var("xi")), 4).bound(x, 0, 8)
    f.update().reorder(hl.VarOrRVar(x), hl.VarOrRVar(r)).unroll(hl.VarOrRVar(r.x), 2)
    assert np.asarray(f.realize([8])).tolist() == [28 * i for i in range(8)]


def test_either_variable_when_it_is_asked() -> None:
    r = hl.RDom([(0, 8)])
    var, rvar = hl.VarOrRVar(x), hl.VarOrRVar(r.x)
    assert (var.name(), var.is_rvar, var.var.name(), var.rvar.name()) == ("x", False, "x", "x")
    assert (rvar.name(), rvar.is_rvar, rvar.rvar.name(), rvar.var.name()) == ("r.x", True, "r.x", "r.x")
    assert hl.VarOrRVar(rvar).is_rvar and hl.VarOrRVar("u", True).is_rvar
    assert repr(hl.VarOrRVar("u", False)) == "VarOrRVar(Var('u'))"


def _chain() -> tuple[hl.Func, hl.Func, hl.Func]:
    f, g, h = hl.Func("f"), hl.Func("g"), hl.Func("h")
    f[x, y] = x * y
    g[x, y] = f[x - 1, y] + f[x + 1, y]
    h[x, y] = g[x, y] + g[x, y + 1]
    return f, g, h


@pytest.mark.parametrize("stored", [False, True])
def test_outermost_is_where_the_consumer_is_computed(stored: bool) -> None:
    f, g, h = _chain()
    f.compute_at(g, hl.Var.outermost())
    if stored:
        f.store_at(g, hl.Var.outermost())
    g.compute_at(h, y)
    a, b, c = _chain()
    a.compute_at(c, y)
    b.compute_at(c, y)
    assert h.loop_nest() == c.loop_nest()
    assert np.array_equal(np.asarray(h.realize([5, 4])), h.evaluate([5, 4]))


def test_outermost_of_an_output_is_the_root() -> None:
    f, g, _ = _chain()
    f.compute_at(g, hl.Var.outermost())
    a, b, _ = _chain()
    a.compute_root()
    assert g.loop_nest() == b.loop_nest()
