"""The tuner finds a schedule, keeps its history, goes on with it, and says what is wrong with its arguments."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import halide_core as hl

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SMALL = ("--size", "512x256", "--jobs", "2")


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


def finished(database: Path) -> list[str]:
    """The trials that were measured or refused."""
    return [state for state in states(database) if state in ("COMPLETE", "PRUNED")]


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with the history of two trials, and what was printed."""
    folder = tmp_path_factory.mktemp("tuned")
    text = tune("--trials", "2", *SMALL, "--storage", folder / "tuning.db", "--plot", folder / "a.png").stdout
    return folder, text


def test_autotune_prints_a_schedule_that_is_python(tuned: tuple[Path, str]) -> None:
    folder, text = tuned
    assert "the same bits" in text
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")
    assert len(states(folder / "tuning.db")) == 2

    x, y, across, blur = hl.Var("x"), hl.Var("y"), hl.Func("across"), hl.Func("blur")
    across[x, y] = hl.u16(x + y)
    blur[x, y] = across[x, y] + across[x, y + 2]
    exec(text, {"x": x, "y": y, "across": across, "blur": blur})  # all of it: the figures are comments
    printed = [line for line in text.splitlines() if line.startswith(("blur.", "across."))]
    assert printed
    assert {d.spelled() for f in (blur, across) for d in f.function.directives} == set(printed)


def test_autotune_refuses_the_study_of_another_pipeline(tuned: tuple[Path, str]) -> None:
    database = tuned[0] / "tuning.db"
    done = tune("--pipeline", "unsharp", "--study", "blur-512x256", *SMALL, "--storage", database, status=1)
    assert 'was made for the pipeline "blur", not for "unsharp"' in done.stderr


def test_autotune_goes_on_with_its_history_and_keeps_it_when_interrupted(tuned: tuple[Path, str]) -> None:
    folder, _ = tuned
    database = folder / "tuning.db"
    before = len(finished(database))
    command = [EXAMPLES / "autotune.py", *SMALL, "--trials", "500", "--storage", database, "--plot", folder / "b.png"]
    with subprocess.Popen(
        [sys.executable, "-W", "error", *map(str, command)],
        env={**os.environ, "PYTHONPATH": str(EXAMPLES.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            end = time.monotonic() + 100
            while time.monotonic() < end and process.poll() is None and len(finished(database)) == before:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=100)
        finally:
            process.kill()
    assert process.returncode == 130, errors
    assert "the history is in" in errors
    assert "Traceback" not in errors
    assert "the same bits" in out
    assert len(finished(database)) > before
    assert set(states(database)) <= {"COMPLETE", "PRUNED", "FAIL"}


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
