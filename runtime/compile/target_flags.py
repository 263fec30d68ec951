"""The C compiler's flags for a target.

In: a request. Out: options: this machine's own instructions, or those of the features that the target names.

    x86-64-linux-avx2   ->   -march=x86-64 -mavx2, and -mtune=native for what runs on this machine
"""

from __future__ import annotations

from pathlib import Path

from halide_core.run.backend import Request
from halide_core.run.target import INSTRUCTIONS, Target
from halide_core.run.target_names import TargetArch
from halide_core.runtime.compile.toolchain import CompileOptions

INCLUDE_FOLDER = Path(__file__).resolve().parents[1] / "crt"
"""The runtime, whose header all C includes."""

# The compiler's words for instructions, where they are not the kernel's without the underscores.
_WORDS = {
    "sse4_1": "sse4.1",
    "avx_vnni": "avxvnni",
    "avx512_bf16": "avx512bf16",
    "avx512_vnni": "avx512vnni",
    "avx512_bitalg": "avx512bitalg",
    "avx512_vbmi2": "avx512vbmi2",
    "avx512_vpopcntdq": "avx512vpopcntdq",
}


def compile_options(request: Request, *, runs_here: bool) -> CompileOptions:
    """How a request's C is compiled: with instructions that are quick on this machine, if that is where it runs."""
    return options_for(request.target, request.flags, runs_here=runs_here)


def options_for(target: Target | None, given: tuple[str, ...] = (), *, runs_here: bool = False) -> CompileOptions:
    """How C for a target is compiled; None is this machine as it is."""
    if target is None:
        return CompileOptions(include_folders=(INCLUDE_FOLDER,), extra_flags=given)
    flags = (*_instructions(target), *(("-mtune=native",) if runs_here else ()), *given)
    return CompileOptions(march=_baseline(target), include_folders=(INCLUDE_FOLDER,), extra_flags=flags)


def _baseline(target: Target) -> str | None:
    """The instructions that every machine of the architecture has; None is the compiler's own choice."""
    return "x86-64" if target.arch is TargetArch.X86 and target.bits == 64 else None


def _instructions(target: Target) -> tuple[str, ...]:
    needed = dict.fromkeys(i for f, those in INSTRUCTIONS.items() if target.has_feature(f) for i in those)
    return tuple(f"-m{_WORDS.get(i, i)}" for i in needed)
