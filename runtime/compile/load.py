"""Shared objects, from the cache into the process.

In: what people call the library, a key of the cache, what builds it, and what opens it. Out: what the latter returned.

    load("The runtime", key, lambda path: compile_shared([source], path), lambda path: FFI.dlopen(str(path)))

What the cache holds may be damaged; and other processes, which keep it within its bound, may remove an entry after it
was found and before it is opened. Then it is built once more, in a folder that nobody else knows.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from halide_core.errors import ToolchainError
from halide_core.runtime.compile.cache import default_cache

_T = TypeVar("_T")


def load(name: str, key: str, build: Callable[[Path], None], opened: Callable[[Path], _T]) -> _T:
    """Builds the shared object where it is missing, and gives what ``opened`` makes of it.

    Raises:
        ToolchainError: from ``build``; or files can't be written; or what was built this very moment can't be opened.
    """

    def built(path: Path) -> None:
        try:
            build(path)
        except OSError as error:
            raise ToolchainError(f"{name} can't be compiled: {error}") from error

    cache = default_cache()
    path = cache.get_or_build(key, built)
    with suppress(OSError):
        return opened(path)
    cache.discard(key)
    with tempfile.TemporaryDirectory(prefix="halide_core_") as folder:
        own = Path(folder) / "library.so"
        built(own)
        try:
            library = opened(own)
        except OSError as error:
            raise ToolchainError(f"{name} was compiled, but can't be loaded: {error}") from error

        def copy(path: Path) -> None:
            shutil.copyfile(own, path)

        with suppress(ToolchainError, OSError):  # what runs now does not depend on it
            cache.get_or_build(key, copy)
    return library
