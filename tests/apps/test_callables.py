"""Compiled pipelines as functions: scalars and buffers, several threads at once, and many threads inside."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import halide_core as hl
from tests.support.checking import Array, image, numbers, same, variables

ROOT = Path(__file__).resolve().parents[2]
x, y = variables("x y")
Tail = hl.TailStrategy


def scaled() -> tuple[hl.Func, hl.Param, hl.Param, hl.ImageParam]:
    gain, shift = hl.Param(hl.Float(32), "gain"), hl.Param(hl.Int(32), "shift")
    source = hl.ImageParam(hl.Float(32), 2, "source")
    across, f = hl.Func("across"), hl.Func("f")
    across[x, y] = source[x, y] * gain
    f[x, y] = across[x, y] + across[x + 1, y] + hl.f32(shift)
    across.compute_at(f, y).vectorize(x, 8)
    f.vectorize(x, 8, Tail.GuardWithIf).parallel(y)
    return f, gain, shift, source


def expected(array: Array, gain: float, shift: int) -> Array:
    across = array * np.float32(gain)
    result: Array = across[:, :-1] + across[:, 1:] + np.float32(shift)
    return result


def test_callable_takes_scalars_and_buffers_in_the_order_asked_for() -> None:
    f, gain, shift, source = scaled()
    array = numbers((13, 29), np.float32)
    call = f.compile_to_callable([shift, source, gain])
    out = np.zeros((13, 28), np.float32)
    assert call(7, array, 1.25, out) is None
    same(out, expected(array, 1.25, 7))
    given, filled = hl.Buffer(array), hl.Buffer(hl.Float(32), [28, 13])
    call(gain=0.5, f=filled, source=given, shift=np.int16(-3))
    same(filled, expected(array, 0.5, -3))
    reversed_out = np.zeros((13, 28), np.float32)[::-1, ::-1]
    call(0, array[::-1], 2, reversed_out)
    same(reversed_out, expected(array[::-1], 2, 0))
    assert gain.get() is None  # a call sets no Param


def test_callable_is_right_when_input_and_output_are_one_array() -> None:
    p, source = hl.Param(hl.Int(32), "p"), hl.ImageParam(hl.Int(32), 1, "source")
    f = hl.Func("f")
    f[x] = source[9 - x] + p
    array = np.arange(10, dtype=np.int32)
    f.compile_to_callable([p, source])(5, array, array)
    same(array, np.arange(9, -1, -1, dtype=np.int32) + np.int32(5))


def test_callable_is_right_when_many_threads_call_it() -> None:
    f, gain, shift, source = scaled()
    call = f.compile_to_callable([source, gain, shift])
    start = threading.Barrier(8)

    def work(seed: int) -> None:
        array = numbers((17 + seed, 33), np.float32, seed)
        start.wait(60)
        for step in range(40):
            out = np.zeros((17 + seed, 32), np.float32)
            call(array, seed + 0.5, step, out)
            same(out, expected(array, seed + 0.5, step))

    with ThreadPoolExecutor(8) as threads:
        for done in [threads.submit(work, seed) for seed in range(8)]:
            done.result(120)


def test_each_thread_gets_its_own_error_when_calls_fail() -> None:
    f, gain, shift, source = scaled()
    call = f.compile_to_callable([source, gain, shift])
    start = threading.Barrier(6)

    def work(width: int) -> None:
        start.wait(60)
        for _ in range(50):
            with pytest.raises(hl.PipelineError) as caught:
                call(np.zeros((4, width), np.float32), 1.0, 0, np.zeros((4, width), np.float32))
            assert f"from 0 to {width}" in caught.value.message
            assert f"only 0 to {width - 1}" in caught.value.message

    with ThreadPoolExecutor(6) as threads:
        for done in [threads.submit(work, width) for width in range(20, 26)]:
            done.result(120)


def test_realize_is_right_when_threads_compile_at_once() -> None:
    start = threading.Barrier(4)
    source = numbers((9, 20), np.int32)

    def work(seed: int) -> None:
        f = hl.Func("f")
        f[x, y] = image(source)[x, y] + seed % 2  # two different pipelines among four threads
        f.vectorize(x, 4)
        start.wait(60)
        same(f.realize([20, 9]), source + np.int32(seed % 2))

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(work, seed) for seed in range(4)]:
            done.result(120)


BIG = """
import numpy as np
import halide_core as hl
from halide_core.runtime.crt.runtime_library import runtime
x, y, xo, yo, xi, yi = (hl.Var(n) for n in "x y xo yo xi yi".split())
a = np.random.default_rng(0).integers(0, 65536, (1500, 2000), np.uint16)
ip = hl.ImageParam(hl.UInt(16), 2, "ip"); ip.set(a)
e = hl.BoundaryConditions.repeat_edge(ip)
g, f = hl.Func("g"), hl.Func("f")
g[x, y] = (e[x - 1, y] + e[x, y] + e[x + 1, y]) / 3
f[x, y] = (g[x, y - 1] + g[x, y] + g[x, y + 1]) / 3
f.tile(x, y, xo, yo, xi, yi, 64, 8).vectorize(xi, 16).parallel(yo).parallel(xo)
g.compute_at(f, xo).vectorize(x, 16)
p = np.pad(a, 1, mode="edge")
n = (p[:, :-2] + p[:, 1:-1] + p[:, 2:]) // np.uint16(3)
n = (n[:-2] + n[1:-1] + n[2:]) // np.uint16(3)
for _ in range(3):
    assert (np.asarray(f.realize([2000, 1500])) == n).all()
print(runtime().halide_core_get_num_threads())
"""


@pytest.mark.parametrize("threads", ["1", "3", "40"])
def test_big_picture_is_right_when_the_number_of_threads_varies(threads: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HL_NUM_THREADS": threads}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", BIG],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{threads}\n", "")


def test_repeated_call_sees_what_has_changed_since() -> None:
    f, gain, shift, source = scaled()
    call = f.compile_to_callable([source, gain, shift])
    array, out = hl.Buffer(numbers((9, 20), np.float32)), hl.Buffer(hl.Float(32), [19, 8])
    for _ in range(4):
        call(array, 2.0, 1, out)
    same(out, expected(np.asarray(array), 2.0, 1)[:8])
    np.asarray(array)[:] += 1  # other values in the same memory
    call(array, 2.0, 1, out)
    same(out, expected(np.asarray(array), 2.0, 1)[:8])
    call(array, 3.0, 1, out)  # another number
    same(out, expected(np.asarray(array), 3.0, 1)[:8])
    array.set_min([50, 0])  # the same Buffer elsewhere
    with pytest.raises(hl.PipelineError, match="only 50 to"):
        call(array, 3.0, 1, out)
    with pytest.raises(hl.PipelineError, match="exactly 4 positional arguments"):
        call(array, 3.0, out)


def test_callable_keeps_no_picture_alive() -> None:
    x, f, source = hl.Var("x"), hl.Func("f"), hl.ImageParam(hl.UInt(8), 1, "source")
    f[x] = source[x] + 1
    call = f.compile_to_callable([source])
    array = np.zeros(64, np.uint8)
    alive = weakref.ref(array)
    given, out = hl.Buffer(array), hl.Buffer(hl.UInt(8), [64])
    for _ in range(3):
        call(given, out)
    del array, given
    gc.collect()
    assert alive() is None
    call(hl.Buffer(np.ones(64, np.uint8)), out)
    assert out[5] == 2
