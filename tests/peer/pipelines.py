"""Small pipelines without schedules: definitions, updates, reductions, boundaries, inputs, Buffers.

In: the package, as ``hl``. Out: whatever shows what the pipeline does: Buffers, numbers, names, types. A pipeline that must fail
raises; ``attempt`` is for one that must fail in several ways.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

PIPELINES: list[Callable[[Any], Any]] = []


def pipeline(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Lists a pipeline."""
    PIPELINES.append(function)
    return function


def picture(width: int, height: int, dtype: str = "uint8") -> Any:
    """Made-up pixels: an array of (height, width)."""
    rows, columns = np.mgrid[0:height, 0:width]
    return np.ascontiguousarray((rows * 37 + columns * 11 + rows * columns * 3) % 251).astype(dtype)


def attempt(*calls: Callable[[], Any]) -> list[str]:
    """For each call whether it raises."""
    found = []
    for call in calls:
        try:
            call()
        except Exception:  # noqa: BLE001  # the classes of the two packages have nothing in common
            found.append("raises")
        else:
            found.append("passes")
    return found


@pipeline
def gradient(hl: Any) -> Any:
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("gradient")
    f[x, y] = x + y
    buffer = f.realize([5, 4])
    return [f.name(), f.defined(), f.dimensions(), f.type(), f.types(), [v.name() for v in f.args()], buffer, buffer[3, 2]]


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
def image_param(hl: Any) -> Any:
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
    ip = hl.ImageParam(hl.UInt(8), 2, "ip")
    f[x, y] = ip[x + 1, y] - ip[x, y]
    before = ip.defined()
    ip.set(hl.Buffer(picture(6, 5)))
    return [before, ip.defined(), ip.name(), ip.type(), ip.dimensions(), f.realize([5, 5]), ip.get().width()]


@pipeline
def image_param_shape(hl: Any) -> Any:
    f, ip = hl.Func("f"), hl.ImageParam(hl.UInt(8), 3, "ip")
    f[()] = ip.width() + 100 * ip.height() + 10000 * ip.channels() + ip.dim(0).min() + ip.dim(1).max() + ip.dim(2).extent()
    ip.set(hl.Buffer(hl.UInt(8), [7, 5, 3]))
    g = hl.Func("g")
    g[()] = ip.left() + 10 * ip.right() + 100 * ip.top() + 1000 * ip.bottom() + ip.dim(1).stride() * 10000
    return [f.realize([]), g.realize([])]


@pipeline
def scalar_params(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    offset, gain = hl.Param(hl.Int(32), "offset", 3), hl.Param(hl.Float(32), "gain")
    f[x] = hl.f32(x + offset) * gain
    gain.set(0.5)
    first = f.realize([4])
    offset.set(-7)
    gain.set_range(0.0, 4.0)
    return [first, f.realize([4]), offset.name(), gain.type(), offset.get()]


@pipeline
def param_range(hl: Any) -> Any:
    f, p = hl.Func("f"), hl.Param(hl.Int(32), "p")
    f[()] = p * 2
    p.set_range(0, 10)
    p.set(10)
    good = f.realize([])
    p.set_min_value(1)
    p.set_max_value(5)

    def below() -> None:
        p.set(0)
        f.realize([])

    def above() -> None:
        p.set(7)
        f.realize([])

    return [good, attempt(below, above), hl.evaluate(p.min_value()), hl.evaluate(p.max_value())]


@pipeline
def param_without_value(hl: Any) -> Any:
    f, p = hl.Func("f"), hl.Param(hl.Int(32), "p")
    f[()] = p * 2
    return f.realize([])


@pipeline
def image_param_without_data(hl: Any) -> Any:
    x, f, ip = hl.Var("x"), hl.Func("f"), hl.ImageParam(hl.UInt(8), 1, "ip")
    f[x] = ip[x]
    return f.realize([4])


@pipeline
def read_outside_input(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = hl.Buffer(np.arange(5, dtype=np.uint8))[x + 1]
    return f.realize([5])


@pipeline
def sum_over_rdom(hl: Any) -> Any:
    x, f, r = hl.Var("x"), hl.Func("f"), hl.RDom([(0, 5), (1, 3)])
    f[x] = 0
    f[x] += r.x * r.y + x
    return [f.realize([4]), f.num_update_definitions(), f.has_update_definition(), [v.name() for v in f.rvars()]]


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
def pipeline_object(hl: Any) -> Any:
    x, f, ip = hl.Var("x"), hl.Func("f"), hl.ImageParam(hl.UInt(8), 1, "ip")
    scale = hl.Param(hl.UInt(8), "scale", 3)
    f[x] = ip[x] * scale
    p = hl.Pipeline(f)
    arguments = [[a.name, a.type, a.dimensions, a.is_buffer(), a.is_scalar(), a.is_input(), a.is_output()]
                 for a in p.infer_arguments()]  # fmt: skip
    ip.set(hl.Buffer(np.arange(6, dtype=np.uint8)))
    p.compile_jit()
    out = hl.Buffer(hl.UInt(8), [6])
    p.realize(out)
    p.invalidate_cache()
    return [arguments, out, p.get_func(0).name()]


@pipeline
def pipeline_undefined(hl: Any) -> Any:
    return [hl.Pipeline(hl.Func("f")).defined(), hl.Pipeline().defined()]


@pipeline
def realize_into_buffers(hl: Any) -> Any:
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
    f[x, y] = x * 10 + y
    shifted = hl.Buffer(hl.Int(32), [4, 3])
    shifted.set_min([2, -1])
    f.realize(shifted)
    dst = hl.Buffer(np.zeros((3, 4), np.int32))
    f.realize([dst])
    return [shifted, dst]


@pipeline
def realize_wrongly(hl: Any) -> Any:
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
    f[x, y] = x * 10 + y
    return attempt(
        lambda: f.realize([4]),
        lambda: f.realize([4, 4, 4]),
        lambda: f.realize([4, -1]),
        lambda: f.realize([4.5, 4]),
        lambda: f.realize(hl.Buffer(hl.UInt(8), [4, 4])),
        lambda: f.realize(hl.Buffer(hl.Int(32), [4])),
        lambda: hl.Func("undefined").realize([4]),
        lambda: f.realize("44"),
    )


@pipeline
def infer_input_bounds(hl: Any) -> Any:
    x, y, f, ip = hl.Var("x"), hl.Var("y"), hl.Func("f"), hl.ImageParam(hl.UInt(8), 2, "ip")
    f[x, y] = ip[x - 2, y] + ip[x + 5, y * 2]
    f.infer_input_bounds([8, 4])
    b = ip.get()
    first = [[b.dim(i).min(), b.dim(i).extent()] for i in range(2)]
    ip.reset()
    return [first, ip.defined()]


@pipeline
def callable_with_arguments(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    ip, p = hl.ImageParam(hl.UInt(8), 1, "ip"), hl.Param(hl.UInt(8), "p")
    f[x] = ip[x] + p
    run = f.compile_to_callable([ip, p])
    out = hl.Buffer(hl.UInt(8), [5])
    run(hl.Buffer(np.arange(5, dtype=np.uint8)), 7, out)
    array = np.zeros(5, np.uint8)
    run(np.arange(5, dtype=np.uint8), 9, array)
    wrong = attempt(
        lambda: run(out, 7),
        lambda: run(out, 7, out, out),
        lambda: run(7, out, out),
        lambda: run(hl.Buffer(hl.UInt(16), [5]), 7, out),
        lambda: run(hl.Buffer(hl.UInt(8), [3]), 7, out),
        lambda: run(out, 300, out),
    )
    return [out, array, wrong]


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
        lambda: hl.sum(),
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
def tuple_valued(hl: Any) -> Any:
    x, f, g = hl.Var("x"), hl.Func("f"), hl.Func("g")
    f[x] = hl.Tuple((x * 2, hl.f32(x) / 2))
    g[x] = f[x][0] + 1
    return [f.realize([4]), f.outputs(), f.types(), g.realize([4]), f[x].size(), len(f[x])]


@pipeline
def tuple_update(hl: Any) -> Any:
    x, f, r = hl.Var("x"), hl.Func("f"), hl.RDom([(0, 5)])
    f[x] = (0, -1)
    f[x] = (f[x][0] + r.x * x, hl.max(f[x][1], r.x - x))
    return f.realize([4])


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
def image_param_constraints(hl: Any) -> Any:
    x, y, f, ip = hl.Var("x"), hl.Var("y"), hl.Func("f"), hl.ImageParam(hl.UInt(8), 2, "ip")
    f[x, y] = ip[x, y] + 1
    ip.dim(0).set_bounds(0, 8).set_stride(1)
    ip.dim(1).set_min(0)
    ip.set(hl.Buffer(picture(8, 4)))
    good = f.realize([8, 4])
    ip.set(hl.Buffer(picture(9, 4)))
    return [good, attempt(lambda: f.realize([8, 4]))]


@pipeline
def output_buffer_constraints(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x
    f.output_buffer().dim(0).set_bounds(0, 8)
    return [f.realize([8]), attempt(lambda: f.realize([9])), f.output_buffer().name()]


@pipeline
def estimates(hl: Any) -> Any:
    x, f, ip, p = hl.Var("x"), hl.Func("f"), hl.ImageParam(hl.UInt(8), 1, "ip"), hl.Param(hl.Int(32), "p", 2)
    f[x] = ip[x] + hl.u8(p)
    f.set_estimate(x, 0, 100)
    f.set_estimates([hl.Range(0, 100)])
    ip.set_estimates([hl.Range(0, 100)])
    ip.dim(0).set_estimate(0, 100)
    p.set_estimate(5)
    ip.set(hl.Buffer(np.arange(4, dtype=np.uint8)))
    return f.realize([4])


@pipeline
def in_place(hl: Any) -> Any:
    x, f, ip = hl.Var("x"), hl.Func("f"), hl.ImageParam(hl.UInt(8), 1, "ip")
    f[x] = ip[x] * 2
    data = hl.Buffer(np.arange(6, dtype=np.uint8))
    ip.set(data)
    f.realize(data)
    return data


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
    down[x, y] = (source[2 * x, 2 * y] + source[2 * x + 1, 2 * y] + source[2 * x, 2 * y + 1] + source[2 * x + 1, 2 * y + 1]) / 4
    up[x, y] = down[x / 2, y / 2] * 0.75 + down[x / 2 - 1 + 2 * (x % 2), y / 2] * 0.25
    return up.realize([8, 8])


@pipeline
def gather_through_table(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    table = hl.Buffer(np.arange(255, -1, -1, dtype=np.uint8))
    f[x] = table[hl.i32(hl.Buffer(picture(20, 1)[0])[x])]
    return f.realize([20])


@pipeline
def buffer_shapes(hl: Any) -> Any:
    b = hl.Buffer(picture(6, 4), "b")
    b.translate([2, -1])
    shape = [b.left(), b.right(), b.top(), b.bottom(), b.width(), b.height(), b.channels(), b.dimensions(), b.name()]
    cropped = b.cropped([(3, 2), (0, 2)])
    sliced = b.sliced(1, 0)
    transposed = b.transposed(0, 1)
    embedded = b.embedded(0, 5)
    sizes = [b.size_in_bytes(), b.number_of_elements(), [b.dim(1).min(), b.dim(1).max(), b.dim(1).extent(), b.dim(1).stride()]]
    return [shape, cropped, sliced, transposed, embedded, b.copy(), sizes, b[3, 0], b.type(), b.defined()]


@pipeline
def buffer_in_place(hl: Any) -> Any:
    b = hl.Buffer(picture(6, 4), "b")
    b.set_name("c")
    b.crop([(1, 3), (1, 2)])
    b.transpose(0, 1)
    b[1, 2] = 200
    b.slice(0, 1)
    b.embed(1, 7)
    b.add_dimension()
    c = hl.Buffer(hl.UInt(8), [3, 2])
    c.fill(9)
    d = hl.Buffer(hl.UInt(8), [3, 2])
    d.copy_from(c)
    return [b, b.name(), c, d, c.all_equal(9), d.same_as(c)]


@pipeline
def buffer_makers(hl: Any) -> Any:
    scalar = hl.Buffer.make_scalar(hl.UInt(8))
    scalar[()] = 7
    interleaved = hl.Buffer.make_interleaved(hl.UInt(8), 4, 3, 2)
    interleaved.fill(1)
    like = hl.Buffer.make_with_shape_of(interleaved)
    return [scalar[()], interleaved.dim(0).stride(), interleaved.dim(2).stride(), [like.width(), like.dim(2).stride()]]


@pipeline
def buffer_mistakes(hl: Any) -> Any:
    b = hl.Buffer(picture(6, 4))
    frozen = np.zeros(4, np.uint8)
    frozen.setflags(write=False)
    return attempt(
        lambda: b[6, 0],
        lambda: b[0, -1],
        lambda: b[0],
        lambda: b.dim(2),
        lambda: hl.Buffer(np.zeros(3, np.complex64)),
        lambda: hl.Buffer(frozen),
        lambda: hl.Buffer(hl.UInt(8), [2, "3"]),
        lambda: b.cropped([(0, 9), (0, 2)]),
        lambda: b.sliced(0, 17),
        lambda: hl.Buffer("abc"),
        lambda: hl.Buffer(3),
    )


@pipeline
def strided_inputs(hl: Any) -> Any:
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
    a = picture(8, 6)
    views = [hl.Buffer(a[::2]), hl.Buffer(a[::-1]), hl.Buffer(a[:, ::-1]), hl.Buffer(a.T)]
    results = []
    for view in views:
        f = hl.Func("f")
        f[x, y] = view[x, y] + 1
        results.append(f.realize([view.width(), view.height()]))
    return results


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
def random_numbers(hl: Any) -> Any:
    x, f, g = hl.Var("x"), hl.Func("f"), hl.Func("g")
    f[x] = hl.random_float(3)
    g[x] = hl.random_float(3)
    values = np.asarray(f.realize([64]))
    again = np.asarray(g.realize([64]))
    spread = bool(0.2 < values.mean() < 0.8) and len(np.unique(values)) > 60
    return [spread, bool((values >= 0).all() and (values < 1).all()), bool((values == again).all()), f.type()]
