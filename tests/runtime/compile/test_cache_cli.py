"""``python -m halide_core cache``: what it says, what it removes, and its status."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from halide_core.runtime.compile.cache import CompileCache
from halide_core.runtime.execute.cli import run_command

pytestmark = pytest.mark.uncertified("about the cache: a certified program has another key")

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with two entries, as the environment names it."""
    root = tmp_path / "cache"
    for number in range(2):
        key = hashlib.sha256(str(number).encode()).hexdigest()
        CompileCache(root).get_or_build(key, lambda path: path.write_bytes(b"x" * (1 << 20)) and None)
    for name in ("HL_CACHE", "HL_CACHE_SIZE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HL_CACHE_DIR", str(root))
    return root


def test_info_shows_folder_entries_and_bound(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HL_CACHE_SIZE", "7")
    assert run_command(["cache", "info"]) == 0
    assert capsys.readouterr().out == (
        f"folder   {folder}\nentries  2\nsize     2.0 MiB of at most 7.0 MiB (HL_CACHE_SIZE)\n"
    )
    assert CompileCache(folder).info().entries == 2


def test_clear_removes_everything(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "machine.json").write_text("{}")
    assert run_command(["cache", "clear"]) == 0
    assert capsys.readouterr().out == f"removed 2 entries (2.0 MiB) from {folder}\n"
    assert CompileCache(folder).info().entries == 0
    assert not (folder / "machine.json").exists()
    assert run_command(["cache", "clear"]) == 0
    assert capsys.readouterr().out == f"removed 0 entries (0.0 MiB) from {folder}\n"


def test_info_of_a_folder_that_is_not_there_yet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HL_CACHE_DIR", str(tmp_path / "later"))
    assert run_command(["cache", "info"]) == 0
    assert "entries  0\n" in capsys.readouterr().out
    assert not (tmp_path / "later").exists()


@pytest.mark.parametrize("action", ["info", "clear"])
def test_without_a_cache_it_says_so(
    action: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HL_CACHE", "0")
    assert run_command(["cache", action]) == 0
    assert "There is no cache on disk" in capsys.readouterr().out


def test_clear_says_what_could_not_be_removed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: CompileCache, entry: Path) -> None:
        """As if the folder could not be written."""

    monkeypatch.setattr(CompileCache, "_remove", refuse)
    assert run_command(["cache", "clear"]) == 1
    said = capsys.readouterr()
    assert "removed 0 entries" in said.out
    assert "2 entries could not be removed" in said.err


def test_command_line_of_the_package(folder: Path) -> None:
    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "halide_core", *words],
            cwd=ROOT, env={**os.environ}, capture_output=True, text=True, check=False,
        )  # fmt: skip

    assert f"folder   {folder}" in call("cache", "info").stdout
    for wrong in ([], ["cache"], ["cache", "sweep"]):
        done = call(*wrong)
        assert done.returncode == 2
        assert "usage: python -m halide_core" in done.stderr
