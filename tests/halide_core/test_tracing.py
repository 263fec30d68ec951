"""Tracing: which lines loads, stores and realizations show, in which order; values stay as they are."""

from __future__ import annotations

import random

import numpy as np
import pytest

import halide_core as hl
from tests.support.interpreted import run_passes
from tests.support.raising import raised

x, y = hl.Var("x"), hl.Var("y")
Lines = list[str]


def chain() -> tuple[hl.Func, hl.Func]:
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = x * 3
    g[x, y] = f[x] + f[x + 1] + y
    return f, g


def shown(f: hl.Func, sizes: list[int], capfd: pytest.CaptureFixture[str]) -> Lines:
    """The lines of a run, whose values are checked, between those of the pipeline."""
    capfd.readouterr()
    found = np.asarray(f.realize(sizes))
    assert np.array_equal(found, f.evaluate(sizes))
    first, *lines, last = capfd.readouterr().out.splitlines()
    assert (first, last) == (f"Begin pipeline {f.name()}.0()", f"End pipeline {f.name()}.0()")
    return lines


def test_stores_are_shown_in_the_order_of_the_loops(capfd: pytest.CaptureFixture[str]) -> None:
    f, g = chain()
    f.compute_root().trace_stores()
    g.reorder(y, x).trace_stores()
    lines = shown(g, [2, 2], capfd)
    assert lines[:3] == ["Store f.0(0) = 0", "Store f.0(1) = 3", "Store f.0(2) = 6"]
    assert lines[3:] == ["Store g.0(0, 0) = 3", "Store g.0(0, 1) = 4", "Store g.0(1, 0) = 9", "Store g.0(1, 1) = 10"]


def test_loads_are_shown_before_the_store(capfd: pytest.CaptureFixture[str]) -> None:
    f, g = chain()
    f.compute_root().trace_loads()
    g.trace_stores().vectorize(x, 2)
    lines = shown(g, [2, 1], capfd)
    points = [
        ["Load f.0(0) = 0", "Load f.0(1) = 3", "Store g.0(0, 0) = 3"],
        ["Load f.0(1) = 3", "Load f.0(2) = 6", "Store g.0(1, 0) = 9"],
    ]
    assert sorted(lines) == sorted(line for point in points for line in point)
    for *loads, store in points:
        assert set(loads) <= set(lines[: lines.index(store)])


def test_loads_of_inputs_in_coordinates_are_shown(capfd: pytest.CaptureFixture[str]) -> None:
    image, f, r = hl.ImageParam(hl.UInt(8), 1, "image"), hl.Func("f"), hl.RDom([(0, 3)])
    image.trace_loads()
    image.set(np.array([2, 0, 2], np.uint8))
    f[x] = hl.cast(hl.Float(16), 0)
    f[hl.clamp(hl.i32(image[r]), 0, 2)] += hl.cast(hl.Float(16), 1)
    f.trace_stores()
    lines = shown(f, [3], capfd)
    first = [f"Store f.0({i}) = 0.000000" for i in range(3)]
    rest = [("0", "2", "1.000000"), ("1", "0", "1.000000"), ("2", "2", "2.000000")]
    assert lines == first + [t for i, at, v in rest for t in (f"Load image.0({i}) = {at}", f"Store f.0({at}) = {v}")]


def test_tuples_show_each_component(capfd: pytest.CaptureFixture[str]) -> None:
    f = hl.Func("f")
    f[x] = (x, hl.f32(x) / 2)
    f.trace_stores()
    f.realize([2])
    _, *lines, _ = capfd.readouterr().out.splitlines()
    assert lines == ["Store f.0(0) = 0", "Store f.1(0) = 0.000000", "Store f.0(1) = 1", "Store f.1(1) = 0.500000"]


def test_what_a_first_definition_leaves_undefined_is_not_stored(capfd: pytest.CaptureFixture[str]) -> None:
    """A Func that is no output starts with zeros, which the algorithm does not store."""
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = (hl.undef(hl.Int(32)), hl.undef(hl.Int(32)))
    f[x] = (x * 2, f[x][1])
    g[x] = f[x][0] + f[x][1]
    f.compute_root().trace_stores()
    assert shown(g, [2], capfd) == [f"Store f.{k}({i}) = {v}" for i in (0, 1) for k, v in ((0, 2 * i), (1, 0))]


def test_a_chain_of_stencils_in_updates_stores_a_trapezoid(capfd: pytest.CaptureFixture[str]) -> None:
    """Each update has bounds of its own for the pure variables."""
    f, g, h, steps, size = hl.Func("f"), hl.Func("g"), hl.Func("h"), 3, 5
    f[x] = x * 3
    g[x, y] = hl.undef(hl.Int(32))
    g[x, x] = f[x]
    for _ in range(steps):
        g[x, x + 1] = g[x, x]
        g[x, x - 1] = g[x, x]
        g[y, y] = g[y, y] + g[y - 1, y] * 2 + g[y + 1, y]
    h[x] = g[x, x]
    g.compute_root().trace_stores()
    lines = shown(h, [size], capfd)
    widths = [size + 2 * k for k in range(steps)]
    assert len(lines) == size + 2 * steps + sum(2 * (n + 2) + n for n in widths)


def test_realizations_are_shown_each_time(capfd: pytest.CaptureFixture[str]) -> None:
    f, g = chain()
    f.compute_at(g, y).trace_realizations().add_trace_tag("by rows")
    g.trace_realizations()
    steps = ("Begin realization", "Produce", "End produce", "Consume", "End consume", "End realization")
    row = [f"{step} f.0(0, 3)" for step in steps]
    around = ['Tag f.0() tag = "by rows"', "Begin realization g.0(0, 2, 0, 2)", "Produce g.0(0, 2, 0, 2)"]
    expected = [*around, *row, *row]
    assert shown(g, [2, 2], capfd) == [*expected, "End produce g.0(0, 2, 0, 2)", "End realization g.0(0, 2, 0, 2)"]


def test_every_pass_keeps_the_answer_when_all_is_traced() -> None:
    f, g = chain()
    f.compute_at(g, y).trace_realizations().trace_loads().trace_stores().add_trace_tag("t")
    g.vectorize(x, 4).parallel(y).trace_realizations().trace_stores()
    window = [(0, 5), (0, 3)]
    for name, outcome in run_passes(g, window, rng=random.Random(1)).items():
        assert np.array_equal(outcome.result(0, window), g.evaluate([5, 3])), name
    assert g.certify().ok


def test_tracing_what_has_no_loops_has_no_effect() -> None:
    f, g = chain()
    f.trace_stores()
    with pytest.warns(hl.HalideWarning, match=r"f\.trace_stores\(\).*no loops of its own"):
        g.realize([2, 2])


def test_loops_of_a_traced_reduction_are_reordered(capfd: pytest.CaptureFixture[str]) -> None:
    for traced in (False, True):
        f, r = hl.Func("f"), hl.RDom([(0, 3), (0, 2)])
        f[x] = 0
        f[x] += r.x + 10 * r.y
        f.update().reorder(r.y, r.x)
        if traced:
            f.trace_stores().trace_loads()
        assert np.asarray(f.realize([2])).tolist() == [36, 36]
    lines = [line for line in capfd.readouterr().out.splitlines() if line.startswith("Store f.0(1)")]
    assert lines == [f"Store f.0(1) = {n}" for n in (0, 0, 10, 11, 22, 24, 36)]


def test_realizations_inside_lanes_are_refused() -> None:
    f, g = chain()
    outer = hl.Var("outer")
    f.compute_at(g, x).trace_realizations()
    g.split(x, outer, x, 4).vectorize(x)
    with pytest.raises(hl.ScheduleError, match=r"f\.trace_realizations\(\).*vectorized loop"):
        g.realize([4, 1])
    raised(hl.ScheduleError, lambda: f.add_trace_tag(3), "add_trace_tag()", "3")  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize("sliding", [False, True])
def test_an_event_is_shown_by_one_of_two_threads(capfd: pytest.CaptureFixture[str], *, sliding: bool) -> None:
    """The end of a pipeline was shown by both, and a third time, which left the program with an event that was gone."""
    shows = []
    for asynchronous in (False, True):
        f, g, h = hl.Func("f"), hl.Func("g"), hl.Func("h")
        h[x, y] = x - y
        f[x, y] = x + h[x, y]
        g[x, y] = f[x, y] + f[x, y + 1]
        h.compute_at(f, y)
        if sliding:
            f.store_root().compute_at(g, y)
        else:
            f.compute_root()
        if asynchronous:
            f.async_()
        for each in (f, g, h):
            each.trace_realizations().trace_loads().trace_stores()
        shows.append(sorted(shown(g, [2, 3], capfd)))
    assert shows[0] == shows[1] and len(shows[0]) > 40
