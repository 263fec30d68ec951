"""The example that tunes prints a schedule that is Python, and says what is missing without optuna."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import halide_core as hl

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PATHS = os.pathsep.join([str(EXAMPLES), *(p for p in sys.path if p)])


def run(code: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{code}; import autotune; autotune.main()", *arguments],
        env={**os.environ, "PYTHONPATH": PATHS, "HL_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_autotune_prints_a_schedule_that_is_python(tmp_path: Path) -> None:
    plot = tmp_path / "search.svg"
    done = run("pass", tmp_path, "--size", "128", "64", "--trials", "1", "--plot", str(plot))
    assert done.returncode == 0, done.stderr
    assert "the same bits" in done.stdout
    assert plot.read_text(encoding="utf-8").startswith("<svg")
    names: dict[str, object] = {"hl": hl}
    exec(done.stdout, names)  # all of it: the figures are comments
    assert callable(names["schedule"])


def test_autotune_without_optuna_names_the_extra(tmp_path: Path) -> None:
    done = run("import sys; sys.modules['optuna'] = None", tmp_path, "--size", "128", "64")
    assert done.returncode == 1
    assert "halide-core[tune]" in done.stderr
