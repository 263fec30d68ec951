"""Optimized code made in the background of processes that end, fork, and are interrupted meanwhile: nothing is left."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.gate import Gate

pytestmark = pytest.mark.uncertified("about when code is made: a certified program has another key")

ROOT = Path(__file__).resolve().parents[3]

PROGRAM = """
import os, sys, time
from pathlib import Path
import halide_core as hl
from halide_core.runtime.execute.background import BACKGROUND
x = hl.Var("x")
def pipeline(number):
    f = hl.Func("f")
    f[x] = x * 3 + number
    return f
def shown(f):
    return list(f.realize([3]))
def libraries(f):
    return len(f._built.compiled._libraries)
def begun():
    while "optimized" not in Path(os.environ["CC"]).with_name("log").read_text():
        time.sleep(0.01)
def open_gate():
    Path(os.environ["CC"]).with_name("shut").unlink()
"""


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A new process, which inherits the gate and HL_COMPILE."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM + code],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True, text=True, timeout=300, check=False, start_new_session=True,
    )  # fmt: skip


def left_behind(gate: Gate, cache: Path) -> list[str]:
    """Compilers that run, and files of builds."""
    commands = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode(errors="replace")
            state = (process / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if str(gate.compiler) in command and "pipeline_" in command:
            commands.append(f"{state} {command}")
    return commands + [str(path) for path in (cache / "tmp").iterdir()]


def test_a_cache_with_the_first_code_alone_begins_again_without_lowering(gate: Gate, tmp_path: Path) -> None:
    cache = {"HL_CACHE_DIR": str(tmp_path)}
    done = python("print(shown(pipeline(5)), flush=True)", **cache)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[5, 8, 11]\n", "")
    gate.open()
    code = """
f = pipeline(5)
print(shown(f)); BACKGROUND.wait(); print(libraries(f), shown(f), "halide_core.lowering.driver" in sys.modules)
"""
    done = python(code, **cache)
    assert (done.stdout, done.stderr) == ("[5, 8, 11]\n2 [5, 8, 11] False\n", "")
    assert gate.asked().count("soon") == 1
    done = python("f = pipeline(5); print(shown(f), libraries(f), BACKGROUND._thread)", **cache)
    assert (done.stdout, done.stderr) == ("[5, 8, 11] 1 None\n", "")


def test_an_exit_waits_for_nothing_and_leaves_nothing(gate: Gate, tmp_path: Path) -> None:
    code = """
f = pipeline(1)
print(shown(f), flush=True)
begun()
"""
    done = python(code, HL_CACHE_DIR=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "[1, 4, 7]\n", "")
    assert left_behind(gate, tmp_path) == []


def test_ctrl_c_ends_what_the_user_waits_for_alone(gate: Gate, tmp_path: Path) -> None:
    code = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
f = pipeline(2)
f.compile_jit()
begun()
try:
    os.killpg(os.getpgid(0), signal.SIGINT)  # as a terminal does
    while True: pass
except KeyboardInterrupt:
    print("interrupted")
open_gate()
BACKGROUND.wait()
print(libraries(f), shown(f))
"""
    done = python(code, HL_CACHE_DIR=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n2 [2, 5, 8]\n", "")
    assert left_behind(gate, tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_keeps_its_code_and_compiles_for_itself(gate: Gate, tmp_path: Path) -> None:
    code = """
f = pipeline(3)
f.compile_jit()
begun()
child = os.fork()
if child == 0:
    g = pipeline(3)  # the program that its parent compiles
    print(shown(f), libraries(f), shown(g), BACKGROUND._thread.is_alive(), flush=True)
    sys.exit()  # with all that exits do
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
open_gate()
BACKGROUND.wait()
print(libraries(f), shown(f))
"""
    done = python(code, HL_CACHE_DIR=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "[3, 6, 9] 1 [3, 6, 9] True\n2 [3, 6, 9]\n", "")
    assert left_behind(gate, tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_of_multiprocessing_leaves_nothing(gate: Gate, tmp_path: Path) -> None:
    code = """
import multiprocessing
def work(number):
    f = pipeline(number)
    f.compile_jit()
    begun()
    print(shown(f), flush=True)
process = multiprocessing.get_context("fork").Process(target=work, args=(6,))
process.start()
process.join()
print(process.exitcode)
"""
    done = python(code, HL_CACHE_DIR=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "[6, 9, 12]\n0\n", "")
    assert left_behind(gate, tmp_path) == []


def test_no_cache_at_all_is_fine(gate: Gate) -> None:
    code = """
f = pipeline(8)
print(shown(f), flush=True)
open_gate()
BACKGROUND.wait()
print(libraries(f), shown(f))
"""
    done = python(code, HL_CACHE="0")
    assert (done.returncode, done.stdout, done.stderr) == (0, "[8, 11, 14]\n2 [8, 11, 14]\n", "")
