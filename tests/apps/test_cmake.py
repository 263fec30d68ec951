"""The CMake package: a project with Generators is configured and built, and its program and its module run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import halide_core as hl
from halide_core.runtime.compile.toolchain import find_compiler
from tests.support.aot import cpp, loaded

ROOT = Path(__file__).resolve().parents[2]
ENV = {**os.environ, "PYTHONPATH": str(ROOT)}


def cmake(*words: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["cmake", *words], cwd=folder, env=ENV, capture_output=True, text=True, check=False)


def package() -> str:
    command = [sys.executable, "-m", "halide_core", "cmake-dir"]
    return subprocess.run(command, env=ENV, capture_output=True, text=True, check=True).stdout.strip()


def configured(source: Path, build: Path, *more: str) -> subprocess.CompletedProcess[str]:
    tool = ["-G", "Ninja"] if shutil.which("ninja") else []
    words = [f"-Dhalide_core_DIR={package()}", f"-DPython_EXECUTABLE={sys.executable}"]
    return cmake(*tool, "-S", source, "-B", build, *words, *more, folder=source)


def test_project_is_built(tmp_path: Path) -> None:
    done = configured(ROOT / "examples" / "cmake", tmp_path)
    assert done.returncode == 0, done.stderr
    done = cmake("--build", tmp_path, folder=tmp_path)
    assert done.returncode == 0, done.stdout
    assert subprocess.run([tmp_path / "app"], capture_output=True, text=True, check=True).stdout == "250 220 100 0 \n"
    filters = loaded(tmp_path / "filters.abi3.so")
    source = np.arange(12, dtype=np.uint8).reshape(3, 4)
    out = np.zeros_like(source)
    filters.brighten(source, 1, out)
    assert (out == source * 3 + 1).all()
    filters.invert(source, bits=0xFF, out=out)
    assert (out == 255 - source).all()
    with pytest.raises(TypeError, match=r'invert\(\): argument "source" must be of uint8, not of int8'):
        filters.invert(source.astype(np.int8), 1, out)
    folder = tmp_path / "brighten.halide"
    written = "brighten.h brighten.o brighten.registration.cpp brighten.stmt.html halide_runtime.h".split()
    assert sorted(p.name for p in folder.iterdir()) == written


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("add_halide_library(f FROM f.py BITCODE b)", "BITCODE is not available yet"),
        ("add_halide_library(f)", r"add_halide_library(f FROM generators"),
        ("add_halide_python_extension_library(f)", "HALIDE_LIBRARIES library"),
        ("find_package(halide_core 99)\nmessage(FATAL_ERROR \"found: ${halide_core_FOUND}\")", "found: 0"),
    ],
)
def test_wrong_arguments_are_told_of(text: str, told: str, tmp_path: Path) -> None:
    head = "cmake_minimum_required(VERSION 3.20)\nproject(p NONE)\nadd_library(Threads::Threads INTERFACE IMPORTED)\n"
    found = "set(Threads_FOUND TRUE)\nlist(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_SOURCE_DIR})\n"
    (tmp_path / "FindThreads.cmake").write_text("set(Threads_FOUND TRUE)\n")
    (tmp_path / "CMakeLists.txt").write_text(f"{head}{found}find_package(halide_core REQUIRED)\n{text}\n")
    done = configured(tmp_path, tmp_path / "build")
    assert done.returncode != 0 and told in " ".join(done.stderr.split())


def test_module_of_functions_is_written(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "halide_core", "python-module"]
    done = subprocess.run([*command, "both", "f", "g", "-o", "in/both.c"], cwd=tmp_path, env=ENV, check=False)
    assert done.returncode == 0
    text = (tmp_path / "in" / "both.c").read_text()
    assert "PyObject *PyInit_both(void)" in text and "run_pipeline(g_argv, g_metadata()" in text
    done_badly = subprocess.run([*command, "no-name", "f", "-o", "x.c"], cwd=tmp_path, env=ENV, capture_output=True,
                                text=True, check=False)
    assert done_badly.returncode == 1 and '"no-name" is no identifier' in done_badly.stderr


def test_version_is_the_package_s(tmp_path: Path) -> None:
    script = tmp_path / "version.cmake"
    script.write_text(f'include("{package()}/halide_coreConfigVersion.cmake")\nmessage("${{PACKAGE_VERSION}}")\n')
    assert cmake("-P", script, folder=tmp_path).stderr.strip() == hl.__version__


CROSS = """
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR {processor})
set(CMAKE_C_COMPILER {compiler})
set(CMAKE_CXX_COMPILER {cpp})
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
"""


def test_project_for_another_machine_compiles_with_its_own_compiler(tmp_path: Path) -> None:
    """This machine's compiler stands in for the other's: everything but the name of the machine is real."""
    tools = tmp_path / "cross.cmake"
    tools.write_text(CROSS.format(processor="aarch64", compiler=find_compiler().command[0], cpp=cpp()[0]))
    done = configured(ROOT / "examples" / "cmake", tmp_path / "build", f"-DCMAKE_TOOLCHAIN_FILE={tools}")
    assert done.returncode == 0, done.stderr
    done = cmake("--build", tmp_path / "build", "--target", "app", folder=tmp_path)
    assert done.returncode == 0, done.stdout
    shown = subprocess.run([tmp_path / "build" / "app"], capture_output=True, text=True, check=True).stdout
    assert shown == "250 220 100 0 \n"
    assert (tmp_path / "build" / "brighten.halide" / "brighten.halide_generated.c").exists()
    tools.write_text(CROSS.format(processor="abacus", compiler=find_compiler().command[0], cpp=cpp()[0]))
    done = configured(ROOT / "examples" / "cmake", tmp_path / "other", f"-DCMAKE_TOOLCHAIN_FILE={tools}")
    assert "no target is known for abacus with Linux" in " ".join(done.stderr.split())


@pytest.mark.skipif(hl.get_host_target().arch is not hl.TargetArch.X86, reason="only there can a program ask")
def test_library_of_several_targets(tmp_path: Path) -> None:
    host = hl.get_host_target()
    plain = str(hl.Target(host.os, host.arch, host.bits))
    gallery = ROOT / "examples" / "generators" / "gallery.py"
    (tmp_path / "main.c").write_text(
        '#include "brighten.h"\n#include <stdio.h>\n#include <string.h>\n'
        'int main(void) { puts(brighten_metadata()->target); return 0; }\n'
    )
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(p C)\nfind_package(halide_core REQUIRED)\n"
        f"add_halide_library(brighten FROM {gallery} TARGETS {plain}-sse41 cmake FEATURES large_buffers\n"
        "    PYTORCH_WRAPPER wrapper)\n"
        "add_executable(app main.c)\ntarget_link_libraries(app PRIVATE brighten)\n"
    )
    done = configured(tmp_path, tmp_path / "build")
    assert done.returncode == 0, done.stderr
    done = cmake("--build", tmp_path / "build", folder=tmp_path)
    assert done.returncode == 0, done.stdout
    shown = subprocess.run([tmp_path / "build" / "app"], capture_output=True, text=True, check=True).stdout
    assert shown == f"{plain}-large_buffers-no_runtime-sse41\n"
    assert (tmp_path / "build" / "brighten.halide" / "brighten.pytorch.h").exists()
