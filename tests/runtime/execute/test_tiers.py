"""HL_COMPILE=fast: code that is there soon, and optimized code with its bits that takes over between two calls."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core.runtime.compile.toolchain import find_compiler
from halide_core.runtime.execute.background import BACKGROUND
from halide_core.runtime.execute.jit import LoadedPipeline
from halide_core.tuning.candidate import perform
from halide_core.tuning.job import Ending, Job, JobRole
from tests.support.checking import variables
from tests.support.gate import Gate

pytestmark = pytest.mark.uncertified("about when code is made: a certified program has another key")

ROOT = Path(__file__).resolve().parents[3]
x, y = variables("x y")
_numbers = count(1)
def fresh() -> tuple[hl.Func, int]:
    """A Func that nobody compiled before, and its number."""
    number = next(_numbers)
    f = hl.Func("f")
    f[x] = hl.sin(x * 0.37 + number) / 3 + x
    f.vectorize(x, 4)
    return f, number


def compiled(f: hl.Func) -> LoadedPipeline:
    assert f._built is not None and isinstance(f._built.compiled, LoadedPipeline)
    return f._built.compiled


def codes(f: hl.Func) -> int:
    """The number of libraries that its pipeline has so far."""
    return len(compiled(f)._libraries)


def bits(f: hl.Func, size: int = 20) -> bytes:
    return np.asarray(f.realize([size])).tobytes()


def test_optimized_code_takes_over_with_the_same_bits(gate: Gate) -> None:
    f, _ = fresh()
    first = bits(f)
    assert codes(f) == 1 and first == np.asarray(f.evaluate([20])).tobytes()
    gate.settled()
    assert codes(f) == 2 and bits(f) == first
    assert gate.asked() == ["soon", "optimized"]


def test_a_cache_with_the_optimized_code_gives_it_at_once(gate: Gate) -> None:
    f, number = fresh()
    f.compile_jit()
    gate.settled()
    again = hl.Func("f")
    again[x] = hl.sin(x * 0.37 + number) / 3 + x
    again.vectorize(x, 4)
    assert bits(again) == bits(f)
    assert codes(again) == 1 and gate.asked() == ["soon", "optimized"]


def test_threads_call_while_the_code_changes(gate: Gate) -> None:
    f, _ = fresh()
    f.parallel(x, 100)
    c = f.compile_to_callable([])
    pipeline = c._compiled
    assert isinstance(pipeline, LoadedPipeline)
    expected = np.asarray(f.evaluate([1000])).tobytes()
    ended, wrong, calls = threading.Event(), [], [0, 0, 0]

    def work(number: int) -> None:
        out = hl.Buffer(hl.Float(32), [1000])
        while not ended.is_set():
            c(out)
            calls[number] += 1
            if np.asarray(out).tobytes() != expected:
                wrong.append(calls[number])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    gate.settled()
    before = list(calls)
    while any(now < then + 3 for now, then in zip(calls, before, strict=True)):
        assert all(thread.is_alive() for thread in threads)
    ended.set()
    for thread in threads:
        thread.join()
    assert len(pipeline._libraries) == 2 and not wrong


def test_a_call_that_is_repeated_runs_the_new_code(gate: Gate) -> None:
    f, _ = fresh()
    c, out = f.compile_to_callable([]), hl.Buffer(hl.Float(32), [20])
    for _ in range(3):
        c(out)
    assert c._last is not None
    first, pipeline = np.asarray(out).tobytes(), c._compiled
    gate.settled()
    assert isinstance(pipeline, LoadedPipeline)
    called: list[Any] = []
    entry = pipeline._entry
    assert entry == pipeline._libraries[1].halide_core_entry != pipeline._libraries[0].halide_core_entry
    pipeline._entry = lambda pointers: called.append(pointers) or entry(pointers)
    np.asarray(out)[:] = 0
    c(out)
    assert len(called) == 1 and np.asarray(out).tobytes() == first


def test_a_second_compile_that_fails_is_told_once_at_the_users_line(gate: Gate) -> None:
    (gate.folder / "broken").touch()
    f, _ = fresh()
    first = bits(f)
    gate.settled()
    with pytest.warns(hl.HalideWarning, match=r'Pipeline "f" could not be optimized(.|\n)*not today') as told:
        assert bits(f) == first
    assert [Path(w.filename).name for w in told] == ["test_tiers.py"]
    assert bits(f) == first and codes(f) == 1  # warnings are errors here


def test_a_first_compile_that_fails_is_an_error_at_the_users_line(gate: Gate) -> None:
    (gate.folder / "refused").touch()
    f, _ = fresh()
    with pytest.raises(hl.ToolchainError, match="not even soon") as caught:
        f.realize([4])
    assert Path(caught.value.location.file).name == "test_tiers.py" and gate.asked() == []
    (gate.folder / "refused").unlink()
    assert bits(f) == np.asarray(f.evaluate([20])).tobytes()


def test_what_was_optimized_in_the_background_is_there_when_haste_ends(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    f, _ = fresh()
    first = bits(f)
    gate.await_asked("optimized")
    monkeypatch.delenv("HL_COMPILE")
    timer = threading.Timer(0.1, gate.open)
    timer.start()
    assert bits(f) == first  # which waits for the compile that goes on
    timer.join()
    assert codes(f) == 1 and gate.asked() == ["soon", "optimized"]


def test_the_newest_is_first_and_what_nobody_has_is_dropped(gate: Gate) -> None:
    done: list[str] = []

    def made(name: str) -> hl.Func:
        f, _ = fresh()
        f.compile_jit()
        pipeline = compiled(f)
        over = pipeline.take_over

        def noted(library: Any) -> None:
            done.append(name)
            over(library)

        pipeline.take_over = noted  # type: ignore[method-assign]  # to see when
        return f

    first = made("first")
    gate.await_asked("optimized")
    kept = [made("second"), made("third"), made("fourth")]
    del kept[1]
    gc.collect()
    gate.settled()
    assert done == ["first", "fourth", "second"]
    assert gate.asked() == ["soon", "optimized", "soon", "soon", "soon", "optimized", "optimized"]
    assert codes(first) == 2


def test_a_compile_that_nobody_waits_for_makes_room(gate: Gate) -> None:
    f, _ = fresh()
    f.compile_jit()
    gate.await_asked("optimized")
    del f
    gc.collect()
    g, _ = fresh()
    g.compile_jit()  # the gate stays shut: the first one is ended
    gate.await_asked("optimized", 2)
    gate.settled()
    assert codes(g) == 2


def test_the_same_program_is_compiled_once_for_all(gate: Gate) -> None:
    f, number = fresh()
    f.compile_jit()
    gate.await_asked("optimized")
    again = hl.Func("f")
    again[x] = hl.sin(x * 0.37 + number) / 3 + x
    again.vectorize(x, 4)
    again.compile_jit()
    gate.settled()
    assert (codes(f), codes(again)) == (2, 2)
    assert gate.asked() == ["soon", "optimized"]


def test_memoized_values_outlive_the_first_code(gate: Gate) -> None:
    image, version = hl.ImageParam(hl.Int(32), 1, "image"), hl.Param(hl.Int(32), "version", 1)
    f, g = hl.Func("f"), hl.Func("g")
    g[x] = hl.memoize_tag(image[x], version) + next(_numbers)
    f[x] = g[x] * 2
    g.compute_root().memoize()
    image.set(np.arange(9, dtype=np.int32))
    first = bits(f, 9)
    image.set(np.zeros(9, np.int32))
    gate.settled()
    assert codes(f) == 2 and bits(f, 9) == first  # kept by the first code, found by the second
    version.set(2)
    assert bits(f, 9) != first


def test_segments_between_extern_stages_are_optimized(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    source = gate.folder / "stage.c"
    source.write_text("""#include "halide_runtime.h"
int test_tiers_twice(halide_buffer_t *in, halide_buffer_t *out) {
    if (!in->host || !out->host) { in->dim[0] = out->dim[0]; return 0; }
    for (int i = 0; i < out->dim[0].extent; i++)
        ((int32_t *)out->host)[i] = 2 * ((int32_t *)in->host)[out->dim[0].min - in->dim[0].min + i];
    return 0;
}
""")
    library = source.with_suffix(".so")
    include = ROOT / "runtime" / "crt"
    subprocess.run([*find_compiler().command, "-shared", "-fPIC", f"-I{include}", "-o", library, source], check=True)
    ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)
    f, e, g = hl.Func("f"), hl.Func("e"), hl.Func("g")
    g[x] = x + next(_numbers)
    e.define_extern("test_tiers_twice", [g], hl.Int(32), 1)
    f[x] = e[x] + 1
    g.compute_root()
    e.compute_root()
    first = bits(f)
    gate.settled()
    assert gate.asked().count("optimized") == 2 and bits(f) == first


def test_traces_and_printed_lines_are_the_same(gate: Gate, capfd: pytest.CaptureFixture[str]) -> None:
    f = hl.Func("f")
    f[x] = hl.print_when(x == 1, x + next(_numbers), "here")
    f.trace_stores()

    def seen() -> str:
        f.realize([3])
        captured = capfd.readouterr()
        return captured.out + captured.err

    first = seen()
    gate.settled()
    assert codes(f) == 2 and seen() == first != ""


def test_errors_of_runs_stay_at_the_users_line(gate: Gate) -> None:
    image, f = hl.ImageParam(hl.Int(32), 1, "image"), hl.Func("f")
    f[x] = image[x] + next(_numbers)
    image.set(np.zeros(3, np.int32))

    def refused() -> tuple[str, int]:
        with pytest.raises(hl.PipelineError) as caught:
            f.realize([9])
        return str(caught.value).partition("\n")[2], caught.value.location.line

    first = refused()
    gate.settled()
    assert codes(f) == 2 and refused() == first


@pytest.mark.parametrize("value", ["slow", "1", "FAST"])
def test_another_value_is_an_error_at_the_users_line(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HL_COMPILE", value)
    f, _ = fresh()
    with pytest.raises(hl.HalideError, match=f'HL_COMPILE="{value}" has no meaning. It can be "fast"') as caught:
        f.realize([4])
    assert Path(caught.value.location.file).name == "test_tiers.py"


def test_what_is_measured_is_optimized_at_once(gate: Gate) -> None:
    gate.open()
    f, _ = fresh()
    hl.profile(f, [100])
    assert gate.asked() == ["optimized"]


def test_candidates_of_tuners_are_optimized_at_once(
    gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate.open()
    f, _ = fresh()
    problem = SimpleNamespace(schedule=lambda _choice: None, request=f._request)
    monkeypatch.setattr("halide_core.tuning.candidate.Problem", SimpleNamespace(read=lambda _file: problem))
    assert perform(Job(str(tmp_path), "", JobRole.COMPILE, 1.0)).result is Ending.DONE
    assert gate.asked() == ["optimized"]


def test_files_are_what_they_are_without(gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[tuple[bytes, int]] = []
    f, _ = fresh()
    for setting in ("fast", ""):
        monkeypatch.setenv("HL_COMPILE", setting)
        f.compile_to_c(str(tmp_path / "f.c"), [], "f")
        f.compile_to_object(str(tmp_path / "f.o"), [], "f")  # zig's has the name of the folder that it was made in
        written.append(((tmp_path / "f.c").read_bytes(), (tmp_path / "f.o").stat().st_size))
    assert written[0] == written[1] and gate.asked() == []


def _floats() -> hl.Func:
    a, f = hl.ImageParam(hl.Float(32), 1, "a"), hl.Func("f")
    values = np.array([0.1, -0.0, 1e38, 1e-40, np.inf, -np.inf, np.nan, 3.3, 7e22, -1e-45] * 8, np.float32)
    a.set(values)
    r = hl.RDom([(0, 10)], "r")
    f[x] = hl.exp(a[x] * 1e-30) * a[x] / 3 - hl.sqrt(hl.abs(a[x])) + hl.cast(hl.Float(32), hl.cast(hl.Float(16), a[x]))
    f[x] += a[(x + r) % 80] * a[x]
    f.vectorize(x, 8)
    f.update().vectorize(x, 8)
    return f


def _integers() -> hl.Func:
    f, g = hl.Func("f"), hl.Func("g")
    g[x] = hl.u8(x * 37) * hl.u8(11) + hl.u8(x)
    wide = hl.i32(g[x]) * 16777259
    shifted = (wide >> (x % 32)) + hl.saturating_add(wide, wide)
    f[x] = (wide / (x % 5)) + (wide % 7) + shifted + hl.mux(x % 3, [1, x, wide])
    g.compute_root().vectorize(x, 16).parallel(x, 32)
    f.vectorize(x, 8, hl.TailStrategy.GuardWithIf)
    return f


@pytest.mark.parametrize("make", [_floats, _integers])
def test_bits_are_the_same_at_both_speeds(
    make: Callable[[], hl.Func], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With this machine's own compiler, and its flags."""
    monkeypatch.setenv("HL_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("HL_COMPILE", "fast")
    f = make()
    first = bits(f, 77)
    BACKGROUND.wait()
    assert codes(f) == 2 and bits(f, 77) == first
    values = np.asarray(f.evaluate([77]))
    np.testing.assert_array_equal(np.frombuffer(first, values.dtype), values)


def test_interrupted_first_compile_leaves_nothing(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends the compile that the user waits for, and nothing goes on behind it."""

    def interrupted(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        f, _ = fresh()
        with monkeypatch.context() as patch:
            patch.setattr("halide_core.runtime.compile.sources.compile_shared", interrupted)
            with pytest.raises(KeyboardInterrupt):
                f.compile_jit()
    finally:
        signal.signal(signal.SIGINT, before)
    assert BACKGROUND._thread is None and f._built is None
    first = bits(f)
    gate.settled()
    assert codes(f) == 2 and bits(f) == first
