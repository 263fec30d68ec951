"""A serial loop orders the iterations of a step and those of the next: loops further in may run at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core.errors import DependenceError
from tests.support.checking import same, variables

x, y, t, xo, xi = variables("x y t xo xi")


def heat() -> tuple[hl.Func, hl.RDom]:
    """Step ``t`` of a row is made of step ``t - 1``."""
    f, r = hl.Func("f"), hl.RDom([(1, 10), (1, 5)], "r")
    f[x, t] = x * x
    f[r.x, r.y] = f[r.x - 1, r.y - 1] + f[r.x + 1, r.y - 1] - f[r.x, r.y - 1]
    return f, r


Update = Callable[[hl.Stage, hl.RDom], object]

LEGAL: dict[str, Update] = {
    "threads": lambda s, r: s.parallel(r.x),
    "lanes": lambda s, r: s.vectorize(r.x, 4),
    "both": lambda s, r: s.split(r.x, hl.RVar("ro"), hl.RVar("ri"), 4).parallel(hl.RVar("ro")).vectorize(hl.RVar("ri")),
    "steps in twos": lambda s, r: s.split(r.y, hl.RVar("to"), hl.RVar("ti"), 2).parallel(r.x),
}


@pytest.mark.parametrize("name", LEGAL)
def test_steps_one_after_another_with_points_at_once(name: str) -> None:
    f, r = heat()
    LEGAL[name](f.update(), r)
    same(f.realize([12, 6]), np.asarray(f.evaluate([12, 6])))
    assert f.certify().ok


def test_points_of_two_dimensions_at_once() -> None:
    f, r = hl.Func("f"), hl.RDom([(1, 6), (1, 5), (1, 4)], "r")
    f[x, y, t] = x + y * y
    f[r.x, r.y, r.z] = f[r.x - 1, r.y, r.z - 1] + f[r.x, r.y + 1, r.z - 1]
    f.update().parallel(r.y).vectorize(r.x, 3, hl.TailStrategy.GuardWithIf)
    same(f.realize([8, 7, 5]), np.asarray(f.evaluate([8, 7, 5])))
    assert f.certify().ok


def refused(update: Update, told: str) -> None:
    f, r = heat()
    with pytest.raises(DependenceError, match=told):
        update(f.update(), r)


def test_steps_at_once_are_refused() -> None:
    refused(lambda s, r: s.parallel(r.y), '"r.y" is a reduction loop .* innermost first: r.x')


def test_step_inside_of_its_points_is_refused() -> None:
    refused(lambda s, r: s.parallel(r.x).reorder(r.y, r.x), "would change the order")


def test_loop_that_leaves_what_kept_it_apart_is_refused() -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 6), (0, 5)], "r")
    f[x] = 0
    f[r.x + r.y] += 1
    f.update().parallel(r.x)
    with pytest.raises(DependenceError, match=r'iterations of the parallel loop "r\.x" may meet'):
        f.update().reorder(r.y, r.x)
    same(f.realize([10]), np.asarray(f.evaluate([10])))
    assert f.certify().ok


def test_step_that_reads_itself_is_refused() -> None:
    f, r = hl.Func("f"), hl.RDom([(1, 10), (1, 5)], "r")
    f[x, t] = x
    f[r.x, r.y] = f[r.x - 1, r.y] + f[r.x + 1, r.y - 1]
    with pytest.raises(DependenceError, match="may meet in one point"):
        f.update().vectorize(r.x, 4)
