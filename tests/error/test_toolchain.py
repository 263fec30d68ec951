"""A compiler that is missing or fails, and a cache folder that can't be used."""

from __future__ import annotations

import errno
import itertools
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import halide_core as hl
from halide_core.runtime.compile import cache as cache_module
from halide_core.runtime.compile import toolchain
from halide_core.runtime.compile.cache import CacheWarning, CompileCache
from halide_core.runtime.crt.runtime_library import runtime
from tests.support.blame import cache_is_sound, refused

ROOT = Path(__file__).resolve().parents[2]
x = hl.Var("x")
fresh = itertools.count(1000)


def new() -> hl.Func:
    """A pipeline that no cache holds."""
    f = hl.Func("f")
    f[x] = x + next(fresh)
    return f


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of this test alone; the runtime is loaded, and in another one."""
    runtime()
    cache_module._warn_once.cache_clear()
    monkeypatch.setenv("HL_CACHE_DIR", str(tmp_path / "cache"))
    yield tmp_path / "cache"
    if (tmp_path / "cache").is_dir():
        cache_is_sound(tmp_path / "cache")


def entries(folder: Path) -> int:
    return CompileCache(folder).info().entries


def test_missing_compiler_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    f = new()
    monkeypatch.setenv("CC", "/nonexistent/cc")
    refused(hl.ToolchainError, lambda: f.realize([3]), "$CC", "/nonexistent/cc", at="f.realize([3])")
    assert entries(folder) == 0
    monkeypatch.delenv("CC")
    assert np.asarray(f.realize([3])).shape == (3,)
    assert entries(folder) == 1


def test_empty_path_says_what_was_looked_for(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    f = new()
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(toolchain, "_zig", lambda: None)  # it may be installed
    named = ("no C compiler", '"clang"', '"gcc"', '"cc"', str(tmp_path), "Install")
    refused(hl.ToolchainError, lambda: f.realize([3]), *named, at="f.realize([3])")
    assert entries(folder) == 0


def test_missing_compiler_is_an_error_in_a_fresh_process(folder: Path) -> None:
    code = """
import halide_core as hl
from halide_core.runtime.compile import toolchain
toolchain._zig = lambda: None
x, f = hl.Var("x"), hl.Func("f")
f[x] = x
for _ in range(2):
    try:
        f.realize([3])
    except hl.ToolchainError as error:
        print(error.message.splitlines()[0])
print(f.evaluate([3]).tolist())
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": "", "HL_CACHE_DIR": str(folder)}
    environment.pop("CC", None)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.count("There is no C compiler") == 2
    assert done.stdout.endswith("[0, 1, 2]\n")


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("exit 1", ["exit status 1"]),
        ("echo 'internal compiler error: no luck' >&2; exit 4", ["exit status 4", "internal compiler error: no luck"]),
        ("kill -9 $$", ["SIGKILL"]),
        ("exit 0", ["wrote no"]),
        ('while [ "$1" != -o ]; do shift; done; echo half > "$2"; exit 1', ["exit status 1"]),
    ],
    ids=["fails", "complains", "killed", "idle", "half"],
)
def test_failing_compiler_is_quoted(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, named: list[str]
) -> None:
    f = new()
    command = script(tmp_path / "mycc", text)
    monkeypatch.setenv("CC", f"{command} -O3")
    error = refused(hl.ToolchainError, lambda: f.realize([3]), *named, at="f.realize([3])")
    if "wrote no" not in named:
        assert command in error.message
    assert entries(folder) == 0
    monkeypatch.delenv("CC")
    f.realize([3])


def test_compiler_that_is_false_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    f = new()
    monkeypatch.setenv("CC", "false")
    refused(hl.ToolchainError, lambda: f.realize([3]), "false", "exit status 1", at="f.realize([3])")
    never = tmp_path / "never.o"
    refused(hl.ToolchainError, lambda: f.compile_to_object(str(never), []), "false", at="f.compile_to_object")
    assert not never.exists()


def test_compiler_that_writes_no_library_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    f = new()
    command = script(tmp_path / "mycc", 'while [ "$1" != -o ]; do shift; done; echo "no library" > "$2"')
    monkeypatch.setenv("CC", command)
    refused(hl.ToolchainError, lambda: f.realize([3]), '"f"', "loaded", at="f.realize([3])")
    monkeypatch.delenv("CC")
    f.realize([3])


def test_cache_folder_under_a_file_is_told_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cache_module._warn_once.cache_clear()
    file = tmp_path / "file"
    file.write_text("mine")
    monkeypatch.setenv("HL_CACHE_DIR", str(file / "cache"))
    f = new()
    with pytest.warns(CacheWarning, match="can't be used") as caught:
        assert np.asarray(f.realize([2])).shape == (2,)
    assert len(caught) == 1
    assert str(file) in str(caught[0].message)
    new().realize([2])  # a second warning would be an error
    assert file.read_text() == "mine"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("function", ["mkdir", "rename", "open"])
def test_full_or_read_only_cache_folder_is_told_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, code: int, function: str
) -> None:
    real: Callable[..., object] = getattr(os, function)

    def refusing(path: object, *arguments: object, **options: object) -> object:
        if str(folder) in str(path):
            raise OSError(code, os.strerror(code), str(path))
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, function, refusing)
    f, first = new(), next(fresh)
    with pytest.warns(CacheWarning, match=os.strerror(code)) as caught:
        found = np.asarray(f.realize([3])).tolist()
    assert found == [first - 1, first, first + 1]
    assert len(caught) == 1
    assert np.asarray(new().realize([1])).tolist() == [first + 1]
    monkeypatch.setattr(os, function, real)
    assert entries(folder) == 0


def test_cache_can_be_turned_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HL_CACHE", "0")
    new().realize([3])
    assert not folder.exists()
