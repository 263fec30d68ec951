"""The example of C for a microcontroller: compiled as for one, without threads, it computes what realize does."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np

from tests.support.symbols import symbols

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "examples" / "embedded" / "build.py"


def test_program_runs_without_threads_and_in_its_own_memory(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(SCRIPT), str(tmp_path / "out"), "--run"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    compiled, values, memory = done.stdout.splitlines()
    assert "-DHALIDE_CORE_NO_THREADS" in compiled and "pthread" not in compiled
    out, samples = runpy.run_path(str(SCRIPT))["smoothed"]()
    samples.set((np.arange(64) % 8 * 100).astype(np.int16))
    assert values.split() == [str(v) for v in np.asarray(out.realize([32]))[:8]]
    assert 0 < int(memory.removeprefix("bytes: ")) < 4096
    assert not any(s.name.startswith("pthread_create") for s in symbols(tmp_path / "out" / "program"))
