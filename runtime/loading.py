"""Shared objects, from the cache into the process.

In: a key of the cache, what builds the shared object, and what opens it. Out: what the latter returned.

    load(key, lambda path: compile_shared([source], path), lambda path: FFI.dlopen(str(path)))

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
from runtime.cache import default_cache

_T = TypeVar("_T")


def load(key: str, build: Callable[[Path], None], opened: Callable[[Path], _T]) -> _T:
    """What ``opened`` makes of the shared object.

    Raises:
        ToolchainError: from ``build``.
        OSError: from ``opened``, of what was built this very moment.
    """
    cache = default_cache()
    path = cache.get_or_build(key, build)
    with suppress(OSError):
        return opened(path)
    cache.discard(key)
    with tempfile.TemporaryDirectory(prefix="halide_core_") as folder:
        own = Path(folder) / "library.so"
        build(own)
        library = opened(own)

        def copy(path: Path) -> None:
            shutil.copyfile(own, path)

        with suppress(ToolchainError):  # what runs now does not depend on it
            cache.get_or_build(key, copy)
    return library
