"""The tutorial's scripts run, each as a process of its own, and make the tables and pictures that they tell of."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import imageio.v3 as iio
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "examples" / "tutorial").glob("t[0-9][0-9]_*.py"))
Runs = dict[str, "Future[subprocess.CompletedProcess[str]]"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tutorial, which writes beside itself."""
    copy = tmp_path_factory.mktemp("examples") / "tutorial"
    shutil.copytree(ROOT / "examples" / "tutorial", copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture(scope="module")
def runs(folder: Path) -> Runs:
    """All scripts, side by side on as many cores as there are."""

    def run(script: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-W", "error", script.name],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    started = {script.stem: pool.submit(run, script) for script in SCRIPTS}
    pool.shutdown(wait=False)
    return started


@pytest.mark.parametrize("name", [script.stem for script in SCRIPTS])
def test_script_runs(name: str, runs: Runs, folder: Path) -> None:
    done = runs[name].result()
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) >= 5
    for line in done.stdout.splitlines():
        if line.startswith("picture: "):
            path = Path(line.removeprefix("picture: "))
            assert path.parent == folder.parent / "out" / "tutorial"
            assert iio.imread(path).std() > 5


def test_scripts_are_numbered_and_told_of() -> None:
    assert len(SCRIPTS) >= 20
    listed = (ROOT / "examples" / "tutorial" / "README.md").read_text(encoding="utf-8")
    for number, script in enumerate(SCRIPTS, 1):
        text = script.read_text(encoding="utf-8")
        assert script.name.startswith(f"t{number:02}_")
        assert text.startswith(f'"""{number}. ')
        assert f"[`{script.name}`]({script.name})" in listed
