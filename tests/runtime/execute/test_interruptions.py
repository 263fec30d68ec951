"""Ctrl-C while a pipeline runs, and runs that C programs cancel."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import halide_core as hl
from halide_core.runtime.crt.runtime_library import runtime
from tests.support.checking import variables

x, y = variables("x y")
ROOT = Path(__file__).resolve().parents[3]


def _long(*, parallel: bool) -> hl.Func:
    """Work for many seconds."""
    r = hl.RDom([(0, 1 << 15), (0, 1 << 15)], "r")
    f = hl.Func("f")
    f[x, y] = hl.u32(0)
    f[x, y] += hl.u32(r.x * x) ^ hl.u32(r.y + y)
    if parallel:
        f.update().parallel(y)
    return f


def _small() -> hl.Func:
    f, g = hl.Func("f"), hl.Func("g")
    g[x, y] = x + y
    f[x, y] = g[x, y] * 2
    g.compute_root()
    f.parallel(y)
    return f


@contextmanager
def _interrupted() -> Iterator[None]:
    """Sends SIGINT to this process until it is met."""
    met = threading.Event()

    def send() -> None:
        if not met.wait(0.05):
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # which workers of pytest don't have
    try:
        thread.start()
        yield
    finally:
        met.set()
        thread.join()
        signal.signal(signal.SIGINT, before)


@pytest.mark.uncertified("it is about the run")
@pytest.mark.parametrize("parallel", [False, True])
def test_a_long_run_ends_and_the_next_is_right(*, parallel: bool) -> None:
    f = _long(parallel=parallel)
    f.compile_jit()
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt), _interrupted():
            f.realize([16, 16])
        assert np.array_equal(np.asarray(_small().realize([5, 4])), 2 * np.add.outer(np.arange(4), np.arange(5)))


@pytest.mark.uncertified("it is about the run")
def test_an_interrupt_ends_no_function_of_another_library() -> None:
    """Those of libraries that are linked with a runtime of their own read the flags of the one that came first, and
    nobody begins a run for them."""
    f = _long(parallel=False)
    f.compile_jit()
    with pytest.raises(KeyboardInterrupt), _interrupted():
        f.realize([16, 16])
    assert not runtime().halide_core_halting()[0]
    with pytest.raises(KeyboardInterrupt), _interrupted():
        time.sleep(60)
    assert not runtime().halide_core_halting()[0]


def test_a_run_in_a_run_is_ended_by_what_ends_that() -> None:
    """As one that a print of a pipeline's starts."""
    library = runtime()
    library.halide_core_begin_run(1)
    outside = library.halide_core_enter_run()
    flag = library.halide_core_halting()
    library.halide_core_begin_run(0)
    around = library.halide_core_enter_run()
    assert around == flag == library.halide_core_halting()
    assert library.halide_core_leave_run(around, 3) == 3 and library.halide_core_halting() == flag
    assert library.halide_core_leave_run(outside, 0) == 0 and library.halide_core_halting() != flag


@pytest.mark.uncertified("it is about the run")
def test_a_handler_that_raises_nothing_lets_the_run_go_on() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        f = _small()
        f.compile_jit()
        timer = threading.Timer(0.01, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        while not seen:
            got = np.asarray(f.realize([300, 200]))
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT]
    assert np.array_equal(got, 2 * np.add.outer(np.arange(200), np.arange(300)))


@pytest.mark.uncertified("it is about the run")
@pytest.mark.parametrize("parallel", [False, True])
def test_a_run_is_cancelled_from_another_thread(*, parallel: bool) -> None:
    f = _long(parallel=parallel)
    f.compile_jit()
    timer = threading.Timer(0.05, lambda: runtime().halide_core_cancel(1))
    timer.start()
    try:
        with pytest.raises(hl.PipelineError, match="the run was cancelled"):
            f.realize([16, 16])
    finally:
        timer.join()
        runtime().halide_core_cancel(0)
    assert np.asarray(_small().realize([2, 1])).tolist() == [[0, 2]]


_PROGRAM = """
import signal, sys, numpy as np, halide_core as hl
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, {root!r})
from tests.runtime.execute.test_interruptions import _long
f = _long(parallel={parallel})
f.compile_jit()
print("ready", flush=True)
f.realize([16, 16])
"""


@pytest.mark.parametrize("parallel", [False, True])
def test_a_script_ends_as_python_does(*, parallel: bool) -> None:
    code = _PROGRAM.format(root=str(ROOT), parallel=parallel)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGINT and errors.rstrip().endswith("KeyboardInterrupt")


_TWO_COPIES = """
import os, pathlib, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from halide_core.runtime.crt import runtime_library as rl
first = rl.runtime()
rl._build(pathlib.Path(sys.argv[1]))
second = rl.FFI.dlopen(sys.argv[1], os.RTLD_NOW | os.RTLD_GLOBAL)
for library in (second, first, second, first):
    library.halide_core_begin_run(1)
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_two_copies_of_the_runtime_call_no_handler_in_a_circle(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _TWO_COPIES, str(tmp_path / "second.so")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=ROOT)
    assert done.stdout.split() == ["interrupted"] * 4, done.stderr
