"""Hoistings that are refused: levels that are not around the memory, and loops whose iterations would share it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import halide_core as hl
from tests.support.blame import refused

x, y, xo, xi = (hl.Var(n) for n in "x y xo xi".split())


@pytest.fixture
def pair() -> tuple[hl.Func, hl.Func]:
    """g, and f that reads it."""
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x * y
    f[x, y] = g[x, y] + g[x, y + 1]
    return g, f


Pair = tuple[hl.Func, hl.Func]


def test_level_further_in_lists_the_legal_ones(pair: Pair) -> None:
    g, f = pair
    g.compute_at(f, y).hoist_storage(f, x)
    named = ("g.hoist_storage(f, x)", "g.hoist_storage_root()", "g.hoist_storage(f, y)")
    refused(hl.ScheduleError, lambda: f.realize([4, 4]), *named, at="hoist_storage(f, x)")


@pytest.mark.parametrize("kind", ["parallel", "vectorize", "unroll"])
def test_loop_whose_iterations_would_share_it(kind: str, pair: Pair) -> None:
    g, f = pair
    f.split(x, xo, xi, 4)
    getattr(f, kind)(xi)
    g.compute_at(f, xi).hoist_storage(f, xo)
    named = ("g.hoist_storage(f, xo)", "parallel, vectorized or unrolled")
    refused(hl.ScheduleError, lambda: f.realize([4, 4]), *named, at="hoist_storage(f, xo)")


def test_output_has_no_memory_to_hoist(pair: Pair) -> None:
    _, f = pair
    f.hoist_storage_root()
    with pytest.warns(hl.HalideWarning, match=r"f\.hoist_storage_root\(\).*output of the pipeline") as told:
        f.realize([4, 4])
    assert told[0].filename == __file__


def test_wrong_arguments(pair: Pair) -> None:
    g, f = pair
    bad: Any = "y"
    refused(hl.ScheduleError, lambda: g.hoist_storage(bad, y), "'y'", at="g.hoist_storage(bad, y)")
    refused(hl.ScheduleError, lambda: g.hoist_storage(f, bad), "'y'", at="g.hoist_storage(f, bad)")
    refused(hl.ScheduleError, lambda: f.hoist_storage(f, y), '"f"', at="f.hoist_storage(f, y)")


def test_inlined_func_has_no_memory(pair: Pair) -> None:
    g, f = pair
    g.hoist_storage_root()
    refused(
        hl.ScheduleError,
        lambda: f.realize([4, 4]),
        "g.hoist_storage_root()",
        "g.compute_root()",
        at="g.hoist_storage_root()",
    )


@pytest.mark.parametrize(
    "schedule",
    [
        lambda g, f: g.compute_root(),
        lambda g, f: g.compute_root().async_().hoist_storage_root(),
        lambda g, f: g.compute_at(f, y).async_(),
        lambda g, f: g.compute_at(f, y).async_().hoist_storage(f, y),
        lambda g, f: g.compute_at(f, y).store_root().hoist_storage_root(),
        lambda g, f: g.compute_at(f, x).store_at(f, y).hoist_storage(f, y),
    ],
)
def test_ring_of_memory_that_is_not_hoisted(schedule: Callable[[hl.Func, hl.Func], object], pair: Pair) -> None:
    g, f = pair
    schedule(g, f)
    g.ring_buffer(2)
    named = ("g.ring_buffer(2)", '"g" is not hoisted out of any loop', "hoist_storage_root()")
    refused(hl.ScheduleError, lambda: f.realize([4, 4]), *named, at="g.ring_buffer(2)")
