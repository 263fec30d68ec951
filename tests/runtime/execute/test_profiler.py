"""The profiler: what it counts, that it changes no result, and that nothing of it is left where it is off."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import halide_core as hl
from halide_core.config import demands, profiles_demanded, profiling
from halide_core.lowering.driver import lower
from halide_core.run.profile_data import FuncProfile, Profile
from halide_core.runtime.codegen.profile import NAMES
from halide_core.runtime.codegen.unit import emit_c
from halide_core.runtime.compile.fingerprint import fingerprint
from halide_core.runtime.compile.toolchain import CompileOptions, Compiler
from halide_core.runtime.execute.jit import compile_pipeline
from tests.runtime.execute.counted_clock import SPENT, counted_clock

ROOT = Path(__file__).resolve().parents[3]
x, y, yi, r = hl.Var("x"), hl.Var("y"), hl.Var("yi"), hl.RDom([(0, 400)], "r")


def chain(*, parallel: bool = False) -> hl.Func:
    """``slow`` has much more to do than ``fast``, which it is read by; rows of ``slow`` are made in the consumer's."""
    slow, fast = hl.Func("slow"), hl.Func("fast")
    slow[x, y] = hl.f32(0.0)
    slow[x, y] += hl.sqrt(hl.f32(x + y + r.x))
    fast[x, y] = slow[x, y] + 1
    slow.compute_at(fast, y)
    if parallel:
        fast.parallel(y)
    return fast


def by_name(profile: Profile) -> dict[str, FuncProfile]:
    return {f.name: f for f in profile.funcs}


SLOW_S = 64 * 50 * 400 * SPENT * 1e-9
"""The time that ``slow`` takes of a run of [64, 50], by the counted clock."""


@pytest.mark.parametrize("parallel", [False, True])
def test_time_goes_to_the_func_that_takes_it(parallel: bool, tmp_path: Path) -> None:
    with counted_clock(tmp_path):
        profile = hl.profile(chain(parallel=parallel), [64, 50], runs=3)
    found = by_name(profile)
    assert list(found) == ["slow", "fast", ""]
    assert profile.runs == 3
    assert found["slow"].seconds == pytest.approx(3 * SLOW_S, rel=1e-6)
    assert 0 < found["fast"].seconds < 3 * 50 * 10e-9  # the few times that the clock is read for a row
    assert sum(map(profile.share, profile.funcs)) == pytest.approx(1)


def test_time_by_the_machines_own_clock() -> None:
    profile = hl.profile(chain(), [64, 50], runs=3)
    assert profile.seconds > 0
    assert all(f.seconds > 0 for f in profile.funcs)


def test_time_on_one_thread_is_counted_once(tmp_path: Path) -> None:
    with counted_clock(tmp_path):
        profile = hl.profile(chain(), [64, 50], runs=3)
    assert profile.seconds == pytest.approx(3 * SLOW_S, rel=1e-6)
    assert profile.thread_seconds == pytest.approx(profile.seconds, rel=1e-6)


def test_tasks_of_the_calling_thread_are_not_counted_twice(tmp_path: Path) -> None:
    """With one thread, all tasks run on the caller's; its own clock stands still meanwhile."""
    code = (
        "import pathlib, sys, halide_core as hl\n"
        "from tests.runtime.execute.counted_clock import counted_clock\n"
        "from tests.runtime.execute.test_profiler import chain\n"
        f"with counted_clock(pathlib.Path({str(tmp_path)!r})):\n"
        "    p = hl.profile(chain(parallel=True), [64, 50], runs=3)\n"
        "print(p.thread_seconds / p.seconds)"
    )
    assert float(_run(code, HL_NUM_THREADS="1").stdout) == pytest.approx(1, rel=1e-6)


def test_memory_is_counted_by_func() -> None:
    big, small, f = hl.Func("big"), hl.Func("small"), hl.Func("f")
    big[x, y] = hl.f32(x * y)
    small[x] = big[x, 0] + big[x, 1]
    f[x, y] = big[x, y] + small[x]
    big.compute_root()
    small.compute_root().bound_extent(x, 100)
    profile = hl.profile(f, [100, 300], runs=2)
    found = by_name(profile)
    assert found["big"].peak_bytes == 4 * 100 * 300
    assert found["big"].allocations == 2  # one in each of two runs
    assert found["big"].stack_bytes == 0
    assert (found["small"].peak_bytes, found["small"].allocations) == (0, 0)
    assert found["small"].stack_bytes == 448  # 100 floats, rounded up to whole lines of the cache
    assert found["f"].allocations == 0
    assert profile.peak_bytes == 4 * 100 * 300


def test_peak_is_of_all_threads_and_live_memory_is_freed() -> None:
    slow, f = hl.Func("slow"), hl.Func("f")
    slow[x, y] = hl.f32(x + y)
    f[x, y] = slow[x, y] + slow[x + 1, y]
    slow.compute_at(f, y)
    f.parallel(y)
    for _ in range(2):
        profile = hl.profile(f, [8191, 20], runs=2)
        row = by_name(profile)["slow"]
        assert row.allocations == 40
        assert row.peak_bytes % (4 * 8192) == 0
        assert 0 < row.peak_bytes <= 20 * 4 * 8192


def test_visits_count_how_often_a_func_is_entered() -> None:
    output = chain()
    found = by_name(hl.profile(output, [64, 50], runs=2))
    assert found["slow"].visits == 2 * 50


def test_results_and_unmeasured_code_stay_the_same() -> None:
    output = chain(parallel=True)
    before = np.asarray(output.realize([64, 20]))
    buffer = hl.Buffer(hl.Float(32), [64, 20])
    hl.profile(output, buffer)
    np.testing.assert_array_equal(np.asarray(buffer), before)
    assert output._built is not None
    with pytest.raises(hl.PipelineError, match="was not compiled to be measured"):
        output._built.compiled.take_profile()
    np.testing.assert_array_equal(np.asarray(output.realize([64, 20])), before)


def test_pipelines_of_several_outputs_and_failing_runs() -> None:
    p = hl.Param(hl.Int(32), "p", 1)
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = x + p
    g[x] = f[x] * 2
    f.compute_root()
    assert by_name(hl.profile(hl.Pipeline([f, g]), [10])).keys() == {"f", "g", ""}
    image = hl.ImageParam(hl.UInt(8), 1, "image")
    h = hl.Func("h")
    h[x] = image[x]
    h.parallel(x)
    image.set(np.zeros(5, np.uint8))
    with pytest.raises(hl.PipelineError, match="image"):
        hl.profile(h, [10])
    assert hl.profile(h, [5]).runs == 1


def test_nothing_is_left_where_it_is_off() -> None:
    lowered = lower(chain(parallel=True)._request())
    off, on = emit_c(lowered), emit_c(lowered, profile=True)
    assert "profile" not in off
    assert on.count("halide_core_profile_at(&") > 2
    assert on == emit_c(lowered, profile=True)
    registered = emit_c(lowered, profile=True, registered="chain")
    for name in NAMES:
        assert name in on or name in registered


def test_names_of_the_profiler_can_be_funcs() -> None:
    f, g = hl.Func("halide_core_profile_totals"), hl.Func("profile_clock")
    f[x] = x
    g[x] = f[x] + 1
    f.compute_root()
    assert by_name(hl.profile(g, [3])).keys() == {"halide_core_profile_totals", "profile_clock", ""}


def test_key_differs() -> None:
    def key() -> str:
        return fingerprint(chain()._request(), Compiler(("cc",), "one"), CompileOptions())

    plain = key()
    with profiling():
        assert profiles_demanded()
        assert demands()[1]
        assert key() != plain
    assert key() == plain


def test_compiled_anew_when_the_setting_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    output = chain()
    output.realize([4, 4])
    built = output._built
    with profiling():
        output.realize([4, 4])
        assert output._built is not built
        assert compile_pipeline(output._request()).take_profile().runs == 1  # one library, however often it is loaded
    monkeypatch.setenv("HL_PROFILE", "yes")
    with pytest.raises(hl.HalideError, match='HL_PROFILE="yes" has no meaning'):
        output.realize([4, 4])


@pytest.mark.parametrize("runs", [0, -1, 1.5])
def test_runs_must_be_positive(runs: int) -> None:
    with pytest.raises(hl.PipelineError, match="positive number of runs"):
        hl.profile(chain(), [4, 4], runs=runs)


def test_environment_prints_a_table_when_the_program_ends() -> None:
    code = "from tests.runtime.execute.test_profiler import chain\nchain().realize([64, 50]); chain().realize([8, 8])"
    done = _run(code, HL_PROFILE="1")
    lines = done.stderr.splitlines()
    assert lines[0].startswith("fast: 2 runs, each ")
    assert lines[1].split() == [
        "Func",
        "ms",
        "a",
        "run",
        "share",
        "visits",
        "allocations",
        "peak",
        "KiB",
        "stack",
        "KiB",
    ]
    assert [line.split()[0] for line in lines[2:]] == ["slow", "fast", "(checks,"]
    assert _run(code, HL_PROFILE="0").stderr == ""


def test_table_is_per_run() -> None:
    rows = (FuncProfile("f", 0.003, 6, 4, 2048, 512), FuncProfile("", 0.001, 2, 0, 0, 0))
    assert str(Profile("p", 2, 0.004, 2048, rows)) == (
        "p: 2 runs, each 2.000 ms on the wall and 2.000 ms of all threads; at most 2.0 KiB of heap\n"
        "  Func               ms a run  share  visits  allocations  peak KiB  stack KiB\n"
        "  f                     1.500  75.0%       3            2       2.0        0.5\n"
        "  (checks, waiting)     0.500  25.0%       1            0       0.0        0.0"
    )


def _run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done
