"""Profiles of pipelines with extern stages: rows of every Func, whoever computes it."""

from __future__ import annotations

from itertools import count

import pytest

import halide_core as hl
from halide_core.run.profile_data import FuncProfile, Profile
from halide_core.runtime.execute import extern_profile, profiler
from tests.runtime.execute.levels import Calls, made

y = hl.Var("y")


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch, calls: Calls) -> None:
    """A clock that goes on by a millisecond whenever it is read; the C functions."""
    ticks = count()
    monkeypatch.setattr(extern_profile, "perf_counter_ns", lambda: next(ticks) * 1_000_000)


def by_name(profile: Profile) -> dict[str, FuncProfile]:
    return {f.name: f for f in profile.funcs}


def test_each_func_has_a_row() -> None:
    g, e, f = made()
    g.compute_root()
    e.compute_root()
    profile = hl.profile(f, [5, 4], runs=3)
    found = by_name(profile)
    assert list(found) == ["g", "e", "f", ""]
    assert profile.runs == 3
    assert [found[name].visits for name in ("g", "e", "f")] == [3, 3, 3]
    assert found["e"].seconds == pytest.approx(0.003)  # from one reading of the clock to the next, three times
    assert profile.seconds == pytest.approx(0.009)
    assert sum(map(profile.share, profile.funcs)) == pytest.approx(1)


def test_memory_between_segments_is_counted() -> None:
    g, e, f = made()
    g.compute_root()
    e.compute_root()
    profile = hl.profile(f, [5, 4], runs=2)
    found = by_name(profile)
    assert (found["e"].allocations, found["e"].peak_bytes) == (2, 4 * 5 * 5)
    assert (found["g"].allocations, found["g"].peak_bytes) == (2, 4 * 6 * 6)
    assert profile.peak_bytes == 4 * (5 * 5 + 6 * 6)


def test_calls_at_a_level_are_counted_each() -> None:
    g, e, f = made()
    g.compute_root()
    e.compute_at(f, y)
    found = by_name(hl.profile(f, [5, 4], runs=2))
    assert list(found) == ["g", "e", "f", ""]
    assert found["e"].visits == 2 * 4
    assert found["f"].visits > 0


def test_what_is_taken_starts_anew() -> None:
    _, e, f = made()
    e.compute_root()
    assert hl.profile(f, [5, 4], runs=3).runs == 3
    assert hl.profile(f, [5, 4]).runs == 1


def test_a_run_that_fails_is_none() -> None:
    image = hl.ImageParam(hl.Int(32), 2, "image")
    _, e, f = made(image[hl.Var("x"), y])
    e.compute_root()
    image.set(hl.Buffer(hl.Int(32), [3, 3]))
    with pytest.raises(hl.PipelineError, match="image"):
        hl.profile(f, [5, 4])
    image.set(hl.Buffer(hl.Int(32), [6, 6]))
    assert hl.profile(f, [5, 4]).runs == 1


def test_table_at_the_end_is_one_of_the_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(profiler, "_shown_at_exit", [])
    monkeypatch.setenv("HL_PROFILE", "1")
    g, e, f = made()
    g.compute_root()
    e.compute_root()
    f.realize([5, 4])
    profiler.show_profiles()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("f: 1 run, each ")
    assert [line.split()[0] for line in lines[2:]] == ["g", "e", "f", "(checks,"]
