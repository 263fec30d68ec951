"""Arrays in blocks: the bytes of ``realize`` whatever the blocks are, and no byte is read that no block needs."""

from __future__ import annotations

import tracemalloc
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
import xarray
import zarr

import halide_core as hl
from halide_core.algorithm.model import realization_order
from tests.blocks.pipelines import APPS, App, stencil, unsharp, x, y

BOUNDARIES = {
    "repeat_edge": hl.BoundaryConditions.repeat_edge,
    "repeat_image": hl.BoundaryConditions.repeat_image,
    "mirror_image": hl.BoundaryConditions.mirror_image,
    "mirror_interior": hl.BoundaryConditions.mirror_interior,
    "constant_exterior": lambda image: hl.BoundaryConditions.constant_exterior(image, hl.f32(0.5)),
}


def _chunked(rng: np.random.Generator, array: Any) -> Any:
    """The array in Dask chunks of random lengths."""
    return da.from_array(array, chunks=tuple(int(rng.integers(1, n + 1)) for n in array.shape))


@pytest.mark.uncertified("it is about blocks, of which each is a pipeline of its own")
@pytest.mark.parametrize("name", APPS)
def test_ten_shapes_and_chunkings(name: str) -> None:
    app, rng = APPS[name](), np.random.default_rng(7)
    for k in range(10):
        shape = tuple(int(n) for n in rng.integers(2, 70 if app.dimensions == 2 else 20, app.dimensions))
        arrays = app.arrays(rng, shape)
        want = app.whole(arrays, shape)
        chunks = tuple(int(rng.integers(max(1, n // 4), n + 1)) for n in shape)
        given = {image: _chunked(rng, a) if k % 3 else a for image, a in arrays.items()}
        got = hl.dask.realize(app.func, shape, chunks=chunks if k % 4 else "auto", inputs=given)
        assert got.shape == shape and got.dtype == want.dtype
        assert np.array_equal(got.compute(scheduler="threads"), want), (shape, chunks)


@pytest.mark.uncertified("it is about blocks, of which each is a pipeline of its own")
@pytest.mark.parametrize("name", BOUNDARIES)
def test_boundary_conditions_hold_at_the_true_edge_only(name: str) -> None:
    app, rng = stencil(BOUNDARIES[name]), np.random.default_rng(3)
    for shape, chunks in (((50, 61), (16, 20)), ((5, 40), (5, 7)), ((40, 3), (9, 1))):
        arrays = app.arrays(rng, shape)
        want = app.whole(arrays, shape)
        given = {image: _chunked(rng, a) for image, a in arrays.items()}
        assert np.array_equal(hl.dask.realize(app.func, shape, chunks=chunks, inputs=given).compute(), want)


class _Recorded:
    """An array that remembers what is read of it."""

    def __init__(self, array: Any) -> None:
        self._array, self.shape, self.dtype = array, array.shape, array.dtype
        self.count = 0

    def __getitem__(self, index: Any) -> Any:
        part = self._array[index]
        self.count += part.nbytes
        return part


def test_no_byte_beyond_the_halo_is_read() -> None:
    app, rng = unsharp(), np.random.default_rng(3)
    shape = (64, 80)
    arrays = app.arrays(rng, shape)
    recorded = {image: _Recorded(a) for image, a in arrays.items()}
    got = hl.dask.realize(app.func, shape, chunks=(16, 20), inputs=recorded)
    assert np.array_equal(got.compute(scheduler="synchronous"), app.whole(arrays, shape))
    rows = [min(64, k + 17) - max(0, k - 1) for k in range(0, 64, 16)]
    columns = [min(80, k + 21) - max(0, k - 1) for k in range(0, 80, 20)]
    assert [r.count for r in recorded.values()] == [4 * sum(rows) * sum(columns)]
    chunked = {image: da.from_array(a, chunks=7) for image, a in arrays.items()}
    plan = hl.dask.plan(app.func, shape, chunks=(16, 20), inputs=chunked)
    assert plan.reads[0].needed == plan.reads[0].transferred == 4 * sum(rows) * sum(columns)
    assert plan.blocks == 16 and "16 blocks of up to 16 x 20" in str(plan)
    (across,) = plan.computed  # a row above each block, and one below
    assert (across.once, across.computed, across.largest) == (4 * 66 * 80, 4 * 4 * 18 * 80, 4 * 18 * 20)
    assert "across: 20.6 KiB in one piece; blocks compute 22.5 KiB, 1.4 KiB at most, 1.9 KiB of it again." in str(plan)


def _argmin() -> App:
    image = hl.ImageParam(hl.Int(32), 2, "image")
    r = hl.RDom(image, "r")
    f = hl.Func("least")
    f[()] = (0, 0, hl.Expr((1 << 31) - 1))
    less = image[r.x, r.y] < f[()][2]
    f[()] = (
        hl.select(less, r.x, f[()][0]), hl.select(less, r.y, f[()][1]), hl.min(image[r.x, r.y], f[()][2]),
    )  # fmt: skip
    return App(f, {image: lambda rng, shape: rng.integers(0, 9, (40, 30)).astype(np.int32)}, 0)


@pytest.mark.uncertified("it is about blocks, of which each is a pipeline of its own")
def test_an_argmin_counts_the_first_of_equal_ones() -> None:
    app, rng = _argmin(), np.random.default_rng(1)
    arrays = app.arrays(rng, ())
    for image, array in arrays.items():
        image.set(array)
    want = [int(np.asarray(v)) for v in app.func.realize([])]
    lazy = hl.dask.realize(app.func, (), inputs={i: _chunked(rng, a) for i, a in arrays.items()}, memory="1KiB")
    assert [int(v) for v in dask.compute(*lazy)] == want
    plan = hl.dask.plan(app.func, (), inputs=arrays, memory="1KiB")
    assert plan.tasks > 8, "the array is taken in in parts"
    sinks = [np.zeros((), np.int32) for _ in range(3)]
    hl.stream(app.func, next(iter(arrays.values())), sinks, memory="1KiB")
    assert [int(v) for v in sinks] == want


def test_sums_of_columns_and_several_outputs() -> None:
    image = hl.ImageParam(hl.Int(32), 2, "image")
    r = hl.RDom([(0, image.height())], "r")
    f = hl.Func("f")
    f[x] = 5
    f[x] += image[x, r]
    array = np.random.default_rng(0).integers(-9, 9, (33, 21)).astype(np.int32)
    lazy = hl.dask.realize(f, (21,), chunks=5, inputs={image: da.from_array(array, chunks=(8, 4))}, memory="512B")
    assert np.array_equal(lazy.compute(), 5 + array.sum(axis=0, dtype=np.int32))
    g = hl.Func("g")
    g[x, y] = (image[x, y] + 1, hl.f32(image[x, y]) / 2)
    a, b = hl.dask.realize(g, (33, 21), chunks=(10, 9), inputs={image: array})
    assert a.dtype == np.int32 and b.dtype == np.float32
    a, b = dask.compute(a, b)
    assert np.array_equal(a, array + 1) and np.array_equal(b, array.astype(np.float32) / 2)


def test_params_and_set_buffers_are_taken_as_they_are_then() -> None:
    image, p = hl.ImageParam(hl.Int(32), 1, "image"), hl.Param(hl.Int(32), "p", 3)
    f = hl.Func("f")
    f[x] = image[x] * p
    image.set(np.arange(10, dtype=np.int32))
    lazy = hl.dask.realize(f, (10,), chunks=4)
    p.set(100)
    assert lazy.compute().tolist() == [3 * k for k in range(10)]


def test_zarr_in_zarr_out(tmp_path: Any) -> None:
    app, rng = unsharp(), np.random.default_rng(5)
    shape = (61, 47)
    arrays = app.arrays(rng, shape)
    want = app.whole(arrays, shape)
    source = zarr.create_array(str(tmp_path / "in.zarr"), shape=shape, chunks=(16, 16), dtype="f4")
    source[:] = next(iter(arrays.values()))
    hl.dask.realize(app.func, shape, chunks=(16, 20), inputs={"image": da.from_zarr(source)}).to_zarr(
        str(tmp_path / "dask.zarr")
    )
    assert np.array_equal(zarr.open(str(tmp_path / "dask.zarr"))[:], want)
    sink = zarr.create_array(str(tmp_path / "out.zarr"), shape=shape, chunks=(10, 16), dtype="f4")
    told: list[tuple[int, int]] = []
    hl.stream(app.func, source, sink, memory="16KiB", progress=lambda done, of: told.append((done, of)))
    assert np.array_equal(sink[:], want)
    assert [done for done, _ in told] == list(range(1, told[0][1] + 1)) and len(told) > 1


class _Endless:
    """An array that has no memory: it makes what is read, and forgets what is written."""

    shape, dtype = (2000, 2000), np.dtype(np.float32)

    def __getitem__(self, index: Any) -> Any:
        return np.ones([i.stop - i.start for i in index], np.float32)

    def __setitem__(self, index: Any, values: Any) -> None:
        assert values.min() == 1


def test_a_stream_holds_no_more_than_it_may() -> None:
    app = unsharp()
    hl.stream(app.func, _Endless(), _Endless())  # loads and compiles
    tracemalloc.start()
    try:
        hl.stream(app.func, _Endless(), _Endless(), memory="4MiB")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 2 << 20 < peak < 5 << 20, "the picture has 16 MB"


def test_a_store_of_zarr_is_not_written_while_it_is_read(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    app, path = unsharp(), str(tmp_path / "a.zarr")
    zarr.create_array(path, shape=(8, 8), chunks=(4, 4), dtype="f4")
    (tmp_path / "link.zarr").symlink_to(path)
    monkeypatch.chdir(tmp_path)
    for other in (path, "a.zarr", "link.zarr"):
        with pytest.raises(hl.PipelineError, match='The array of "image" is written too'):
            hl.stream(app.func, zarr.open_array(path, mode="r"), zarr.open_array(other, mode="r+"))
    both = zarr.open_group("both.zarr", mode="w")
    source, sink = (both.create_array(name, shape=(8, 8), chunks=(4, 4), dtype="f4") for name in "ab")
    hl.stream(app.func, source, sink)  # of one store, and two arrays


def test_arrays_of_any_layout() -> None:
    image, f = hl.ImageParam(hl.Float(32), 2, "image"), hl.Func("f")
    f[x, y] = image[x, y] + 1
    base = np.random.default_rng(0).random((10, 12), np.float32)
    records = np.zeros((10, 12), dtype=[("a", "u1"), ("value", "f4")])
    records["value"] = base
    frozen = base.copy()
    frozen.flags.writeable = False
    row = np.broadcast_to(base[0], (10, 12))
    for array in (np.asfortranarray(base), base[::-1, ::-1], records["value"], frozen, row):
        got = hl.dask.realize(f, (10, 12), chunks=(3, 5), inputs={image: array}).compute()
        out = np.zeros((10, 12), np.float32)
        hl.stream(f, array, out, memory=300)
        assert np.array_equal(got, array + np.float32(1)) and np.array_equal(out, got)


def test_empty_results() -> None:
    app = unsharp()
    lazy = hl.dask.realize(app.func, (0, 5), inputs={i: np.ones((4, 4), np.float32) for i in app.inputs})
    assert lazy.compute().shape == (0, 5)


@pytest.mark.parametrize(("shape", "chunks"), [((3, 30), (2, 4)), ((3, 30), (3, 28))])
def test_vectors_of_a_narrow_block_are_taken_inside_of_the_whole(shape: tuple[int, int], chunks: Any) -> None:
    image, f = hl.ImageParam(hl.Float(32), 2, "image"), hl.Func("f")
    f[x, y] = image[x, y] + 1
    f.vectorize(x, 8)
    array = np.random.default_rng(0).random(shape, np.float32)
    assert np.array_equal(hl.dask.realize(f, shape, chunks=chunks, inputs={image: array}).compute(), array + 1)
    with pytest.raises(hl.PipelineError, match=r"takes whole vectors or tiles, and computes \[0, 7\] x \[0, 2\]"):
        hl.dask.realize(f, (3, 5), inputs={image: array[:, :5]})  # nor can one piece


def test_windows_begin_anywhere() -> None:
    image, f = hl.ImageParam(hl.Int(32), 2, "image"), hl.Func("f")
    f[x, y] = image[-x, y + 3] + 1000 * x + y
    array = np.arange(8 * 9, dtype=np.int32).reshape(8, 9)
    want = np.array([[array[y + 3, -x] + 1000 * x + y for x in range(-7, -2)] for y in range(-2, 4)], np.int32)
    given = {image: da.from_array(array, chunks=4)}
    assert np.array_equal(hl.dask.realize(f, want.shape, chunks=4, inputs=given, mins=(-2, -7)).compute(), want)
    out = np.zeros_like(want)
    hl.stream(f, array, out, memory=200, mins=(-2, -7))
    assert np.array_equal(out, want)


def test_buffers_begin_anywhere() -> None:
    image, f = hl.ImageParam(hl.Int(32), 2, "image"), hl.Func("f")
    image.dim(1).set_min(4)
    padded = hl.BoundaryConditions.repeat_edge(image)
    f[x, y] = padded[x - 2, y + 1] + 1000 * image.dim(0).min() + image.dim(1).max()
    buffer = hl.Buffer(np.arange(8 * 9, dtype=np.int32).reshape(8, 9))
    buffer.set_min([-3, 4])
    image.set(buffer)
    out = hl.Buffer(hl.Int(32), [15, 12])
    out.set_min([-6, 1])
    f.realize(out)
    for given in ({}, {image: buffer}):
        got = hl.dask.realize(f, (12, 15), chunks=(5, 4), inputs=given, mins=(1, -6))
        assert np.array_equal(got.compute(), np.asarray(out))
    with pytest.raises(hl.PipelineError, match='The min of dimension 1 of "image" is promised to be 4, but is 0'):
        hl.dask.realize(f, (12, 15), inputs={image: np.asarray(buffer)})


def test_what_is_required_of_a_min_is_of_that_which_the_user_gave() -> None:
    image, f = hl.ImageParam(hl.Int(32), 1, "image"), hl.Func("f")
    f[x] = hl.require(image.dim(0).min() > 2, image[x + 5])
    buffer = hl.Buffer(np.arange(20, dtype=np.int32))
    buffer.set_min([5])
    out = np.zeros(10, np.int32)
    hl.stream(f, {image: buffer}, out)
    assert out.tolist() == list(range(10))
    with pytest.raises(hl.PipelineError, match="Requirement Failed"):
        hl.stream(f, {image: np.arange(20, dtype=np.int32)}, out)


def test_whatever_has_elements_is_an_input() -> None:
    image, at, f = hl.ImageParam(hl.Int(32), 2, "recipe"), hl.ImageParam(hl.Int(32), 0, "at"), hl.Func("f")
    f[x] = image[3, x] + at[()]
    array = np.arange(8 * 9, dtype=np.int32).reshape(8, 9)
    one = da.from_array(np.array(5, np.int32))
    for given in (hl.Buffer(array), xarray.DataArray(da.from_array(array, chunks=4), dims=("v", "u"))):
        lazy = hl.dask.realize(f, (8,), chunks=3, inputs={image: given, at: one})
        assert np.array_equal(lazy.compute(), array[:, 3] + 5)
    assert "recipe-4-1" not in str(lazy.dask) and len(lazy.dask) < 40, "the chunks are those of the array inside"


def _spread(*, rows: bool) -> App:
    """A histogram of which the user factored a loop too; domains are as long as the arrays, in numbers."""
    image = hl.ImageParam(hl.UInt(8), 2, "image")
    padded = hl.BoundaryConditions.mirror_image(image)
    r, i, u = hl.RDom([(0, 50), (0, 40)], "r"), hl.Var("i"), hl.Var("u")
    hist, f = hl.Func("hist"), hl.Func("f")
    hist[i] = hl.u32(0)
    hist[hl.i32(padded[r.x - 1, r.y])] += hl.u32(1)
    hist.compute_root().update().rfactor(r.y if rows else r.x, u).compute_root().update().parallel(u)
    f[x, y] = hist[hl.i32(image[x, y])]
    return App(f, {image: lambda rng, shape: rng.integers(0, 256, shape).astype(np.uint8)})


@pytest.mark.uncertified("it is about blocks, of which each is a pipeline of its own")
@pytest.mark.parametrize("rows", [True, False])
def test_each_point_is_taken_in_once_and_read_where_it_is(*, rows: bool) -> None:
    app, rng = _spread(rows=rows), np.random.default_rng(2)
    arrays = app.arrays(rng, (40, 50))
    want = app.whole(arrays, (40, 50))
    chunked = {image: _chunked(rng, a) for image, a in arrays.items()}
    assert np.array_equal(hl.dask.realize(app.func, (40, 50), chunks=20, inputs=chunked, memory="2KiB").compute(), want)
    for memory in ("6KiB", "3KiB"):  # parts of whole rows, and of less
        out = np.zeros_like(want)
        hl.stream(app.func, next(iter(arrays.values())), out, memory=memory)
        assert np.array_equal(out, want)
    plan = hl.dask.plan(app.func, (40, 50), chunks=20, inputs=arrays, memory="2KiB")
    assert plan.reads[0].needed < 3 * plan.reads[0].array, "a mirror reads no more than is near"


def test_blocks_of_a_channel_are_as_interleaved_as_is_promised() -> None:
    image, c, f = hl.ImageParam(hl.UInt(8), 3, "image"), hl.Var("c"), hl.Func("f")
    f[x, y, c] = image[x, y, c] + hl.u8(1)
    for buffer in (image, f.output_buffer()):
        buffer.dim(0).set_stride(3)
        buffer.dim(2).set_stride(1)
    array = np.random.default_rng(0).integers(0, 255, (9, 11, 3)).astype(np.uint8).transpose(2, 0, 1)
    given = {image: da.from_array(array, chunks=(2, 2, 4))}
    lazy = hl.dask.realize(f, array.shape, chunks=(2, 4, 5), inputs=given)
    assert np.array_equal(lazy.compute(scheduler="synchronous"), array + 1)
    out = np.zeros_like(array)
    hl.stream(f, array, out, memory=60)
    assert np.array_equal(out, array + 1)
    image.set(hl.Buffer(array))
    assert np.array_equal(np.asarray(f.realize([11, 9, 1])), array[:1] + 1), "one piece of one channel"


def test_wrappers_of_inputs_go_with_what_reads_them() -> None:
    image, f, g = hl.ImageParam(hl.Int(32), 2, "image"), hl.Func("f"), hl.Func("g")
    padded = hl.BoundaryConditions.mirror_interior(image)
    g[x, y] = padded[x - 1, y] + image[x, y] * image.width()
    f[x, y] = g[x, y] + padded[x, y + 2]
    g.compute_at(f, y)
    image.in_(g).compute_root()
    padded.compute_root()
    image.in_().compute_root()
    array = np.arange(15 * 18, dtype=np.int32).reshape(15, 18)
    image.set(array)
    want = np.asarray(f.realize([18, 15]))
    lazy = hl.dask.realize(f, (15, 18), chunks=(4, 7), inputs={image: da.from_array(array, chunks=5)})
    assert np.array_equal(lazy.compute(), want)
    recipes = [node.value for key, node in dict(lazy.dask).items() if str(key).endswith("-recipe")]
    for recipe in recipes:
        names = [each.name for each in realization_order(recipe.local.outputs)]
        assert len([n for n in names if n.startswith("image_in")]) == 2, names
    assert len(recipes) == 2, "far from the edges, and near them"
    plan = hl.dask.plan(f, (15, 18), chunks=(4, 7), inputs={image: array})
    assert plan.reads[0].needed < 2 * plan.reads[0].array, "a mirror reads no more than is near"


def test_a_reduction_that_was_placed_in_its_reader_is_taken_in_alone() -> None:
    even, twice, least, f = map(hl.Func, ("even", "twice", "least", "f"))
    image = hl.ImageParam(hl.Int(32), 2, "image")
    r = hl.RDom(image, "r")
    even[x, y] = image[x, y] / 2
    twice[x, y] = even[x, y] * 2
    least[x] = 100
    least[x] = hl.min(least[x], twice[r.x, r.y] + x)
    f[x, y] = least[x] + image[x, y]
    least.compute_at(f, y).store_root()
    twice.compute_at(f, y)
    even.compute_at(twice, y)
    array = np.random.default_rng(0).integers(-9, 9, (20, 30)).astype(np.int32)
    image.set(array)
    want = np.asarray(f.realize([30, 20]))
    lazy = hl.dask.realize(f, (20, 30), chunks=(7, 9), inputs={image: array}, memory="512B")
    assert np.array_equal(lazy.compute(), want)


@pytest.mark.uncertified("it is about blocks, of which each is a pipeline of its own")
@pytest.mark.parametrize("read", [True, False])
def test_a_reduction_of_points_that_were_left_undefined(*, read: bool) -> None:
    image, total, most, f = hl.ImageParam(hl.Int(32), 1, "image"), hl.Func("total"), hl.Func("most"), hl.Func("f")
    r = hl.RDom(image, "r")
    total[x] = hl.undef(hl.Int(32))
    total[x] += image[r] * x
    most[x] = hl.undef(hl.Int(32))
    most[x] = hl.max(most[x], image[r] - 1000 - x)  # the point is 0 before
    f[x] = total[x] + most[x]
    array = np.arange(1, 101, dtype=np.int32)
    image.set(array)
    for g in (f,) if read else (total, most):
        lazy = hl.dask.realize(g, (4,), inputs={image: da.from_array(array, chunks=30)}, memory="64B")
        assert np.array_equal(lazy.compute(), g.realize([4]))


def test_loops_of_a_reduction_that_its_reader_computes() -> None:
    image, total, f = hl.ImageParam(hl.Int(32), 2, "image"), hl.Func("total"), hl.Func("f")
    r = hl.RDom(image, "r")
    total[x] = x
    total[x] += image[r.x, r.y]
    total.vectorize(x, 4).store_in(hl.MemoryType.Heap)
    f[x] = total[x] + total[x + 1]
    array = np.random.default_rng(0).integers(-9, 9, (20, 30)).astype(np.int32)
    image.set(array)
    want = np.asarray(f.realize([9]))
    assert np.array_equal(hl.dask.realize(f, (9,), chunks=4, inputs={image: array}, memory="512B").compute(), want)
