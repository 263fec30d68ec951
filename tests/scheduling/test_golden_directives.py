"""Golden dumps of every directive: the program with holes after it, and the program with the answers filled in.

Each was read against section 2.8 and the rules of figure 2.12 as the design restates them. ``--update-golden``
rewrites them; read the difference before you commit it.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import halide_core as hl
from halide_core import TailStrategy
from halide_core.ir.printer import format_stmt
from halide_core.loop_nest import assemble
from halide_core.lowering.driver import LoweringTrace, lower
from halide_core.runtime.codegen.unit import emit_c
from tests.support.dumps import (
    after,
    blur,
    both,
    histogram,
    pixels,
    producer_and_consumer,
    query,
    tiled_blur,
    traced,
    with_holes,
)
from tests.support.targets import MIDDLE, WIDE

Golden = Callable[[str, str], None]

xo, xi, yo, yi, t = (hl.Var(n) for n in ("xo", "xi", "yo", "yi", "t"))


# -- phase 0


def test_inline_is_implicit(golden: Golden) -> None:
    g, f, _x, _y = producer_and_consumer()
    assert not g._function.directives
    golden("inline.txt", both(f))


def test_inline_copies_a_func_with_updates_for_each_reader(golden: Golden) -> None:
    x = hl.Var("x")
    g, f, h = hl.Func("g"), hl.Func("f"), hl.Func("h")
    g[x] = 0
    g[x] += x
    f[x] = g[x] + g[x + 1]
    h[x] = f[x] + g[x]
    f.compute_root()
    golden("inline_update.txt", with_holes(h))


def test_rfactor(golden: Golden) -> None:
    image = hl.ImageParam(hl.Int(32), 2, "in")
    x, u = hl.Var("x"), hl.Var("u")
    ro, ri, r = hl.RVar("ro"), hl.RVar("ri"), hl.RDom([(0, 10), (1, 7)], "r")
    f = hl.Func("f")
    f[x] = x
    f[x] += image[r.x, r.y]
    f.update().split(r.y, ro, ri, 4).rfactor(ri, u).compute_root().update().parallel(u)
    golden("rfactor.txt", both(f))


@pytest.mark.parametrize("method", ["in_", "clone_in"])
def test_read_instead(golden: Golden, method: str) -> None:
    g, f, x, y = producer_and_consumer()
    h = hl.Func("h")
    h[x, y] = f[x, y] + g[x, y]
    g.compute_root()
    f.compute_root()
    getattr(g, method)(f).compute_at(f, y)
    golden(f"{method}.txt", both(h))


def test_hoist_storage(golden: Golden) -> None:
    g, f, x, y = producer_and_consumer()
    f.tile(x, y, xo, yo, xi, yi, 8, 8, TailStrategy.GuardWithIf)
    g.compute_at(f, xo).hoist_storage(f, yo)
    golden("hoist_storage.txt", f"{both(f)}\n-- allocated\n{format_stmt(after(f, 'hoist_storage'))}\n")


def test_hoist_storage_root(golden: Golden) -> None:
    g, f, _x, y = producer_and_consumer()
    g.compute_at(f, y).hoist_storage_root()
    golden("hoist_storage_root.txt", f"{both(f)}\n-- allocated\n{format_stmt(after(f, 'hoist_storage'))}\n")


@pytest.mark.parametrize("strategy", list(hl.PrefetchBoundStrategy), ids=lambda s: s.value)
def test_prefetch(golden: Golden, strategy: hl.PrefetchBoundStrategy) -> None:
    g, f, x, y = producer_and_consumer()
    g.compute_root()
    f.split(x, xo, xi, 8, TailStrategy.GuardWithIf).prefetch(g, xo, y, 2, strategy)
    shown = "".join(f"-- {name}\n{format_stmt(after(f, name))}\n" for name in ("prefetch", "flatten"))
    golden(f"prefetch_{strategy.value}.txt", f"{both(f)}\n{shown}")


@pytest.mark.parametrize("way", ["parallel", "vectorize"])
def test_atomic(golden: Golden, way: str) -> None:
    hist, out, r = histogram()
    stage = hist.update().atomic()
    stage.parallel(r.y) if way == "parallel" else stage.vectorize(r.x, 5)
    golden(f"atomic_{way}.txt", f"{both(out)}\n-- vectorize\n{format_stmt(after(out, 'vectorize'))}\n")


# -- loops


TAILS = [tail.value for tail in TailStrategy]


@pytest.mark.parametrize("tail", TAILS)
def test_split_of_an_output(golden: Golden, tail: str) -> None:
    f, x, _y = pixels()
    f.split(x, xo, xi, 8, TailStrategy[tail])
    golden(f"split_{tail}.txt", both(f))


@pytest.mark.parametrize("tail", ["GuardWithIf", "ShiftInwards", "RoundUp"])
def test_split_of_a_producer(golden: Golden, tail: str) -> None:
    g, f, x, _y = producer_and_consumer()
    g.compute_root().split(x, xo, xi, 8, TailStrategy[tail])
    golden(f"split_producer_{tail}.txt", both(f))


def test_split_that_divides(golden: Golden) -> None:
    f, x, _y = pixels()
    f.bound(x, 0, 64).split(x, xo, xi, 8, TailStrategy.GuardWithIf).split(xi, xi, t, 4, TailStrategy.ShiftInwards)
    golden("split_exact.txt", both(f))


def test_split_of_splits(golden: Golden) -> None:
    f, x, _y = pixels()
    f.split(x, xo, xi, 12, TailStrategy.GuardWithIf).split(xi, xi, t, 5).split(xo, xo, yo, 3, TailStrategy.ShiftInwards)
    golden("split_nested.txt", both(f))


def test_split_by_a_param(golden: Golden) -> None:
    f, x, _y = pixels()
    f.split(x, xo, xi, hl.Param(hl.Int(32), "k"), TailStrategy.GuardWithIf)
    golden("split_param.txt", both(f))


def test_split_of_a_reduction_loop(golden: Golden) -> None:
    _hist, out, r = histogram()
    _hist.update().split(r.x, hl.RVar("rxo"), hl.RVar("rxi"), 4)
    golden("split_rvar.txt", both(out))


def test_fuse_of_pure_loops(golden: Golden) -> None:
    f, x, y = pixels()
    f.fuse(x, y, t)
    golden("fuse.txt", both(f))


def test_fuse_of_reduction_loops(golden: Golden) -> None:
    hist, out, r = histogram()
    hist.update().fuse(r.x, r.y, hl.RVar("rt"))
    golden("fuse_rvar.txt", both(out))


def test_reorder(golden: Golden) -> None:
    f, x, y = pixels()
    f.reorder(y, x)
    golden("reorder.txt", both(f))


def test_reorder_moves_a_pure_loop_across_reduction_loops(golden: Golden) -> None:
    x = hl.Var("x")
    r = hl.RDom([(0, 3), (0, 5)], "r")
    f = hl.Func("f")
    f[x] = 0
    f[x] += r.x * r.y
    f.update().reorder(r.x, x, r.y)
    golden("reorder_rvar.txt", both(f))


def test_reorder_of_reduction_loops(golden: Golden) -> None:
    x, r, f = hl.Var("x"), hl.RDom([(0, 3), (0, 5)], "r"), hl.Func("f")
    f[x] = 0
    f[x] += r.x * r.y
    f.update().reorder(r.y, x, r.x)
    golden("reorder_reduction.txt", both(f))


def test_vectorize_of_a_reduction_loop_whose_iterations_never_meet(golden: Golden) -> None:
    f, _x, _y = pixels()
    r = hl.RDom([(0, 8), (1, 5)], "r")
    f[r.x, r.y] = f[r.x, r.y - 1] * 2
    f.update().reorder(r.y, r.x).vectorize(r.x, 4)
    golden("vectorize_apart.txt", f"{both(f)}\n-- vectorize\n{format_stmt(after(f, 'vectorize'))}\n")


POLICIES: dict[str, Callable[[hl.Func, hl.Var, hl.Var], hl.Func]] = {
    "partition_Never": lambda f, x, y: f.partition(x, hl.Partition.Never),
    "partition_Always": lambda f, x, y: f.partition(y, hl.Partition.Always),
    "never_partition": lambda f, x, y: f.never_partition(x, y),
    "always_partition": lambda f, x, y: f.always_partition(y),
    "never_partition_all": lambda f, x, y: f.never_partition_all(),
    "always_partition_all": lambda f, x, y: f.always_partition_all(),
}


@pytest.mark.parametrize("name", list(POLICIES))
def test_partition(golden: Golden, name: str) -> None:
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
    source = hl.BoundaryConditions.repeat_edge(hl.ImageParam(hl.UInt(8), 2, "src"))
    f[x, y] = source[x + 1, y - 1]
    POLICIES[name](f, x, y)
    golden(f"{name}.txt", f"{with_holes(f)}\n\n-- partition\n{format_stmt(after(f, 'partition'))}\n")


def test_tile(golden: Golden) -> None:
    f, x, y = pixels()
    f.tile(x, y, xo, yo, xi, yi, 32, 8, TailStrategy.GuardWithIf)
    golden("tile.txt", both(f))


def test_parallel(golden: Golden) -> None:
    f, _x, y = pixels()
    f.parallel(y)
    golden("parallel.txt", both(f))


def test_parallel_by_tasks(golden: Golden) -> None:
    f, _x, y = pixels()
    f.parallel(y, 4, TailStrategy.GuardWithIf)
    golden("parallel_tasks.txt", both(f))


def test_vectorize(golden: Golden) -> None:
    f, x, _y = pixels()
    f.vectorize(x, 8)
    golden("vectorize.txt", both(f))


def test_unroll(golden: Golden) -> None:
    f, x, _y = pixels()
    f.unroll(x, 3, TailStrategy.GuardWithIf)
    golden("unroll.txt", both(f))


def test_vectors_of_vectors(golden: Golden) -> None:
    f, x, y = pixels()
    f.tile(x, y, xi, yi, 8, 2, TailStrategy.GuardWithIf).vectorize(xi).vectorize(yi)
    golden("nested_vectors.txt", f"{both(f)}\n-- unrolled\n{format_stmt(after(f, 'unroll'))}\n")


def test_serial_takes_back_parallel(golden: Golden) -> None:
    f, _x, y = pixels()
    f.parallel(y).serial(y)
    golden("serial.txt", both(f))


# -- compute and storage


def test_compute_root(golden: Golden) -> None:
    g, f, _x, _y = producer_and_consumer()
    g.compute_root()
    golden("compute_root.txt", both(f))


def test_compute_at(golden: Golden) -> None:
    g, f, _x, y = producer_and_consumer()
    g.compute_at(f, y)
    golden("compute_at.txt", both(f))


def test_compute_at_a_tile(golden: Golden) -> None:
    g, f, x, y = producer_and_consumer()
    f.tile(x, y, xo, yo, xi, yi, 32, 8)
    g.compute_at(f, xo)
    golden("compute_at_tile.txt", both(f))


def test_compute_with(golden: Golden) -> None:
    g, f, h = (hl.Func(name) for name in "gfh")
    x, y = hl.Var("x"), hl.Var("y")
    g[x, y] = x + y
    h[x, y] = x - y
    f[x, y] = g[x, y + 1] * h[x + 2, y]
    g.compute_root()
    h.compute_root().compute_with(g, y)
    golden("compute_with.txt", both(f))


def test_compute_at_an_update(golden: Golden) -> None:
    g, x, y = pixels("g")
    r = hl.RDom([(0, 5)], "r")
    f = hl.Func("f")
    f[x, y] = 0
    f[x, y] += g[x + r.x, y]
    g.compute_at(f, y)
    golden("compute_at_update.txt", both(f))


def test_store_root(golden: Golden) -> None:
    g, f, _x, y = producer_and_consumer()
    g.compute_at(f, y).store_root()
    golden("store_root.txt", both(f))


def test_store_at(golden: Golden) -> None:
    g, f, x, y = producer_and_consumer()
    g.compute_at(f, x).store_at(f, y)
    golden("store_at.txt", both(f))


# -- bounds


def test_bound(golden: Golden) -> None:
    g, f, x, _y = producer_and_consumer()
    g.compute_root().bound(x, 0, 64)
    golden("bound.txt", both(f))


def test_bound_extent(golden: Golden) -> None:
    f, x, y = pixels()
    f.bound_extent(x, 6).unroll(x).bound_extent(y, hl.Param(hl.Int(32), "h"))
    golden("bound_extent.txt", both(f))


# -- T0


def test_initial_program_of_a_histogram(golden: Golden) -> None:
    _hist, out, _r = histogram()
    golden("initial_histogram.txt", _initial(out))


def test_initial_program_of_a_stencil(golden: Golden) -> None:
    bx, by, _x, _y = blur()
    bx.compute_root()
    golden("initial_blur.txt", _initial(by))


def test_initial_program_of_a_guarded_reduction(golden: Golden) -> None:
    x = hl.Var("x")
    n = hl.Param(hl.Int(32), "n")
    r = hl.RDom([(0, n), (0, n)], "r")
    r.where(r.x <= r.y)
    f = hl.Func("f")
    f[x] = x
    f[x] += r.x * r.y
    golden("initial_predicate.txt", _initial(f))


def _initial(f: hl.Func) -> str:
    initial = traced(f).initial
    assert initial is not None
    return format_stmt(assemble(initial))


# -- what people see


def test_loop_nest_of_a_tiled_blur(golden: Golden) -> None:
    _bx, by = tiled_blur()
    golden("loop_nest.txt", by.loop_nest())


def test_explain_of_a_tiled_blur(golden: Golden) -> None:
    _bx, by = tiled_blur()
    golden("explain.txt", str(by.explain()))


def test_query_of_a_tiled_blur(golden: Golden) -> None:
    _bx, by = tiled_blur()
    golden("query_blur.txt", query(by))


def test_query_of_a_histogram(golden: Golden) -> None:
    _hist, out, _r = histogram()
    golden("query_histogram.txt", query(out))


@pytest.mark.parametrize("target", [WIDE, MIDDLE], ids=["masked", "one_by_one"])
def test_flat_statement_of_a_vectorized_guard_tail(target: hl.Target, golden: Golden) -> None:
    """Machines with masks leave lanes out."""
    f, x, _y = pixels()
    f.vectorize(x, 8, TailStrategy.GuardWithIf)
    trace = LoweringTrace()
    lower(f._request(target=target), trace=trace)
    name = "vectorized_tail_masked.txt" if target is WIDE else "vectorized_tail.txt"
    golden(name, format_stmt(dict(trace.passes)["simplify_again"]))


def test_c_text(golden: Golden) -> None:
    bx, by, x, y = blur()
    by.split(y, yo, yi, 4).parallel(yo).vectorize(x, 8)
    bx.compute_at(by, yo)
    golden("blur.c.txt", emit_c(lower(by._request())))


