"""Small pipelines without schedules: definitions, updates, reductions, boundaries, functions of values.

In and out as in ``making``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.campaigns.peer.making import Listing, attempt, picture

pipeline = Listing()


@pipeline
def gradient(hl: Any) -> Any:
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("gradient")
    f[x, y] = x + y
    buffer = f.realize([5, 4])
    names = [f.name(), *(v.name() for v in f.args())]
    return [names, f.defined(), f.dimensions(), f.type(), f.types(), buffer, buffer[3, 2]]


@pipeline
def brighten(hl: Any) -> Any:
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("brighter")
    image = hl.Buffer(picture(8, 6), "image")
    f[x, y] = hl.cast(hl.UInt(8), hl.min(hl.f32(image[x, y]) * 1.5, 255.0))
    return f.realize([image.width(), image.height()])


@pipeline
def blur_separable(hl: Any) -> Any:
    x, y = hl.Var("x"), hl.Var("y")
    padded = hl.BoundaryConditions.repeat_edge(hl.Buffer(picture(9, 7)))
    wide, across, blur = hl.Func("wide"), hl.Func("across"), hl.Func("blur")
    wide[x, y] = hl.u16(padded[x, y])
    across[x, y] = (wide[x - 1, y] + wide[x, y] * 2 + wide[x + 1, y]) / 4
    blur[x, y] = hl.u8((across[x, y - 1] + across[x, y] * 2 + across[x, y + 1]) / 4)
    return blur.realize([9, 7])


@pipeline
def sum_over_rdom(hl: Any) -> Any:
    x, f, r = hl.Var("x"), hl.Func("f"), hl.RDom([(0, 5), (1, 3)])
    f[x] = 0
    f[x] += r.x * r.y + x
    return [f.realize([4]), f.num_update_definitions(), f.has_update_definition(), len(f.rvars())]


@pipeline
def histogram(hl: Any) -> Any:
    i, hist = hl.Var("i"), hl.Func("hist")
    image = hl.Buffer(picture(16, 16))
    r = hl.RDom(image)
    hist[i] = 0
    hist[hl.i32(image[r.x, r.y])] += 1
    return hist.realize([256])


@pipeline
def histogram_equalisation(hl: Any) -> Any:
    x, y, i = hl.Var("x"), hl.Var("y"), hl.Var("i")
    image = hl.Buffer(picture(16, 16))
    r, b = hl.RDom([(0, 16), (0, 16)]), hl.RDom([(1, 255)])
    hist, cdf, out = hl.Func("hist"), hl.Func("cdf"), hl.Func("out")
    hist[i] = 0
    hist[hl.i32(image[r.x, r.y])] += 1
    cdf[i] = hist[0]
    cdf[b.x] = cdf[b.x - 1] + hist[b.x]
    out[x, y] = hl.u8(cdf[hl.i32(image[x, y])] * 255 / 256)
    return out.realize([16, 16])


@pipeline
def where(hl: Any) -> Any:
    f, r = hl.Func("f"), hl.RDom([(0, 10), (0, 10)])
    r.where(r.x < r.y)
    r.where(r.x + r.y < 12)
    f[()] = 0
    f[()] += r.x * 100 + r.y
    return f.realize([])


@pipeline
def reduction_over_image_param(hl: Any) -> Any:
    f, ip = hl.Func("f"), hl.ImageParam(hl.UInt(8), 2, "ip")
    r = hl.RDom(ip)
    f[()] = hl.u32(0)
    f[()] += hl.u32(ip[r.x, r.y])
    ip.set(hl.Buffer(picture(5, 7)))
    return f.realize([])


@pipeline
def accumulate_undefined(hl: Any) -> Any:
    x, r = hl.Var("x"), hl.RDom([(1, 4)])
    added, multiplied = hl.Func("added"), hl.Func("multiplied")
    added[x] += hl.f32(r.x + x)
    multiplied[x] *= r.x + x
    return [added.realize([3]), multiplied.realize([3]), added.type(), added.num_update_definitions()]


@pipeline
def subtract_and_divide(hl: Any) -> Any:
    x, r = hl.Var("x"), hl.RDom([(1, 3)])
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = 100
    f[x] -= r.x * x
    g[x] = 1000
    g[x] /= r.x + 1
    return [f.realize([4]), g.realize([4])]


@pipeline
def inline_reductions(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    r = hl.RDom([(0, 5)])
    f[x] = x * x % 7
    sums, products, least, most = (hl.Func(n) for n in "spab")
    sums[x] = hl.sum(f[x + r.x])
    products[x] = hl.product(f[x + r.x] + 1)
    least[x] = hl.minimum(f[x + r.x])
    most[x] = hl.maximum(r, f[x + r.x], "named")
    return [g.realize([6]) for g in (sums, products, least, most)]


@pipeline
def sum_of_narrow_type(hl: Any) -> Any:
    x, f, r = hl.Var("x"), hl.Func("f"), hl.RDom([(0, 9)])
    f[x] = hl.sum(hl.u8(x * 10 + r.x))
    return [f.realize([6]), f.type()]


@pipeline
def argmax_and_argmin(hl: Any) -> Any:
    f, g = hl.Func("f"), hl.Func("g")
    r, b = hl.RDom([(0, 9)]), hl.Buffer(np.array([3, 1, 4, 1, 5, 9, 2, 6, 9], np.uint8))
    best, worst = hl.argmax(b[r.x]), hl.argmin(b[r.x])
    f[()] = best[0] * 100 + hl.i32(best[1])
    g[()] = worst[0] * 100 + hl.i32(worst[1])
    return [f.realize([]), g.realize([])]


@pipeline
def fibonacci(hl: Any) -> Any:
    i, fib, r = hl.Var("i"), hl.Func("fib"), hl.RDom([(2, 18)])
    fib[i] = 1
    fib[r.x] = fib[r.x - 1] + fib[r.x - 2]
    return fib.realize([20])


@pipeline
def several_updates(hl: Any) -> Any:
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
    r = hl.RDom([(0, 5)])
    f[x, y] = x + y
    f[x, 3] = f[x, 0] * 10
    f[0, y] = f[3, y] / 2
    f[r.x, 1] += r.x
    args = [hl.evaluate(e) for e in f.update_args(0)[1:]]
    return [f.realize([5, 5]), f.num_update_definitions(), args, f.update_value(0).type(), len(f.update_values(1))]


@pipeline
def zero_dimensions(hl: Any) -> Any:
    f, g = hl.Func("f"), hl.Func("g")
    f[()] = 41
    g[()] = f[()] + 1
    result = g.realize([])
    return [result, result.dimensions(), result[()], g.dimensions(), hl.evaluate(g[()])]


@pipeline
def lambda_func(hl: Any) -> Any:
    x, y = hl.Var("x"), hl.Var("y")
    return hl.lambda_func(x, y, x * 10 + y).realize([4, 3])


@pipeline
def func_of_buffer(hl: Any) -> Any:
    f = hl.Func(hl.Buffer(picture(4, 3)))
    return [f.realize([4, 3]), f.dimensions(), f.type()]


@pipeline
def typed_func(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func(hl.UInt(8), 1, "f")
    kind = [f.type(), f.dimensions(), f.defined()]
    f[x] = hl.u8(x)

    def other_type() -> None:
        g = hl.Func(hl.UInt(8), 1, "g")
        g[x] = hl.u16(x)

    def other_dimensions() -> None:
        g = hl.Func(hl.UInt(8), 2, "g")
        g[x] = hl.u8(x)

    return [kind, f.realize([3]), attempt(other_type, other_dimensions)]


@pipeline
def boundary_repeat_edge(hl: Any) -> Any:
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
    f[x, y] = hl.BoundaryConditions.repeat_edge(hl.Buffer(picture(4, 3)))[x - 3, y - 3]
    return f.realize([10, 9])


@pipeline
def boundary_repeat_image(hl: Any) -> Any:
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
    f[x, y] = hl.BoundaryConditions.repeat_image(hl.Buffer(picture(4, 3)))[x - 9, y - 9]
    return f.realize([20, 20])


@pipeline
def boundary_mirror_image(hl: Any) -> Any:
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
    f[x, y] = hl.BoundaryConditions.mirror_image(hl.Buffer(picture(4, 3)))[x - 9, y - 9]
    return f.realize([20, 20])


@pipeline
def boundary_mirror_interior(hl: Any) -> Any:
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
    f[x, y] = hl.BoundaryConditions.mirror_interior(hl.Buffer(picture(4, 3)))[x - 9, y - 9]
    return f.realize([20, 20])


@pipeline
def boundary_constant_exterior(hl: Any) -> Any:
    x, y, f, g = hl.Var("x"), hl.Var("y"), hl.Func("f"), hl.Func("g")
    image = hl.Buffer(picture(4, 3))
    f[x, y] = hl.BoundaryConditions.constant_exterior(image, 77)[x - 2, y - 2]
    g[x, y] = hl.BoundaryConditions.constant_exterior(image, 77, [(1, 2), (0, 2)])[x - 2, y - 2]
    return [f.realize([9, 8]), g.realize([9, 8])]


@pipeline
def boundary_of_func(hl: Any) -> Any:
    x, y, f, g = hl.Var("x"), hl.Var("y"), hl.Func("f"), hl.Func("g")
    f[x, y] = x * 10 + y
    g[x, y] = hl.BoundaryConditions.repeat_edge(f, [(1, 3), (0, 2)])[x - 1, y - 1]
    return g.realize([8, 6])


@pipeline
def several_outputs(hl: Any) -> Any:
    x, f, g, h = hl.Var("x"), hl.Func("f"), hl.Func("g"), hl.Func("h")
    f[x] = x * x
    g[x] = f[x] + f[x + 1]
    h[x] = hl.f32(g[x]) / 2
    p = hl.Pipeline([g, h])
    return [p.realize([5]), len(p.outputs()), p.defined()]


@pipeline
def names_are_unique(hl: Any) -> Any:
    x, y = hl.Var("x"), hl.Var("y")
    f, g = hl.Func("same"), hl.Func("same")
    f[x] = x + 1
    g[y] = f[y] * 2
    f.compute_root()
    return g.realize([5])


@pipeline
def definition_errors(hl: Any) -> Any:
    x, y, r = hl.Var("x"), hl.Var("y"), hl.RDom([(0, 3)])

    def func() -> Any:
        f = hl.Func("f")
        f[x, y] = x + y
        return f

    def put(f: Any, at: Any, value: Any) -> None:
        f[at] = value

    used = func()
    g = hl.Func("g")
    g[x] = used[x, x]
    return attempt(
        lambda: put(func(), (x, y), 1.5),
        lambda: put(func(), (x,), 1),
        lambda: put(func(), (x, 1.5), 1),
        lambda: put(hl.Func("f"), (x, x), 1),
        lambda: put(hl.Func("f"), (x + 1,), 1),
        lambda: put(hl.Func("f"), (3,), 1),
        lambda: put(hl.Func("f"), (r.x,), 1),
        lambda: put(hl.Func("f"), (x,), y),
        lambda: put(hl.Func("f"), (x,), r.x),
        lambda: put(hl.Func("f"), (x,), hl.Func("undefined")[x]),
        lambda: put(func(), (y, x), 1),
        lambda: put(func(), (x, 0), y),
        lambda: put(used, (x, 0), 1),
        lambda: put(hl.Func("f"), (x,), "text"),
        lambda: put(hl.Func("f"), (x,), None),
        lambda: func()[x],
        lambda: func()[x, 0.5],
        lambda: hl.sum(x),
        lambda: hl.sum(3),
        lambda: func().update(0),
        lambda: put(func(), (r.x, hl.RDom([(0, 2)]).x), 1),
    )


@pipeline
def implicit_variables(hl: Any) -> Any:
    x, f, g, h = hl.Var("x"), hl.Func("f"), hl.Func("g"), hl.Func("h")
    f[hl._0, hl._1] = hl._0 * 10 + hl._1
    g[x, hl._] = f[x, hl._] + 1
    h[hl._] = g[hl._] * 2
    return [f.realize([3, 4]), g.realize([3, 4]), g.dimensions(), h.realize([3, 4]), [v.name() for v in g.args()]]


@pipeline
def extern_free_requirement(hl: Any) -> Any:
    x, f, p = hl.Var("x"), hl.Func("f"), hl.Param(hl.Int(32), "p")
    f[x] = x + p
    pipe = hl.Pipeline(f)
    pipe.add_requirement(p > 0)
    p.set(3)
    good = pipe.realize([3])
    p.set(-3)
    return [good, attempt(lambda: pipe.realize([3]))]


@pipeline
def game_of_life(hl: Any) -> Any:
    x, y = hl.Var("x"), hl.Var("y")
    world = hl.Buffer(np.array([[0, 1, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]], np.uint8))
    padded = hl.BoundaryConditions.repeat_image(world)
    r = hl.RDom([(-1, 3), (-1, 3)])
    r.where((r.x != 0) | (r.y != 0))
    neighbours, following = hl.Func("neighbours"), hl.Func("following")
    neighbours[x, y] = hl.u8(0)
    neighbours[x, y] += padded[x + r.x, y + r.y]
    n = neighbours[x, y]
    following[x, y] = hl.select((n == 3) | ((n == 2) & (padded[x, y] == 1)), hl.u8(1), hl.u8(0))
    return following.realize([4, 4])


@pipeline
def matrix_product(hl: Any) -> Any:
    i, j, c = hl.Var("i"), hl.Var("j"), hl.Func("c")
    a, b = hl.Buffer(picture(5, 4, "float32")), hl.Buffer(picture(3, 5, "float32"))
    k = hl.RDom([(0, 5)])
    c[j, i] = 0.0
    c[j, i] += a[k.x, i] * b[j, k.x]
    return c.realize([3, 4])


@pipeline
def downsample_and_upsample(hl: Any) -> Any:
    x, y, down, up = hl.Var("x"), hl.Var("y"), hl.Func("down"), hl.Func("up")
    source = hl.BoundaryConditions.repeat_edge(hl.Buffer(picture(8, 8, "float32")))
    upper = source[2 * x, 2 * y] + source[2 * x + 1, 2 * y]
    lower = source[2 * x, 2 * y + 1] + source[2 * x + 1, 2 * y + 1]
    down[x, y] = (upper + lower) / 4
    up[x, y] = down[x / 2, y / 2] * 0.75 + down[x / 2 - 1 + 2 * (x % 2), y / 2] * 0.25
    return up.realize([8, 8])


@pipeline
def gather_through_table(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    table = hl.Buffer(np.arange(255, -1, -1, dtype=np.uint8))
    f[x] = table[hl.i32(hl.Buffer(picture(20, 1)[0])[x])]
    return f.realize([20])


@pipeline
def print_to_stdout(hl: Any) -> Any:
    x, f, g = hl.Var("x"), hl.Func("f"), hl.Func("g")
    f[x] = hl.print(x * 2, "is twice", x)
    g[x] = hl.print_when(x == 2, x + 1, "two")
    return [f.realize([3]), g.realize([3])]


@pipeline
def require_holds(hl: Any) -> Any:
    x, f, p = hl.Var("x"), hl.Func("f"), hl.Param(hl.Int(32), "p")
    f[x] = hl.require(p > 0, x / p, "p must be positive, not", p)
    p.set(2)
    good = f.realize([5])
    p.set(-2)
    return [good, attempt(lambda: f.realize([5]))]


@pipeline
def undefined_update(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = hl.undef(hl.Int(32))
    f[x] = x + 1
    return f.realize([4])


@pipeline
def undefined_points_of_an_output(hl: Any) -> Any:
    """In place: scans, selects, vectors, and what inlined Funcs leave undefined."""
    x, undef = hl.Var("x"), hl.undef(hl.Int(32))

    def filled(value: Any, schedule: Any = None, update: Any = None) -> Any:
        f, array = hl.Func("f"), np.arange(100, 108, dtype=np.int32)
        f[x] = value
        if update is not None:
            update(f)
        if schedule is not None:
            schedule(f)
        f.realize(hl.Buffer(array))
        return array

    def scan(f: Any) -> None:
        r = hl.RDom([(1, 7)])
        f[r.x] = f[r.x] + f[r.x - 1]

    inner = hl.Func("inner")
    inner[x] = hl.select(x < 4, x, undef)
    partly = hl.select(x % 2 == 0, x, undef)
    return [
        filled(undef), filled(undef, update=scan), filled(partly), filled(partly, lambda f: f.vectorize(x, 4)),
        filled(inner[x] + 1), filled(inner[inner[x]]), filled(hl.select(inner[x] > 1, 1, 2)),
    ]


@pipeline
def undefined_value_of_a_tuple(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = (hl.undef(hl.Int(32)), x)
    arrays = [np.arange(100, 108, dtype=np.int32), np.arange(200, 208, dtype=np.int32)]
    f.realize([hl.Buffer(a) for a in arrays])
    return arrays


@pipeline
def random_numbers(hl: Any) -> Any:
    x, f, g = hl.Var("x"), hl.Func("f"), hl.Func("g")
    f[x] = hl.random_float(3)
    g[x] = hl.random_float(3)
    values = np.asarray(f.realize([64]))
    again = np.asarray(g.realize([64]))
    spread = bool(0.2 < values.mean() < 0.8) and len(np.unique(values)) > 60
    return [spread, bool((values >= 0).all() and (values < 1).all()), bool((values == again).all()), f.type()]


@pipeline
def points_exchanged_at_once(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x
    f[hl.scatter([0, 3])] = hl.gather([f[3], f[0]])
    return f.realize([6])


@pipeline
def rows_exchanged_at_once(hl: Any) -> Any:
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
    f[x, y] = x + 10 * y
    f[x, hl.scatter([0, 2, 1])] = hl.gather([f[x, 1], f[x, 0], f[x, 2]])
    f.update().vectorize(x, 4)
    return f.realize([8, 3])


@pipeline
def neighbours_sorted_at_once(hl: Any) -> Any:
    x, f, r = hl.Var("x"), hl.Func("f"), hl.RDom([(0, 9), (0, 9)])
    f[x] = (7 * x) % 10
    r.where(r.x < 9 - r.y)
    f[hl.scatter([r.x, r.x + 1])] = hl.gather([hl.min(f[r.x], f[r.x + 1]), hl.max(f[r.x], f[r.x + 1])])
    return f.realize([10])


@pipeline
def lists_of_points_in_formulas(hl: Any) -> Any:
    x, f, g = hl.Var("x"), hl.Func("f"), hl.Func("g")
    f[x] = x
    f[hl.scatter([0, 1]) + 1] = hl.gather([1, 2]) + hl.gather([5, 7])
    g[x] = x
    g[hl.scatter([0, 0])] += hl.gather([10, 20])
    g[hl.scatter([2, 3])] = 9
    g[4] = hl.gather([5, 6])
    return [f.realize([6]), g.realize([6])]


@pipeline
def tuples_exchanged_at_once(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = (x, x * 2)
    f[hl.scatter([0, 3])] = (hl.gather([f[3][0], f[0][0]]), hl.gather([1, 2]))
    return list(f.realize([6]))
