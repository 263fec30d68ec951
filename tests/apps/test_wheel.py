"""The example of a package with a compiled pipeline: its wheel is built, and used without this package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_wheel_has_the_pipeline_and_needs_numpy_alone(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "wheel", tmp_path / "source")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = "from setuptools import build_meta; print(build_meta.build_wheel('..'))"
    built = subprocess.run(
        [sys.executable, "-c", command], cwd=tmp_path / "source", env=env, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.startswith("brightly-1.0-cp310-abi3-")
    with zipfile.ZipFile(wheel) as packed:
        assert {"brightly/__init__.py", "brightly/_pipelines.abi3.so"} <= set(packed.namelist())
        packed.extractall(tmp_path / "installed")
    code = (
        "import brightly, numpy as np, sys; p = np.arange(240, 252, dtype=np.uint8).reshape(3, 4);"
        "print(brightly.brighten(p, 10).tolist(), [m for m in sys.modules if m.startswith('halide')])"
    )
    path = {"PYTHONPATH": str(tmp_path / "installed")}
    ran = subprocess.run([sys.executable, "-c", code], env=path, capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    assert ran.stdout == "[[250, 251, 252, 253], [254, 255, 255, 255], [255, 255, 255, 255]] []\n"
