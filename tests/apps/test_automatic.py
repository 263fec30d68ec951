"""Automatic schedules of the applications and of drawn pipelines: never refused, the same loops from their source."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from benchmarks.apps import APPS
from benchmarks.apps.app import Built
from benchmarks.unseen.case import FAMILIES, Case, Name, make
from tests.support.pasting import paste, set_inputs

HOST = "x86-64-linux-avx-avx2-fma-f16c-sse41"
LONG = {"local_laplacian", "interpolate", "camera_pipe", "stencil_chain", "bilateral_grid"}
"""Their bounds or their C take seconds: the benchmarks compile them."""


def scheduled(name: str, size: str, by: str = "") -> Built:
    app = APPS[name]
    built = app.build(hl, app.sizes[size])
    extents = app.shape(app.sizes[size])
    built.output.set_estimates([(0, extent) for extent in extents])
    set_inputs(built.arguments, app.inputs(app.sizes[size]))
    built.output.apply_autoscheduler(HOST, hl.AutoschedulerParams(by, {"parallelism": "2"}))
    return built


@pytest.mark.parametrize("by", ["Heuristic", "Model"])
@pytest.mark.parametrize("name", APPS)
def test_app_has_a_schedule_that_its_source_gives_again(name: str, by: str) -> None:
    built = scheduled(name, "small", by)
    app, schedule = APPS[name], hl.Schedule(built.output)
    again, applied = (app.build(hl, app.sizes["small"]) for _ in range(2))
    paste(schedule, again.output)
    schedule.apply(applied.output)
    assert len(schedule) > 2
    assert hl.Schedule(again.output).directives() == hl.Schedule(applied.output).directives() == schedule.directives()
    if name not in LONG:
        assert again.output.loop_nest() == applied.output.loop_nest() == built.output.loop_nest()


@pytest.mark.parametrize("by", ["Heuristic", "Model"])
@pytest.mark.parametrize("name", [name for name in APPS if name not in LONG])
def test_app_computes_what_numpy_does(name: str, by: str) -> None:
    app = APPS[name]
    size = app.sizes["small"]
    built, inputs, out = scheduled(name, "small", by), app.inputs(size), app.empty_output(size)
    built.output.compile_to_callable(list(built.arguments))(
        *(hl.Buffer(a) if isinstance(a, np.ndarray) else a for a in (*inputs, out))
    )
    assert app.tolerance.difference(out, app.reference(inputs, size)) == ""


def drawn(number: int) -> Case:
    case = make(hl, Name(11, number, 2, "none"))
    set_inputs(case.arguments, case.inputs)
    return case


@pytest.mark.parametrize("by", ["Heuristic", "Model"])
@pytest.mark.parametrize("number", range(0, len(FAMILIES), 3), ids=list(FAMILIES)[::3])
def test_drawn_pipeline_has_the_same_loops_from_its_source(number: int, by: str) -> None:
    case, again = drawn(number), drawn(number)
    case.output.set_estimates([(0, extent) for extent in case.shape])
    case.output.apply_autoscheduler(HOST, hl.AutoschedulerParams(by))
    paste(hl.Schedule(case.output), again.output)
    assert again.output.loop_nest() == case.output.loop_nest()


@pytest.mark.parametrize("schedule", ["auto", "model"])
@pytest.mark.parametrize("number", [2, 34])
def test_drawn_pipeline_computes_what_the_plain_one_does(number: int, schedule: str) -> None:
    case, plain = drawn(number), drawn(number)
    found = case.output.realize(list(case.shape), schedule=schedule)
    assert np.array_equal(found, plain.output.realize(list(case.shape)), equal_nan=np.asarray(found).dtype.kind == "f")


@pytest.mark.parametrize("number", [0, 13, 26])
def test_schedule_that_was_searched_for_large_sizes_is_right_for_small_ones(number: int) -> None:
    case = drawn(number)
    case.output.set_estimates([(0, extent) for extent in case.shape])
    case.output.apply_autoscheduler(None, hl.AutoschedulerParams("Model"))
    whole = np.asarray(case.output.realize(list(case.shape)))
    for size in ((1, 1), (7, 5), (33, 70)):
        extents = [min(pair) for pair in zip((*size, *case.shape[2:]), case.shape, strict=True)]
        part = tuple(slice(0, extent) for extent in extents[::-1])
        assert np.array_equal(case.output.realize(extents), whole[part], equal_nan=whole.dtype.kind == "f")
