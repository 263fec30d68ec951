"""Graphs of many blocks that compute next to nothing: what Dask's part of a blocked pipeline takes.

    python -m benchmarks.graphs 100 316          # a side of each graph in blocks: 10 000 and 100 000 blocks
    python -m benchmarks.graphs 100 --cluster    # by distributed's scheduler, which has this process to itself

For a copy (one task a block), one of neighbours, and the same from an array of Dask in chunks of its own: tasks, the
seconds that building the graph takes, the bytes of its pickle, and the seconds that Dask takes to run it in one thread;
or, on a cluster of two processes, the seconds of the client and the scheduler, and how far the peak of their memory
goes up (of the first graph: give each a run of its own by ``--kernel``).
"""

from __future__ import annotations

import argparse
import pickle
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum, auto
from typing import Any

import dask.array as da
import distributed
import numpy as np

import halide_core as hl
import halide_core.dask

_BLOCK = 4


class How(Enum):
    """The scheduler that runs a graph, if one does."""

    BUILD = auto()
    HERE = auto()
    CLUSTER = auto()


def _copy(image: hl.ImageParam, x: hl.Var, y: hl.Var) -> hl.Expr:
    return image[x, y]


def _neighbours(image: hl.ImageParam, x: hl.Var, y: hl.Var) -> hl.Expr:
    padded = hl.BoundaryConditions.repeat_edge(image)
    return padded[x - 1, y - 1] + padded[x + 1, y + 1]


KERNELS = {"copy": (_copy, False), "neighbours": (_neighbours, False), "neighbours of chunks": (_neighbours, True)}


def measure(name: str, side: int, how: How, limit: float | None) -> str:
    """A row of the report; a cluster has ``limit`` seconds."""
    value, chunked = KERNELS[name]
    image, x, y, f = hl.ImageParam(hl.Float(32), 2, "image"), hl.Var("x"), hl.Var("y"), hl.Func("f")
    f[x, y] = value(image, x, y)
    hl.dask.realize(f, (8, 8), chunks=_BLOCK, inputs={image: np.zeros((8, 8), np.float32)})  # compiles
    shape = (side * _BLOCK, side * _BLOCK)
    array: Any = np.zeros(shape, np.float32)
    begin = time.process_time()
    given = da.from_array(array, chunks=_BLOCK) if chunked else array
    lazy = hl.dask.realize(f, shape, chunks=_BLOCK, inputs={image: given})
    built, blocks = time.process_time() - begin, side * side
    graph = dict(lazy.dask)
    own = {key: task for key, task in graph.items() if isinstance(task, tuple)}
    size = len(pickle.dumps(own))
    row = f"{name:21} {blocks:8} blocks {len(graph):8} tasks"
    row += f"; built in {built:7.2f} s, {built / blocks * 1e6:5.0f} us each"
    row += f"; {size / len(own):5.0f} bytes a task"
    if how is How.BUILD:
        return row
    del graph, own
    before, begin = _resident(), time.process_time()
    if how is How.CLUSTER:
        with _cluster() as client:
            before, begin = _resident(), time.process_time()
            futures = distributed.futures_of(client.persist(lazy))
            sent = time.process_time() - begin
            with suppress(TimeoutError):
                distributed.wait(futures, timeout=limit)
            blocks = sum(each.status == "finished" for each in futures)
            row += f"; sent in {sent:.2f} s; {blocks} are done"
            ran = time.process_time() - begin
    else:
        lazy.compute(scheduler="synchronous")
        ran = time.process_time() - begin
    row += f"; run in {ran:7.2f} s, {ran / max(1, blocks) * 1e6:5.0f} us each"
    return row + (f", {(_resident() - before) / side**2 / 1024:.1f} KiB each" if how is How.CLUSTER else "")


def _resident() -> int:
    """The peak of this process's memory, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@contextmanager
def _cluster() -> Iterator[Any]:
    """A client of two workers, which are processes."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def main() -> None:
    """Prints the report. Times are of this process's CPU."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sides", type=int, nargs="*", default=[100, 316], help="blocks along each dimension")
    parser.add_argument("--build-only", action="store_true", help="don't run the graphs")
    parser.add_argument("--cluster", action="store_true", help="run them by distributed's scheduler")
    parser.add_argument("--limit", type=float, help="seconds that a cluster runs a graph for: not all blocks, then")
    parser.add_argument("--kernel", action="append", choices=KERNELS, help="only this; may be repeated")
    given = parser.parse_args()
    how = How.BUILD if given.build_only else How.CLUSTER if given.cluster else How.HERE
    for side in given.sides:
        for name in given.kernel or KERNELS:
            print(measure(name, side, how, given.limit), flush=True)


if __name__ == "__main__":
    main()
