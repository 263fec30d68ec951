"""Files and texts about a pipeline: files, arguments, loop nests. Their texts differ.

In and out as in ``making``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaigns.peer.making import Listing

pipeline = Listing()


def _scaled(hl: Any) -> Any:
    x, f = hl.Var("x"), hl.Func("scaled")
    ip, p = hl.ImageParam(hl.UInt(8), 1, "ip"), hl.Param(hl.UInt(8), "p", 2)
    f[x] = ip[x] * p
    return f, ip, p


def _written(folder: str) -> list[str]:
    """The files that aren't empty; a header of the runtime is this package's own affair."""
    return sorted(p.name for p in Path(folder).iterdir() if p.stat().st_size and p.name != "halide_runtime.h")


@pipeline
def func_to_files(hl: Any) -> Any:
    f, ip, p = _scaled(hl)
    with tempfile.TemporaryDirectory() as folder:
        f.compile_to_c(f"{folder}/a.c", [ip, p], "scaled")
        f.compile_to_header(f"{folder}/a.h", [ip, p], "scaled")
        f.compile_to_object(f"{folder}/a.o", [ip, p], "scaled")
        f.compile_to_file(f"{folder}/b", [ip, p], "scaled")
        f.compile_to_static_library(f"{folder}/c", [ip, p], "scaled")
        f.compile_to_lowered_stmt(f"{folder}/a.stmt", [ip, p], hl.StmtOutputFormat.Text)
        return _written(folder)


@pipeline
def pipeline_to_files(hl: Any) -> Any:
    f, ip, p = _scaled(hl)
    both = hl.Pipeline([f])
    with tempfile.TemporaryDirectory() as folder:
        both.compile_to_c(f"{folder}/a.c", [ip, p], "scaled")
        both.compile_to_header(f"{folder}/a.h", [ip, p], "scaled")
        both.compile_to_object(f"{folder}/a.o", [ip, p], "scaled")
        both.compile_to_file(f"{folder}/b", [ip, p], "scaled")
        both.compile_to_static_library(f"{folder}/c", [ip, p], "scaled")
        both.compile_to_lowered_stmt(f"{folder}/a.stmt", [ip, p], hl.StmtOutputFormat.Text)
        return _written(folder)


def _shown(hl: Any, path: str, vectors: bool = False) -> Any:
    """A Func whose values go to a file, and one that reads it."""
    x, y, f, g = hl.Var("x"), hl.Var("y"), hl.Func("f"), hl.Func("g")
    f[x, y] = hl.cast(hl.Int(16), x * 100 - y)
    g[x, y] = hl.i32(f[x, y]) + hl.i32(f[x, y + 1])
    f.compute_root().debug_to_file(path)
    if vectors:
        f.vectorize(x, 4, hl.TailStrategy.GuardWithIf)
    return g


@pipeline
def values_to_files(hl: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        plain, matlab = Path(folder, "f.tmp"), Path(folder, "f.mat")
        results = [_shown(hl, str(plain)).realize([6, 3]), _shown(hl, str(matlab), True).realize([6, 3])]
        # The first 124 bytes of the latter are a text that says who wrote it.
        return [*results, list(plain.read_bytes()), list(matlab.read_bytes()[124:]), _written(folder)]


@pipeline
def values_to_numpy_s_files(hl: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f.npy")
        result = _shown(hl, str(path)).realize([6, 3])
        return [result, list(np.load(path).shape), path.read_bytes()[-48:] == np.load(path).tobytes()]


@pipeline
def values_to_no_folder(hl: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        return _shown(hl, f"{folder}/none/f.tmp").realize([6, 3])


@pipeline
def loop_nests_print(hl: Any) -> Any:
    f, _, _ = _scaled(hl)
    f.print_loop_nest()
    hl.Pipeline(f).print_loop_nest()
    return "both did"


@pipeline
def func_arguments(hl: Any) -> Any:
    f, _, _ = _scaled(hl)
    return [[a.name, a.type, a.dimensions, a.kind] for a in f.infer_arguments()]


@pipeline
def compiled_before_use(hl: Any) -> Any:
    f, ip, _ = _scaled(hl)
    f.compile_jit()
    ip.set(hl.Buffer(np.arange(4, dtype=np.uint8)))
    first = f.realize([4])
    pipe = hl.Pipeline(f)
    pipe.compile_jit()
    pipe.invalidate_cache()
    return [first, pipe.realize([4])]


@pipeline
def pipeline_bounds_and_callable(hl: Any) -> Any:
    f, ip, p = _scaled(hl)
    pipe = hl.Pipeline(f)
    pipe.infer_input_bounds([5])
    width = ip.get().width()
    run, out = pipe.compile_to_callable([ip, p]), hl.Buffer(hl.UInt(8), [3])
    run(hl.Buffer(np.arange(3, dtype=np.uint8)), 5, out)
    return [width, out, isinstance(run, hl.Callable)]


@pipeline
def func_questions(hl: Any) -> Any:
    x, y, f = hl.Var("x"), hl.Var("y"), hl.Func("f")
    before = [f.defined(), f.has_update_definition(), f.num_update_definitions()]
    r = hl.RDom([(0, 3), (1, 4)])
    f[x, y] = hl.u8(x + y)
    f[x, y] += hl.u8(r.x * r.y)
    after = [f.defined(), f.has_update_definition(), f.num_update_definitions(), f.outputs(), len(f.rvars(0))]
    values = [f.value().type(), [v.type() for v in f.values()], f.update_value().type(), len(f.update_args())]
    stage = [len(f.rvars()), f[x, y].size(), isinstance(f[x, y], hl.FuncRef)]
    return [before, after, values, stage, isinstance(f.type(), hl.Type), f.args()[1].name()]


@pipeline
def domain_questions(hl: Any) -> Any:
    r = hl.RDom([(1, 2), (3, 4), (5, 6), (7, 8)])
    f = hl.Func("f")
    f[()] = 0
    f[()] += r.x + 10 * r.y + 100 * r.z + 1000 * r.w
    limits = [[hl.evaluate(v.min()), hl.evaluate(v.extent())] for v in (r.x, r.y, r.z, r.w)]
    size = hl.Range(2, 7)
    return [f.realize([]), limits, r.dimensions(), [hl.evaluate(size.min), hl.evaluate(size.extent)]]


@pipeline
def type_limits(hl: Any) -> Any:
    types = [hl.UInt(8), hl.Int(16), hl.Int(64), hl.UInt(32), hl.Bool(), hl.Float(32)]
    return [[hl.evaluate(t.min()) for t in types], [hl.evaluate(t.max()) for t in types]]


@pipeline
def all_params(hl: Any) -> Any:
    f = hl.Func("f")
    small, wide, real = hl.Param(hl.UInt(8), "small"), hl.Param(hl.Int(64), "wide"), hl.Param(hl.Float(64), "real")
    truth = hl.Param(hl.Bool(), "truth")
    f[()] = hl.select(truth, hl.f64(small) + hl.f64(wide), real)
    small.set(200)
    wide.set(-(2**33))
    real.set(0.25)
    truth.set(True)
    first = f.realize([])
    truth.set(False)
    small.set_range(0, 250)
    limits = [hl.evaluate(small.max_value()), small.min_value().defined()]
    return [first, f.realize([]), limits, small.type(), small.name()]


@pipeline
def dimensions_of_buffers(hl: Any) -> Any:
    b, ip = hl.Buffer(hl.UInt(8), [4, 3]), hl.ImageParam(hl.UInt(8), 2, "ip")
    f = hl.Func("f")
    d = ip.dim(1)
    f[()] = d.min() + d.max() * 10 + d.extent() * 100 + d.stride() * 1000
    ip.set(b)
    kinds = [isinstance(b.dim(0), hl.BufferDimension), isinstance(d, hl.Dimension)]
    e = b.translated([5, 6])
    return [kinds, f.realize([]), e.left(), e.top(), b.contains([3, 2]), b.contains([4, 0]), b.reverse_axes().width()]


@pipeline
def each_element(hl: Any) -> Any:
    b, seen = hl.Buffer(hl.UInt(8), [3, 2]), []
    b.for_each_element(lambda at: seen.append(list(at)))
    return seen
