"""A picture on disk, unsharp masked in blocks: beside Dask's ``map_overlap`` with scipy, and beside one ``realize``.

    python -m benchmarks.blocks                              # 30000 x 30000 float32, by Dask's threads, in one process
    python -m benchmarks.blocks --workers 2                  # on a local cluster of two workers of 1 GiB
    python -m benchmarks.blocks --size 8000 --peer-size 4000 --part peer --part ours

Pipelines are compiled before the clock starts. Each part runs in processes of its own and prints seconds, nanoseconds a
point (so that a peer that took a smaller picture can be compared) and the peak of each worker's resident memory. A
``--scratch`` in memory (/dev/shm) leaves the disk out. All parts read and write arrays of the same chunks and codecs;
before Zarr stores a chunk it compares it with the fill value, if ``--check-empty`` says so. The parts:

    realize    one ``realize`` of a picture that fits memory, on all cores: its best time
    one-piece  the same from Zarr to Zarr: read whole, realized, written
    ours       Zarr -> ``hl.dask.store`` -> Zarr, by Dask's threads or on a local cluster
    ours-dask  Zarr -> ``da.from_zarr`` -> ``hl.dask.realize`` -> ``da.store`` -> Zarr, the same
    stream     Zarr -> ``hl.stream`` -> Zarr, in one process
    peer       Zarr -> ``map_overlap`` + ``scipy.ndimage`` -> Zarr, by the same threads or workers
    copy       Zarr -> Zarr by Dask, nothing computed: what reading and writing alone take
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask.array as da
import distributed
import numpy as np
import zarr
from scipy import ndimage

import halide_core as hl
import halide_core.dask

_SIGMA = 1.5
_WEIGHTS = [math.exp(-k * k / (2 * _SIGMA**2)) / (math.sqrt(2 * math.pi) * _SIGMA) for k in range(4)]
_KERNEL = np.array([_WEIGHTS[abs(k)] for k in range(-3, 4)], np.float32)
_AMOUNT = np.float32(2)
_REALIZED = 8192
"""The width of the picture of one ``realize``."""
PARTS = ("realize", "one-piece", "copy", "ours", "ours-dask", "stream", "peer")


@dataclass(frozen=True)
class Task:
    """A part to run: the stores, and how many workers of how much memory."""

    part: str
    source: str
    sink: str
    size: int
    chunk: int
    workers: int
    memory: str
    check_empty: bool

    def opened(self) -> Any:
        """The array to write to."""
        return zarr.open_array(self.sink, mode="r+").with_config({"write_empty_chunks": not self.check_empty})


@dataclass(frozen=True)
class Result:
    """Seconds, those of all cores, points, and the peak of the resident memory of each worker, in bytes."""

    seconds: float
    cpu: float
    points: int
    peaks: tuple[int, ...]

    @property
    def ns(self) -> float:
        """Nanoseconds a point."""
        return self.seconds / self.points * 1e9

    def line(self, name: str) -> str:
        """A row of the report."""
        peaks = ", ".join(f"{p / 2**20:.0f}" for p in self.peaks)
        head = f"{name:11} {self.points / 1e6:5.0f} Mpoints {self.seconds:7.2f} s {self.ns:7.2f} ns/point"
        return f"{head}, {self.cpu / self.points * 1e9:7.2f} ns of CPU; peak MiB: {peaks}"


def _unsharp() -> tuple[hl.Func, hl.ImageParam]:
    """The pipeline: strips of rows, a window of rows that slides in each."""
    image = hl.ImageParam(hl.Float(32), 2, "image")
    padded = hl.BoundaryConditions.repeat_edge(image)
    x, y, yo, yi = hl.Var("x"), hl.Var("y"), hl.Var("yo"), hl.Var("yi")
    down, across, sharp = hl.Func("down"), hl.Func("across"), hl.Func("sharp")
    taps = [hl.f32(float(w)) for w in _KERNEL[3:]]
    down[x, y] = taps[0] * padded[x, y] + sum(
        (taps[k] * (padded[x, y - k] + padded[x, y + k]) for k in (1, 2, 3)), hl.f32(0)
    )
    across[x, y] = taps[0] * down[x, y] + sum(
        (taps[k] * (down[x - k, y] + down[x + k, y]) for k in (1, 2, 3)), hl.f32(0)
    )
    sharp[x, y] = padded[x, y] + hl.f32(float(_AMOUNT)) * (padded[x, y] - across[x, y])
    sharp.split(y, yo, yi, 64, hl.TailStrategy.GuardWithIf).parallel(yo)
    sharp.vectorize(x, 16, hl.TailStrategy.GuardWithIf)
    down.compute_at(sharp, yi).vectorize(x, 16)
    return sharp, image


def _scipy_unsharp(block: Any) -> Any:
    soft = ndimage.correlate1d(ndimage.correlate1d(block, _KERNEL, 0, mode="nearest"), _KERNEL, 1, mode="nearest")
    return block + _AMOUNT * (block - soft)


def peak_memory() -> int:
    """The peak of this process's resident memory, in bytes."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def make_store(path: str, size: int, chunk: int, *, compressed: bool, filled: bool) -> None:
    """A Zarr array; filled, of a smooth picture with noise, chunk by chunk."""
    compressors = "auto" if compressed else None
    store: Any = zarr.create_array(
        path, shape=(size, size), chunks=(chunk, chunk), dtype="f4", compressors=compressors, overwrite=True
    )
    if not filled:
        return
    noise = np.random.default_rng(1).random((chunk, chunk), np.float32)
    for y in range(0, size, chunk):
        for x in range(0, size, chunk):
            part = noise + np.float32((x + y) / size)
            store[y : y + chunk, x : x + chunk] = part[: size - y, : size - x]


def _clustered(task: Task, made: Callable[[Any], Any]) -> Result:
    """The time that a cluster takes from store to store, or without processes of its own Dask's threads in this one."""
    if not task.workers:
        return _timed(lambda: _stored(task, made, scheduler="threads"), task.size**2)
    with (
        distributed.LocalCluster(
            n_workers=task.workers,
            threads_per_worker=max(1, (os.cpu_count() or 1) // task.workers),
            memory_limit=task.memory,
            dashboard_address=None,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(_warmed)
        used = sum(client.run(time.process_time).values()) + time.process_time()
        begin = time.perf_counter()
        _stored(task, made)
        seconds = time.perf_counter() - begin
        used = sum(client.run(time.process_time).values()) + time.process_time() - used
        peaks = tuple(client.run(peak_memory).values())
    return Result(seconds, used, task.size**2, peaks)


def _stored(task: Task, made: Callable[[Any], Any], **options: Any) -> None:
    """Computes from store to store."""
    source, sink = zarr.open_array(task.source, mode="r"), task.opened()
    if task.part == "ours":
        sharp, image = _unsharp()
        lazy = halide_core.dask.store(sharp, sink, chunks=task.chunk, inputs={image: source})
        lazy.compute(**options)
    else:
        da.store(made(da.from_zarr(source)), sink, lock=False, **options)


def _timed(once: Callable[[], object], points: int, times: int = 1) -> Result:
    """The best of some runs in this process."""
    results = []
    for _ in range(times):
        begin, used = time.perf_counter(), time.process_time()
        once()
        results.append((time.perf_counter() - begin, time.process_time() - used))
    return Result(*min(results), points, (peak_memory(),))


def _warmed() -> None:
    """Imports and compiles what a worker's first task would: the C code of blocks doesn't depend on their sizes."""
    sharp, image = _unsharp()
    array = np.zeros((64, 64), np.float32)
    halide_core.dask.realize(sharp, array.shape, chunks=16, inputs={image: array}).compute(scheduler="synchronous")
    _scipy_unsharp(array)


def run(task: Task) -> Result:
    """One part, in this process."""
    _warmed()
    sharp, image = _unsharp()
    shape = (task.size, task.size)
    if task.part == "one-piece":
        n = min(task.size, _REALIZED)

        def whole() -> None:
            image.set(np.asarray(zarr.open_array(task.source, mode="r")[:n, :n]))
            task.opened()[:n, :n] = np.asarray(sharp.realize([n, n]))

        return _timed(whole, n * n)
    if task.part == "realize":
        n = min(task.size, _REALIZED)
        image.set(np.random.default_rng(1).random((n, n), np.float32))
        out = hl.Buffer(hl.Float(32), [n, n])
        return _timed(lambda: sharp.realize(out), n * n, 7)
    if task.part == "stream":
        source, sink = zarr.open_array(task.source, mode="r"), task.opened()
        return _timed(lambda: hl.stream(sharp, source, sink, memory="512MiB"), task.size**2)
    if task.part == "copy":
        return _clustered(task, lambda array: array)
    if task.part == "peer":
        return _clustered(
            task, lambda array: array.map_overlap(_scipy_unsharp, depth=3, boundary="nearest", dtype=np.float32)
        )
    chunks = (task.chunk, task.chunk)
    return _clustered(task, lambda array: halide_core.dask.realize(sharp, shape, chunks=chunks, inputs={image: array}))


def _equal(task: Task) -> bool:
    """True where the sink has what scipy computes for some windows, near the edges and far from them."""
    source, sink = zarr.open_array(task.source, mode="r"), zarr.open_array(task.sink, mode="r")
    n, w = task.size, min(task.size, 300)
    for low in {0, max(0, task.chunk - w // 2), n - w}:
        begin, end = max(0, low - 3), min(n, low + w + 3)
        part: Any = np.asarray(source[begin:end, begin:end])
        want = _scipy_unsharp(part)[low - begin :, low - begin :][: min(w, n - low), : min(w, n - low)]
        if not np.allclose(np.asarray(sink[low : low + w, low : low + w]), want, rtol=1e-4, atol=1e-4):
            return False
    return True


def _apart(task: Task) -> Result:
    """A part in a process of its own, so that its peak is its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(run, task).result()


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the parts and prints the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=30000, help="width and height of our picture")
    parser.add_argument("--peer-size", type=int, default=10000, help="of the peer's, which is compared by points")
    parser.add_argument("--chunk", type=int, default=2048, help="width and height of a chunk of Zarr")
    parser.add_argument("--workers", type=int, default=0, help="processes of a local cluster; 0: threads in this one")
    parser.add_argument("--memory", default="1GiB", help="of each worker: Dask's limit")
    parser.add_argument("--compressed", action="store_true", help="Zarr's own compression instead of none")
    parser.add_argument("--check-empty", action="store_true", help="let Zarr leave out chunks of the fill value alone")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this; may be repeated")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each part; the best counts")
    parser.add_argument("--scratch", type=Path, help="a folder for the stores; a temporary one by default")
    given = parser.parse_args(arguments)
    scratch = given.scratch or Path(tempfile.mkdtemp(prefix="halide_core_blocks"))
    need, free = 8 * given.size**2, shutil.disk_usage(scratch.parent if not scratch.exists() else scratch).free
    if free < 1.2 * need:
        told = f"{scratch} has {free / 1e9:.0f} GB free; the stores need {need / 1e9:.0f} GB"
        raise SystemExit(f"{told}: another --scratch, or a smaller --size.")
    best: dict[str, Result] = {}
    try:
        for size in dict.fromkeys((given.size, given.peer_size)):
            make_store(f"{scratch}/in{size}.zarr", size, given.chunk, compressed=given.compressed, filled=True)
        for part in (given.part or PARTS) * given.repeat:
            size = given.peer_size if part == "peer" else given.size
            source, sink = f"{scratch}/in{size}.zarr", f"{scratch}/out.zarr"
            make_store(sink, size, given.chunk, compressed=given.compressed, filled=False)
            task = Task(part, source, sink, size, given.chunk, given.workers, given.memory, given.check_empty)
            result = _apart(task)
            if part not in ("realize", "one-piece", "copy") and not _equal(task):
                raise SystemExit(f'The result of "{part}" is wrong.')
            print(result.line(part), flush=True)
            if part not in best or result.seconds < best[part].seconds:
                best[part] = result
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    for part in ("ours", "ours-dask", "stream"):
        for other in ("peer", "realize", "one-piece", "copy"):
            if part in best and other in best:
                a, b = best[part], best[other]
                cpu = (a.cpu / a.points) / (b.cpu / b.points)
                print(f"{part} takes {a.ns / b.ns:.3f} of the time of {other}, and {cpu:.3f} of its CPU, a point")


if __name__ == "__main__":
    main()
