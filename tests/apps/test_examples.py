"""The examples run, compare themselves with numpy, and write pictures."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import imageio.v3 as iio
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the examples, which write beside themselves."""
    copy = tmp_path_factory.mktemp("examples") / "examples"
    shutil.copytree(ROOT / "examples", copy, ignore=shutil.ignore_patterns("out", "__pycache__"))
    return copy


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_blur_photo_is_equal_under_five_schedules(folder: Path) -> None:
    text = run(folder, "blur_photo.py")
    assert sum("yes" in line for line in text.splitlines()) == 5
    assert "NO" not in text
    before, after = (iio.imread(folder / "out" / name) for name in ("photograph.png", "blurred.png"))
    assert before.shape == after.shape
    assert before.std() > after.std() > 10


def test_blur_photo_explains_its_holes(folder: Path) -> None:
    text = run(folder, "blur_photo.py", "--explain")
    for word in ("?cpu", "across", "compute_at", "yo"):
        assert word in text


@pytest.mark.parametrize("name", ["unsharp_photo", "histogram", "aot_blur"])
def test_example_is_equal_to_its_reference(folder: Path, name: str) -> None:
    text = run(folder, f"{name}.py")
    assert "yes" in text.splitlines()[-1]
    pictures = [Path(word.rstrip(":")) for word in text.split() if word.endswith(".png")]
    assert pictures
    assert all(iio.imread(p).std() > 10 for p in pictures)


def test_a_lazy_view_computes_what_it_shows(folder: Path) -> None:
    said = run(folder, "lazy_view.py")
    assert "a view of (900, 1100) takes 9 of 256 blocks, and 25 chunks" in said
    assert "equal to one piece: True" in said
    assert iio.imread(folder / "out" / "lazy_view.png").std() > 5


def test_labelled_arrays_keep_their_labels(folder: Path) -> None:
    said = run(folder, "xarray_blocks.py")
    assert "lazy: True; units: K; dimensions: ('month', 'latitude', 'longitude')" in said
    assert "equal to numpy: True" in said
