"""Chunks as they lie: each is read once, and computed on where it is."""

from __future__ import annotations

import weakref
from collections import Counter
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
import zarr
from zarr.storage import LocalStore, MemoryStore

import halide_core as hl
from halide_core.blocks import piecewise, reading
from halide_core.blocks.chunks import Grid, cut_out, load, put, stored_grid
from halide_core.blocks.kernel import Kernel
from halide_core.blocks.regions import slices
from halide_core.dask import blocked, sources
from halide_core.lang.buffer import Buffer
from halide_core.run.backend import Box
from tests.blocks.pipelines import APPS, unsharp, x, y

SHAPE, CHUNKS = (1100, 1400), (512, 512)  # of a mebibyte each, of float32


class _Counting(LocalStore):
    """A store that counts how often each chunk is read."""

    def __init__(self, root: Path, *, read_only: bool = False) -> None:
        super().__init__(root, read_only=read_only)
        self.reads: Counter[str] = Counter()

    async def get(self, key: str, *arguments: Any, **options: Any) -> Any:
        """The bytes that are stored."""
        if "/c/" in f"/{key}":
            self.reads[key] += 1
        return await super().get(key, *arguments, **options)


def _picture(root: Path, **options: Any) -> tuple[Any, _Counting]:
    store = _Counting(root)
    array: Any = zarr.create_array(store, shape=SHAPE, chunks=CHUNKS, dtype="f4", **options)
    array[:] = np.random.default_rng(0).random(SHAPE, np.float32)
    store.reads.clear()
    return array, store


def _from_store_to_store(root: Path) -> tuple[Any, Any, tuple[Any, _Counting], tuple[Any, _Counting]]:
    """An unsharp mask, its values, a picture to make it of, and one to write it to."""
    app = unsharp()
    (image,) = app.inputs
    array, store = _picture(root / "in")
    want = app.whole({image: array[:]}, SHAPE)
    store.reads.clear()
    return app, want, (array, store), _picture(root / "out")


@pytest.mark.parametrize("chunks", [CHUNKS, (300, 700)])
def test_each_chunk_of_a_store_is_read_once(tmp_path: Path, chunks: tuple[int, int]) -> None:
    app = unsharp()
    (image,) = app.inputs
    array, store = _picture(tmp_path)
    want = app.whole({image: array[:]}, SHAPE)
    store.reads.clear()
    lazy = hl.dask.realize(app.func, SHAPE, chunks=chunks, inputs={image: array})
    assert not store.reads, "nothing is read before it is computed"
    assert np.array_equal(lazy.compute(), want)
    assert len(store.reads) == 9 and set(store.reads.values()) == {1}
    plan = hl.dask.plan(app.func, SHAPE, chunks=chunks, inputs={image: array})
    assert plan.reads[0].needed == plan.reads[0].transferred


@pytest.mark.parametrize(("memory", "most"), [("40MiB", 1), ("9MiB", 2)])
def test_a_stream_reads_each_chunk_once_if_there_is_memory(tmp_path: Path, memory: str, most: int) -> None:
    app, want, (array, store), (sink, written) = _from_store_to_store(tmp_path)
    done: list[int] = []
    hl.stream(app.func, array, sink, memory=memory, progress=lambda k, of: done.append(k))
    assert len(store.reads) == 9 and max(store.reads.values()) <= most
    assert not written.reads and len(done) == 9, "a block is a chunk of the result, which is not read again"
    assert np.array_equal(sink[:], want)


def test_chunks_that_are_needed_last_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.arange(40).reshape(4, 10)
    loads: list[Box] = []

    def spied(source: Any, box: Box) -> Any:
        loads.append(box)
        return source[slices(box)]

    monkeypatch.setattr(reading, "load", spied)
    row: list[Box] = [((0, 10), (k, 1)) for k in range(4)]
    steps = [row[0], row[1], row[2], row[0], row[1], row[2], ((2, 1), (3, 1)), ((0, 1), (0, 4))]
    reader = reading.ChunkReader(array, Grid([[10], [1] * 4]), enumerate(steps), memory=2 * array[:1].nbytes)
    for k, box in enumerate(steps):
        pieces = reader.pieces(k, box)
        for of, part in pieces:
            assert np.array_equal(part, array[slices(of)])
        assert [of for of, _ in pieces] == [((box[0]), (n, 1)) for n in range(box[1][0], sum(box[1]))]
    assert loads == [row[0], row[1], row[2], row[2], row[3]], "row 2 was needed last; columns are cut at once"


def test_chunks_of_nothing_but_the_fill_value_are_not_stored() -> None:
    store = MemoryStore()
    array: Any = zarr.create_array(store, shape=SHAPE, chunks=CHUNKS, dtype="f4", fill_value=0)
    values = np.zeros((1024, 512), np.float32)
    values[700, 300] = 1  # no corner
    put(array, (slice(0, 1024), slice(512, 1024)), values)
    assert array.nchunks_initialized == 1 and np.array_equal(array[:1024, 512:1024], values)
    values[:] = 0
    put(array, (slice(0, 1024), slice(512, 1024)), values)
    assert array.nchunks_initialized == 0
    values[:] = 5
    put(array, (slice(3, 1027), slice(500, 1012)), values)
    assert array[:].sum() == 5 * values.size and array[3:, 500:1012].min() == 0 == array[0].max()


@pytest.mark.parametrize(
    "options",
    [
        {"compressors": None},
        {"compressors": None, "filters": None, "zarr_format": 2},
        {"compressors": None, "zarr_format": 2, "order": "F", "filters": None},
        {},
        {"shards": (1024, 512)},
    ],
)
def test_chunks_are_as_a_slice_has_them(tmp_path: Path, options: dict[str, Any]) -> None:
    array, _ = _picture(tmp_path, **options)
    grid = stored_grid(array)
    assert grid is not None
    for place in ((0, 0), (1, 2), (2, 1)):
        (low, width), (top, height) = grid.box(place)
        want = array[top : top + height, low : low + width]
        assert np.array_equal(load(array, grid.box(place)), want) and want.shape == (height, width)


def test_chunks_that_a_store_does_not_have_or_has_in_another_order_of_bytes() -> None:
    empty = zarr.create_array({}, shape=SHAPE, chunks=CHUNKS, dtype="f4", fill_value=7)
    assert (load(empty, ((512, 512), (0, 512))) == 7).all()
    foreign: Any = zarr.create_array({}, shape=SHAPE, chunks=CHUNKS, dtype=">f4")
    foreign[:] = np.broadcast_to(np.arange(1400, dtype=np.float32), SHAPE)
    assert np.array_equal(load(foreign, ((512, 512), (0, 512)))[3], np.arange(512, 1024))


def test_a_chunk_is_not_copied(tmp_path: Path) -> None:
    array, _ = _picture(tmp_path, compressors=None)
    chunk = load(array, ((0, 512), (0, 512)))
    assert not chunk.flags.writeable, "it is the bytes that the store gave"


def test_what_is_cut_out_of_a_chunk_does_not_keep_the_chunk() -> None:
    chunk = np.zeros((512, 512), np.float32)
    for index in ((slice(0, 3), slice(0, 512)), (slice(0, 512), slice(0, 3))):
        assert not np.shares_memory(cut_out(chunk, index), chunk)


def test_small_chunks_are_sliced_together() -> None:
    for array in (
        np.zeros((9, 9)),
        np.zeros(()),
        zarr.create_array({}, shape=SHAPE, chunks=(100, 100), dtype="f4"),
        da.zeros((9, 9)),
    ):
        assert stored_grid(array) is None


def test_dask_stores_a_result_chunk_by_chunk(tmp_path: Path) -> None:
    app, want, (array, store), (sink, written) = _from_store_to_store(tmp_path)
    (image,) = app.inputs
    lazy = hl.dask.store(app.func, sink, inputs={image: array})
    assert not store.reads, "nothing is read before it is computed"
    assert lazy.compute() is None
    assert set(store.reads.values()) == {1} and not written.reads, "no chunk is read to be written in parts"
    assert np.array_equal(sink[:], want)
    out = np.zeros(SHAPE, np.float32)
    hl.dask.store(app.func, out, chunks=(300, 333), inputs={image: da.from_zarr(array)}).compute()
    assert np.array_equal(out, want)


def test_dask_stores_several_values_of_a_func() -> None:
    image, f, r = hl.ImageParam(hl.Int(32), 2, "image"), hl.Func("f"), hl.RDom([(0, 40)], "r")
    total = hl.Func("total")
    total[()] = 0
    total[()] += image[r, 0]
    f[x, y] = (image[x, y] + total[()], hl.f32(image[x, y]))
    array = np.arange(40 * 30, dtype=np.int32).reshape(30, 40)
    sinks: list[Any] = [zarr.create_array({}, shape=(6, 5), chunks=(2, 5), dtype=dtype) for dtype in ("i4", "f4")]
    hl.dask.store(f, sinks, chunks=(4, 5), inputs={image: array}, mins=(20, 30)).compute()
    assert np.array_equal(sinks[0][:], array[20:26, 30:35] + array[0].sum())
    assert np.array_equal(sinks[1][:], array[20:26, 30:35].astype(np.float32))


def test_no_two_blocks_write_one_chunk() -> None:
    app = unsharp()
    sink = zarr.create_array({}, shape=(40, 30), chunks=(8, 30), dtype="f4")
    inputs = {"image": np.zeros((40, 30), np.float32)}
    with pytest.raises(hl.PipelineError, match="along axis 0 its chunks have 8 elements, and a block begins at 12"):
        hl.dask.store(app.func, sink, chunks=(12, 15), inputs=inputs)
    with pytest.raises(hl.PipelineError, match="along axis 1 its chunks have 30 elements, and a block begins at 15"):
        hl.dask.store(app.func, sink, chunks=(16, 15), inputs=inputs)
    for wrong, told in ((np.zeros((4, 4)), "needs an array of shape"), (3, "needs an array to be written to, not int")):
        with pytest.raises(hl.PipelineError, match=told):
            hl.dask.store(app.func, wrong, inputs=inputs)
    with pytest.raises(hl.PipelineError, match="of a Func or a Pipeline, not of 'f'"):
        hl.dask.store("f", sink, inputs=inputs)  # type: ignore[arg-type]


def test_few_chunks_wait_for_blocks_beside_them(monkeypatch: pytest.MonkeyPatch) -> None:
    app, shape = unsharp(), (13 * 16, 13 * 16)  # numbers of one digit and of two
    array = np.random.default_rng(0).random(shape, np.float32)
    live, most = 0, 0

    def gone() -> None:
        nonlocal live
        live -= 1

    def spied(source: Any, box: Box) -> Any:
        nonlocal live, most
        chunk = source[slices(box)].copy()
        weakref.finalize(chunk, gone)
        live += 1
        most = max(most, live)
        return chunk

    monkeypatch.setattr(sources, "load", spied)
    monkeypatch.setattr(blocked, "stored_grid", lambda array: Grid([[16] * 13] * 2))
    out = np.zeros(shape, np.float32)
    hl.dask.store(app.func, out, chunks=16, inputs=dict.fromkeys(app.inputs, array)).compute(scheduler="synchronous")
    assert np.array_equal(out, app.whole(dict.fromkeys(app.inputs, array), shape))
    assert live == 0 and most <= 13 + 4, "one row of chunks, and those of the block"


def _joined(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of all copies that join pieces of inputs from now on."""
    sizes: list[int] = []
    room = Kernel.room

    def spied(self: Kernel, k: int, box: Box) -> Buffer:
        result = room(self, k, box)
        sizes.append(result.number_of_elements())
        return result

    monkeypatch.setattr(Kernel, "room", spied)
    return sizes


def test_most_of_a_block_is_computed_on_a_chunk_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    app, rng = unsharp(), np.random.default_rng(1)
    shape = (300, 330)
    arrays = app.arrays(rng, shape)
    want = app.whole(arrays, shape)
    given = {image: da.from_array(a, chunks=100) for image, a in arrays.items()}
    lazy = hl.dask.realize(app.func, shape, chunks=100, inputs=given)
    sizes = _joined(monkeypatch)
    assert np.array_equal(lazy.compute(scheduler="synchronous"), want)
    # A vector's rounding makes strips of up to 16 and 14 more points at the right.
    assert sizes and sum(sizes) < 0.4 * 300 * 330, "frames of one point, and no block"


@pytest.mark.uncertified("it is about blocks, of which each is a pipeline of its own")
@pytest.mark.parametrize("name", APPS)
def test_blocks_where_the_chunks_are(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app, rng = APPS[name](), np.random.default_rng(4)
    shape = (150, 140) if app.dimensions == 2 else (40, 41, 45)
    arrays = app.arrays(rng, shape)
    want = app.whole(arrays, shape)
    given = {
        image: da.from_array(a, chunks=(-1,) * (a.ndim - len(shape)) + (64,) * len(shape))
        for image, a in arrays.items()
    }
    lazy = hl.dask.realize(app.func, shape, chunks=64 if app.dimensions == 2 else 32, inputs=given)
    parts: list[int] = []
    split = piecewise._parts

    def spied(*arguments: Any) -> Any:
        found = split(*arguments)
        parts.append(len(found or ()))
        return found

    monkeypatch.setattr(piecewise, "_parts", spied)
    assert np.array_equal(lazy.compute(), want)
    assert (max(parts) > 1) == (name in ("unsharp", "harris", "pyramid", "warp")), "of the others each reads one chunk"


def test_points_that_a_func_leaves_undefined_are_as_in_one_piece() -> None:
    image, f = hl.ImageParam(hl.Int(32), 2, "image"), hl.Func("f")
    f[x, y] = hl.undef(hl.Int(32))
    f[x, 3] = image[x, 3]
    array = np.arange(600 * 700, dtype=np.int32).reshape(700, 600)
    image.set(array)
    want = np.asarray(f.realize([600, 700]))
    for _ in range(3):
        np.full((700, 600), -1, np.int32)  # memory that was used before
        lazy = hl.dask.realize(f, (700, 600), chunks=(350, 600), inputs={image: array})
        assert np.array_equal(lazy.compute(scheduler="synchronous"), want)


def test_points_that_keep_what_they_had_are_updated_once() -> None:
    image, f = hl.ImageParam(hl.Int(32), 2, "image"), hl.Func("f")
    f[x, y] = hl.undef(hl.Int(32))
    f[x, y] += image[2 * x, y]
    f.update().vectorize(x, 16, hl.TailStrategy.RoundUp)  # two parts of a block would round up to the same points
    array = np.arange(64 * 1024, dtype=np.int32).reshape(64, 1024)
    chunked = da.from_array(array, chunks=(64, (1000, 24)))
    got = hl.dask.realize(f, (64, 512), chunks=(64, 512), inputs={image: chunked}).compute()
    assert np.array_equal(got, array[:, ::2])
