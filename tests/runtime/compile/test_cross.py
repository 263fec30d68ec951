"""Compilers and flags for other machines: which are found, what they are told, and what is said where there is none."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest

import halide_core as hl
from halide_core.errors import ToolchainError
from halide_core.runtime.compile import cross, toolchain
from halide_core.runtime.compile.cross import Dialect, cross_archiver, cross_compiler, machine_flags
from halide_core.runtime.compile.target_flags import options_for
from tests.support.aot import build, run

ARM = hl.Target("arm-64-linux")


@pytest.fixture(name="folder")
def fixture_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A $PATH of one folder, without ziglang."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(toolchain, "_zig", lambda: None)
    return tmp_path


def script(path: Path, text: str = "") -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_gnu_compiler_is_found_by_its_name(folder: Path) -> None:
    script(folder / "aarch64-linux-gnu-gcc")
    script(folder / "aarch64-linux-gnu-ar")
    assert cross_compiler(ARM).command[0] == str(folder / "aarch64-linux-gnu-gcc")
    assert cross_archiver(ARM) == (str(folder / "aarch64-linux-gnu-ar"),)


def test_variables_come_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("aarch64-linux-gnu-gcc", "mine", "pack"):
        script(folder / name)
    monkeypatch.setenv("CC_arm_64_linux", "mine --sysroot=/opt")
    monkeypatch.setenv("AR_arm_64_linux", "pack -q")
    assert cross_compiler(ARM).command == (str(folder / "mine"), "--sysroot=/opt")
    assert cross_archiver(ARM) == (str(folder / "pack"), "-q")


def test_zig_is_told_the_machine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(folder / "zig")
    monkeypatch.setattr(toolchain, "_zig", lambda: (("python", "-m", "ziglang"), folder / "zig"))
    compiler = cross_compiler(ARM)
    assert compiler.command == ("python", "-m", "ziglang", "cc", "-target", "aarch64-linux-gnu")
    assert cross.dialect(compiler) is Dialect.ZIG
    assert cross_archiver(ARM) == ("python", "-m", "ziglang", "ar")
    assert cross_compiler(hl.Target("arm-32-linux-soft_float_abi")).command[-1] == "arm-linux-gnueabi"


@pytest.mark.usefixtures("folder")
def test_what_was_looked_for_is_said() -> None:
    with pytest.raises(ToolchainError, match=r"\$CC_arm_64_linux .*aarch64-linux-gnu-gcc.* on \$PATH, .*ziglang"):
        cross_compiler(ARM)
    with pytest.raises(ToolchainError, match="AR_arm_64_linux"):
        cross_archiver(ARM)


def test_machine_that_nobody_knows_needs_its_compiler_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    strange = hl.Target("arm-64-qurt")
    assert not strange.supported()
    script(folder / "mine")
    monkeypatch.setenv("CC_arm_64_qurt", "mine")
    assert strange.supported()
    assert cross_compiler(strange).command == (str(folder / "mine"),)


@pytest.mark.parametrize(
    ("text", "gnu", "zig"),
    [
        ("x86-64-linux-sse41-avx2", ("-march=x86-64", "-msse4.1", "-mavx2"), ("-mcpu=x86_64+sse4_1+avx2",)),
        ("x86-32-windows", ("-march=pentium4", "-mfpmath=sse"), ("-mcpu=pentium4",)),
        ("arm-64-linux", ("-march=armv8-a",), ("-mcpu=generic",)),
        ("arm-64-linux-armv82a-arm_dot_prod", ("-march=armv8.2-a+dotprod",), ("-mcpu=generic+v8_2a+dotprod",)),
        ("arm-64-linux-sve2", ("-march=armv8-a+sve2",), ("-mcpu=generic+sve2",)),
        ("arm-32-linux-armv7s", ("-march=armv7-a", "-mfpu=neon-vfpv4"), ("-mcpu=generic+v7a+vfp4+neon",)),
        ("arm-32-linux-no_neon", ("-march=armv7-a", "-mfpu=vfpv3-d16"), ("-mcpu=generic+v7a+vfp3",)),
        ("riscv-64-linux-rvv", ("-march=rv64gcv",), ("-mcpu=baseline_rv64+v",)),
        ("wasm-32-wasmrt-wasm_simd128", ("-msimd128",), ("-msimd128",)),
    ],
)
def test_instructions_are_named_as_the_compiler_knows_them(
    text: str, gnu: tuple[str, ...], zig: tuple[str, ...]
) -> None:
    target = hl.Target(text)
    assert machine_flags(target, Dialect.GNU) == gnu
    assert machine_flags(target, Dialect.ZIG) == zig


def test_what_has_no_threads_is_not_told_of_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(folder / "mine")
    monkeypatch.setenv("CC_wasm_32_wasmrt", "mine")
    monkeypatch.setenv("CC_arm_64_linux", "mine")
    assert "-pthread" not in options_for(hl.Target("wasm-32-wasmrt")).flags()
    assert "-pthread" in options_for(ARM).flags()


def test_files_for_another_machine_are_made_by_its_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine's compiler stands in for one, by its variable: everything but the name of the machine is real."""
    here = toolchain.find_compiler()
    script(tmp_path / "cc", f'echo cc >> {tmp_path}/calls; exec {shlex.join(here.command)} "$@"')
    monkeypatch.setenv("CC_arm_64_linux", f"{tmp_path}/cc")
    monkeypatch.setenv("AR_arm_64_linux", "ar" if shutil.which("ar") else f"{sys.executable} -m ziglang ar")
    monkeypatch.setattr("halide_core.runtime.compile.target_flags.machine_flags", lambda *_: ())
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x * x
    f.vectorize(x, 8, hl.TailStrategy.GuardWithIf)
    f.compile_to_static_library(str(tmp_path / "f"), [], "f", ARM)
    assert (tmp_path / "calls").read_text().count("cc") == 3, "the function, the runtime and its hooks"
    text = '#include "f.h"\n#include <stdio.h>\nint main(void) {\n    int32_t out[5];\n'
    text += "    halide_dimension_t d = {0, 5, 1, 0};\n    halide_buffer_t b = {0, 0, (uint8_t *)out, 0,"
    text += " {halide_type_int, 32, 1}, 1, &d, 0};\n    return f(&b) ? 1 : out[4];\n}\n"
    assert run(build(tmp_path, "main", text, "f.a")).returncode == 16


@pytest.mark.usefixtures("folder")
def test_python_extension_for_another_machine_is_refused(tmp_path: Path) -> None:
    x, f = hl.Var("x"), hl.Func("f")
    f[x] = x
    kind = hl.OutputFileType
    with pytest.raises(hl.NotAvailableError, match=r'can\'t be linked here.*ends in "\.c"'):
        f.compile_to({kind.python_extension: str(tmp_path / "f.abi3.so")}, [], "f", ARM)
    f.compile_to({kind.python_extension: str(tmp_path / "f.c"), kind.c_source: str(tmp_path / "g.c")}, [], "f", ARM)
    assert sorted(os.listdir(tmp_path)) == ["f.c", "g.c", "halide_runtime.h"]
