"""Small pipelines about what goes in and out: Params, ImageParams, Buffers, arguments, and mistakes with them.

In and out as in ``making``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.campaigns.peer.making import Listing, attempt, picture

pipeline = Listing()


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
    sizes = ip.width() + 100 * ip.height() + 10000 * ip.channels()
    f[()] = sizes + ip.dim(0).min() + ip.dim(1).max() + ip.dim(2).extent()
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
    return [first, f.realize([4]), offset.name(), gain.type()]


@pipeline
def param_range(hl: Any) -> Any:
    f, p = hl.Func("f"), hl.Param(hl.Int(32), "p")
    f[()] = p * 2
    p.set_min_value(1)
    p.set_max_value(5)
    p.set(5)
    good = f.realize([])

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
def pipeline_object(hl: Any) -> Any:
    x, f, ip = hl.Var("x"), hl.Func("f"), hl.ImageParam(hl.UInt(8), 1, "ip")
    scale = hl.Param(hl.UInt(8), "scale", 3)
    f[x] = ip[x] * scale
    p = hl.Pipeline(f)
    arguments = [[a.name, a.type, a.dimensions] for a in p.infer_arguments()]
    ip.set(hl.Buffer(np.arange(6, dtype=np.uint8)))
    p.compile_jit()
    out = hl.Buffer(hl.UInt(8), [6])
    p.realize(out)
    p.invalidate_cache()
    return [arguments, out, p.get_func(0).dimensions()]


@pipeline
def pipeline_undefined(hl: Any) -> Any:
    return [attempt(lambda: hl.Pipeline(3), lambda: hl.Pipeline("f"))]


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
def buffer_shapes(hl: Any) -> Any:
    b = hl.Buffer(picture(6, 4), "b")
    b.translate([2, -1])
    shape = [b.left(), b.right(), b.top(), b.bottom(), b.width(), b.height(), b.channels(), b.dimensions(), b.name()]
    cropped = b.cropped([(3, 2), (0, 2)])
    sliced = b.sliced(1, 0)
    transposed = b.transposed(0, 1)
    embedded = b.embedded(0, 5)
    d = b.dim(1)
    sizes = [b.size_in_bytes(), b.number_of_elements(), [d.min(), d.max(), d.extent(), d.stride()]]
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
    return attempt(
        lambda: b[6, 0],
        lambda: b[0, -1],
        lambda: b[0],
        lambda: hl.Buffer(np.zeros(3, np.complex64)),
        lambda: hl.Buffer(hl.UInt(8), [2, "3"]),
        lambda: hl.Buffer("abc"),
        lambda: hl.Buffer(3),
    )


@pipeline
def read_only_memory(hl: Any) -> Any:
    frozen = np.zeros(4, np.uint8)
    frozen.setflags(write=False)
    return attempt(lambda: hl.Buffer(frozen))


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
def output_buffer_questions(hl: Any) -> Any:
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
    f[x, y] = hl.u8(x + y)
    out = f.output_buffer()
    kinds = [isinstance(out, hl.OutputImageParam), isinstance(out.name(), str)]
    return [kinds, out.type(), out.dimensions(), out.defined()]


@pipeline
def estimates_of_outputs(hl: Any) -> Any:
    x, f, p = hl.Var("x"), hl.Func("f"), hl.Param(hl.Int(32), "p", 2)
    f[x] = x + p
    f.output_buffer().set_estimates([hl.Range(0, 100)])
    f.output_buffer().dim(0).set_estimate(0, 100)
    return f.realize([4])
