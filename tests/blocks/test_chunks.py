"""Chunks as they lie: each is read once, and computed on where it is."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
import zarr
from zarr.storage import LocalStore

import halide_core as hl
from halide_core.blocks import piecewise
from halide_core.blocks.chunks import cut_out, load, stored_grid
from halide_core.blocks.kernel import Kernel
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
        zarr.create_array({}, shape=SHAPE, chunks=(100, 100), dtype="f4"),
        da.zeros((9, 9)),
    ):
        assert stored_grid(array) is None


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
