"""The runtime is compiled beside the first pipeline's lowering: what goes wrong there is raised as if it were not."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from halide_core.runtime.compile.toolchain import find_compiler

ROOT = Path(__file__).resolve().parents[3]

REALIZE = """
import halide_core as hl
x, f = hl.Var("x"), hl.Func("f")
f[x] = x * 3
"""


def python(code: str, cache: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A new process with a cache of its own."""
    given = {**os.environ, "PYTHONPATH": str(ROOT), "HL_CACHE_DIR": str(cache), **environment}
    return subprocess.run(
        [sys.executable, "-c", code], env=given, capture_output=True, text=True, timeout=120, check=False
    )


def failing(folder: Path, on: str) -> str:
    """A compiler that refuses files of a name."""
    script, here = folder / "picky", shlex.join(find_compiler().command)
    script.write_text(f'#!/bin/sh\ncase "$*" in *{on}*) echo "no {on} today"; exit 7;; esac\nexec {here} "$@"\n')
    script.chmod(0o755)
    return str(script)


def leftovers(cache: Path) -> list[Path]:
    """The files in the folder of builds under way."""
    return list((cache / "tmp").iterdir())


@pytest.mark.parametrize("file", ["runtime.c", "pipeline_0.c"])
def test_compiler_error_is_raised_at_the_users_line(tmp_path: Path, file: str) -> None:
    code = f"""{REALIZE}
try:
    f.realize([4])  # here
except hl.ToolchainError as error:
    assert "failed with exit status 7" in str(error) and "no {file} today" in str(error), error
    assert error.location.line == 7, error.location
    print("raised")
"""
    done = python(code, tmp_path / "cache", CC=failing(tmp_path, file))
    assert (done.stdout, done.stderr) == ("raised\n", "")
    assert leftovers(tmp_path / "cache") == []


def test_runtime_is_whole_when_the_program_ends_before_it_is_needed(tmp_path: Path) -> None:
    code = "from halide_core.runtime.crt.runtime_library import start_runtime\nstart_runtime()\nstart_runtime()"
    done = python(code, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list(tmp_path.glob("??/*/pipeline.so"))) == 1
    assert leftovers(tmp_path) == []
    hit = (
        "from halide_core.runtime.crt.runtime_library import runtime\n"
        "import subprocess\nsubprocess.Popen = None\nruntime()"
    )
    assert python(hit, tmp_path).returncode == 0


def test_runtime_is_compiled_when_python_is_ending(tmp_path: Path) -> None:
    code = f"{REALIZE}\nimport atexit\natexit.register(lambda: print(list(f.realize([3]))))"
    done = python(code, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[0, 3, 6]\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_process_has_the_runtime_that_its_parent_had_begun(tmp_path: Path) -> None:
    code = f"""{REALIZE}
import os
from halide_core.runtime.crt.runtime_library import start_runtime
start_runtime()
child = os.fork()
# The parent writes after the child, since both write to the same file.
if child:
    assert os.waitpid(child, 0)[1] == 0
print(list(f.realize([3])), flush=True)
"""
    done = python(code, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[0, 3, 6]\n" * 2, "")
