"""A pipeline as IR text at the stages that golden files hold, and the Funcs that several tests share.

    with_holes(f)   the program after scheduling, its bounds still holes
    filled(f)       the same with the answers of bounds inference in place
    after(f, "vectorize")   the tree after one pass of lowering
"""

from __future__ import annotations

import halide_core as hl
from halide_core.bounds.query.conjuncts import format_query
from halide_core.ir import Stmt
from halide_core.ir.printer import format_stmt
from halide_core.loop_nest import Program, assemble
from halide_core.lowering.driver import LoweringTrace, lower, schedule
from halide_core.run.pipeline import Realizable


def scheduled(f: Realizable) -> Program:
    """The program after every directive."""
    return schedule(f._request(), LoweringTrace())


def with_holes(f: Realizable) -> str:
    """The program after every directive, as text."""
    return format_stmt(assemble(scheduled(f)))


def traced(f: Realizable) -> LoweringTrace:
    """Everything that lowering went through."""
    trace = LoweringTrace()
    lower(f._request(), trace=trace)
    return trace


def after(f: Realizable, name: str) -> Stmt:
    """The tree after a pass of lowering."""
    return dict(traced(f).passes)[name]


def filled(f: Realizable) -> str:
    """The program with its holes filled, as text."""
    return format_stmt(after(f, "fill"))


def query(f: Realizable) -> str:
    """The bounds query as text."""
    found = traced(f).query
    assert found is not None
    return format_query(found)


def both(f: Realizable) -> str:
    """With holes, and then filled: what a golden file of a directive holds."""
    return f"-- with holes\n{with_holes(f)}\n\n-- filled\n{filled(f)}\n"


def pixels(name: str = "f") -> tuple[hl.Func, hl.Var, hl.Var]:
    """``f[x, y] = x + y*100`` and its Vars."""
    x, y = hl.Var("x"), hl.Var("y")
    f = hl.Func(name)
    f[x, y] = x + y * 100
    return f, x, y


def producer_and_consumer() -> tuple[hl.Func, hl.Func, hl.Var, hl.Var]:
    """``f[x, y] = g[x, y - 1] + g[x, y + 1]``."""
    g, x, y = pixels("g")
    f = hl.Func("f")
    f[x, y] = g[x, y - 1] + g[x, y + 1]
    return g, f, x, y


def blur() -> tuple[hl.Func, hl.Func, hl.Var, hl.Var]:
    """A separable 3x3 blur of a uint16 image: ``bx`` along x, ``by`` along y."""
    image = hl.ImageParam(hl.UInt(16), 2, "in")
    x, y = hl.Var("x"), hl.Var("y")
    bx, by = hl.Func("bx"), hl.Func("by")
    bx[x, y] = (image[x - 1, y] + image[x, y] + image[x + 1, y]) // 3
    by[x, y] = (bx[x, y - 1] + bx[x, y] + bx[x, y + 1]) // 3
    return bx, by, x, y


def tiled_blur() -> tuple[hl.Func, hl.Func]:
    """The blur on tiles of 32x8, parallel and vectorized, ``bx`` computed in each tile."""
    bx, by, x, y = blur()
    xi, yi = hl.Var("xi"), hl.Var("yi")
    by.tile(x, y, xi, yi, 32, 8).vectorize(xi, 8).parallel(y)
    bx.compute_at(by, x).vectorize(x, 8)
    return bx, by


def histogram() -> tuple[hl.Func, hl.Func, hl.RDom]:
    """Counts of a uint8 image of 10x6, and a Func that reads them."""
    image = hl.ImageParam(hl.UInt(8), 2, "in")
    i, x = hl.Var("i"), hl.Var("x")
    r = hl.RDom([(0, 10), (0, 6)], "r")
    hist, out = hl.Func("hist"), hl.Func("out")
    hist[i] = 0
    hist[hl.i32(image[r.x, r.y])] += 1
    out[x] = hist[x] + hist[x + 1]
    hist.compute_root()
    return hist, out, r
