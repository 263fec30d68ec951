"""A user's own file beside the script that has the name of one of our packages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["scheduling", "bounds", "lowering", "runtime"])
@pytest.mark.parametrize("kind", ["file", "package"])
def test_file_of_our_name_beside_the_script_is_named(tmp_path: Path, name: str, kind: str) -> None:
    mine = tmp_path / f"{name}.py"
    if kind == "package":
        (tmp_path / name).mkdir()
        mine = tmp_path / name / "__init__.py"
    mine.write_text("print('mine')\n")
    script = tmp_path / "main.py"
    script.write_text("import halide_core as hl\nprint('imported')\n")
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: ")
    for text in (f'"{name}"', str(tmp_path / name), "Rename"):
        assert text in last


def test_other_files_beside_the_script_are_no_matter(tmp_path: Path) -> None:
    (tmp_path / "errors.py").write_text("raise SystemExit('mine')\n")
    (tmp_path / "main.py").write_text(
        "import numpy as np\nimport halide_core as hl\nx, f = hl.Var('x'), hl.Func('f')\nf[x] = x\n"
        "print(np.asarray(f.realize([3])).tolist())\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "main.py"], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[0, 1, 2]\n", "")
