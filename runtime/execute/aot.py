"""Ahead-of-time output: C source, header, object, static library, and the lowered program as text.

In: a Request and the files wanted. Out: all of them, or none and an error. A program that links the library needs
nothing of this system at run time.

    write_files(request, {OutputKind.STATIC_LIBRARY: Path("blur.a"), OutputKind.C_HEADER: Path("blur.h")})
"""

from __future__ import annotations

import errno
import html
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from halide_core.errors import HalideError
from halide_core.ir import Stmt
from halide_core.ir.printer import format_stmt
from halide_core.lowering.driver import LoweringTrace, lower
from halide_core.lowering.module import Lowered
from halide_core.run.backend import OutputKind, Request
from halide_core.run.target import Target
from halide_core.runtime.codegen.header import emit_header
from halide_core.runtime.codegen.unit import emit_c
from halide_core.runtime.compile.target_flags import compile_options, options_for
from halide_core.runtime.compile.toolchain import CompileOptions, compile_assembly, compile_object, make_static_library
from halide_core.runtime.crt.runtime_library import HEADER, SOURCES, UNIT


def write_files(request: Request, files: dict[OutputKind, Path]) -> None:
    """Writes every file, each by renaming a finished one into place.

    A header is accompanied by ``halide_runtime.h`` in the same folder, which it includes.

    Raises: HalideError where a file can't be written; ScheduleError, BoundsError, ToolchainError.
    """
    trace = LoweringTrace()
    lowered = lower(request, trace=trace)
    unit = _Output(lowered, trace.passes[0][1], compile_options(request, runs_here=False), request.runtime)
    with tempfile.TemporaryDirectory(prefix="halide_core_") as name:
        folder = Path(name)
        made = [(_make(kind, unit, folder), path) for kind, path in files.items()]
        made += [(HEADER, path.parent / HEADER.name) for kind, path in files.items() if kind in _NEED_HEADER]
        _put_in_place(made)


def write_runtime(target: Target | None, files: dict[OutputKind, Path]) -> None:
    """Writes the runtime alone, for libraries without one: an object, a static library, or both.

    Raises: HalideError where a file can't be written; ToolchainError.
    """
    options = options_for(target)
    with tempfile.TemporaryDirectory(prefix="halide_core_") as name:
        folder = Path(name)
        unit, whole = folder / "halide_runtime.c", folder / "halide_runtime.o"
        unit.write_text(UNIT, encoding="utf-8")
        compile_object(unit, whole, options=options)
        made = [(HEADER, path.parent / HEADER.name) for path in files.values()]
        for kind, path in files.items():
            if kind is OutputKind.STATIC_LIBRARY:
                make_static_library([whole], folder / kind.value)
            made.append((whole if kind is OutputKind.OBJECT else folder / kind.value, path))
        _put_in_place(made)


_NEED_HEADER = frozenset({OutputKind.C_HEADER, OutputKind.C_SOURCE})


@dataclass(frozen=True, slots=True, eq=False)
class _Output:
    """What is written: the program at two points of its way, and how its C is compiled."""

    lowered: Lowered
    filled: Stmt
    options: CompileOptions
    runtime: bool


def _make(kind: OutputKind, unit: _Output, folder: Path) -> Path:
    output, lowered = folder / kind.value, unit.lowered
    match kind:
        case OutputKind.C_SOURCE:
            output.write_text(emit_c(lowered), encoding="utf-8")
        case OutputKind.C_HEADER:
            output.write_text(emit_header(lowered.name, lowered.arguments), encoding="utf-8")
        case OutputKind.STMT:
            output.write_text(format_stmt(lowered.body) + "\n", encoding="utf-8")
        case OutputKind.STMT_HTML:
            output.write_text(_page(lowered.name, format_stmt(lowered.body)), encoding="utf-8")
        case OutputKind.CONCEPTUAL_STMT:
            output.write_text(format_stmt(unit.filled) + "\n", encoding="utf-8")
        case OutputKind.CONCEPTUAL_STMT_HTML:
            output.write_text(_page(lowered.name, format_stmt(unit.filled)), encoding="utf-8")
        case OutputKind.ASSEMBLY:
            compile_assembly(_source(lowered, folder), output, options=unit.options)
        case OutputKind.OBJECT:
            compile_object(_source(lowered, folder), output, options=unit.options)
        case OutputKind.STATIC_LIBRARY:
            objects = [folder / f"{lowered.name}.o"]
            compile_object(_source(lowered, folder), objects[0], options=unit.options)
            for source in SOURCES if unit.runtime else ():
                objects.append(folder / f"halide_core_{source.stem}.o")
                compile_object(source, objects[-1], options=unit.options)
            make_static_library(objects, output)
    return output


def _source(lowered: Lowered, folder: Path) -> Path:
    source = folder / f"{lowered.name}.c"
    source.write_text(emit_c(lowered), encoding="utf-8")
    return source


def _page(name: str, text: str) -> str:
    """A text as a page that a browser shows."""
    head = f"<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>{html.escape(name)}</title></head>"
    return f"{head}\n<body><pre>\n{html.escape(text)}\n</pre></body></html>\n"


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
