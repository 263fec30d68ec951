"""Finding the C compiler, calling it, and what is said when it isn't there or fails."""

from __future__ import annotations

import ctypes
import os
import platform
import select
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from halide_core.errors import ToolchainError
from halide_core.runtime.compile import toolchain
from halide_core.runtime.compile.processes import Stoppable
from halide_core.runtime.compile.toolchain import (
    CompileOptions,
    Compiler,
    compile_object,
    compile_shared,
    cpu_identity,
    find_compiler,
    make_static_library,
)
from tests.support.symbols import members


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def write_script(path: Path, text: str) -> Path:
    write(path, f"#!/bin/sh\n{text}\n").chmod(0o755)
    return path


@pytest.fixture(name="bin_folder")
def fixture_bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A $PATH of one empty folder, no $CC and no ziglang."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.delenv("AR", raising=False)
    monkeypatch.setattr(toolchain, "_zig", lambda: None)
    return folder


# ---- finding


def test_find_compiler_prefers_clang_gcc_cc_in_this_order_when_several_exist(
    bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("cc", "gcc", "clang"):
        write_script(bin_folder / name, "")
        monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}/nowhere-{name}")  # what was found is kept per $PATH
        assert find_compiler().command[0] == str(bin_folder / name)


LOOPS = (
    "-ftree-loop-vectorize", "-fvect-cost-model=cheap", "-fpeel-loops", "-funswitch-loops", "-fno-thread-jumps",
    "-pass-exit-codes",
)  # fmt: skip


@pytest.mark.parametrize(
    ("behind", "machine", "told"),
    [
        ("x86_64-linux-gnu-gcc-12", "x86_64", (*LOOPS, "-mno-stv")),
        ("gcc", "x86_64", (*LOOPS, "-mno-stv")),
        ("gcc-14.2", "i686", (*LOOPS, "-mno-stv")),
        ("gcc", "aarch64", LOOPS),
        ("aarch64-linux-gnu-gcc-12", "x86_64", LOOPS),
        ("clang-15", "x86_64", ()),
        ("ccache", "x86_64", ()),
    ],
)
def test_gcc_is_told_more(
    bin_folder: Path, monkeypatch: pytest.MonkeyPatch, behind: str, machine: str, told: tuple[str, ...]
) -> None:
    write_script(bin_folder / behind, "")
    (bin_folder / "mycc").symlink_to(bin_folder / behind)
    monkeypatch.setenv("CC", "mycc -DA=1")
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}/nowhere-{behind}-{machine}")
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(sys, "platform", "linux")
    words = (str(bin_folder / "mycc"), "-DA=1")
    compiler = find_compiler()
    assert compiler.command == (*words, *told)
    assert compiler.identity.endswith(" ".join(("-DA=1", *told)))


def test_find_compiler_takes_arguments_when_cc_has_them(bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_script(bin_folder / "gcc", "")
    write_script(bin_folder / "mycc", "")
    monkeypatch.setenv("CC", "mycc -m64 '-DNAME=a b'")
    compiler = find_compiler()
    assert compiler.command == (str(bin_folder / "mycc"), "-m64", "-DNAME=a b")
    monkeypatch.setenv("CC", "mycc -m32")
    assert find_compiler().identity != compiler.identity


def test_find_compiler_names_the_program_when_cc_does_not_exist(
    bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_script(bin_folder / "gcc", "")
    monkeypatch.setenv("CC", "no-such-cc -O1")
    with pytest.raises(ToolchainError, match=r'\$CC is "no-such-cc -O1", but there is no program "no-such-cc"'):
        find_compiler()


def test_find_compiler_says_so_when_cc_has_an_open_quote(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "gcc 'oops")
    with pytest.raises(ToolchainError, match=r"\$CC can't be split"):
        find_compiler()


def test_find_compiler_says_what_to_install_when_there_is_none(bin_folder: Path) -> None:
    with pytest.raises(ToolchainError) as caught:
        find_compiler()
    for part in ('"clang", "gcc", "cc"', str(bin_folder), "ziglang", "apt-get install gcc", "halide-core[zig]"):
        assert part in str(caught.value)


def test_find_compiler_takes_the_zig_wheel_when_nothing_else_exists(
    bin_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "site" / "ziglang"
    package.mkdir(parents=True)
    write(package / "__init__.py", "raise RuntimeError('must not be imported')")
    write_script(package / "zig", "")
    monkeypatch.undo()
    monkeypatch.setenv("PATH", str(bin_folder))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.syspath_prepend(str(package.parent))
    compiler = find_compiler()
    assert compiler.command == (sys.executable, "-m", "ziglang", "cc")
    assert str(package / "zig") in compiler.identity


def test_find_compiler_starts_no_process_when_asked_for_an_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setenv("PATH", os.environ["PATH"] + os.pathsep + "/nowhere")  # not found before
    cpu_identity.cache_clear()
    assert find_compiler().identity
    assert cpu_identity()


def test_identity_changes_when_the_compiler_behind_a_link_does(
    bin_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = write_script(tmp_path / "gcc-12", "")
    (bin_folder / "gcc").symlink_to(real)
    before = find_compiler().identity
    write_script(real, "# upgraded")
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}/nowhere")
    assert find_compiler().identity != before
    assert str(real) in before


def test_version_is_the_first_line_when_asked(bin_folder: Path) -> None:
    write_script(bin_folder / "gcc", "echo 'mycc 1.2'; echo 'Copyright'")
    assert find_compiler().version == "mycc 1.2"


def test_cpu_identity_is_stable_when_asked_twice() -> None:
    first = cpu_identity()
    cpu_identity.cache_clear()
    assert cpu_identity() == first
    assert len(first) > 10


# ---- flags


def test_flags_keep_float_semantics_when_options_vary() -> None:
    for options in (CompileOptions(), CompileOptions(march=None, defines=("A=1",), extra_flags=("-g",))):
        flags = options.flags()
        assert "-ffp-contract=off" in flags
        assert not {"-ffast-math", "-Ofast", "-funsafe-math-optimizations"} & set(flags)
    assert "-march=native" in CompileOptions().flags()
    assert not any(flag.startswith("-march") for flag in CompileOptions(march=None).flags())


# ---- compiling


@pytest.mark.parametrize("count", [1, 3])
def test_compile_shared_makes_a_loadable_library_when_sources_are_right(tmp_path: Path, count: int) -> None:
    sources = [write(tmp_path / f"f{i}.c", f"int f{i}(void) {{ return {i} + VALUE; }}\n") for i in range(count)]
    output = tmp_path / "f.so"
    compile_shared(sources, output, options=CompileOptions(defines=("VALUE=40",)))
    library = ctypes.CDLL(str(output))
    assert [getattr(library, f"f{i}")() for i in range(count)] == [40 + i for i in range(count)]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["f.so", *(path.name for path in sources)])


def test_compile_shared_links_when_runtime_functions_are_missing(tmp_path: Path) -> None:
    source = write(
        tmp_path / "f.c",
        "int halide_core_get_num_threads(void);\nint f(void) { return halide_core_get_num_threads(); }\n",
    )
    compile_shared([source], tmp_path / "f.so")
    assert (tmp_path / "f.so").exists()


@pytest.mark.parametrize("count", [1, 2])
def test_compile_shared_shows_command_and_complaint_when_source_is_wrong(tmp_path: Path, count: int) -> None:
    sources = [write(tmp_path / f"f{i}.c", f"int f{i}(void) {{ return undeclared; }}\n") for i in range(count)]
    output = write(tmp_path / "f.so", "the old one")
    with pytest.raises(ToolchainError, match="failed with exit status 1") as caught:
        compile_shared(sources, output)
    assert "undeclared" in str(caught.value)
    assert "-ffp-contract=off" in str(caught.value)
    assert caught.value.location.file == __file__
    assert output.read_text() == "the old one"
    assert len(list(tmp_path.iterdir())) == count + 1


@pytest.mark.parametrize("count", [1, 3])
def test_gcc_runs_again_without_its_vectors_when_it_failed_by_itself(
    bin_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """Of an error in the program it is told once."""
    calls = tmp_path / "calls"
    write_script(
        bin_folder / "gcc",
        f"""export PATH={os.defpath}
        echo "$@" >> {calls}
        case "$*" in *-fno-tree-loop-vectorize*) exec {shutil.which("gcc", path=os.defpath)} "$@";; esac
        exit $STATUS""",
    )
    monkeypatch.setenv("CC", str(bin_folder / "gcc"))
    sources = [write(tmp_path / f"{n}.c", f"int f{n}(void) {{ return {n}; }}\n") for n in range(count)]
    monkeypatch.setenv("STATUS", "4")
    compile_shared(sources, tmp_path / "f.so")
    assert len(calls.read_text().splitlines()) == 2 * (count + (count > 1))
    calls.unlink()
    monkeypatch.setenv("STATUS", "1")
    with pytest.raises(ToolchainError, match="failed with exit status 1"):
        compile_shared(sources, tmp_path / "g.so")
    assert len(calls.read_text().splitlines()) == count
    assert not (tmp_path / "g.so").exists()


def test_compile_shared_says_so_when_the_compiler_is_killed(bin_folder: Path, tmp_path: Path) -> None:
    write_script(bin_folder / "gcc", "kill -9 $$")
    with pytest.raises(ToolchainError, match="was killed by SIGKILL"):
        compile_shared([tmp_path / "f.c"], tmp_path / "f.so")


def test_compile_shared_stops_the_compiler_s_children_when_time_is_up(bin_folder: Path, tmp_path: Path) -> None:
    child, pipe = tmp_path / "child", tmp_path / "pipe"
    os.mkfifo(pipe)
    write_script(bin_folder / "gcc", f"(exec 3> {pipe}; echo started > {child}; exec /bin/sleep 600) & wait")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    timeout_s = 0.2
    while not child.exists():  # on a busy machine it takes a while to start
        with pytest.raises(ToolchainError, match=f"longer than {timeout_s}"):
            compile_shared([tmp_path / "f.c"], tmp_path / "f.so", options=CompileOptions(timeout_s=timeout_s))
        timeout_s *= 2
    ended, _, _ = select.select([reader], [], [], 60)  # the pipe ends when the last child is gone
    os.close(reader)
    assert ended


def test_compile_shared_says_so_when_the_compiler_writes_nothing(bin_folder: Path, tmp_path: Path) -> None:
    write_script(bin_folder / "gcc", "exit 0")
    with pytest.raises(ToolchainError, match=r'reported success, but wrote no "f\.so"'):
        compile_shared([tmp_path / "f.c"], tmp_path / "f.so")


def test_compile_shared_says_so_when_the_compiler_can_t_be_started(tmp_path: Path) -> None:
    program = write(tmp_path / "cc", "not a program")
    program.chmod(0o755)
    with pytest.raises(ToolchainError, match="can't be started"):
        compile_shared([tmp_path / "f.c"], tmp_path / "f.so", compiler=Compiler((str(program),), "x"))


def test_compile_shared_says_so_when_the_output_folder_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="can't be written: No such file or directory"):
        compile_shared([write(tmp_path / "f.c", "")], tmp_path / "missing" / "f.so")


def test_make_static_library_holds_the_objects_when_made_twice(tmp_path: Path) -> None:
    objects = []
    for name in ("a", "b"):
        source = write(tmp_path / f"{name}.c", f"int {name}(void) {{ return 1; }}\n")
        objects.append(tmp_path / f"{name}.o")
        compile_object(source, objects[-1])
    archive = tmp_path / "libab.a"
    for packed in (objects, objects[:1]):  # the second replaces the first, and does not add to it
        make_static_library(packed, archive)
        assert members(archive) == [path.name for path in packed]


def test_make_static_library_says_what_to_install_when_there_is_no_archiver(bin_folder: Path, tmp_path: Path) -> None:
    assert bin_folder.exists()
    with pytest.raises(ToolchainError, match="apt-get install binutils"):
        make_static_library([], tmp_path / "lib.a")


def test_make_static_library_names_the_program_when_ar_does_not_exist(
    bin_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_script(bin_folder / "ar", "")
    monkeypatch.setenv("AR", "no-such-ar")
    with pytest.raises(ToolchainError, match=r'\$AR names "no-such-ar"'):
        make_static_library([], tmp_path / "lib.a")


def test_compilers_in_the_background_give_way_and_can_be_stopped(bin_folder: Path, tmp_path: Path) -> None:
    begun, source = tmp_path / "begun", write(tmp_path / "f.c", "")
    write_script(bin_folder / "cc", f"/usr/bin/env -i PATH=/usr/bin:/bin sh -c 'sleep 0.2; nice > {begun}; sleep 300'")
    within = Stoppable()

    def stop() -> None:
        while not (begun.exists() and begun.read_text()):
            time.sleep(0.01)
        within.stop()

    thread = threading.Thread(target=stop)
    thread.start()
    with pytest.raises(ToolchainError, match="was killed by SIGKILL"):
        compile_shared([source], tmp_path / "f.so", within=within)
    thread.join()
    assert int(begun.read_text()) == min(19, os.nice(0) + 5)
    begun.unlink()
    with pytest.raises(ToolchainError, match="was stopped"):
        compile_shared([source], tmp_path / "f.so", within=within)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["f.c"]
