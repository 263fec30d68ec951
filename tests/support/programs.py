"""C programs beside the runtime, for tests: compiled as users do, or with a sanitizer that watches."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from halide_core.runtime.compile.target_flags import INCLUDE_FOLDER
from halide_core.runtime.compile.toolchain import find_compiler


def compile_program(output: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The compiler's answer."""
    command = [*find_compiler().command, "-std=gnu11", "-g", "-O1", f"-I{INCLUDE_FOLDER}", *arguments, "-pthread"]
    return subprocess.run([*command, "-o", str(output)], capture_output=True, text=True, timeout=120, check=False)


def compile_watched(output: Path, sanitizer: str, *sources: str) -> None:
    """Compiles with a sanitizer; skips the test where the compiler has none, as a program that does nothing shows."""
    built = compile_program(output, f"-fsanitize={sanitizer}", *sources)
    if built.returncode != 0:
        trivial = output.with_name("trivial.c")
        trivial.write_text("int main(void) { return 0; }\n")
        assert compile_program(output, f"-fsanitize={sanitizer}", str(trivial)).returncode != 0, built.stderr
        pytest.skip(f"the compiler has no -fsanitize={sanitizer}")
