"""Ahead-of-time output: C source, header, object, library, Python extension, and the lowered program as text.

In: a Request for each function, and the files wanted. Out: all of them, or none and an error. A program that links the
library, or imports the extension, needs nothing of this system at run time.

    write_files([request], {OutputKind.STATIC_LIBRARY: Path("blur.a"), OutputKind.C_HEADER: Path("blur.h")})
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from halide_core.algorithm.model import realization_order, with_made_funcs
from halide_core.algorithm.schedule_source import schedule_source
from halide_core.debug import deep_recursion, without_collections
from halide_core.errors import HalideError, NotAvailableError, PipelineError
from halide_core.ir import Stmt
from halide_core.ir.printer import format_stmt
from halide_core.lowering.driver import LoweringTrace, lower
from halide_core.lowering.module import Lowered
from halide_core.run.backend import OutputKind, Request
from halide_core.run.target import Target, get_host_target, is_this_machine
from halide_core.run.target_names import TargetFeature
from halide_core.runtime.ahead.choice import check_versions, emit_choice, suffixes_of
from halide_core.runtime.ahead.context import emit_in_context, hidden, inside
from halide_core.runtime.ahead.data import public, unit_with_data
from halide_core.runtime.ahead.entry_points import emit_entry_points, emit_registration
from halide_core.runtime.ahead.extension import ModuleFunction, emit_module, module_name
from halide_core.runtime.ahead.features import emit_features
from halide_core.runtime.ahead.page import page
from halide_core.runtime.ahead.pytorch import emit_wrapper
from halide_core.runtime.ahead.queries import without_query
from halide_core.runtime.ahead.renamed import warn_of_renamed
from halide_core.runtime.codegen.header import Declared, emit_header
from halide_core.runtime.codegen.linkage import Linkage
from halide_core.runtime.codegen.names import symbol
from halide_core.runtime.compile.target_flags import archiver_for, compile_options, options_for
from halide_core.runtime.compile.toolchain import (
    CompileOptions,
    compile_assembly,
    compile_object,
    link_shared,
    make_static_library,
)
from halide_core.runtime.crt.runtime_library import HEADER, hooks_object, runtime_object, standalone_object
from halide_core.serialize.pipeline import serialized


def write_files(requests: Sequence[Request], files: dict[OutputKind, Path]) -> None:
    """Writes every file, each by renaming a finished one into place.

    What includes ``halide_runtime.h`` is accompanied by it, in the same folder.

    Raises: HalideError where a file can't be written; ScheduleError, BoundsError, ToolchainError; PipelineError for a
    kind of file that holds one function, where there are several.
    """
    if len(requests) > 1:
        alone = [kind.value for kind in files if kind not in _OF_SEVERAL]
        if alone:
            raise PipelineError(f"A file of type {alone[0]} holds one function, and {len(requests)} are given.")
    _check_symbols(requests)
    with tempfile.TemporaryDirectory(prefix="halide_core_") as name:
        folder = Path(name)
        outputs = [_lowered(request, folder) for request in requests]
        for o in outputs:
            warn_of_renamed([*files], o.request.name, o.linkage, public(o.lowered))
        made = [(_make(kind, path, outputs, folder), path) for kind, path in files.items()]
        made += [(HEADER, path.parent / HEADER.name) for kind, path in files.items() if _needs_header(kind, path)]
        _put_in_place(made)


def write_versions(requests: Sequence[Request], files: dict[OutputKind, Path], suffixes: Sequence[str] = ()) -> None:
    """Writes one function for several targets, one of which is chosen when it is first called.

    Args:
        files: a static library, a header, a registration; an object's name is that of several files, one a version
            ("blur-avx2.o"), "blur_wrapper.o", and "blur_runtime.o" unless the targets have no_runtime.
        suffixes: the names of the versions; by default features that not all of them have.

    Raises: as ``write_files``; PipelineError for targets that don't go together, or a kind of file of one version only.
    """
    targets = check_versions(requests)
    others = [kind.value for kind in files if kind not in _OF_VERSIONS]
    if others:
        raise PipelineError(f"A file of type {others[0]} is of one target, and {len(targets)} are given.")
    of_files = list(suffixes) or suffixes_of(targets)
    if len(of_files) != len(targets):
        raise PipelineError(f"{len(targets)} targets have {len(targets)} suffixes, not {len(of_files)}.")
    called = [re.sub(r"\W", "_", suffix, flags=re.ASCII) for suffix in of_files]  # in names of C
    if len({*called, *_NO_SUFFIXES}) < len(called) + len(_NO_SUFFIXES):
        raise PipelineError(f"The suffixes of targets differ, and are not one of {', '.join(_NO_SUFFIXES)}.")
    with tempfile.TemporaryDirectory(prefix="halide_core_") as name:
        folder = Path(name)
        outputs = [_lowered(request, folder, suffix) for request, suffix in zip(requests, called, strict=True)]
        plain = outputs[-1]
        linkage = _linkage(plain.request)
        warn_of_renamed([*files], plain.request.name, linkage, public(plain.lowered))
        # What chooses runs before it is known what the processor has.
        any_processor = Target(targets[0].os, targets[0].arch, targets[0].bits)
        choice = replace(plain, request=replace(plain.request, target=any_processor), source=folder / "wrapper.c")
        text = emit_choice(plain.lowered.name, linkage, public(plain.lowered), called, targets)
        choice.source.write_text(text, encoding="utf-8")
        made: list[tuple[Path, Path]] = []
        for kind, path in files.items():
            if kind is OutputKind.OBJECT:
                made += [(o.object(), _beside(path, f"-{s}")) for o, s in zip(outputs, of_files, strict=True)]
                made.append((choice.object(), _beside(path, "_wrapper")))
                if plain.request.runtime:
                    made.append((standalone_object(choice.options), _beside(path, "_runtime")))
            elif kind is OutputKind.STATIC_LIBRARY:
                _make_library([choice, *outputs], folder, folder / kind.value, runtime=plain.request.runtime)
                made.append((folder / kind.value, path))
            else:
                made.append((_make(kind, path, [replace(plain, linkage=linkage)], folder), path))
        made += [(HEADER, path.parent / HEADER.name) for kind, path in files.items() if _needs_header(kind, path)]
        _put_in_place(made)


_NO_SUFFIXES = ("wrapper", "runtime", "argv", "metadata")
"""The ends of other names: of files, and of a function's entry points."""


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(f"{path.stem}{suffix}{path.suffix}")


def write_runtime(target: Target | None, files: dict[OutputKind, Path]) -> None:
    """Writes the runtime alone, for libraries without one: an object, a static library, or both.

    Raises: HalideError where a file can't be written; ToolchainError.
    """
    options = options_for(target)
    with tempfile.TemporaryDirectory(prefix="halide_core_") as name:
        folder = Path(name)
        made = [(HEADER, path.parent / HEADER.name) for path in files.values()]
        for kind, path in files.items():
            if kind is OutputKind.STATIC_LIBRARY:
                objects = _runtime_objects(options, folder)
                make_static_library(objects, folder / kind.value, archiver=archiver_for(target))
            made.append((standalone_object(options) if kind is OutputKind.OBJECT else folder / kind.value, path))
        _put_in_place(made)


_OF_VERSIONS = frozenset(
    {
        OutputKind.STATIC_LIBRARY,
        OutputKind.C_HEADER,
        OutputKind.OBJECT,
        OutputKind.REGISTRATION,
        OutputKind.PYTORCH_WRAPPER,
    }
)
_OF_SEVERAL = frozenset(
    {OutputKind.STATIC_LIBRARY, OutputKind.C_HEADER, OutputKind.PYTHON_EXTENSION, OutputKind.REGISTRATION}
)


def _needs_header(kind: OutputKind, path: Path) -> bool:
    return kind in (OutputKind.C_HEADER, OutputKind.C_SOURCE) or (
        kind is OutputKind.PYTHON_EXTENSION and _is_source(path)
    )


def _is_source(path: Path) -> bool:
    return path.suffix == ".c"


@dataclass(frozen=True, slots=True, eq=False)
class _Output:
    """The output of a function: the program at two points of its way, its C, and how that is compiled."""

    request: Request
    lowered: Lowered
    filled: Stmt
    source: Path
    linkage: Linkage

    @property
    def options(self) -> CompileOptions:
        """The options by which the C is compiled; C alone needs no compiler. Raises: ToolchainError: there is none for
        the target."""
        return compile_options(self.request, runs_here=False)

    def object(self) -> Path:
        """The function as an object file, compiled once."""
        found = self.source.with_suffix(".o")
        if not found.exists():
            compile_object(self.source, found, options=self.options)
        return found

    @property
    def declared(self) -> Declared:
        """The function in a header."""
        return Declared(self.lowered.name, self.linkage, public(self.lowered))


def _linkage(request: Request) -> Linkage:
    return Linkage.of(request.name, request.target)


def _lowered(request: Request, folder: Path, version: str = "") -> _Output:
    """A function; a version of one has a name of its own, and tells the common one."""
    with deep_recursion(), without_collections():
        return _emitted(request, folder, version)


def _emitted(request: Request, folder: Path, version: str) -> _Output:
    trace = LoweringTrace()
    linkage = _linkage(request).version(version) if version else _linkage(request)
    target = request.target or get_host_target()
    lowered = lower(request, trace=trace)
    if target.has_feature(TargetFeature.NoBoundsQuery):
        lowered = without_query(lowered)
    arguments, own = public(lowered), inside(linkage)
    parts = [
        linkage.labels(arguments),
        hidden(linkage, arguments),
        unit_with_data(lowered, own.function, profile=target.has_feature(TargetFeature.Profile)),
        emit_in_context(linkage, arguments),
        emit_entry_points(lowered.name, linkage, arguments, target.to_string()),
    ]
    source = folder / f"{'.'.join([*linkage.namespaces, linkage.function])}.c"  # objects have names of their own
    source.write_text("".join(parts), encoding="utf-8")
    return _Output(request, lowered, trace.passes[0][1], source, linkage)


def _check_symbols(requests: Sequence[Request]) -> None:
    """Refuses two functions that C can't tell apart: names that differ may be one symbol."""
    owners: dict[tuple[tuple[str, ...], str], str] = {}
    for request in requests:
        linkage = _linkage(request)
        for ending in ("", "_argv", "_metadata"):
            symbol_of = (linkage.namespaces, f"{linkage.function}{ending}")
            other = owners.setdefault(symbol_of, request.name)
            if other != request.name:
                both = f'both have the symbol "{symbol_of[1]}"'
                raise PipelineError(f'"{other}" and "{request.name}" can\'t be linked: {both}.')


def _make(kind: OutputKind, path: Path, outputs: Sequence[_Output], folder: Path) -> Path:
    output, unit = folder / kind.value, outputs[0]
    lowered = unit.lowered
    match kind:
        case OutputKind.C_SOURCE:
            return unit.source
        case OutputKind.C_HEADER:
            output.write_text(emit_header([o.declared for o in outputs]), encoding="utf-8")
        case OutputKind.REGISTRATION:
            _check_plain(outputs, "registration")
            output.write_text(emit_registration([o.linkage.function for o in outputs]), encoding="utf-8")
        case OutputKind.PYTORCH_WRAPPER:
            header = f"{path.name.partition('.')[0]}.h"
            text = emit_wrapper(lowered.name, unit.linkage, public(lowered), header)
            output.write_text(text, encoding="utf-8")
        case OutputKind.STMT:
            output.write_text(format_stmt(lowered.body) + "\n", encoding="utf-8")
        case OutputKind.STMT_HTML:
            output.write_text(page(lowered.name, format_stmt(lowered.body)), encoding="utf-8")
        case OutputKind.CONCEPTUAL_STMT:
            output.write_text(format_stmt(unit.filled) + "\n", encoding="utf-8")
        case OutputKind.CONCEPTUAL_STMT_HTML:
            output.write_text(page(lowered.name, format_stmt(unit.filled)), encoding="utf-8")
        case OutputKind.FEATURIZATION:
            target = (unit.request.target or get_host_target()).to_string()
            text = emit_features(lowered.name, target, public(lowered), unit.filled)
            output.write_text(text, encoding="utf-8")
        case OutputKind.SCHEDULE:
            output.write_text(_schedule(unit.request), encoding="utf-8")
        case OutputKind.PIPELINE:
            output.write_bytes(serialized(unit.request.outputs, unit.request.requirements))
        case OutputKind.ASSEMBLY:
            compile_assembly(unit.source, output, options=unit.options)
        case OutputKind.OBJECT:
            return unit.object()
        case OutputKind.STATIC_LIBRARY:
            runtime = all(o.request.runtime for o in outputs)
            _make_library(outputs, folder, output, runtime=runtime)
        case OutputKind.PYTHON_EXTENSION:
            _make_extension(outputs, folder, path, output)
    return output


def _check_plain(outputs: Sequence[_Output], kind: str) -> None:
    """Refuses what only a caller that knows the function can call."""
    for o in outputs:
        if o.linkage.mangled or o.linkage.context:
            has = TargetFeature.CPlusPlusMangling if o.linkage.mangled else TargetFeature.UserContext
            raise PipelineError(f"A {kind} is made of functions of C without a context; the target has {has.value}.")


def _schedule(request: Request) -> str:
    """The schedule as a Python module: a function that gives it to the same Funcs again."""
    functions = with_made_funcs(realization_order(request.outputs))
    source = schedule_source([(f, f.directives) for f in functions], f"schedule_{symbol(request.name)}")
    return f'"""The schedule of {request.name}."""\n\nimport halide_core as hl\n\n\n{source.rstrip()}\n'


def _make_library(outputs: Sequence[_Output], folder: Path, library: Path, *, runtime: bool) -> None:
    objects = [o.object() for o in outputs]
    if runtime:
        objects += _runtime_objects(outputs[0].options, folder)
    make_static_library(objects, library, archiver=archiver_for(outputs[0].request.target))


def _runtime_objects(options: CompileOptions, folder: Path) -> list[Path]:
    """Copies of the runtime and its hooks under the names that they have in libraries."""
    made = {"halide_core_runtime.o": runtime_object(options), "halide_core_hooks.o": hooks_object(options)}
    for name, path in made.items():
        shutil.copyfile(path, folder / name)
    return [folder / name for name in made]


def _make_extension(outputs: Sequence[_Output], folder: Path, path: Path, module: Path) -> None:
    """The module; where the path is that of a C file, its source, to be linked with a static library."""
    target = outputs[0].request.target
    _check_plain(outputs, "Python extension")
    if not _is_source(path) and target is not None and not is_this_machine(target):
        raise NotAvailableError(
            f"A Python extension for the target \"{target}\" can't be linked here, where that machine's Python is not. "
            'Write its source, by a name that ends in ".c", and a static library, and link them there.'
        )
    source = module if _is_source(path) else folder / "halide_core_module.c"
    functions = [ModuleFunction.of(o.lowered.name, public(o.lowered)) for o in outputs]
    source.write_text(emit_module(module_name(path), functions), encoding="utf-8")
    if source is module:
        return
    compiled, library = source.with_suffix(".o"), folder / "halide_core_module.a"
    compile_object(source, compiled, options=outputs[0].options)
    # Two modules, or a module and this package, each have a runtime of their own, whatever is loaded first.
    _make_library(outputs, folder, library, runtime=True)
    link_shared([compiled, library], module, [f"PyInit_{module_name(path)}"], options=outputs[0].options)


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
