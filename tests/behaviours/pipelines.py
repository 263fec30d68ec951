"""Documented behaviours of several Funcs at once: where they are computed, what they share, what is skipped."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tests.behaviours.funcs import plain
from tests.behaviours.values import Shown

N = 24


def _vars(hl: Any, names: str) -> list[Any]:
    return [hl.Var(n) for n in names.split()]


def _sum_of_neighbours(hl: Any, more: int = 0) -> tuple[Any, Any, Any, Any, list[list[int]]]:
    """x, y, a producer of x + 2*y, a consumer that reads two of its rows, and the consumer's values, for an
    update that adds ``more`` to the producer."""
    x, y = _vars(hl, "x y")
    f, g = hl.Func("producer"), hl.Func("consumer")
    f[x, y] = x + 2 * y
    if more:
        f[x, y] += more
    g[x, y] = f[x - 1, y] + f[x, y + 1]
    return x, y, f, g, [[2 * (i + 2 * j + more) + 1 for i in range(N)] for j in range(N)]


def async_producers_slide(hl: Any) -> Shown:
    """A producer of its own thread may slide and fold along the consumer's loop."""
    _, y, f, g, wanted = _sum_of_neighbours(hl)
    f.store_root().compute_at(g, y).fold_storage(y, 4).async_()
    return [(plain(g.realize([N, N])), wanted)]


def async_chains(hl: Any) -> Shown:
    """An asynchronous Func may read another."""
    x, y, f, _, _ = _sum_of_neighbours(hl)
    g, h = hl.Func(), hl.Func()
    g[x, y] = f[x, y] * 2
    h[x, y] = g[x, y] + f[x, y + 1]
    f.compute_root().async_()
    g.compute_at(h, y).async_()
    return [(plain(h.realize([3, 2])), [[3 * i + 6 * j + 2 for i in range(3)] for j in range(2)])]


def ring_buffers_change_no_value(hl: Any) -> Shown:
    """Memory hoisted out of a loop may be a ring of several copies."""
    x, y, f, g, wanted = _sum_of_neighbours(hl)
    xo, yo, xi, yi = _vars(hl, "xo yo xi yi")
    g.tile(x, y, xo, yo, xi, yi, 8, 8)
    f.compute_at(g, xo).hoist_storage(g, yo).ring_buffer(2)
    return [(plain(g.realize([N, N])), wanted)]


def tuples_are_atomic_with_a_lock(hl: Any) -> Shown:
    """Updates of all components of a point are one step under ``atomic``."""
    x, f, r = hl.Var("x"), hl.Func(), hl.RDom([(0, 100)])
    f[x] = (0, 0)
    f[r % 4] = (f[r % 4][0] + 1, f[r % 4][1] + r)
    f.update().atomic(True).parallel(r)
    return [(plain(f.realize([4])), [[25] * 4, [sum(range(k, 100, 4)) for k in range(4)]])]


def atomic_maxima(hl: Any) -> Shown:
    """Any associative operator may be parallel under ``atomic``, under a condition too."""
    x, f, r = hl.Var("x"), hl.Func(), hl.RDom([(0, 200)])
    r.where(r % 3 == 1)
    f[x] = 0
    f[r % 7] = hl.max(f[r % 7], (r * 37) % 101)
    f.update().atomic().parallel(r)
    return [(plain(f.realize([7])), [max(k * 37 % 101 for k in range(1, 200, 3) if k % 7 == m) for m in range(7)])]


def booleans_are_stored(hl: Any) -> Shown:
    """A Func of truth values is computed at the root, in lanes."""
    x, f, g = hl.Var("x"), hl.Func(), hl.Func()
    f[x] = x % 3 == 0
    g[x] = hl.select(f[x], 1, 2)
    f.compute_root().vectorize(x, 8)
    g.vectorize(x, 8)
    return [(plain(g.realize([20])), [1 if k % 3 == 0 else 2 for k in range(20)])]


def storage_has_a_bound(hl: Any) -> Shown:
    """``bound_storage`` says how much of a dimension is kept; it is an error if that is not enough."""
    x, y, f, g, wanted = _sum_of_neighbours(hl)
    f.compute_at(g, y).bound_storage(x, 64)
    shown = [(plain(g.realize([N, N])), wanted)]
    f.bound_storage(x, 4)
    try:
        g.realize([N, N])
    except hl.HalideError:
        return [*shown, (True, True)]
    return [*shown, (False, True)]


def folds_that_are_too_small_are_errors(hl: Any) -> Shown:
    """A fold that keeps less than what is still read is an error."""
    _, y, f, g, _ = _sum_of_neighbours(hl)
    f.store_root().compute_at(g, y).fold_storage(y, 1)
    try:
        g.realize([N, N])
    except hl.HalideError:
        return [(True, True)]
    return [(False, True)]


def folds_go_backwards(hl: Any) -> Shown:
    """A walk downwards folds too."""
    x, y, f, g = *_vars(hl, "x y"), hl.Func(), hl.Func()
    f[x, y] = x + y * 3
    g[x, y] = f[x, 50 - y] + f[x, 51 - y]
    f.store_root().compute_at(g, y).fold_storage(y, 4, False)
    return [(plain(g.realize([3, 4])), [[2 * i + 3 * (101 - 2 * j) for i in range(3)] for j in range(4)])]


def walks_of_two_steps_slide(hl: Any) -> Shown:
    """A consumer at half the resolution reads two rows a step, and slides."""
    x, y, f, g = *_vars(hl, "x y"), hl.Func(), hl.Func()
    f[x, y] = x + y
    g[x, y] = f[2 * x, 2 * y] + f[2 * x + 1, 2 * y + 3]
    f.store_root().compute_at(g, y)
    return [(plain(g.realize([4, 4])), [[4 * i + 4 * j + 4 for i in range(4)] for j in range(4)])]


def clamped_walks_slide(hl: Any) -> Shown:
    """Clamped coordinates stand still at the ends."""
    x, y, f, g = *_vars(hl, "x y"), hl.Func(), hl.Func()
    f[x, y] = x + y
    g[x, y] = f[x, hl.clamp(y - 1, 0, 5)] + f[x, hl.clamp(y + 1, 0, 5)]
    f.store_root().compute_at(g, y)
    wanted = [[2 * i + max(j - 1, 0) + min(j + 1, 5) for i in range(3)] for j in range(6)]
    return [(plain(g.realize([3, 6])), wanted)]


def chains_slide(hl: Any) -> Shown:
    """Each of three Funcs slides along the loop of the last."""
    x, y = _vars(hl, "x y")
    f = [hl.Func() for _ in range(4)]
    f[0][x, y] = x + y
    for a, b in itertools.pairwise(f):
        b[x, y] = a[x, y - 1] + a[x, y + 1]
        a.store_root().compute_at(f[3], y)
    return [(plain(f[3].realize([3, 3])), [[8 * (i + j) for i in range(3)] for j in range(3)])]


def updates_slide(hl: Any) -> Shown:
    """A Func with an update slides where the update's point is its own."""
    _, y, f, g, wanted = _sum_of_neighbours(hl, more=1)
    f.store_root().compute_at(g, y)
    return [(plain(g.realize([N, N])), wanted)]


def unrolled_consumers_slide(hl: Any) -> Shown:
    """An unrolled loop is a loop as others are, for what slides along it."""
    _, y, f, g, wanted = _sum_of_neighbours(hl)
    f.store_root().compute_at(g, y)
    g.unroll(y, 2)
    return [(plain(g.realize([N, N])), wanted)]


def outermost_is_a_level(hl: Any) -> Shown:
    """``Var.outermost()`` is the place around all loops of a Func."""
    _, _, f, g, wanted = _sum_of_neighbours(hl)
    f.compute_at(g, hl.Var.outermost())
    return [(plain(g.realize([N, N])), wanted)]


def reduction_loops_are_levels(hl: Any) -> Shown:
    """A Func is computed inside a part of a reduction's loop."""
    x, f, g, r = hl.Var("x"), hl.Func(), hl.Func(), hl.RDom([(0, 10)])
    f[x] = x * x
    g[x] = 0
    g[r.x] = f[r.x]
    ro, ri = hl.RVar("ro"), hl.RVar("ri")
    g.update().split(r.x, ro, ri, 3)
    f.compute_at(g, ro)
    return [(plain(g.realize([10])), [k * k for k in range(10)])]


def guards_cover_producers(hl: Any) -> Shown:
    """A producer inside a guarded loop is computed where the guard holds."""
    x, xo, xi, f, g = *_vars(hl, "x xo xi"), hl.Func(), hl.Func()
    f[x] = x + 1
    g[x] = f[x] * 2
    g.split(x, xo, xi, 4, hl.TailStrategy.GuardWithIf)
    f.compute_at(g, xi)
    return [(plain(g.realize([10])), [2 * k + 2 for k in range(10)])]


def fused_tiles_are_a_level(hl: Any) -> Shown:
    """Loops over tiles are fused to one loop of threads, inside which a producer is computed."""
    x, y, f, g, wanted = _sum_of_neighbours(hl)
    xo, yo, xi, yi, t = _vars(hl, "xo yo xi yi t")
    g.tile(x, y, xo, yo, xi, yi, 8, 8).fuse(xo, yo, t).parallel(t)
    f.compute_at(g, t).vectorize(x, 4)
    return [(plain(g.realize([N, N])), wanted)]


def stack_memory_may_have_any_size(hl: Any) -> Shown:
    """store_in(Stack) takes a Func whose size only the run knows."""
    (x,) = _vars(hl, "x")
    p, f, g = hl.Param(hl.Int(32)), hl.Func(), hl.Func()
    p.set(5)
    f[x] = x
    g[x] = f[x] + f[x + p]
    f.compute_root().store_in(hl.MemoryType.Stack)
    return [(np.asarray(g.realize([4])).tolist(), [5, 7, 9, 11])]


def stack_memory_is_shared(hl: Any) -> Shown:
    """Many Funcs of a tile may be on the stack."""
    x, xo, xi = _vars(hl, "x xo xi")
    f = [hl.Func() for _ in range(8)]
    f[0][x] = x
    for a, b in itertools.pairwise(f):
        b[x] = a[x] + a[x + 1]
    f[-1].split(x, xo, xi, 8)
    for a in f[:-1]:
        a.compute_at(f[-1], xo).store_in(hl.MemoryType.Stack)
    return [(plain(f[-1].realize([16])), [128 * k + 448 for k in range(16)])]


def what_a_param_rules_out_is_not_read(hl: Any) -> Shown:
    """A producer read under a false condition changes nothing."""
    x, p, f, g = hl.Var("x"), hl.Param(hl.Bool()), hl.Func(), hl.Func()
    f[x] = x * 7
    g[x] = hl.select(p, f[x], x)
    f.compute_root()
    shown = []
    for each in (True, False):
        p.set(each)
        shown.append((plain(g.realize([3])), [0, 7, 14] if each else [0, 1, 2]))
    return shown


def nested_specializations(hl: Any) -> Shown:
    """Cases inside cases, each with its loops."""
    x, p, q, f = hl.Var("x"), hl.Param(hl.Bool()), hl.Param(hl.Int(32)), hl.Func()
    f[x] = hl.select(p, hl.select(q > 2, x, 2 * x), 3 * x)
    f.specialize(p).specialize(q > 2).vectorize(x, 4)
    f.specialize(~p).parallel(x)
    shown = []
    for a, b, factor in ((True, 3, 1), (True, 2, 2), (False, 3, 3)):
        p.set(a)
        q.set(b)
        shown.append((plain(f.realize([6])), [factor * k for k in range(6)]))
    return shown


def cases_that_must_not_be(hl: Any) -> Shown:
    """``specialize_fail`` ends a run that none of the cases before takes."""
    x, p, f = hl.Var("x"), hl.Param(hl.Int(32)), hl.Func()
    f[x] = x + p
    f.specialize(p == 1)
    f.specialize_fail("p is not 1")
    p.set(1)
    shown = [(plain(f.realize([2])), [1, 2])]
    p.set(2)
    try:
        f.realize([2])
    except hl.HalideError as error:
        return [*shown, ("p is not 1" in str(error), True)]
    return [*shown, (False, True)]


def updates_are_specialized(hl: Any) -> Shown:
    """An update has cases of its own."""
    x, p, f, r = hl.Var("x"), hl.Param(hl.Int(32)), hl.Func(), hl.RDom([(0, 5)])
    f[x] = x
    f[x] += r * p
    f.update().specialize(p == 1).vectorize(x, 4)
    f.update().specialize(p == 0)
    shown = []
    for each in (0, 1, 5):
        p.set(each)
        shown.append((plain(f.realize([8])), [k + 10 * each for k in range(8)]))
    return shown


def wrappers_of_wrappers(hl: Any) -> Shown:
    """A wrapper is a Func, which has wrappers."""
    x, f, g = hl.Var("x"), hl.Func(), hl.Func()
    f[x] = x
    g[x] = f[x] + 1
    f.in_().compute_root()
    f.in_().in_().compute_root()
    f.compute_root()
    return [(plain(g.realize([4])), [1, 2, 3, 4])]


def wrappers_for_several(hl: Any) -> Shown:
    """The same consumers in any order have the same wrapper."""
    x, f, g, h, o = hl.Var("x"), *[hl.Func() for _ in range(4)]
    f[x] = x
    g[x] = f[x] + 1
    h[x] = f[x] * 2
    o[x] = g[x] + h[x]
    w = f.in_([g, h]).compute_root()
    f.compute_root()
    return [(w.name() == f.in_([h, g]).name(), True), (plain(o.realize([3])), [1, 4, 7])]


def inputs_have_wrappers(hl: Any) -> Shown:
    """A copy of an input in front of a Func."""
    x, f, image = hl.Var("x"), hl.Func(), hl.ImageParam(hl.Int(32), 1)
    f[x] = image[x] + image[x + 1]
    image.in_(f).compute_at(f, x)
    image.set(hl.Buffer(np.arange(9, dtype=np.int32)))
    return [(plain(f.realize([8])), [2 * k + 1 for k in range(8)])]


def funcs_are_kept_alive(hl: Any) -> Shown:
    """A Func that another reads lives as long as that one."""

    def made() -> Any:
        x, inner, outer = hl.Var("x"), hl.Func(), hl.Func()
        inner[x] = x
        inner.compute_root()
        outer[x] = inner[x] + 1
        return outer

    x, f = hl.Var("x"), hl.Func()
    f[x] = made()[x] * 2
    return [(plain(f.realize([3])), [2, 4, 6])]


def schedules_may_grow_between_runs(hl: Any) -> Shown:
    """A directive after a run holds for the next."""
    _, y, f, g, wanted = _sum_of_neighbours(hl)
    shown = [(plain(g.realize([N, N])), wanted)]
    f.compute_root()
    shown.append((plain(g.realize([N, N])), wanted))
    g.parallel(y)
    return [*shown, (plain(g.realize([N, N])), wanted)]


def traces_change_no_value(hl: Any) -> Shown:
    """Stores, loads and realizations are printed as they happen."""
    x, f, g = hl.Var("x"), hl.Func(), hl.Func()
    f[x] = (x, 2 * x)
    g[x] = f[x][0] + f[x][1]
    f.compute_root().trace_stores().trace_loads().trace_realizations()
    g.trace_stores()
    return [(plain(g.realize([2])), [0, 3])]


def buffers_have_origins(hl: Any) -> Shown:
    """Inputs and outputs begin at any coordinate."""
    data = hl.Buffer(np.arange(6, dtype=np.int32).reshape(2, 3))
    data.set_min([-3, 2])
    x, y, f = *_vars(hl, "x y"), hl.Func()
    f[x, y] = data[x, y] + x
    out = hl.Buffer(hl.Int(32), [3, 2])
    out.set_min([-3, 2])
    f.realize(out)
    return [(plain(out), [[-3, -1, 1], [0, 2, 4]])]


def interleaved_inputs(hl: Any) -> Shown:
    """An input whose channels are densest, as it stands."""
    x, y, c, f, image = *_vars(hl, "x y c"), hl.Func(), hl.ImageParam(hl.UInt(8), 3)
    image.dim(0).set_stride(3)
    image.dim(2).set_stride(1).set_bounds(0, 3)
    f[x, y, c] = image[x, y, c] + 1
    f.bound(c, 0, 3).vectorize(x, 8).unroll(c)
    given = hl.Buffer.make_interleaved(hl.UInt(8), 16, 2, 3)
    np.asarray(given)[...] = np.arange(96).reshape(3, 2, 16)
    image.set(given)
    return [(plain(f.realize([16, 2, 3])), (np.arange(96).reshape(3, 2, 16) + 1).tolist())]


def interleaved_outputs(hl: Any) -> Shown:
    """An output whose channels are densest, given by the caller."""
    x, y, c, f = *_vars(hl, "x y c"), hl.Func()
    f[x, y, c] = hl.u8(x + 10 * y + 100 * c)
    f.output_buffer().dim(0).set_stride(2)
    f.output_buffer().dim(2).set_stride(1).set_extent(2)
    out = hl.Buffer.make_interleaved(hl.UInt(8), 4, 3, 2)
    f.realize(out)
    return [(plain(out), [[[i + 10 * j + 100 * k for i in range(4)] for j in range(3)] for k in range(2)])]


def constraints_end_a_run(hl: Any) -> Shown:
    """An input that is not as its constraint says is an error."""
    x, f, image = hl.Var("x"), hl.Func(), hl.ImageParam(hl.UInt(8), 1)
    f[x] = image[x]
    image.dim(0).set_extent(100)
    image.set(hl.Buffer(np.zeros(50, np.uint8)))
    try:
        f.realize([10])
    except hl.HalideError:
        return [(True, True)]
    return [(False, True)]


def constraints_round_inferred_inputs(hl: Any) -> Shown:
    """An inferred input is as large as its own constraint asks."""
    x, f, image = hl.Var("x"), hl.Func(), hl.ImageParam(hl.UInt(8), 1)
    f[x] = image[x]
    image.dim(0).set_min(image.dim(0).min() // 8 * 8).set_extent((image.dim(0).extent() + 7) // 8 * 8)
    f.infer_input_bounds([13])
    return [((image.get().dim(0).min(), image.get().dim(0).extent()), (0, 16))]


def ranges_of_params_end_a_run(hl: Any) -> Shown:
    """A Param outside its range is an error."""
    x, p, f = hl.Var("x"), hl.Param(hl.Float(32)), hl.Func()
    p.set_range(1.0, 2.0)
    f[x] = x * p
    p.set(1.5)
    shown = [(plain(f.realize([3])), [0.0, 1.5, 3.0])]
    p.set(0.5)
    try:
        f.realize([3])
    except hl.HalideError:
        return [*shown, (True, True)]
    return [*shown, (False, True)]
