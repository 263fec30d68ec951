"""The C compiler and its flags for a target.

In: a request. Out: options: this machine's own instructions, or those of the features that the target names.

    x86-64-linux-avx2   ->   -march=x86-64 -mavx2, and -mtune=native, or better, for what runs on this machine
    arm-64-linux        ->   -march=armv8-a, by a compiler for that machine
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from halide_core.run.backend import Request
from halide_core.run.target import Target, is_this_machine
from halide_core.runtime.compile.cross import Dialect, cross_archiver, cross_compiler, dialect, is_hosted, machine_flags
from halide_core.runtime.compile.toolchain import CompileOptions, find_compiler, names_processor

INCLUDE_FOLDER: Final = Path(__file__).resolve().parents[1] / "crt"
"""The folder of ``halide_runtime.h``."""


def compile_options(request: Request, *, runs_here: bool) -> CompileOptions:
    """The options for a request's C: with instructions that are quick on this machine, if that is where it runs."""
    return options_for(request.target, request.flags, runs_here=runs_here)


def options_for(target: Target | None, given: tuple[str, ...] = (), *, runs_here: bool = False) -> CompileOptions:
    """The options for a target's C; None is this machine as it is.

    Raises:
        ToolchainError: there is no compiler for the target.
    """
    said = names_processor(given)
    if target is None:
        tuned = () if said else find_compiler().tuned
        return CompileOptions(include_folders=(INCLUDE_FOLDER,), extra_flags=(*tuned, *given))
    compiler = find_compiler() if is_this_machine(target) else cross_compiler(target)
    how = dialect(compiler)
    # zig tunes for what -mcpu names
    tune = (compiler.tuned or ("-mtune=native",)) if runs_here and how is Dialect.GNU and not said else ()
    return CompileOptions(
        march=None,
        compiler=compiler,
        hosted=is_hosted(target),
        include_folders=(INCLUDE_FOLDER,),
        extra_flags=(*machine_flags(target, how), *tune, *given),
    )


def archiver_for(target: Target | None) -> tuple[str, ...] | None:
    """The archiver for a target; None is the one found on this machine. Raises: ToolchainError."""
    return None if target is None or is_this_machine(target) else cross_archiver(target)
