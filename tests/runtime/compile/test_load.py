"""Shared objects whose entries are damaged or removed between the time that they are found and that they are opened."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core.errors import ToolchainError
from halide_core.runtime.compile import load as loading
from halide_core.runtime.compile import sources
from halide_core.runtime.compile.cache import CompileCache
from halide_core.runtime.compile.load import load
from halide_core.runtime.compile.toolchain import compile_shared
from halide_core.runtime.crt.runtime_library import FFI
from tests.support.checking import variables

KEY = "0123456789abcdef"
(x,) = variables("x")


class Vanishing(CompileCache):
    """Other processes remove every entry as soon as it is there."""

    def get_or_build(self, key: str, build: Callable[[Path], None]) -> Path:
        """Found, and gone."""
        path = super().get_or_build(key, build)
        shutil.rmtree(path.parent)
        return path


def opened(path: Path) -> Any:
    return FFI.dlopen(str(path))


def seven(path: Path, count: list[Path]) -> None:
    """Builds a library of one number."""
    count.append(path)
    source = path.with_suffix(".c")
    source.write_text("int halide_core_test_seven = 7;\n")
    compile_shared([source], path)
    source.unlink()


def no_library(path: Path) -> None:
    path.write_bytes(b"no library")


def use(monkeypatch: pytest.MonkeyPatch, cache: CompileCache) -> None:
    monkeypatch.setattr(loading, "default_cache", lambda: cache)


def test_entry_that_vanishes_before_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Vanishing(tmp_path))
    built: list[Path] = []
    assert load("The library", KEY, lambda path: seven(path, built), opened) is not None
    assert len(built) == 2  # for the cache, and for a folder of its own


def test_damaged_entry_is_replaced_by_what_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = CompileCache(tmp_path)
    use(monkeypatch, cache)
    built: list[Path] = []
    cache.get_or_build(KEY, no_library)
    load("The library", KEY, lambda path: seven(path, built), opened)
    assert len(built) == 1
    load("The library", KEY, lambda path: seven(path, built), opened)
    assert len(built) == 1 and cache.verify(KEY)


def test_what_never_loads_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, CompileCache(tmp_path))
    with pytest.raises(ToolchainError, match=r"^The library was compiled, .*(invalid ELF header|file too short)"):
        load("The library", KEY, no_library, opened)


def test_cache_that_fails_late_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(Vanishing):
        """Has room for one entry."""

        asked = 0

        def get_or_build(self, key: str, build: Callable[[Path], None]) -> Path:
            self.asked += 1
            if self.asked > 1:
                raise ToolchainError("no room")
            return super().get_or_build(key, build)

    cache = Full(tmp_path)
    use(monkeypatch, cache)
    assert load("The library", KEY, lambda path: seven(path, []), opened) is not None
    assert cache.asked == 2


@pytest.mark.uncertified("about loading")
def test_pipeline_whose_entry_vanishes_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Vanishing(tmp_path))
    f = hl.Func("f")
    f[x] = x * 3 + 1
    assert np.asarray(f.realize([4])).tolist() == [1, 4, 7, 10]


@pytest.mark.uncertified("about loading")
def test_pipeline_that_never_loads_says_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, CompileCache(tmp_path))
    monkeypatch.setattr(sources, "compile_shared", lambda _sources, path, **_settings: no_library(path))
    f = hl.Func("f")
    f[x] = x * 5 + 2
    with pytest.raises(ToolchainError, match=r'^Pipeline "f" was compiled, but can\'t be loaded: '):
        f.realize([4])
    monkeypatch.undo()
    assert np.asarray(f.realize([4])).tolist() == [2, 7, 12, 17]


def test_disk_that_is_full_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_path: Path) -> None:
        raise OSError(28, "No space left on device")

    use(monkeypatch, CompileCache(tmp_path))
    with pytest.raises(ToolchainError, match=r"^The library can't be compiled: .*No space left"):
        load("The library", KEY, full, opened)


def test_library_with_zeros_in_it_is_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = CompileCache(tmp_path)
    use(monkeypatch, cache)
    built: list[Path] = []
    path = cache.get_or_build(KEY, lambda path: seven(path, built))
    whole = path.read_bytes()
    for at in range(0, len(whole) - 64, 997):
        path.write_bytes(whole[:at] + bytes(64) + whole[at + 64 :])
        if path.read_bytes() != whole:
            path = cache.get_or_build(KEY, lambda path: path.write_bytes(whole) and None)
            assert path.read_bytes() == whole
    load("The library", KEY, lambda path: seven(path, built), opened)
    assert len(built) == 1
