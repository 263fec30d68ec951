"""Small pipelines with schedules: the values must not change, and what one package refuses the other refuses.

In and out as in ``making``.
"""

from __future__ import annotations

from typing import Any

from tests.campaigns.peer.making import Listing, attempt, picture

pipeline = Listing()


def _blur(hl: Any) -> Any:
    x, y = hl.Var("x"), hl.Var("y")
    padded = hl.BoundaryConditions.repeat_edge(hl.Buffer(picture(24, 18)))
    across, blur = hl.Func("across"), hl.Func("blur")
    across[x, y] = hl.u16(padded[x - 1, y]) + padded[x, y] + padded[x + 1, y]
    blur[x, y] = hl.u8((across[x, y - 1] + across[x, y] + across[x, y + 1]) / 9)
    return x, y, across, blur


@pipeline
def tiled_blur(hl: Any) -> Any:
    x, y, across, blur = _blur(hl)
    xo, yo, xi, yi = (hl.Var(n) for n in ("xo", "yo", "xi", "yi"))
    blur.tile(x, y, xo, yo, xi, yi, 8, 4).vectorize(xi, 4).parallel(yo)
    across.compute_at(blur, xo).vectorize(x, 4)
    return blur.realize([24, 18])


@pipeline
def rows_of_a_sliding_window(hl: Any) -> Any:
    _, y, across, blur = _blur(hl)
    across.store_root().compute_at(blur, y)
    return blur.realize([24, 18])


@pipeline
def compute_root(hl: Any) -> Any:
    _, _, across, blur = _blur(hl)
    across.compute_root()
    return blur.realize([24, 18])


@pipeline
def shift_inwards_into_a_buffer(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x * 3
    f.vectorize(x, 8)
    own = f.realize([5])

    def into() -> None:
        f.realize(hl.Buffer(hl.Int(32), [5]))

    return [own, f.realize([13]), attempt(into)]


@pipeline
def guard_with_if(hl: Any) -> Any:
    x, f, xo, xi = hl.Var("x"), hl.Func("f"), hl.Var("xo"), hl.Var("xi")
    f[x] = x * 3
    f.split(x, xo, xi, 8, hl.TailStrategy.GuardWithIf)
    out = hl.Buffer(hl.Int(32), [5])
    f.realize(out)
    return out


@pipeline
def round_up(hl: Any) -> Any:
    x, f, xo, xi = hl.Var("x"), hl.Func("f"), hl.Var("xo"), hl.Var("xi")
    f[x] = x * 3
    f.split(x, xo, xi, 8, hl.TailStrategy.RoundUp)
    return [f.realize([5]), attempt(lambda: f.realize(hl.Buffer(hl.Int(32), [5])))]


@pipeline
def fuse_and_unroll(hl: Any) -> Any:
    x, y, t, f = hl.Var("x"), hl.Var("y"), hl.Var("t"), hl.Func("f")
    f[x, y] = x * 10 + y
    f.fuse(x, y, t).unroll(t, 3)
    return f.realize([5, 4])


@pipeline
def reorder_and_serial(hl: Any) -> Any:
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
    f[x, y] = x * 10 + y
    f.reorder(y, x).serial(x)
    return f.realize([5, 4])


@pipeline
def bound(hl: Any) -> Any:
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
    f[x, y] = x * 10 + y
    f.bound(x, 0, 6)
    f.bound_extent(y, 4)
    return f.realize([6, 4])


@pipeline
def bound_that_does_not_hold(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x * 10
    f.bound(x, 0, 6)
    return f.realize([7])


@pipeline
def compute_at_a_stranger(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x * 10
    f.compute_at(hl.Func("other"), x)
    return f.realize([7])


@pipeline
def updates_scheduled(hl: Any) -> Any:
    x, y, f, r = hl.Var("x"), hl.Var("y"), hl.Func("f"), hl.RDom([(0, 6)])
    f[x, y] = x + y
    f[x, y] += r.x * x
    f.vectorize(x, 4)
    f.update().reorder(x, r.x, y).vectorize(x, 4)
    return f.realize([9, 4])


@pipeline
def split_reduction(hl: Any) -> Any:
    f, r, ro, ri = hl.Func("f"), hl.RDom([(0, 17)]), hl.RVar("ro"), hl.RVar("ri")
    f[()] = 0
    f[()] += r.x * r.x
    f.update().split(r.x, ro, ri, 4)
    return f.realize([])


@pipeline
def schedule_errors(hl: Any) -> Any:
    x, y, r = hl.Var("x"), hl.Var("y"), hl.RDom([(0, 6)])
    xo, xi, z = hl.Var("xo"), hl.Var("xi"), hl.Var("z")

    def func() -> Any:
        f = hl.Func("f")
        f[x, y] = x + y
        f[x, y] += r.x
        return f

    def run(f: Any) -> Any:
        return f.realize([8, 8]) if isinstance(f, hl.Func) else f

    def parallel_reduction() -> None:
        f = hl.Func("f")
        f[()] = 0
        f[()] += r.x
        f.update().parallel(r.x)
        f.realize([])

    return attempt(
        lambda: run(func().split(z, xo, xi, 4)),
        lambda: run(func().split(x, x, x, 4)),
        lambda: run(func().split(x, xo, xi, 0)),
        lambda: run(func().vectorize(z)),
        lambda: run(func().reorder(x, z)),
        lambda: run(func().reorder(x, x)),
        lambda: run(func().fuse(x, z, xo)),
        lambda: func().update(3),
        lambda: run(func().bound(z, 0, 8)),
        parallel_reduction,
    )


@pipeline
def loop_levels_that_do_not_enclose(hl: Any) -> Any:
    x, y = hl.Var("x"), hl.Var("y")

    def wrong_var() -> None:
        f, g = hl.Func("f"), hl.Func("g")
        f[x, y] = x + y
        g[x, y] = f[x, y]
        f.compute_at(g, hl.Var("q"))
        g.realize([4, 4])

    def storage_inside_compute() -> None:
        f, g = hl.Func("f"), hl.Func("g")
        f[x, y] = x + y
        g[x, y] = f[x, y]
        f.compute_at(g, y).store_at(g, x)
        g.realize([4, 4])

    return attempt(wrong_var, storage_inside_compute)


@pipeline
def computed_in_each_stage_that_reads_it(hl: Any) -> Any:
    """Each stage in its own loop, with memory there or around it; not where one of the stages has no such loop."""
    x, y, xo, xi = (hl.Var(n) for n in ("x", "y", "xo", "xi"))

    def made() -> Any:
        g, f, r = hl.Func("g"), hl.Func("f"), hl.RDom([(0, 3)], "r")
        g[x, y] = hl.i32(x * 3 + y * y)
        f[x, y] = g[x, y] + g[x, y + 1]
        f[x, y] += g[x + 1, y] * 2
        f[x, y] += g[x + r, y]
        return g, f

    def missing() -> None:
        g, f = made()
        f.update(1).split(x, xo, xi, 2)
        g.compute_at(f, xo)
        f.realize([8, 6])

    rows, first = made()
    rows.compute_at(first, y)
    kept, second = made()
    kept.compute_at(second, y).store_root()
    points, third = made()
    points.compute_at(third, x).store_at(third, y)
    third.vectorize(x, 4)
    third.update(0).vectorize(x, 4)
    third.update(1).parallel(y)
    return [*(f.realize([8, 6]) for f in (first, second, third)), attempt(missing)]


@pipeline
def specialized(hl: Any) -> Any:
    x, f, p = hl.Var("x"), hl.Func("f"), hl.Param(hl.Int(32), "p", 1)
    f[x] = x * p
    f.specialize(p == 1).vectorize(x, 4)
    first = f.realize([9])
    p.set(3)
    return [first, f.realize([9])]


@pipeline
def wrapper(hl: Any) -> Any:
    _, y, across, blur = _blur(hl)
    across.in_(blur).compute_at(blur, y)
    across.compute_root()
    return blur.realize([24, 18])


@pipeline
def reduction_loops_trade_places(hl: Any) -> Any:
    x, r = hl.Var("x"), hl.RDom([(0, 5), (0, 7)], "r")
    total, least, image = hl.Func("total"), hl.Func("least"), hl.Buffer(picture(24, 18))
    total[x] = hl.i32(0)
    total[x] += hl.i32(image[x + r.x, r.y]) * (r.x - r.y)
    total.update().reorder(r.y, x, r.x)
    least[x] = hl.u8(255)
    least[x] = hl.min(least[x], image[x + r.x, r.y])
    least.update().split(r.x, hl.RVar("ro"), hl.RVar("ri"), 2).reorder(r.y, hl.RVar("ro"), hl.RVar("ri"))

    def last() -> None:
        f = hl.Func("f")
        f[x] = 0
        f[x] = r.x * 2 + r.y
        f.update().reorder(r.y, r.x)
        f.realize([4])

    return [total.realize([9]), least.realize([9]), attempt(last)]


@pipeline
def reduction_loops_whose_iterations_never_meet(hl: Any) -> Any:
    x, y, r = hl.Var("x"), hl.Var("y"), hl.RDom([(0, 16), (1, 6)], "r")
    row, scan, odd = hl.Func("row"), hl.Func("scan"), hl.Func("odd")
    row[x] = 0
    row[r.x] = r.x * 2
    row.update().parallel(r.x)
    scan[x, y] = x + y
    scan[r.x, r.y] = scan[r.x, r.y - 1] * 3 + r.x
    scan.update().reorder(r.y, r.x).vectorize(r.x, 4)
    odd[x] = x
    odd[r.x * 2 + 1] = odd[r.x * 2] + r.x
    odd.update().vectorize(r.x, 4)

    def meet() -> None:
        f = hl.Func("f")
        f[x] = x
        f[r.x + 1] = f[r.x] + 1
        f.update().parallel(r.x)
        f.realize([20])

    return [row.realize([16]), scan.realize([16, 8]), odd.realize([34]), attempt(meet)]


@pipeline
def partition_policies(hl: Any) -> Any:
    def run(policy: Any) -> Any:
        x, y, across, blur = _blur(hl)
        across.compute_root()
        policy(across, x, y)
        return blur.realize([24, 18])

    return [
        run(lambda f, x, y: f.never_partition([x, y])),
        run(lambda f, x, y: f.never_partition_all()),
        run(lambda f, x, y: f.always_partition([y])),
        run(lambda f, x, y: f.partition(x, hl.Partition.Always).vectorize(x, 8)),
    ]


@pipeline
def copies_on_the_host(hl: Any) -> Any:
    x, y, f, g, h = hl.Var("x"), hl.Var("y"), hl.Func("f"), hl.Func("g"), hl.Func("h")
    f[x, y] = x + y * 10
    g[x, y] = f[x, y]
    h[x, y] = f[y, x]
    f.compute_root().in_(g).compute_root().copy_to_host()
    given = g.realize([5, 4])
    refused = attempt(h.copy_to_host, lambda: f.copy_to_device(hl.DeviceAPI.Host))
    return [given, refused, attempt(lambda: hl.Func("u").copy_to_host())]
