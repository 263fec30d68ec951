"""Documented behaviours of schedules: each gives the values that there are without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.behaviours.funcs import plain
from tests.behaviours.values import Shown

Schedule = Callable[[Any, Any, Any, Any, Any], object]
"""Of the module, the producer, the consumer and their Vars."""


def _blurred(hl: Any, schedule: Schedule, size: tuple[int, int] = (19, 13)) -> Shown:
    """A producer and its consumer, three rows high."""
    x, y = hl.Var("x"), hl.Var("y")
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x * x + 3 * y
    f[x, y] = g[x, y - 1] + 2 * g[x, y] + g[x + 1, y + 1]
    schedule(hl, g, f, x, y)
    j, i = np.mgrid[0 : size[1], 0 : size[0]]
    made = lambda a, b: a * a + 3 * b  # noqa: E731
    wanted = made(i, j - 1) + 2 * made(i, j) + made(i + 1, j + 1)
    return [(np.asarray(f.realize(list(size))).tolist(), wanted.tolist())]


def _vars(hl: Any, names: str) -> list[Any]:
    return [hl.Var(name) for name in names.split()]


def inlined_by_default(hl: Any) -> Shown:
    """A Func without a schedule is computed where it is used."""
    return _blurred(hl, lambda *_: None)


def computed_at_the_root(hl: Any) -> Shown:
    """compute_root computes all of it first."""
    return _blurred(hl, lambda _hl, g, *_: g.compute_root())


def computed_at_a_loop(hl: Any) -> Shown:
    """compute_at computes what an iteration needs."""
    return _blurred(hl, lambda _hl, g, f, _x, y: g.compute_at(f, y))


def slides_along_a_loop(hl: Any) -> Shown:
    """store_root and compute_at: each row of the producer is computed once, and kept."""
    return _blurred(hl, lambda _hl, g, f, _x, y: g.store_root().compute_at(f, y))


def folds_what_slides(hl: Any) -> Shown:
    """fold_storage keeps as many rows as it is told."""
    return _blurred(hl, lambda _hl, g, f, _x, y: g.store_root().compute_at(f, y).fold_storage(y, 4))


def loops_are_split(hl: Any) -> Shown:
    """split makes two loops of one; the last factor may be partial."""
    return _blurred(hl, lambda hl, _g, f, x, _y: f.split(x, *_vars(hl, "xo xi"), 4))


def loops_are_tiled(hl: Any) -> Shown:
    """tile makes four loops of two, with the producer in each tile."""

    def schedule(hl: Any, g: Any, f: Any, x: Any, y: Any) -> None:
        xo, yo, xi, yi = _vars(hl, "xo yo xi yi")
        f.tile(x, y, xo, yo, xi, yi, 8, 4)
        g.compute_at(f, xo)

    return _blurred(hl, schedule)


def loops_are_fused(hl: Any) -> Shown:
    """fuse makes one loop of two."""
    return _blurred(hl, lambda hl, _g, f, x, y: f.fuse(x, y, hl.Var("t")).parallel(hl.Var("t")))


def loops_of_dimensions_and_reductions_are_fused(hl: Any) -> Shown:
    """fuse makes one loop of a dimension's and a reduction's; where their iterations never meet it may be parallel."""
    x, y, f, r, t = hl.Var("x"), hl.Var("y"), hl.Func(), hl.RDom([(0, 4)]), hl.RVar("t")
    f[x, y] = x + 10 * y
    f[x, r] *= 2
    f.update().fuse(x, r, t).parallel(t)
    return [(np.asarray(f.realize([3, 4])).tolist(), [[2 * i + 20 * j for i in range(3)] for j in range(4)])]


def loops_are_reordered(hl: Any) -> Shown:
    """reorder: the loops named, innermost first."""
    return _blurred(hl, lambda _hl, _g, f, x, y: f.reorder(y, x))


def loops_are_vectorized(hl: Any) -> Shown:
    """vectorize by a factor that does not divide the extent."""
    return _blurred(hl, lambda _hl, g, f, x, y: (g.compute_at(f, y).vectorize(x, 4), f.vectorize(x, 8)))


def loops_are_unrolled(hl: Any) -> Shown:
    """unroll by a factor."""
    return _blurred(hl, lambda _hl, _g, f, x, y: f.unroll(x, 3).unroll(y, 2))


def loops_are_parallel(hl: Any) -> Shown:
    """parallel, in pieces of some iterations."""
    return _blurred(hl, lambda _hl, g, f, _x, y: (g.compute_root().parallel(y), f.parallel(y, 4)))


def every_tail_is_right(hl: Any) -> Shown:
    """The tail strategies of a split give the same values."""
    shown: Shown = []
    for name in ("GuardWithIf", "ShiftInwards", "RoundUp", "Predicate", "PredicateLoads", "PredicateStores"):
        tail = getattr(hl.TailStrategy, name)
        shown += _blurred(hl, lambda _hl, g, _f, x, _y, tail=tail: g.compute_root().vectorize(x, 8, tail))
    return shown


def storage_is_laid_out(hl: Any) -> Shown:
    """reorder_storage and align_storage change where values lie, and no value."""
    return _blurred(hl, lambda _hl, g, _f, x, y: g.compute_root().reorder_storage(y, x).align_storage(y, 8))


def memory_is_of_a_kind(hl: Any) -> Shown:
    """store_in names the kind of memory."""
    return _blurred(hl, lambda hl, g, f, _x, y: g.compute_at(f, y).store_in(hl.MemoryType.Heap))


def memory_is_hoisted(hl: Any) -> Shown:
    """hoist_storage allocates once for several iterations."""
    return _blurred(hl, lambda _hl, g, f, x, y: g.compute_at(f, x).hoist_storage(f, y))


def bounds_are_promised(hl: Any) -> Shown:
    """bound says the bounds of an output."""
    return _blurred(hl, lambda _hl, _g, f, x, _y: f.bound(x, 0, 19))


def bounds_are_aligned(hl: Any) -> Shown:
    """align_bounds computes more, so that bounds are multiples."""
    return _blurred(hl, lambda _hl, g, _f, x, _y: g.compute_root().align_bounds(x, 8))


def loops_are_partitioned_or_not(hl: Any) -> Shown:
    """never_partition leaves a loop whole."""
    return _blurred(hl, lambda _hl, _g, f, x, _y: f.vectorize(x, 4).never_partition([x]))


def what_is_read_is_prefetched(hl: Any) -> Shown:
    """prefetch changes no value."""
    return _blurred(hl, lambda _hl, g, f, _x, y: (g.compute_root(), f.prefetch(g, y, y, 2)))


def levels_are_set_later(hl: Any) -> Shown:
    """A LoopLevel may be given before it is set."""

    def schedule(hl: Any, g: Any, f: Any, _x: Any, y: Any) -> None:
        level = hl.LoopLevel()
        g.compute_at(level)
        level.set(hl.LoopLevel(f, y))

    return _blurred(hl, schedule)


def loops_of_two_funcs_are_one(hl: Any) -> Shown:
    """compute_with: two Funcs' rows in one loop, a producer of both in it."""
    x, y = _vars(hl, "x y")
    p, f, g, h = (hl.Func() for _ in range(4))
    p[x, y] = x * y
    f[x, y] = p[x, y] + 1
    g[x, y] = p[x, y] - x
    h[x, y] = f[x, y] * g[x, y]
    f.compute_root()
    g.compute_root()
    p.compute_at(f, y)
    g.compute_with(hl.Stage(f), y)
    j, i = np.mgrid[0:5, 0:7]
    return [(np.asarray(h.realize([7, 5])).tolist(), ((i * j + 1) * (i * j - i)).tolist())]


def shared_loops_are_aligned(hl: Any) -> Shown:
    """compute_with by AlignStart and AlignEnd: loops of other bounds begin or end together."""
    shown: Shown = []
    for strategy in ("AlignStart", "AlignEnd", "NoAlign"):
        x, y = _vars(hl, "x y")
        f, g, h = (hl.Func() for _ in range(3))
        f[x, y] = x + y
        g[x, y] = x - y
        h[x, y] = f[x, y] * g[x + 2, y + 3]
        f.compute_root()
        g.compute_root()
        g.compute_with(hl.Stage(f), y, getattr(hl.LoopAlignStrategy, strategy))
        j, i = np.mgrid[0:5, 0:7]
        shown.append((np.asarray(h.realize([7, 5])).tolist(), ((i + j) * (i + 2 - j - 3)).tolist()))
    return shown


def _summed(hl: Any, schedule: Callable[[Any, Any, Any, Any], object]) -> Shown:
    """A sum over two dimensions for each column."""
    x, f, r = hl.Var("x"), hl.Func("f"), hl.RDom([(0, 9), (0, 4)])
    f[x] = 0
    f[x] += x * r.x + r.y
    schedule(hl, f, r, x)
    wanted = [sum(k * a + b for a in range(9) for b in range(4)) for k in range(6)]
    return [(np.asarray(f.realize([6])).tolist(), wanted)]


def updates_have_schedules_of_their_own(hl: Any) -> Shown:
    """update() is scheduled apart from the first definition."""
    return _summed(hl, lambda _hl, f, _r, x: (f.vectorize(x, 4), f.update().unroll(x, 2)))


def reductions_are_factored(hl: Any) -> Shown:
    """rfactor makes partial sums, which may be parallel."""

    def schedule(hl: Any, f: Any, r: Any, _x: Any) -> None:
        u = hl.Var("u")
        f.update().rfactor(r.y, u).compute_root().update().parallel(u)

    return _summed(hl, schedule)


def reductions_are_split_and_reordered(hl: Any) -> Shown:
    """RVars split; sums may be taken in another order."""

    def schedule(hl: Any, f: Any, r: Any, x: Any) -> None:
        ro, ri = hl.RVar("ro"), hl.RVar("ri")
        f.update().split(r.x, ro, ri, 4).reorder(x, ri, r.y, ro)

    return _summed(hl, schedule)


def reductions_are_fused(hl: Any) -> Shown:
    """RVars fuse."""
    return _summed(hl, lambda hl, f, r, _x: f.update().fuse(r.x, r.y, hl.RVar("t")))


def atomic_updates_are_parallel(hl: Any) -> Shown:
    """atomic lets iterations that meet run at once."""
    return _summed(hl, lambda _hl, f, r, _x: f.update().atomic().parallel(r.x))


def atomic_updates_are_vectorized(hl: Any) -> Shown:
    """atomic lets a sum be made of lanes."""
    return _summed(hl, lambda _hl, f, r, _x: f.update().atomic().vectorize(r.x, 3))


def async_changes_no_value(hl: Any) -> Shown:
    """async_ computes a Func ahead of what reads it: the values are the same."""
    return _blurred(hl, lambda _hl, g, f, _x, y: g.store_root().compute_at(f, y).async_())


def sums_slide_over_tiles_side_by_side(hl: Any) -> Shown:
    """Sums in vectors of two lengths slide over tiles side by side (Halide 21 adds again in the second tile: wrong)."""
    x, y, xo, yo, xi, yi = (hl.Var(name) for name in ("x", "y", "xo", "yo", "xi", "yi"))
    f, power, total, r = hl.Func("f"), hl.Func("power"), hl.Func("total"), hl.RDom([(0, 16)], "r")
    power[x, y] = x + y
    total[y] = 0
    total[y] += power[r, y]
    f[x, y] = power[x, y] + total[y]
    f.tile(x, y, xo, yo, xi, yi, 16, 15)
    total.compute_at(f, yi).store_at(f, yo).vectorize(y, 4)
    total.update(0).vectorize(y, 8)
    power.compute_at(f, yo)
    return [(plain(f.realize([48, 60])), [[i + 17 * j + 120 for i in range(48)] for j in range(60)])]
