"""Blocks on workers that are processes of their own, one of which dies."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest

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
    app, rng, shape = APPS["equalise"](), np.random.default_rng(3), (200, 300)
    arrays = app.arrays(rng, shape)
    want = app.whole(arrays, shape)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        given = {image: da.from_array(a, chunks=(64, 64)) for image, a in arrays.items()}
        lazy = hl.dask.realize(app.func, shape, chunks=(40, 50), inputs=given, memory="16KiB")
        future: Any = client.compute(lazy)
        distributed.wait(client.map(lambda n: n, range(2)))
        victim = next(iter(client.run(os.getpid).values()))
        os.kill(victim, signal.SIGKILL)
        assert np.array_equal(future.result(timeout=120), want)
