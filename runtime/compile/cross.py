"""C compilers for other machines than this one.

In: a Target. Out: a compiler and an archiver that make code for it, and the flags that name its instructions.

    cross_compiler(Target("arm-64-linux"))
    ->   aarch64-linux-gnu-gcc, or python -m ziglang cc -target aarch64-linux-gnu

What is looked for, in this order: ``$CC_arm_64_linux`` (the target's first three words; it may hold arguments), GNU's
cross compiler under the name that Debian gives it, and the ``ziglang`` wheel, which makes code for most.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from halide_core.errors import ToolchainError
from halide_core.run.target import INSTRUCTIONS, Target
from halide_core.run.target_names import TargetArch, TargetFeature, TargetOS
from halide_core.runtime.compile.toolchain import Compiler, archiver_named, compiler_named, zig_archiver, zig_compiler

_F = TargetFeature
_A = TargetArch
_S = TargetOS


class Dialect(Enum):
    """The dialect of a compiler's flags for instructions."""

    GNU = auto()
    """``-march=x86-64 -mavx2``: gcc, clang."""
    ZIG = auto()
    """``-mcpu=x86_64+avx2``: zig, whose names for processors and features are LLVM's, words joined by underscores."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The names of a machine for compilers."""

    zig: str | None
    gnu: str | None = None
    """The prefix of GNU's tools, by Debian's names."""


_MACHINES = {
    (_A.X86, 64, _S.Linux): Machine("x86_64-linux-gnu", "x86_64-linux-gnu"),
    (_A.X86, 32, _S.Linux): Machine("x86-linux-gnu", "i686-linux-gnu"),
    (_A.ARM, 64, _S.Linux): Machine("aarch64-linux-gnu", "aarch64-linux-gnu"),
    (_A.ARM, 32, _S.Linux): Machine("arm-linux-gnueabihf", "arm-linux-gnueabihf"),
    (_A.RISCV, 64, _S.Linux): Machine("riscv64-linux-gnu", "riscv64-linux-gnu"),
    (_A.POWERPC, 64, _S.Linux): Machine("powerpc64le-linux-gnu", "powerpc64le-linux-gnu"),
    (_A.WebAssembly, 32, _S.wasmrt): Machine("wasm32-wasi"),
    (_A.X86, 64, _S.OSX): Machine("x86_64-macos"),
    (_A.ARM, 64, _S.OSX): Machine("aarch64-macos"),
    (_A.X86, 64, _S.Windows): Machine("x86_64-windows-gnu", "x86_64-w64-mingw32"),
    (_A.X86, 32, _S.Windows): Machine("x86-windows-gnu", "i686-w64-mingw32"),
    (_A.ARM, 64, _S.Windows): Machine("aarch64-windows-gnu"),
    (_A.ARM, 32, _S.NoOS): Machine(None, "arm-none-eabi"),
}
_SOFT_FLOAT_ARM = Machine("arm-linux-gnueabi", "arm-linux-gnueabi")


def machine_of(target: Target) -> Machine | None:
    """The names of a target's machine; None where no compiler for it is known."""
    place = (target.arch, target.bits, target.os)
    if place == (_A.ARM, 32, _S.Linux) and target.has_feature(_F.SoftFloatABI):
        return _SOFT_FLOAT_ARM
    return _MACHINES.get(place)


def cross_compiler(target: Target) -> Compiler:
    """The compiler that makes code for another machine.

    Raises:
        ToolchainError: there is none, or ``$CC_…`` names one that does not exist.
    """
    machine, variable = machine_of(target), f"CC_{_words(target)}"
    given = os.environ.get(variable, "").strip()
    if given:
        return compiler_named(variable, given)
    looked_for = [f"${variable} (not set)"]
    if machine is not None and machine.gnu is not None:
        if shutil.which(f"{machine.gnu}-gcc") is not None:
            return compiler_named(variable, f"{machine.gnu}-gcc")
        looked_for.append(f'"{machine.gnu}-gcc" on $PATH')
    if machine is not None and machine.zig is not None:
        zig = zig_compiler("-target", machine.zig)
        if zig is not None:
            return zig
        looked_for.append('the Python package "ziglang"')
    raise ToolchainError(
        f'There is no C compiler for the target "{target}": looked for {", ".join(looked_for)}.\n'
        f"Install one, or name one by {variable}."
    )


def cross_archiver(target: Target) -> tuple[str, ...]:
    """The archiver for another machine's objects: ``$AR_…``, GNU's, or the ziglang wheel's. Raises: ToolchainError."""
    machine, variable = machine_of(target), f"AR_{_words(target)}"
    found = archiver_named(variable)
    if found is None and machine is not None and machine.gnu is not None:
        gnu = shutil.which(f"{machine.gnu}-ar")
        found = None if gnu is None else (gnu,)
    found = found or zig_archiver()
    if found is None:
        raise ToolchainError(f'There is no archiver for the target "{target}". Name one by {variable}.')
    return found


def _words(target: Target) -> str:
    return f"{target.arch.value}_{target.bits}_{target.os.value}"


# Instructions.

_X86_WORDS = {
    "sse4_1": "sse4.1",
    "avx_vnni": "avxvnni",
    "avx512_bf16": "avx512bf16",
    "avx512_vnni": "avx512vnni",
    "avx512_bitalg": "avx512bitalg",
    "avx512_vbmi2": "avx512vbmi2",
    "avx512_vpopcntdq": "avx512vpopcntdq",
}
"""Compilers' words for instructions, where they are not the kernel's without the underscores."""
_ARM_LEVELS = {
    _F.ARMv8a: 0,
    _F.ARMv81a: 1,
    _F.ARMv82a: 2,
    _F.ARMv83a: 3,
    _F.ARMv84a: 4,
    _F.ARMv85a: 5,
    _F.ARMv86a: 6,
    _F.ARMv87a: 7,
    _F.ARMv88a: 8,
    _F.ARMv89a: 9,
}
_ARM_EXTENSIONS = {
    # A feature, GNU's word, zig's word.
    _F.ARMDotProd: ("dotprod", "dotprod"),
    _F.ARMFp16: ("fp16", "fullfp16"),
    _F.SVE: ("sve", "sve"),
    _F.SVE2: ("sve2", "sve2"),
}


def dialect(compiler: Compiler) -> Dialect:
    """The dialect of a compiler's flags for instructions."""
    return Dialect.ZIG if "ziglang" in compiler.command else Dialect.GNU


def is_hosted(target: Target) -> bool:
    """True where a system with threads and shared objects runs the code."""
    return target.arch is not _A.WebAssembly and target.os is not _S.NoOS


def unreached(target: Target) -> str:
    """Why there is no code for a machine, whatever is installed; empty where a compiler for it is known or named."""
    variable = f"CC_{_words(target)}"
    if machine_of(target) is not None or os.environ.get(variable, "").strip():
        return ""
    known = ", ".join(f"{arch.value}-{bits}-{system.value}" for arch, bits, system in _MACHINES)
    return f"code is made for {known}, and for machines whose C compiler is named, as by {variable}"


def machine_flags(target: Target, how: Dialect) -> tuple[str, ...]:
    """The flags for the instructions that a target has, beyond those of every machine of its architecture."""
    match target.arch, target.bits:
        case TargetArch.X86, bits:
            return _x86_flags(target, bits, how)
        case TargetArch.ARM, 64:
            return _arm64_flags(target, how)
        case TargetArch.ARM, _:
            return tuple(_arm32_flags(target, how))
        case TargetArch.RISCV, _:
            vectors = target.has_feature(_F.RVV)
            if how is Dialect.ZIG:
                return ("-mcpu=baseline_rv64+v",) if vectors else ()
            return ("-march=rv64gcv" if vectors else "-march=rv64gc",)
        case TargetArch.WebAssembly, _:
            return ("-msimd128",) if target.has_feature(_F.WasmSimd128) else ()
    return ()


def _x86_flags(target: Target, bits: int, how: Dialect) -> tuple[str, ...]:
    needed = list(dict.fromkeys(i for f, those in INSTRUCTIONS.items() if target.has_feature(f) for i in those))
    words = [_X86_WORDS.get(i, i) for i in needed]
    if how is Dialect.ZIG:
        base = "x86_64" if bits == 64 else "pentium4"
        return ("-mcpu=" + "+".join([base, *(word.replace(".", "_") for word in words)]),)
    base32 = ("-march=pentium4", "-mfpmath=sse")  # the x87 rounds later than the program says
    return (*(("-march=x86-64",) if bits == 64 else base32), *(f"-m{word}" for word in words))


def _arm64_flags(target: Target, how: Dialect) -> tuple[str, ...]:
    level = max((number for f, number in _ARM_LEVELS.items() if target.has_feature(f)), default=0)
    extensions = [words for f, words in _ARM_EXTENSIONS.items() if target.has_feature(f)]
    if how is Dialect.ZIG:
        parts = ["generic", *([f"v8_{level}a"] if level else []), *(zig for _, zig in extensions)]
        return ("-mcpu=" + "+".join(parts),)
    base = f"armv8.{level}-a" if level else "armv8-a"
    return ("-march=" + "+".join([base, *(gnu for gnu, _ in extensions)]),)


def _arm32_flags(target: Target, how: Dialect) -> Iterator[str]:
    """ARMv7, with fused products where every machine that has NEON's second version has them.

    NEON takes floats below the smallest normal one for 0: therefore gcc computes vectors of floats one by one, clang
    does not.
    """
    bare, neon = target.os is _S.NoOS, not target.has_feature(_F.NoNEON)
    fused = target.has_feature(_F.ARMv7s)
    if how is Dialect.ZIG:
        yield "-mcpu=generic+v7a" + ("+vfp4" if fused else "+vfp3") + ("+neon" if neon else "")
    elif bare:
        yield from ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")
    else:
        unit = ("neon-vfpv4" if fused else "neon") if neon else ("vfpv4" if fused else "vfpv3-d16")
        yield from ("-march=armv7-a", f"-mfpu={unit}")
