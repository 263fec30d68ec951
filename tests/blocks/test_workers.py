"""Blocks on workers that are processes of their own, one of which dies."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
import zarr

import halide_core as hl
from tests.blocks.pipelines import APPS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of libraries that Dask loads
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets of the worker that is killed
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_worker_that_dies_loses_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("HL_CACHE_DIR", str(tmp_path))  # it may die in the middle of a build, and leave half of it
    rng, lazy, want, inputs = np.random.default_rng(3), [], [], None
    for make in APPS.values():
        app = make()
        shape = (120, 150) if app.dimensions == 2 else (12, 40, 50)
        arrays = app.arrays(rng, shape)
        want.append(app.whole(arrays, shape))
        given = {image: da.from_array(a, chunks=64) for image, a in arrays.items()}
        inputs = inputs if inputs is not None else next(iter(arrays.values()))  # of the first
        lazy.append(hl.dask.realize(app.func, shape, chunks=40, inputs=given, memory="128KiB"))
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        futures: Any = client.compute(lazy)
        held: dict[str, Any] = {}
        while not any(held.values()):  # until there is something to lose
            held = client.has_what()
        victim = max(held, key=lambda worker: len(held[worker]))
        os.kill(client.run(os.getpid)[victim], signal.SIGKILL)
        for name, future, array in zip(APPS, futures, want, strict=True):
            assert np.array_equal(future.result(timeout=120), array), name
        app = APPS["unsharp"]()
        sink: Any = zarr.create_array(tmp_path / "out.zarr", shape=(120, 150), chunks=(40, 40), dtype="f4")
        stored = hl.dask.store(app.func, sink, chunks=40, inputs=dict.fromkeys(app.inputs, inputs))
        written: Any = client.compute(stored)
        assert written.result(timeout=120) is None and np.array_equal(sink[:], want[0])
