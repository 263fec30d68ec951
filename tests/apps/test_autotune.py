"""The tuner finds a schedule, keeps its history, goes on with it, and says what is wrong with its arguments."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import halide_core as hl

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SMALL = ("--size", "96x64", "--jobs", "2")


def tune(*arguments: str | Path, status: int = 0, code: str = "") -> subprocess.CompletedProcess[str]:
    command = ["-c", code] if code else [str(EXAMPLES / "autotune.py")]
    done = subprocess.run(
        [sys.executable, "-W", "error", *command, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(EXAMPLES.parent), str(EXAMPLES)])},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


def states(database: Path) -> list[str]:
    connection = sqlite3.connect(database)
    try:
        return [state for (state,) in connection.execute("select state from trials order by number")]
    finally:
        connection.close()


def test_autotune_finds_a_schedule_and_goes_on_with_its_history(tmp_path: Path) -> None:
    database, plot = tmp_path / "tuning.db", tmp_path / "history.png"
    places = (*SMALL, "--storage", database, "--plot", plot)
    text = tune("--trials", "3", *places).stdout
    assert "the same bits" in text
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert len(states(database)) == 3

    x, y, across, blur = hl.Var("x"), hl.Var("y"), hl.Func("across"), hl.Func("blur")
    across[x, y] = hl.u16(x + y)
    blur[x, y] = across[x, y] + across[x, y + 2]
    exec(text, {"x": x, "y": y, "across": across, "blur": blur})  # what is printed is Python; comments and all
    printed = [line for line in text.splitlines() if line.startswith(("blur.", "across."))]
    assert printed
    assert {d.spelled() for f in (blur, across) for d in f.function.directives} == set(printed)

    wrong = tune("--pipeline", "unsharp", "--study", "blur-96x64", *places, status=1)
    assert 'was made for the pipeline "blur", not for "unsharp"' in wrong.stderr
    tune("--trials", "1", *places)
    assert len(states(database)) == 4


def test_autotune_says_what_is_wrong_with_its_storage(tmp_path: Path) -> None:
    absent = tmp_path / "absent"
    assert "is no folder" in tune("--storage", absent / "tuning.db", status=1).stderr
    assert not absent.exists()
    assert "can't be written" in tune("--storage", tmp_path, status=1).stderr
    text = tmp_path / "text.db"
    text.write_text("Not a database. " * 100, encoding="utf-8")
    assert "file is not a database" in tune("--storage", text, status=1).stderr
    assert text.read_text(encoding="utf-8").startswith("Not a database.")


def test_autotune_without_optuna_names_the_extra() -> None:
    code = "import sys; sys.modules['optuna'] = None; import autotune"
    assert "halide-core[tune]" in tune(code=code, status=1).stderr


@pytest.mark.parametrize("size", ["0", "96x", "x64", "99999"])
def test_autotune_refuses_a_size(size: str) -> None:
    assert "a size is WIDTHxHEIGHT" in tune("--size", size, status=2).stderr
