"""Ahead-of-time output: C source, header, object, static library, and the lowered program as text.

In: a Request and the files wanted. Out: all of them, or none and an error. A program that links the library needs
nothing of this system at run time.

    write_files(request, {OutputKind.STATIC_LIBRARY: Path("blur.a"), OutputKind.C_HEADER: Path("blur.h")})
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from pathlib import Path

from halide_core.backend import OutputKind, Request
from halide_core.errors import HalideError
from halide_core.printer import format_stmt
from lowering.driver import lower
from lowering.lowered import Lowered
from runtime.emit_c import emit_c, emit_header
from runtime.runtime_library import HEADER, INCLUDE_FOLDER, SOURCES
from runtime.toolchain import CompileOptions, compile_object, make_static_library


def write_files(request: Request, files: dict[OutputKind, Path]) -> None:
    """Writes every file, each by renaming a finished one into place.

    A header is accompanied by ``halide_runtime.h`` in the same folder, which it includes.

    Raises: HalideError where a file can't be written; ScheduleError, BoundsError, ToolchainError.
    """
    lowered = lower(request)
    with tempfile.TemporaryDirectory(prefix="halide_core_") as name:
        folder = Path(name)
        made = [(_make(kind, lowered, folder, request.flags), path) for kind, path in files.items()]
        made += [(HEADER, path.parent / HEADER.name) for kind, path in files.items() if kind in _NEED_HEADER]
        _put_in_place(made)


_NEED_HEADER = frozenset({OutputKind.C_HEADER, OutputKind.C_SOURCE})


def _make(kind: OutputKind, lowered: Lowered, folder: Path, flags: tuple[str, ...]) -> Path:
    output = folder / kind.value
    match kind:
        case OutputKind.C_SOURCE:
            output.write_text(emit_c(lowered), encoding="utf-8")
        case OutputKind.C_HEADER:
            output.write_text(emit_header(lowered.name, lowered.arguments), encoding="utf-8")
        case OutputKind.STMT:
            output.write_text(format_stmt(lowered.body) + "\n", encoding="utf-8")
        case OutputKind.OBJECT:
            _object(lowered, folder, output, flags)
        case OutputKind.STATIC_LIBRARY:
            objects = [folder / f"{lowered.name}.o"]
            _object(lowered, folder, objects[0], flags)
            for source in SOURCES:
                objects.append(folder / f"halide_core_{source.stem}.o")
                compile_object(source, objects[-1], options=_options(flags))
            make_static_library(objects, output)
    return output


def _object(lowered: Lowered, folder: Path, output: Path, flags: tuple[str, ...]) -> None:
    source = folder / f"{lowered.name}.c"
    source.write_text(emit_c(lowered), encoding="utf-8")
    compile_object(source, output, options=_options(flags))


def _options(flags: tuple[str, ...]) -> CompileOptions:
    return CompileOptions(include_folders=(INCLUDE_FOLDER,), extra_flags=flags)


def _put_in_place(made: list[tuple[Path, Path]]) -> None:
    """Copies next to each target first, and renames only when every copy is complete."""
    staged: list[tuple[Path, Path]] = []
    try:
        for source, target in made:
            if target.is_dir():  # found out by the last rename, this would leave the files before it
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
            handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
            os.close(handle)
            staged.append((Path(temporary), target))
            shutil.copyfile(source, temporary)
            Path(temporary).chmod(0o644)
        for ready, target in staged:
            ready.replace(target)
    except OSError as error:
        for ready, _ in staged:
            ready.unlink(missing_ok=True)
        raise HalideError(f'"{error.filename}" can\'t be written: {error.strerror}.') from error
