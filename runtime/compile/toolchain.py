"""Finds the C compiler of this machine and calls it.

In: C files and options. Out: a shared object, an object or a static library, written whole or not at all.

    compile_shared([Path("blur.c")], Path("blur.so"))
    -> gcc -std=gnu11 -O2 ... -march=native blur.c -shared -o blur.so -lm

A cache key for what comes out is made of the sources' text, ``Compiler.identity``, ``CompileOptions.flags()`` and
``cpu_identity()``; none of these starts a process.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from halide_core.errors import ToolchainError
from halide_core.runtime.compile.processes import Stoppable, run_all

if sys.platform != "linux":  # on Linux /proc/cpuinfo knows more, in 0.1 ms instead of 8
    import archspec.cpu  # type: ignore[import-untyped]  # it has no type hints

# gnu11 and not c11, which would hide POSIX. No contraction: scalar and vector code must give the same bits. Never
# -ffast-math: loading such a library changes the float mode of the whole process.
STANDARD_FLAGS = (
    "-std=gnu11",
    "-O2",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
)
_HOSTED_FLAGS = ("-fPIC", "-pthread")
# Pipelines take halide_core_* from the runtime when they are loaded; Apple's linker wants to be told.
_SHARED = ("-dynamiclib", "-undefined", "dynamic_lookup") if sys.platform == "darwin" else ("-shared",)
_LIBRARIES = ("-lm",)
_PATH_NAMES = ("clang", "gcc", "cc")
_GCC = re.compile(r"((?P<machine>\w+)-([\w-]+-)?)?gcc(-[\d.]+)?")
"""A name of gcc, behind all links; the machine that it compiles for, if it isn't this one."""
_X86 = re.compile(r"x86_64|amd64|i\d86")
_OF_GCC = (
    "-ftree-loop-vectorize",
    "-fvect-cost-model=cheap",
    "-fpeel-loops",
    "-funswitch-loops",
    "-fno-thread-jumps",
    "-pass-exit-codes",
)
"""Loops that no schedule makes vectors of, gcc may: at -O2 it takes only those whose length it knows. And it writes out
short loops of constant length, which at -O2 it does only where that makes less code: what they sum stays in registers
(block matching takes 0.3 times as long, depthwise convolutions and interleaving 0.6). And it has a loop for each case
of a choice that the loop doesn't change: between what several channels load, it would make no vectors (0.12, compiled
in 1.03 of the time). Without threads of jumps the minimum of a maximum has no branches, which would depend on data (a
gain on packed pixels else takes 4 times as long)."""
_CAREFUL_GCC = ("-fno-tree-loop-vectorize", "-fno-tree-slp-vectorize")
# Indices' minima and maxima else go to vector registers and back (local Laplacian: 1.2 times as long).
_OF_GCC_ON_X86 = ("-mno-stv",)
# For AMD's processors with AVX-512 gcc 12 keeps numbers that don't fit the registers in those of vectors, in innermost
# loops, too (1.03 of the time over random pipelines, twice the time where it happens). Their gathers stay slow.
_TUNED_GCC = ("-mtune=skylake-avx512", "-DHALIDE_CORE_SLOW_GATHERS")
_HURRIED = ("-O1",)
# -Og is -O1 without what takes gcc long: with these it takes 0.43 of the time of -O2, where -O1 takes 0.7. Vectors stay
# in registers: the applications' schedules run for up to 1.4 times as long; plain loops for 7, without hoisting for 10.
_HURRIED_GCC = ("-Og", "-fmove-loop-invariants", "-fira-region=one")
_BARE = ("-nostdlib", "-fno-use-linker-plugin", *_LIBRARIES, "-lgcc")
"""The end of gcc's command for what calls but the runtime, functions of numbers and what a C compiler takes for granted
(memset): half of the time of linking goes into the C library's names, which the process knows anyway."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler: the command that calls it, and what tells it from another one (or from its next version)."""

    command: tuple[str, ...]
    identity: str
    bare: tuple[str, ...] = ()
    """The end of its command to link what needs no C library by itself; empty where it is not known to be quicker."""
    hurried: tuple[str, ...] = _HURRIED
    """Flags that come last where code is wanted soon, and may be slow."""
    careful: tuple[str, ...] = ()
    """Flags that come last where the compiler failed by a fault of its own: gcc 12 now and then does, where it makes
    vectors of a loop."""
    tuned: tuple[str, ...] = ()
    """Flags for what runs on this machine, where the compiler chooses badly for it by itself, and nobody says for
    which processor it should."""

    @property
    def version(self) -> str:
        """The first line of ``--version``. Starts a process the first time: for reports, never for a cache key."""
        return _ask_version(self.command)


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """The options that may differ from one compilation to another. ``march=None`` leaves the compiler's own
    baseline."""

    march: str | None = "native"
    compiler: Compiler | None = None
    """The compiler; None for that of this machine."""
    hosted: bool = True
    """True where there is a system with threads and shared objects where the code runs."""
    defines: tuple[str, ...] = ()
    include_folders: tuple[Path, ...] = ()
    extra_flags: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    bare: bool = False
    """True of a shared object that calls nothing of the C library but functions of numbers."""
    timeout_s: float = 600.0

    def flags(self) -> tuple[str, ...]:
        """All flags of a compilation but for the names of its files."""
        march = () if self.march is None else (f"-march={self.march}",)
        defines = tuple(f"-D{define}" for define in self.defines)
        includes = tuple(f"-I{folder}" for folder in self.include_folders)
        return STANDARD_FLAGS + (_HOSTED_FLAGS if self.hosted else ()) + march + defines + includes + self.extra_flags


DEFAULT_OPTIONS = CompileOptions()


def find_compiler() -> Compiler:
    """``$CC`` (which may hold arguments), clang, gcc, cc, or the ``ziglang`` wheel: the first that exists.

    Raises:
        ToolchainError: there is none, or ``$CC`` names one that does not exist.
    """
    return _search_compiler(os.environ.get("CC", "").strip(), os.environ.get("PATH", os.defpath))


def compiler_named(variable: str, text: str) -> Compiler:
    """The compiler that a variable of the environment names, maybe with arguments.

    Raises:
        ToolchainError: it does not exist.
    """
    return _compiler_of_user(variable, text, os.environ.get("PATH", os.defpath))


def zig_compiler(*words: str) -> Compiler | None:
    """The compiler of the ``ziglang`` wheel, called with some words; None where it is not installed."""
    zig = _zig()
    if zig is None:
        return None
    command, binary = zig
    return Compiler((*command, "cc", *words), " ".join([_identity(binary), *words]))


def compile_shared(
    sources: Sequence[Path],
    output: Path,
    *,
    options: CompileOptions = DEFAULT_OPTIONS,
    compiler: Compiler | None = None,
    within: Stoppable | None = None,
) -> None:
    """Compiles the sources, in parallel if there are several, and links them into the shared object ``output``.

    Args:
        within: what another thread may end the compilers by.

    Raises:
        ToolchainError: the compiler is missing, fails, is killed or runs out of time. ``output`` is untouched then.
    """
    chosen = compiler or options.compiler or find_compiler()
    command = chosen.command
    with scratch_folder(output) as scratch:
        inputs = list(sources)
        if len(inputs) > 1:
            objects = [scratch / f"{number}.o" for number in range(len(inputs))]
            run_all(
                [_object_command(command, options, *pair) for pair in zip(inputs, objects, strict=True)],
                options.timeout_s,
                within,
                chosen.careful,
            )
            inputs = objects
        result = scratch / output.name
        libraries = (options.bare and chosen.bare) or _LIBRARIES
        link = _link_command(command, options, inputs, result, libraries)
        run_all([link], options.timeout_s, within, chosen.careful)
        _publish(result, output)


def link_shared(
    inputs: Sequence[Path], output: Path, exports: Sequence[str], *, options: CompileOptions = DEFAULT_OPTIONS
) -> None:
    """Links objects and static libraries into the shared object ``output``; raises as ``compile_shared`` does.

    Nothing else in a process sees more of it than ``exports``, or stands in for what it has.
    """
    with scratch_folder(output) as scratch:
        result = scratch / output.name
        command = _link_command(find_compiler().command, options, inputs, result)
        if sys.platform != "darwin":  # where names are bound to the library that they are of anyway
            shown = scratch / "shown.map"
            shown.write_text(f"{{ global: {'; '.join(exports)}; local: *; }};\n", encoding="ascii")
            command.append(f"-Wl,--version-script={shown}")
        run_all([command], options.timeout_s)
        _publish(result, output)


def _link_command(
    command: tuple[str, ...],
    options: CompileOptions,
    inputs: Sequence[Path],
    output: Path,
    libraries: Sequence[str] = _LIBRARIES,
) -> list[str]:
    names = [str(path) for path in inputs]
    return [*command, *options.flags(), *_SHARED, "-o", str(output), *names, *options.libraries, *libraries]


def compile_object(
    source: Path,
    output: Path,
    *,
    options: CompileOptions = DEFAULT_OPTIONS,
    compiler: Compiler | None = None,
) -> None:
    """Compiles one source into the object file ``output``; raises as ``compile_shared`` does."""
    _compile_one(source, output, _object_command, options, compiler)


def compile_assembly(
    source: Path,
    output: Path,
    *,
    options: CompileOptions = DEFAULT_OPTIONS,
    compiler: Compiler | None = None,
) -> None:
    """Compiles one source into the assembly file ``output``; raises as ``compile_shared`` does."""
    _compile_one(source, output, _assembly_command, options, compiler)


def _compile_one(
    source: Path,
    output: Path,
    to_command: Callable[[tuple[str, ...], CompileOptions, Path, Path], list[str]],
    options: CompileOptions,
    compiler: Compiler | None,
) -> None:
    chosen = compiler or options.compiler or find_compiler()
    with scratch_folder(output) as scratch:
        result = scratch / output.name
        run_all([to_command(chosen.command, options, source, result)], options.timeout_s, careful=chosen.careful)
        _publish(result, output)


def _assembly_command(command: tuple[str, ...], options: CompileOptions, source: Path, output: Path) -> list[str]:
    return [*command, *options.flags(), "-S", "-o", str(output), str(source)]


def make_static_library(
    objects: Sequence[Path], output: Path, *, archiver: Sequence[str] | None = None, timeout_s: float = 600.0
) -> None:
    """Packs object files into the static library ``output``, with ``$AR``, ``ar`` or the ar of the ziglang wheel.

    Raises:
        ToolchainError: there is no archiver, or it fails.
    """
    with scratch_folder(output) as scratch:
        result = scratch / output.name
        run_all([[*(archiver or _find_archiver()), "rcs", str(result), *map(str, objects)]], timeout_s)
        _publish(result, output)


@lru_cache(maxsize=1)
def cpu_identity() -> str:
    """A text that is equal on two machines only if code for the one's ``-march=native`` runs on the other.

    The kernel's list of features where there is one: archspec's knows 24 of the 106 that an AMD Zen 4 under a
    hypervisor has, and AVX512-VNNI is not among them, so two machines that share a home folder could look alike.
    """
    machine = platform.machine()
    if sys.platform != "linux":
        host = archspec.cpu.host()
        return " ".join([machine, host.name, host.vendor, *sorted(host.features)])
    try:
        described = _first_cpu(Path("/proc/cpuinfo"))
    except OSError:
        described = f"on {platform.node()}"  # unknown: then nobody else's code is good enough
    return f"{machine} {described}"


@lru_cache(maxsize=1)
def cpu_features() -> frozenset[str]:
    """The instructions that the processor has, by the Linux kernel's names; archspec's are the same."""
    if sys.platform != "linux":
        return frozenset(archspec.cpu.host().features)
    try:
        return frozenset(_first_cpu(Path("/proc/cpuinfo")).split())
    except OSError:
        return frozenset()


def _first_cpu(cpuinfo: Path) -> str:
    """Vendor, model and sorted features; the kernel shows only features that all cores have, so one core will do."""
    named = ("vendor_id", "cpu family", "model", "CPU implementer", "CPU part", "isa")
    lists = ("flags", "Features")
    found = []
    with cpuinfo.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            name, _, value = (part.strip() for part in line.partition(":"))
            if name in named:
                found.append(value)
            elif name in lists:
                found.extend(sorted(value.split()))
            elif not name and found:
                break
    return " ".join(found)


@lru_cache(maxsize=16)
def _search_compiler(cc: str, path: str) -> Compiler:
    if cc:
        return _compiler_of_user("CC", cc, path)
    for name in _PATH_NAMES:
        found = shutil.which(name, path=path)
        if found is not None:
            return _compiler(found, ())
    zig = zig_compiler()
    if zig is not None:
        return zig
    looked_for = ", ".join(f'"{name}"' for name in _PATH_NAMES)
    raise ToolchainError(
        f"There is no C compiler: looked for $CC (not set), {looked_for} on $PATH ({path}), and the Python package "
        f'"ziglang" ({sys.executable}).\nInstall one of them: apt-get install gcc, or pip install halide-core[zig].'
    )


def _compiler_of_user(variable: str, text: str, path: str) -> Compiler:
    words = _split(variable, text)
    found = shutil.which(words[0], path=path)
    if found is None:
        raise ToolchainError(
            f'${variable} is "{text}", but there is no program "{words[0]}" (looked on $PATH: {path}).\n'
            f"Set {variable} to a C compiler that exists, or unset it to let clang, gcc or cc be found."
        )
    return _compiler(found, words[1:])


def _compiler(program: str, words: Sequence[str]) -> Compiler:
    """A compiler that is called with so many words, and with what it alone has to be told."""
    path = Path(program)
    own: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()
    hurried: tuple[str, ...] = _HURRIED
    careful: tuple[str, ...] = ()
    tuned: tuple[str, ...] = ()
    gcc = _GCC.fullmatch(path.resolve().name)
    if sys.platform == "linux" and gcc:
        machine = gcc["machine"] or platform.machine()
        on_x86 = _X86.fullmatch(machine) is not None
        own = _OF_GCC + (_OF_GCC_ON_X86 if on_x86 else ())
        of_amd = on_x86 and "AuthenticAMD" in cpu_identity() and "avx512bw" in cpu_features()
        tuned = _TUNED_GCC if of_amd and not names_processor(words) else ()
        bare = () if words else _BARE
        hurried, careful = _HURRIED_GCC, _CAREFUL_GCC
    return Compiler((program, *words, *own), " ".join([_identity(path), *words, *own]), bare, hurried, careful, tuned)


def names_processor(flags: Sequence[str]) -> bool:
    """True of flags that say for which processor instructions are chosen."""
    return any(flag.startswith(("-mtune=", "-march=")) for flag in flags)


def _split(variable: str, text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ToolchainError(f"${variable} can't be split into words: {error}\n  {variable}={text}") from None


def _identity(program: Path) -> str:
    """The file behind all links, its size and time: as good as ``--version`` (10 ms), and noticed by an upgrade."""
    real = program.resolve()
    try:
        status = real.stat()
    except OSError as error:
        raise ToolchainError(f'The compiler "{program}" can\'t be read: {error.strerror}') from error
    return f"{real} {status.st_size} {status.st_mtime_ns}"


def _zig() -> tuple[tuple[str, ...], Path] | None:
    """The command of the ziglang wheel and its binary, without importing the package."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        return None
    binary = Path(next(iter(spec.submodule_search_locations))) / ("zig.exe" if os.name == "nt" else "zig")
    return ((sys.executable, "-m", "ziglang"), binary) if binary.exists() else None


def _find_archiver() -> tuple[str, ...]:
    found = archiver_named("AR") or _on_path("ar") or zig_archiver()
    if found is not None:
        return found
    raise ToolchainError(
        'There is no archiver: looked for $AR (not set), "ar" on $PATH, and the Python package "ziglang".\n'
        "Install one of them: apt-get install binutils, or pip install halide-core[zig]."
    )


def archiver_named(variable: str) -> tuple[str, ...] | None:
    """The archiver that a variable of the environment names, if it is set. Raises: ToolchainError: there is none."""
    words = _split(variable, os.environ.get(variable, ""))
    if not words:
        return None
    found = shutil.which(words[0])
    if found is None:
        raise ToolchainError(f'${variable} names "{words[0]}", which does not exist.')
    return (found, *words[1:])


def _on_path(program: str) -> tuple[str, ...] | None:
    found = shutil.which(program)
    return None if found is None else (found,)


def zig_archiver() -> tuple[str, ...] | None:
    """The archiver of the ``ziglang`` wheel; None where it is not installed."""
    zig = _zig()
    return None if zig is None else (*zig[0], "ar")


@contextmanager
def scratch_folder(output: Path) -> Iterator[Path]:
    """A folder beside the output, so that a finished file can be moved to its place in one step.

    Raises:
        ToolchainError: none can be made there.
    """
    try:
        folder = tempfile.mkdtemp(prefix=".build-", dir=output.parent)
    except OSError as error:
        raise ToolchainError(f'"{output}" can\'t be written: {error.strerror}') from error
    try:  # a TemporaryDirectory would be removed by a forked process, too, when that ends
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _publish(result: Path, output: Path) -> None:
    try:
        os.replace(result, output)
    except FileNotFoundError:
        raise ToolchainError(f'The compiler reported success, but wrote no "{output.name}". Is it one?') from None
    except OSError as error:
        raise ToolchainError(f'"{output}" can\'t be written: {error.strerror}') from error


def _object_command(command: tuple[str, ...], options: CompileOptions, source: Path, output: Path) -> list[str]:
    return [*command, *options.flags(), "-c", "-o", str(output), str(source)]


@lru_cache(maxsize=16)
def _ask_version(command: tuple[str, ...]) -> str:
    try:
        process = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, errors="replace", timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolchainError(f'"{shlex.join(command)} --version" did not run: {error}') from error
    lines = process.stdout.splitlines()
    if process.returncode != 0 or not lines:
        raise ToolchainError(f'"{shlex.join(command)} --version" failed: {process.stderr.strip()}')
    return lines[0]
