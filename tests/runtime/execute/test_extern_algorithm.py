"""Extern stages in pipelines whose Funcs are rewritten first: factored reductions, wrappers, and updates of a stage."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from tests.runtime.execute.levels import Calls, consumer, corner, made, stage, wanted
from tests.support.blame import refused

x, y, u, xo, xi, yo, yi = map(hl.Var, "x y u xo xi yo yi".split())
r = hl.RDom([(0, 6), (0, 4)], "r")


@pytest.mark.parametrize("at_level", [True, False])
def test_a_factored_reduction_reads_the_stage(calls: Calls, at_level: bool) -> None:
    """Its partial results read the Func that the user wrote, which was 0 everywhere."""
    (_, e), f = stage(), hl.Func("f")
    f[x] = 0
    f[x] += e[r.x, r.y] * x
    partial = f.update().rfactor(r.y, u).compute_root()
    if at_level:
        e.compute_at(partial, u)
    j, i = np.mgrid[0:4, 0:6]
    values, count, _ = calls.of(lambda: f.realize([5]))
    assert (values, count) == ([k * int(corner(i, j).sum()) for k in range(5)], 4 if at_level else 1)


def test_a_factored_reduction_of_floats_is_refused_where_they_are_strict(calls: Calls) -> None:
    (_, e), f = stage(), hl.Func("f")
    f[x] = 0.0
    f[x] += hl.f32(e[r.x, r.y])
    f.update().rfactor(r.y, u).compute_root()
    target = hl.get_jit_target_from_environment().with_feature(hl.TargetFeature.StrictFloat)
    refused(hl.ScheduleError, lambda: f.realize([5], target), "strict_float", at="rfactor(r.y, u)")


def test_a_wrapper_reads_the_stage(calls: Calls, capfd: pytest.CaptureFixture[str]) -> None:
    _, e, f = made()
    e.in_(f).compute_at(f, y).trace_stores()
    assert calls.of(lambda: f.realize([5, 4])) == (wanted(5, 4), 1, 25)
    told = capfd.readouterr()
    assert (told.out + told.err).count("Store e_in_f.0") == 4 * 10


def test_a_stage_in_the_loops_of_its_wrapper(calls: Calls) -> None:
    _, e, f = made()
    wrapper = e.in_()
    wrapper.compute_root()
    e.compute_at(wrapper, wrapper.args()[1])
    assert calls.of(lambda: f.realize([5, 4])) == (wanted(5, 4), 5, 25)


def test_a_wrapper_is_passed_to_the_stage(calls: Calls, capfd: pytest.CaptureFixture[str]) -> None:
    g, e, f = made()
    g.in_(e).compute_root().trace_stores()
    assert calls.of(lambda: f.realize([5, 4]))[0] == wanted(5, 4)
    told = capfd.readouterr()
    assert (told.out + told.err).count("Store g_in_e.0") == 6 * 6


def test_wrappers_of_what_a_calling_loop_reads(calls: Calls, capfd: pytest.CaptureFixture[str]) -> None:
    (_, e), g, f = stage(), hl.Func("read"), hl.Func("f")
    g[x, y] = x + y
    f[x, y] = e[x, y] + g[x, y]
    g.compute_root().trace_stores()
    g.in_(f).compute_at(f, y).trace_stores()
    e.compute_at(f, y)
    j, i = np.mgrid[0:4, 0:5]
    assert calls.of(lambda: f.realize([5, 4]))[:2] == ((corner(i, j) + i + j).tolist(), 4)
    told = capfd.readouterr()
    assert [(told.out + told.err).count(f"Store {name}.0") for name in ("read", "read_in_f")] == [20, 20]


def test_a_clone_is_an_extern_stage(calls: Calls) -> None:
    """It was 0 everywhere."""
    _, e = stage()
    e[x, y] += x
    f, h = consumer(e), hl.Func("h")
    h[x, y] = f[x, y] + e[x, y]
    f.compute_root()
    e.clone_in(f).compute_at(f, y)
    j, i = np.mgrid[0:5, 0:5]
    values = corner(i, j) + i
    found = (2 * values[:-1] + values[1:]).tolist()
    assert calls.of(lambda: h.realize([5, 4]))[:2] == (found, 5)


@pytest.mark.parametrize("place", ["none", "root", "level", "output"])
def test_updates_of_a_stage(calls: Calls, place: str) -> None:
    _, e = stage()
    e[x, y] += x
    e[0, y] = e[1, y] + r.x
    e.update().vectorize(x, 4)
    f = consumer(e)
    if place == "root":
        e.compute_root()
    elif place == "level":
        e.compute_at(f, y)
    j, i = np.mgrid[0:5, 0:5]
    values = corner(i, j) + i
    values[:, 0] = values[:, 1] + 5
    if place == "output":
        assert calls.of(lambda: e.realize([5, 5]))[:2] == (values.tolist(), 1)
    else:
        assert calls.of(lambda: f.realize([5, 4]))[:2] == (
            (values[:-1] + values[1:]).tolist(),
            4 if place == "level" else 1,
        )


def test_schedule_of_a_stage_with_updates(calls: Calls, capfd: pytest.CaptureFixture[str]) -> None:
    """Loops of the first stage are around calls, with what is passed computed in them."""
    g, e = stage()
    e[x, y] += g[x, y]
    f = consumer(e)
    e.compute_root().split(y, yo, yi, 2).memoize().reorder_storage(y, x)
    g.compute_root().in_(e).compute_at(e, yo).trace_stores()
    j, i = np.mgrid[0:5, 0:5]
    values = corner(i, j) + i * i + 3 * j
    assert calls.of(lambda: f.realize([5, 4]))[:2] == ((values[:-1] + values[1:]).tolist(), 3)
    assert calls.of(lambda: f.realize([5, 4]))[:2] == ((values[:-1] + values[1:]).tolist(), 0)


def test_updates_of_a_stage_of_two_values(calls: Calls) -> None:
    e, f = hl.Func("e"), hl.Func("f")
    e.define_extern("levels_two", [], [hl.Int(32), hl.Int(32)], [x, y])
    e[x, y] = (e[x, y][1], e[x, y][0])
    e.update().parallel(y)
    f[x, y] = e[x, y][0] * 100 + e[x, y][1]
    e.compute_at(f, y)
    j, i = np.mgrid[0:3, 0:4]
    assert calls.of(lambda: f.realize([4, 3]))[:2] == ((100 * (i - j) + i + 10 * j).tolist(), 3)


def test_a_stage_with_updates_is_passed_to_another(calls: Calls) -> None:
    found = []
    for at_level in (False, True):
        _, e = stage()
        second, f = hl.Func("e"), hl.Func("f")
        e[r.x, y] += 100 * r.x
        second.define_extern("levels_corner", [e], hl.Int(32), [x, y])
        second[x, y] -= e[x, y]
        f[x, y] = second[x, y]
        if at_level:
            e.compute_at(f, y)
            second.compute_at(f, y)
        found.append(calls.of(lambda f=f: f.realize([5, 4]))[:2])
    j, i = np.mgrid[0:5, 0:6]
    first = corner(i, j) + np.where(i < 6, 400 * i, 0)
    wanted = (corner_of(first) - first[:-1, :-1]).tolist()
    assert found == [(wanted, 2), (wanted, 8)]


def corner_of(of: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """The values of the C function for values that it is passed."""
    return of[:-1, :-1] + of[:-1, 1:] + of[1:, :-1]


def test_text_of_a_stage_with_updates() -> None:
    _, e = stage()
    e[x, y] += 1
    assert str(e).splitlines() == ["e[x, y]: extern stage levels_corner(g)", "e[x, y] = e[x, y] + 1"]


def test_updates_after_a_use_are_refused() -> None:
    e = made()[1]

    def update() -> None:
        e[x, y] += 1

    refused(hl.DefinitionError, update, '"e"', "used at", at="e[x, y] += 1")
