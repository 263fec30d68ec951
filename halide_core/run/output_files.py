"""Compiling to files: C, headers, objects, libraries, assembly, and the program as text.

In: outputs, the arguments of the function, a name, a target. Out: files, all or none.

    f.compile_to_static_library("blur", [image], "blur")   ->   blur.a, blur.h, halide_runtime.h
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TypeAlias

from halide_core.algorithm.model import Image, ScalarParam, realization_order
from halide_core.checks import items, items_of, of_kind, shown
from halide_core.errors import HOME, ArgumentTypeError, NotAvailableError, PipelineError
from halide_core.lang.definition import freeze
from halide_core.own_name import package_name
from halide_core.run.arguments import ArgumentLike, sources
from halide_core.run.automatic import choose, wanted
from halide_core.run.backend import OutputKind, Request, backend
from halide_core.run.target import Target, carries_runtime, checked_target, get_host_target
from halide_core.run.target_names import TargetFeature
from halide_core.unsupported import OUTPUT_MODULE, Pending

TargetLike: TypeAlias = "Target | str | None"


def install_dir() -> str:
    """The folder that the package is installed in. C programs include ``runtime/crt/halide_runtime.h`` of it."""
    return str(HOME.resolve())


class StmtOutputFormat(Enum):
    """The format of ``compile_to_lowered_stmt``."""

    Text = 0
    HTML = 1


class OutputFileType(Enum):
    """The files that ``compile_to`` can write; the value is Halide's number."""

    assembly = 0
    bitcode = 1
    c_header = 2
    c_source = 3
    compiler_log = 4
    cpp_stub = 5
    featurization = 6
    function_info_header = 7
    hlpipe = 8
    llvm_assembly = 9
    object = 10
    python_extension = 11
    pytorch_wrapper = 12
    registration = 13
    schedule = 14
    static_library = 15
    stmt = 16
    conceptual_stmt = 17
    stmt_html = 18
    conceptual_stmt_html = 19
    device_code = 20


_KINDS = {
    OutputFileType.assembly: OutputKind.ASSEMBLY,
    OutputFileType.c_header: OutputKind.C_HEADER,
    OutputFileType.c_source: OutputKind.C_SOURCE,
    OutputFileType.featurization: OutputKind.FEATURIZATION,
    OutputFileType.object: OutputKind.OBJECT,
    OutputFileType.static_library: OutputKind.STATIC_LIBRARY,
    OutputFileType.stmt: OutputKind.STMT,
    OutputFileType.stmt_html: OutputKind.STMT_HTML,
    OutputFileType.conceptual_stmt: OutputKind.CONCEPTUAL_STMT,
    OutputFileType.conceptual_stmt_html: OutputKind.CONCEPTUAL_STMT_HTML,
    OutputFileType.python_extension: OutputKind.PYTHON_EXTENSION,
    OutputFileType.pytorch_wrapper: OutputKind.PYTORCH_WRAPPER,
    OutputFileType.registration: OutputKind.REGISTRATION,
    OutputFileType.schedule: OutputKind.SCHEDULE,
    OutputFileType.hlpipe: OutputKind.PIPELINE,
}


def frozen(request: Request) -> Request:
    """The request, with its Funcs closed to further updates: what is compiled relies on those they have."""
    for f in realization_order(request.outputs):
        freeze(f)
    return request


class LinkageType(Enum):
    """Who can call a compiled function."""

    External = 0
    ExternalPlusMetadata = 1
    ExternalPlusArgv = 2
    Internal = 3


class NameMangling(Enum):
    """The mangling of a C function's name. Functions here have C names."""

    Default = 0
    C = 1
    CPlusPlus = 2


class Module(Pending):
    """A pipeline that is ready to be compiled to files, or several: ``compile`` may be called any number of times."""

    _pending = OUTPUT_MODULE

    def __init__(self, name: str, requests: Sequence[Request]) -> None:
        self._name = of_kind(name, str, "A Module has a name")
        rule = "A Module is made by compile_to_module() or link_modules(): of what is to be compiled"
        self._requests = tuple(items_of(requests, Request, rule))

    def name(self) -> str:
        """The name of the function; of several, the one that ``link_modules`` was given."""
        return self._name

    def target(self) -> Target:
        """The target of the code."""
        return self._requests[0].target or get_host_target()

    def compile(self, outputs: Mapping[OutputFileType, str]) -> None:
        """Writes several files at once.

        Raises:
            NotAvailableError: a type of file that is not here; the message lists those that are.
            PipelineError: a type that holds one function, where there are several.
        """
        backend().write(self._requests, _kinds(outputs))

    def __repr__(self) -> str:
        return f"<{package_name()}.Module {self.name()!r}>"


def link_modules(name: str, modules: Sequence[Module]) -> Module:
    """Several Modules as one: a static library with one runtime, its header, a Python extension with every function.

    Raises:
        PipelineError: two functions of one name; Modules for different targets.
    """
    given = items_of(modules, Module, "link_modules() takes a name and a list of Modules")
    requests = [r for module in given for r in module._requests]
    seen: set[str] = set()
    for r in requests:
        if r.name in seen:
            raise PipelineError(f'Two functions to be linked are called "{r.name}".')
        seen.add(r.name)
    if not requests or len({str(r.target) for r in requests}) > 1:
        raise PipelineError("link_modules() takes Modules, one or more, for one target.")
    return Module(name, requests)


def write_versions(modules: Sequence[Module], outputs: Mapping[OutputFileType, str]) -> None:
    """Writes files of one function that was made for several targets, the Modules' own.

    Raises:
        PipelineError: targets of several machines, one that is there twice, or a type of file that has one target.
    """
    backend().write_versions([r for module in modules for r in module._requests], _kinds(outputs))


def _kinds(outputs: Mapping[OutputFileType, str]) -> dict[OutputKind, Path]:
    if not isinstance(outputs, Mapping):
        raise ArgumentTypeError(
            f"Files are given as {{hl.OutputFileType.object: name, …}}, a name for each type, not as {shown(outputs)}."
        )
    for each in outputs:
        if not isinstance(each, OutputFileType) or each not in _KINDS:
            told = each.name if isinstance(each, OutputFileType) else shown(each)
            raise NotAvailableError(
                f"A file of type {told} can't be written yet; these can: {', '.join(t.name for t in _KINDS)}."
            )
    return {_KINDS[each]: _path(name) for each, name in outputs.items()}


def _path(name: object) -> Path:
    """The path of a file."""
    if not isinstance(name, str | os.PathLike) or not os.fspath(name):
        raise ArgumentTypeError(f"The name of a file is a text or a path, not {shown(name)}.")
    return Path(name)


def _beside(prefix: object, ending: str) -> Path:
    """The path of a file whose name begins as those of others do."""
    return Path(f"{_path(prefix)}{ending}")


def compile_standalone_runtime(
    outputs: str | Mapping[OutputFileType, str], target: Target
) -> dict[OutputFileType, str] | None:
    """Writes the runtime that libraries for targets with ``no_runtime`` leave to the program which links them.

    Args:
        outputs: the name of an object file; or names of an object and a static library, and then they are returned.

    Raises:
        NotAvailableError: another type of file, or a target that no code is made for.
    """
    files = {OutputFileType.object: outputs} if isinstance(outputs, str) else dict(outputs)
    others = [kind.name for kind in files if kind not in (OutputFileType.object, OutputFileType.static_library)]
    if others:
        raise NotAvailableError(f"The runtime is written as object or static_library, not as {others[0]}.")
    backend().write_runtime(checked_target(target, runs_here=False), _kinds(files))
    return None if isinstance(outputs, str) else files


class OutputFiles:
    """The methods of Func and Pipeline that write files. Each takes the arguments of the function in order, and
    ``schedule="auto"`` for a schedule that is chosen for the estimates that were set."""

    def _request(
        self, inputs: Sequence[Image | ScalarParam] | None = None, name: str = "", target: Target | None = None
    ) -> Request:
        """The request to compile."""
        raise NotImplementedError  # Func and Pipeline say

    def _write(
        self,
        files: dict[OutputKind, Path],
        arguments: Sequence[ArgumentLike],
        name: str | Target = "",
        target: TargetLike = None,
        schedule: str | None = None,
    ) -> None:
        backend().write([self._fileable(arguments, name, target, schedule)], files)

    def _fileable(
        self, arguments: Sequence[ArgumentLike], name: str | Target, target: TargetLike, schedule: str | None = None
    ) -> Request:
        """A request for files: its inputs are the arguments, and Buffers that become constants."""
        if isinstance(name, Target):  # as in Halide, a name can be left out before a target
            name, target = "", name
        made_for = checked_target(target, runs_here=False)
        given = sources(arguments)
        mangled = made_for is not None and made_for.has_feature(TargetFeature.CPlusPlusMangling)
        function = name.split("::")[-1] if mangled else name
        if name and not (function.isascii() and function.isidentifier()):
            raise PipelineError(f'"{name}" can\'t be the name of a C function.')
        if wanted(schedule):
            choose(self._request(given, name, made_for).outputs, None, made_for, schedule)
        return replace(frozen(self._request(given, name, made_for)), runtime=carries_runtime(target))

    def compile_to_module(
        self,
        arguments: Sequence[ArgumentLike],
        fn_name: str | Target = "",
        target: TargetLike = None,
        linkage: LinkageType = LinkageType.ExternalPlusMetadata,
        *,
        schedule: str | None = None,
    ) -> Module:
        """The pipeline as a Module, whose ``compile`` writes files. Functions are always external, with metadata."""
        if linkage is LinkageType.Internal:
            raise NotAvailableError("A function of a Module is external; LinkageType.Internal is not available yet.")
        request = self._fileable(arguments, fn_name, target, schedule)
        return Module(request.name, [request])

    def compile_to(
        self,
        outputs: Mapping[OutputFileType, str],
        arguments: Sequence[ArgumentLike],
        fn_name: str | Target = "",
        target: TargetLike = None,
        *,
        schedule: str | None = None,
    ) -> None:
        """Writes several files at once: ``compile_to({hl.OutputFileType.object: "blur.o"}, [image], "blur")``.

        Raises:
            NotAvailableError: a type of file that is not here; the message lists those that are.
        """
        self._write(_kinds(outputs), arguments, fn_name, target, schedule)

    def compile_to_c(
        self,
        filename: str,
        arguments: Sequence[ArgumentLike],
        fn_name: str | Target = "",
        target: TargetLike = None,
        *,
        schedule: str | None = None,
    ) -> None:
        """Writes the C source."""
        self._write({OutputKind.C_SOURCE: _path(filename)}, arguments, fn_name, target, schedule)

    def compile_to_header(
        self,
        filename: str,
        arguments: Sequence[ArgumentLike],
        fn_name: str | Target = "",
        target: TargetLike = None,
        *,
        schedule: str | None = None,
    ) -> None:
        """Writes the C header that declares the function."""
        self._write({OutputKind.C_HEADER: _path(filename)}, arguments, fn_name, target, schedule)

    def compile_to_object(
        self,
        filename: str,
        arguments: Sequence[ArgumentLike],
        fn_name: str | Target = "",
        target: TargetLike = None,
        *,
        schedule: str | None = None,
    ) -> None:
        """Writes an object file."""
        self._write({OutputKind.OBJECT: _path(filename)}, arguments, fn_name, target, schedule)

    def compile_to_assembly(
        self,
        filename: str,
        arguments: Sequence[ArgumentLike],
        fn_name: str | Target = "",
        target: TargetLike = None,
        *,
        schedule: str | None = None,
    ) -> None:
        """Writes the assembly that the C compiler makes."""
        self._write({OutputKind.ASSEMBLY: _path(filename)}, arguments, fn_name, target, schedule)

    def compile_to_file(
        self,
        filename_prefix: str,
        arguments: Sequence[ArgumentLike],
        fn_name: str | Target = "",
        target: TargetLike = None,
        *,
        schedule: str | None = None,
    ) -> None:
        """Writes an object file and a header."""
        files = {OutputKind.OBJECT: _beside(filename_prefix, ".o"), OutputKind.C_HEADER: _beside(filename_prefix, ".h")}
        self._write(files, arguments, fn_name, target, schedule)

    def compile_to_static_library(
        self,
        filename_prefix: str,
        arguments: Sequence[ArgumentLike],
        fn_name: str | Target = "",
        target: TargetLike = None,
        *,
        schedule: str | None = None,
    ) -> None:
        """Writes a static library and a header."""
        library, header = _beside(filename_prefix, ".a"), _beside(filename_prefix, ".h")
        files = {OutputKind.STATIC_LIBRARY: library, OutputKind.C_HEADER: header}
        self._write(files, arguments, fn_name, target, schedule)

    def compile_to_multitarget_static_library(
        self, filename_prefix: str, arguments: Sequence[ArgumentLike], targets: Sequence[TargetLike]
    ) -> None:
        """Writes a static library and a header: a function in as many versions as there are targets.

        The first version whose instructions the processor has is called; the last target should need the fewest. The
        function has the last part of the prefix as its name.

        Raises:
            PipelineError: targets of several machines, or one that is there twice.
        """
        requests = self._versions(filename_prefix, arguments, targets)
        library, header = _beside(filename_prefix, ".a"), _beside(filename_prefix, ".h")
        backend().write_versions(requests, {OutputKind.STATIC_LIBRARY: library, OutputKind.C_HEADER: header})

    def compile_to_multitarget_object_files(
        self,
        filename_prefix: str,
        arguments: Sequence[ArgumentLike],
        targets: Sequence[TargetLike],
        suffixes: Sequence[str],
    ) -> None:
        """Writes the same as objects: PREFIX-SUFFIX.o for each target, PREFIX_wrapper.o, which chooses, and
        PREFIX_runtime.o, unless the targets have no_runtime; and a header."""
        requests = self._versions(filename_prefix, arguments, targets)
        objects, header = _beside(filename_prefix, ".o"), _beside(filename_prefix, ".h")
        backend().write_versions(requests, {OutputKind.OBJECT: objects, OutputKind.C_HEADER: header}, suffixes)

    def _versions(
        self, filename_prefix: str, arguments: Sequence[ArgumentLike], targets: Sequence[TargetLike]
    ) -> list[Request]:
        made_for = items(targets, "A function for several targets takes a list of hl.Targets")
        if not made_for:
            raise PipelineError("A function for several targets needs one at least.")
        name = _path(filename_prefix).name
        return [self._fileable(arguments, name, target) for target in made_for]

    def compile_to_lowered_stmt(
        self,
        filename: str,
        arguments: Sequence[ArgumentLike],
        fmt: StmtOutputFormat = StmtOutputFormat.Text,
        target: TargetLike = None,
        *,
        schedule: str | None = None,
    ) -> None:
        """Writes the lowered program, as text or as a page."""
        kind = OutputKind.STMT if fmt is StmtOutputFormat.Text else OutputKind.STMT_HTML
        self._write({kind: _path(filename)}, arguments, "", target, schedule)

    def compile_to_conceptual_stmt(
        self,
        filename: str,
        arguments: Sequence[ArgumentLike],
        fmt: StmtOutputFormat = StmtOutputFormat.Text,
        target: TargetLike = None,
        *,
        schedule: str | None = None,
    ) -> None:
        """Writes the program as it is once its bounds are known, before the passes that make it fast."""
        kind = OutputKind.CONCEPTUAL_STMT if fmt is StmtOutputFormat.Text else OutputKind.CONCEPTUAL_STMT_HTML
        self._write({kind: _path(filename)}, arguments, "", target, schedule)
