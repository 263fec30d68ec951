"""Builds C programs that link pipelines, and runs them without Python in sight.

In: C text, libraries. Out: the program's path; what it printed.

    run(build(folder, "main", MAIN, "blur.a"), "in.raw", "out.raw")
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

from halide_core.runtime.compile.target_flags import INCLUDE_FOLDER
from halide_core.runtime.compile.toolchain import find_compiler
from halide_core.runtime.crt.runtime_library import SOURCES

WARNINGS = ("-Wall", "-Wextra", "-Werror")

DESCRIBE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static halide_buffer_t describe(void *host, int code, int bits, int n, halide_dimension_t *dim) {
    halide_buffer_t b;
    memset(&b, 0, sizeof b);
    b.host = (uint8_t *)host;
    b.type.code = (uint8_t)code;
    b.type.bits = (uint8_t)bits;
    b.type.lanes = 1;
    b.dimensions = n;
    b.dim = dim;
    return b;
}
"""


def build(folder: Path, name: str, text: str, *linked: str, language: str = "c", runtime: bool = False) -> Path:
    """Compiles and links a program in a folder; ``runtime`` adds the C runtime, which objects don't carry."""
    source = folder / f"{name}.{language}"
    source.write_text(text)
    compiler = find_compiler().command if language == "c" else cpp()
    files = [str(source), *(str(folder / file) for file in linked)]
    if runtime:
        files += [f"-I{INCLUDE_FOLDER}", *map(str, SOURCES)]
    command = [*compiler, *WARNINGS, "-O1", f"-I{folder}", *files, "-o", str(folder / name), "-lpthread", "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / name


def loaded(path: Path) -> ModuleType:
    """A Python extension, imported from its file."""
    spec = importlib.util.spec_from_file_location(path.name.partition(".")[0], path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cpp() -> tuple[str, ...]:
    """A C++ compiler: that of the machine, or zig's where the C compiler is zig's."""
    found = shutil.which("g++") or shutil.which("clang++")
    return (found,) if found else (*find_compiler().command[:-1], "c++")


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs it with an empty environment in its folder."""
    done = subprocess.run(
        [program, *arguments], cwd=program.parent, env={}, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode >= 0, f"killed by signal {-done.returncode}"
    return done
