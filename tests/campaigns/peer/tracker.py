"""Programs of Halide's tracker whose schedule changed the answer, by their numbers there; two of them still do on 21.

In and out as in ``making``. ``tests/lowering/test_tracker.py`` holds ours to the reference.
"""

from __future__ import annotations

from typing import Any

from tests.campaigns.peer.making import Listing, attempt, picture

pipeline = Listing()


@pipeline
def tracker_8140_slides_in_loops_of_one_step(hl: Any) -> Any:
    x, y, yo, yi = (hl.Var(n) for n in ("x", "y", "yo", "yi"))
    a = hl.BoundaryConditions.repeat_edge(hl.Buffer(picture(9, 9)))
    b, c = hl.Func("b"), hl.Func("c")
    b[x, y] = (a[x + 1, y + 1] + a[x - 1, y - 1]) * 2
    c[x, y] = a[x + 1, y + 1] + a[x - 1, y - 1] + (b[x + 1, y + 1] + b[x - 1, y - 1])
    c.bound(x, 0, 1)
    c.bound(y, 0, 1)
    c.split(y, yo, yi, 1, hl.TailStrategy.RoundUp)
    a.store_at(c, yo).compute_at(c, x)
    b.store_root().compute_at(c, x)
    return c.realize([1, 1])


def _backwards(hl: Any, tail: Any) -> Any:
    x = hl.Var("x")
    a, g, f = hl.Func("a"), hl.Func("g"), hl.Func("f")
    a[x] = x
    g[x] = a[x]
    f[x] = g[63 - x] + g[64 - x] + g[65 - x]
    a.compute_root()
    g.store_root().compute_at(f, x).vectorize(x, 8, tail)
    return f.realize([64])


@pipeline
def tracker_7819_loads_of_a_window_that_walks_backwards(hl: Any) -> Any:
    return _backwards(hl, hl.TailStrategy.PredicateLoads)


@pipeline
def tracker_7819_shifts_of_a_window_that_walks_backwards(hl: Any) -> Any:
    return _backwards(hl, hl.TailStrategy.ShiftInwards)


def _sums(hl: Any) -> tuple[Any, Any, Any, Any, Any]:
    x, y, r = hl.Var("x"), hl.Var("y"), hl.RDom([(-2, 5), (-2, 5)])
    source, sums, mean = hl.Func("source"), hl.Func("sums"), hl.Func("mean")
    source[x, y] = 2 * x + 5 * y
    sums[x, y] = 0
    sums[x, y] += source[x + r.x, y + r.y]
    mean[x, y] = sums[x, y] // 25
    return x, y, source, sums, mean


@pipeline
def tracker_7872_stored_at_the_root_and_computed_in_an_inner_split(hl: Any) -> Any:
    x, _, _, sums, mean = _sums(hl)
    xo, xi = hl.Var("xo"), hl.Var("xi")
    mean.split(x, xo, xi, 2, hl.TailStrategy.GuardWithIf).store_root()
    sums.compute_at(mean, xi).store_root()
    return mean.realize([17, 9])


@pipeline
def tracker_7909_a_chain_of_windows(hl: Any) -> Any:
    x, y, source, sums, mean = _sums(hl)
    yo, yi = hl.Var("yo"), hl.Var("yi")
    mean.split(y, yo, yi, 1)
    sums.compute_at(mean, yo).store_root()
    source.compute_at(sums, x).store_root()
    return mean.realize([17, 9])


@pipeline
def tracker_7764_loads_of_an_inner_split(hl: Any) -> Any:
    def inner_split_is_longer_than_the_outer() -> None:
        x, xo, xi, xio, xii = (hl.Var(n) for n in ("x", "xo", "xi", "xio", "xii"))
        f = hl.Func("f")
        f[x] = x
        f.split(x, xo, xi, 2, hl.TailStrategy.GuardWithIf)
        f.split(xi, xio, xii, 4, hl.TailStrategy.PredicateLoads).reorder(xo, xio, xii)
        f.realize([16])

    return attempt(inner_split_is_longer_than_the_outer)
