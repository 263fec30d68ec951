"""The example of a Meson project: it is set up and built, and its program runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_project_is_built(tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])  # ninja's wheel
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": path}

    def run(*words: str | Path) -> None:
        done = subprocess.run(words, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    meson = (sys.executable, "-m", "mesonbuild.mesonmain")
    run(*meson, "setup", "build", ROOT / "examples" / "meson", f"-Dpython={sys.executable}")
    run(*meson, "compile", "-C", "build")
    shown = subprocess.run([tmp_path / "build" / "app"], capture_output=True, text=True, check=True).stdout
    assert shown == "250 220 100 0 \n"
