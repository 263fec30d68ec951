"""The two speeds of HL_COMPILE=fast: code that is made soon, and optimized code, with the same bits.

In: a Draft, which need not be lowered yet. Out: a library; with the first code, the Optimization that is left to do.

    hurried_library(draft)   ->   a library of -Og code, and an Optimization for BACKGROUND

A cache that has the optimized code gives it at once. Else its C is kept in the cache, too, so that no process lowers it
in the background: that would take turns with the user's own Python, and see schedules that change meanwhile.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from halide_core.errors import ToolchainError
from halide_core.runtime.compile.cache import CompileCache, default_cache
from halide_core.runtime.compile.load import load
from halide_core.runtime.compile.sources import compile_units, packed, unpacked
from halide_core.runtime.compile.toolchain import CompileOptions, Compiler
from halide_core.runtime.execute.background import BACKGROUND, Optimization


@dataclass(frozen=True, slots=True)
class Draft:
    """A pipeline on its way to a library.

    Args:
        name: what people call it.
        key: that of its optimized code in the cache.
        emit: lowers it, and makes C of it.
        opened: what makes a library of a file.
    """

    name: str
    key: str
    options: CompileOptions
    compiler: Compiler
    emit: Callable[[], list[str]]
    opened: Callable[[Path], Any]


def optimized_library(draft: Draft) -> Any:
    """The optimized code, from the cache or compiled now. Raises: ScheduleError, BoundsError, ToolchainError."""
    BACKGROUND.settle(draft.key)

    def build(path: Path) -> None:
        compile_units(draft.emit(), path, draft.options, draft.compiler)

    return load(draft.name, draft.key, build, draft.opened)


def hurried_library(draft: Draft) -> tuple[Any, Optimization | None]:
    """The code that is there first, and the Optimization that is left: none where the cache has the optimized code.

    Raises:
        ScheduleError, BoundsError, ToolchainError.
    """
    cache = default_cache()
    if cache.verify(draft.key):
        return optimized_library(draft), None
    flags = (*draft.options.extra_flags, *draft.compiler.hurried)
    options = replace(draft.options, extra_flags=flags)
    sources = _sources(draft, cache)

    def build(path: Path) -> None:
        compile_units(unpacked(sources), path, options, draft.compiler)

    library = load(draft.name, _key(draft, "hurried", *options.flags()), build, draft.opened)
    left = Optimization(draft.key, sources, draft.options, draft.compiler, cache, draft.opened)
    return library, left


def _sources(draft: Draft, cache: CompileCache) -> bytes:
    """The packed C, from the cache, or emitted now."""
    made: list[bytes] = []

    def build(path: Path) -> None:
        made.append(packed(draft.emit()))
        try:
            path.write_bytes(made[0])
        except OSError as error:
            raise ToolchainError(f"{draft.name} can't be compiled: {error}") from error

    path = cache.get_or_build(_key(draft, "sources"), build)
    if not made:
        with suppress(OSError):  # removed meanwhile
            return path.read_bytes()
    return made[0] if made else packed(draft.emit())


def _key(draft: Draft, *words: str) -> str:
    return hashlib.sha256("\0".join([draft.key, *words]).encode()).hexdigest()
