"""Small pipelines about what others are made of: variables of loops, arguments, memory of Buffers, parts of Tuples.

In and out as in ``making``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.campaigns.peer.making import Listing, attempt

pipeline = Listing()


@pipeline
def var_or_rvar(hl: Any) -> Any:
    x, r, f = hl.Var("x"), hl.RDom([(0, 8)]), hl.Func("f")
    both = [hl.VarOrRVar(x), hl.VarOrRVar(r.x), hl.VarOrRVar("u", True), hl.VarOrRVar("v", False)]
    f[x] = 0
    f[x] += r.x * x
    f.vectorize(both[0], 4)
    f.update().reorder(both[0], both[1]).unroll(both[1], 2)
    names = [both[0].name(), both[0].var.name(), both[2].name(), both[2].rvar.name(), both[3].name()]
    return [names, [b.is_rvar for b in both], f.realize([8])]


@pipeline
def outermost_loop(hl: Any) -> Any:
    x, y, f, g = hl.Var("x"), hl.Var("y"), hl.Func("f"), hl.Func("g")
    f[x, y] = x * y
    g[x, y] = f[x - 1, y] + f[x + 1, y]
    f.compute_at(g, hl.Var.outermost())
    return g.realize([5, 4])


@pipeline
def arguments_of_inputs(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    p, image = hl.Param(hl.Int(32), "p"), hl.ImageParam(hl.UInt(8), 1, "image")
    f[x] = image[x] + hl.u8(p)
    several = [hl.Argument(image), hl.Argument(p), hl.Argument(f.output_buffer())]
    told = [[a.type, a.kind, a.dimensions, a.argument_estimates.scalar_def.defined()] for a in several]
    out = np.zeros(3, np.uint8)
    f.compile_to_callable(several[:2])(np.arange(3, dtype=np.uint8), 5, out)
    return [told, several[0].name, several[1].name, out, attempt(lambda: hl.Argument(3))]


@pipeline
def memory_of_buffers(hl: Any) -> Any:
    b = hl.Buffer(hl.UInt(8), [4, 3])
    b.set_min([2, 5])
    b.deallocate()
    shape = [b.left(), b.top(), b.width(), b.height()]
    b.allocate()
    b.fill(7)
    return [shape, b]


@pipeline
def bounds_query_of_an_input(hl: Any) -> Any:
    x, y, f, image = hl.Var("x"), hl.Var("y"), hl.Func("f"), hl.ImageParam(hl.UInt(8), 2, "image")
    f[x, y] = image[x - 1, y] + image[x + 2, y + 3]
    query, out = hl.Buffer.make_bounds_query(hl.UInt(8), [1, 1]), hl.Buffer(hl.UInt(8), [8, 4])
    f.compile_to_callable([image])(query, out)
    asked = [query.left(), query.right(), query.top(), query.bottom()]
    query.allocate()
    query.fill(9)
    image.set(query)
    f.realize(out)
    return [asked, out]


@pipeline
def parts_of_a_tuple(hl: Any) -> Any:
    x, f, g = hl.Var("x"), hl.Func("f"), hl.Func("g")
    f[x] = (x * 2, x > 1)
    part = f[x][1]
    g[x] = hl.select(part.logical_not(), f[x][0], -1)
    kinds = [isinstance(part, hl.FuncTupleElementRef), isinstance(f[x], hl.FuncRef)]
    return [part.index(), f[x][0].index(), kinds, g.realize([4]), attempt(f[x][0].logical_not)]


@pipeline
def values_of_a_parameter(hl: Any) -> Any:
    p, flag = hl.Param(hl.Int(32), "p"), hl.Param(hl.Bool(), "flag").parameter()
    scalar = p.parameter()
    before = [scalar.default_value().defined(), scalar.memory_type(), flag.default_value().defined()]
    scalar.set_default_value(hl.Expr(9))
    flag.set_scalar(True)
    estimates = scalar.get_argument_estimates()
    found = [hl.evaluate(scalar.default_value()), flag.scalar(), hl.evaluate(estimates.scalar_def)]
    return [before, found, estimates.scalar_min.defined(), attempt(scalar.buffer_constraints)]


@pipeline
def kinds_of_memory(hl: Any) -> Any:
    x, f, image = hl.Var("x"), hl.Func("f"), hl.ImageParam(hl.UInt(8), 1, "image")
    f[x] = image[x] + 1
    image.parameter().store_in(hl.MemoryType.Heap)
    f.output_buffer().store_in(hl.MemoryType.Heap)
    image.set(hl.Buffer(np.arange(4, dtype=np.uint8)))
    return [image.parameter().memory_type(), f.realize([4])]


@pipeline
def promised_extent(hl: Any) -> Any:
    x, f, image = hl.Var("x"), hl.Func("f"), hl.ImageParam(hl.UInt(8), 1, "image")
    f[x] = image[x] + 1
    image.dim(0).set_extent(4)
    image.set(hl.Buffer(np.arange(4, dtype=np.uint8)))
    good = f.realize([4])
    image.set(hl.Buffer(np.arange(5, dtype=np.uint8)))
    return [good, attempt(lambda: f.realize([4]))]


@pipeline
def requirement_of_a_value(hl: Any) -> Any:
    x, f, p = hl.Var("x"), hl.Func("f"), hl.Param(hl.Int(32), "p")
    f[x] = hl.require(p > 0, x + p, p)
    p.set(2)
    good = f.realize([5])
    p.set(-2)
    return [good, attempt(lambda: f.realize([5]))]


@pipeline
def narrow_floats_in_memory(hl: Any) -> Any:
    x, f, g = hl.Var("x"), hl.Func("f"), hl.Func("g")
    values = np.linspace(-3, 70000, 50).astype(np.float16)
    source = hl.Buffer(values)
    f[x] = source[x] * hl.cast(hl.Float(16), 1.5) + hl.cast(hl.Float(16), 0.25)
    g[x] = hl.reinterpret(hl.UInt(16), f[x])
    f.compute_root().vectorize(x, 8, hl.TailStrategy.GuardWithIf)
    return [g.realize([49]), f.realize([50]), f.type(), source.type()]


@pipeline
def bfloat_in_memory(hl: Any) -> Any:
    x, f, g = hl.Var("x"), hl.Func("f"), hl.Func("g")
    f[x] = hl.cast(hl.BFloat(16), hl.f32(x) / 7) * hl.cast(hl.BFloat(16), 3.0)
    g[x] = hl.f32(f[x]) + 1
    f.compute_root()
    return [g.realize([50]), f.type(), hl.BFloat(16).bits(), hl.Buffer(hl.BFloat(16), [3]).size_in_bytes()]


@pipeline
def traced(hl: Any) -> Any:
    x, f, g, image = hl.Var("x"), hl.Func("f"), hl.Func("g"), hl.ImageParam(hl.UInt(8), 1, "image")
    image.trace_loads()
    image.set(hl.Buffer(np.arange(6, dtype=np.uint8)))
    f[x] = image[x] * 2
    g[x] = f[x] + f[x + 1]
    f.compute_root().trace_stores().trace_loads().trace_realizations().add_trace_tag("doubled")
    return g.realize([5])
