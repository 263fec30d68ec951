"""Targets, the Parameters behind inputs, and views of Buffers: what can be asked without a pipeline.

In and out as in ``making``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaigns.peer.making import Listing, attempt, picture

pipeline = Listing()


@pipeline
def target_texts(hl: Any) -> Any:
    texts = ["x86-64-linux-avx-avx2-sse41", "arm-64-osx", "x86-32-windows-sse41-avx", "x86-64-linux-tune_znver4-fma"]
    targets = [hl.Target(text) for text in texts]
    unknown = hl.Target()
    equal = [targets[0] == hl.Target("x86-64-linux-sse41-avx2-avx"), targets[0] != targets[1]]
    valid = [hl.Target.validate_target_string(t) for t in (*texts, "x86-64-linux-teapot")]
    return [[t.to_string() for t in targets], unknown.to_string(), equal, valid, attempt(lambda: hl.Target("teapot"))]


@pipeline
def target_parts(hl: Any) -> Any:
    f = hl.TargetFeature
    t = hl.Target(hl.TargetOS.Linux, hl.TargetArch.X86, 64, [f.AVX2, f.AVX, f.SSE41])
    parts = [t.os, t.arch, t.bits, t.processor_tune, t.to_string()]
    has = [t.has_feature(f.AVX2), t.has_feature(f.FMA), t.features_all_of([f.AVX, f.AVX2]), t.features_any_of([f.FMA])]
    tuned = hl.Target(hl.TargetOS.Linux, hl.TargetArch.X86, 64, hl.TargetProcessorTune.TuneZnVer4, [f.FMA])
    parts += [tuned.to_string(), tuned.processor_tune]
    more, less = t.with_feature(f.FMA), t.without_feature(f.AVX2)
    t.set_feature(f.FMA)
    t.set_features([f.AVX, f.AVX2], False)
    return [parts, has, more.to_string(), less.to_string(), t.to_string()]


@pipeline
def target_sizes(hl: Any) -> Any:
    texts = ["x86-64-linux", "x86-64-linux-avx-sse41", "x86-64-linux-avx-avx2-sse41", "arm-64-linux"]
    types = [hl.UInt(8), hl.Int(32), hl.Float(32), hl.Float(64)]
    widths = [[hl.Target(t).natural_vector_size(each) for each in types] for t in texts]
    large = hl.Target("x86-64-linux-large_buffers")
    sizes = [large.has_large_buffers(), large.maximum_buffer_size(), hl.Target(texts[0]).maximum_buffer_size()]
    return [widths, sizes, large.supports_type(hl.Float(32))]


@pipeline
def host_target(hl: Any) -> Any:
    host = hl.get_host_target()
    asked = [hl.target_arch_is(host.arch), hl.target_os_is(host.os), hl.target_bits() == host.bits]
    own = [bool(hl.evaluate(e)) for e in asked]
    size = hl.evaluate(hl.target_natural_vector_size(hl.UInt(8))) == host.natural_vector_size(hl.UInt(8))
    avx2 = hl.TargetFeature.AVX2
    feature = bool(hl.evaluate(hl.target_has_feature(avx2))) == host.has_feature(avx2)
    jit = hl.get_jit_target_from_environment()
    same = hl.get_target_from_environment() == host
    return [own, size, feature, jit.has_feature(hl.TargetFeature.JIT), same, host.supported()]


@pipeline
def compiled_for_a_target(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x * 2
    return [f.realize([5], hl.get_jit_target_from_environment()), f.realize([3], hl.get_host_target())]


@pipeline
def scalar_parameter(hl: Any) -> Any:
    n = hl.Param(hl.Int(32), "n", 3)
    p = n.parameter()
    first = [p.name(), p.type(), p.is_buffer(), p.defined(), hl.evaluate(p.scalar_expr())]
    p.set_min_value(1)
    p.set_max_value(9)
    p.set_estimate(7)
    limits = [hl.evaluate(e) for e in (p.min_value(), p.max_value(), p.estimate())]
    return [first, limits, p.same_as(n.parameter()), attempt(p.buffer)]


@pipeline
def buffer_parameter(hl: Any) -> Any:
    image = hl.ImageParam(hl.UInt(8), 2, "image")
    p = image.parameter()
    first = [p.name(), p.type(), p.is_buffer(), p.dimensions(), p.defined()]
    p.set_buffer(hl.Buffer(picture(4, 3)))
    p.set_min_constraint(0, 1)
    p.set_extent_constraint(1, 4)
    p.set_stride_constraint(1, 8)
    p.set_host_alignment(32)
    p.set_min_constraint_estimate(0, 2)
    p.set_extent_constraint_estimate(0, 640)
    found = [p.min_constraint(0), p.extent_constraint(1), p.stride_constraint(1), p.stride_constraint(0)]
    expected = [p.min_constraint_estimate(0), p.extent_constraint_estimate(0)]
    open_ = [p.min_constraint(1).defined(), p.extent_constraint(0).defined()]
    numbers = [[hl.evaluate(e) for e in those] for those in (found, expected)]
    made = hl.Parameter(hl.Int(8), True, 2, "made")
    first += [made.name(), made.dimensions(), made.is_buffer(), made.same_as(p)]
    return [first, p.buffer(), numbers, open_, p.host_alignment(), attempt(p.scalar_expr)]


@pipeline
def alignment_of_inputs(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    image = hl.ImageParam(hl.Float(32), 1, "image")
    f[x] = image[x] * 2.0
    image.set_host_alignment(64)
    image.set(hl.Buffer(hl.Float(32), [9]))
    f.realize([9])
    image.set(hl.Buffer(np.asarray(hl.Buffer(hl.Float(32), [9]))[1:]))
    return [image.host_alignment(), attempt(lambda: f.realize([8]))]


@pipeline
def interleaved_in_place(hl: Any) -> Any:
    x, y, c, f = hl.Var("x"), hl.Var("y"), hl.Var("c"), hl.Func("f")
    image = hl.ImageParam(hl.UInt(8), 3, "image")
    image.dim(0).set_stride(3)
    image.dim(2).set_stride(1).dim(2).set_bounds(0, 3)
    f[x, y, c] = image[x, y, c] + 1
    f.output_buffer().dim(0).set_stride(3)
    f.output_buffer().dim(2).set_stride(1)
    given, out = (hl.Buffer.make_interleaved(hl.UInt(8), 5, 4, 3) for _ in range(2))
    given.fill(7)
    image.set(given)
    f.realize(out)
    planar = hl.Buffer(hl.UInt(8), [5, 4, 3])
    image.set(planar)
    return [out, attempt(lambda: f.realize(out))]


@pipeline
def requirements(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    n, image = hl.Param(hl.Int(32), "n", 4), hl.ImageParam(hl.UInt(8), 1, "image")
    f[x] = image[x] + hl.u8(n)
    pipe = hl.Pipeline(f)
    pipe.add_requirement(image.dim(0).extent() % n == 0, "extent", image.dim(0).extent(), "and n", n)
    image.set(hl.Buffer(np.arange(8, dtype=np.uint8)))
    first = pipe.realize([8])
    n.set(3)
    return [first, attempt(lambda: pipe.realize([8]))]


@pipeline
def file_types(hl: Any) -> Any:
    types = hl.OutputFileType
    return [types.assembly, types.c_header, types.c_source, types.object, types.static_library, types.stmt]


@pipeline
def output_shape_questions(hl: Any) -> Any:
    x, y, c, f = hl.Var("x"), hl.Var("y"), hl.Var("c"), hl.Func("shaped")
    f[x, y, c] = x + 10 * y + 100 * c
    o = f.output_buffer()
    inside = (o.left() <= o.right()) & (o.top() <= o.bottom()) & (o.width() * o.height() * o.channels() > 0)
    f.specialize(inside).vectorize(x, 4)
    o.set_host_alignment(16)
    o.dim(1).set_extent(3)
    p = o.parameter()
    extent = hl.evaluate(p.extent_constraint(1))
    first = [p.name() == o.name(), p.is_buffer(), p.dimensions(), o.host_alignment(), extent]
    good, bad = hl.Buffer(hl.Int(32), [4, 3, 2]), hl.Buffer(hl.Int(32), [4, 4, 2])
    f.realize(good)
    return [first, good, attempt(lambda: f.realize(bad))]


@pipeline
def external_questions(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x
    return [f.is_extern(), f.extern_function_name(), len(f.output_buffers())]


@pipeline
def not_of_numbers(hl: Any) -> Any:
    x, r, f = hl.Var("x"), hl.RDom([(0, 3)]), hl.Func("f")
    f[x] = x
    return attempt(x.logical_not, r.x.logical_not, r.logical_not, f[x].logical_not)


@pipeline
def estimates_of_arguments(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("f")
    n, image = hl.Param(hl.Int(32), "n"), hl.ImageParam(hl.UInt(8), 1, "image")
    f[x] = image[x] + hl.u8(n)
    n.set_estimate(5)
    n.set_range(1, 9)
    image.dim(0).set_estimate(0, 64)
    both = [a.argument_estimates for a in f.infer_arguments()]
    box, scalar = [[hl.evaluate(each.min), hl.evaluate(each.extent)] for each in both[0].buffer_estimates], both[1]
    numbers = [hl.evaluate(e) for e in (scalar.scalar_min, scalar.scalar_max, scalar.scalar_estimate)]
    return [box, numbers, both[0].scalar_estimate.defined()]


@pipeline
def files_of_several_types(hl: Any) -> Any:
    x, f, image = hl.Var("x"), hl.Func("f"), hl.ImageParam(hl.UInt(8), 1, "image")
    f[x] = image[x] + 1
    with tempfile.TemporaryDirectory() as folder:
        kinds = {hl.OutputFileType.c_header: f"{folder}/a.h", hl.OutputFileType.object: f"{folder}/a.o"}
        f.compile_to(kinds, [image], "a")
        hl.Pipeline(f).compile_to({hl.OutputFileType.assembly: f"{folder}/b.s"}, [image], "b")
        f.compile_to_assembly(f"{folder}/c.s", [image], "c")
        hl.Pipeline(f).compile_to_assembly(f"{folder}/d.s", [image], "d")
        f.compile_to_conceptual_stmt(f"{folder}/e.txt", [image])
        hl.Pipeline(f).compile_to_conceptual_stmt(f"{folder}/f.txt", [image])
        wanted = [Path(folder) / name for name in ("a.h", "a.o", "b.s", "c.s", "d.s", "e.txt", "f.txt")]
        return [path.name for path in wanted if path.stat().st_size]
