"""Conditions of definitions, which are in int32: bounds where ranges show that nothing wraps, and none elsewhere.

Each condition is met by hand, and the region is the least box around the iterations that meet all of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from tests.support.answered import cpu, region
from tests.support.sliding import certified

Conditions = Callable[[hl.RDom], list[hl.Expr]]
x, y = hl.Var("x"), hl.Var("y")


def reads(conditions: Conditions, extent: int = 100) -> tuple[hl.ImageParam, hl.Func]:
    """A sum of an input over the iterations that meet all conditions."""
    image, f, r = hl.ImageParam(hl.Int(32), 2, "image"), hl.Func("f"), hl.RDom([(0, extent), (0, extent)], "r")
    for condition in conditions(r):
        r.where(condition)
    f[x] = x
    f[x] += image[r.x, r.y]
    return image, f


CASES: dict[str, tuple[Conditions, tuple[tuple[int, int], tuple[int, int]]]] = {
    "a sum": (lambda r: [r.x + 30 < r.y], ((0, 68), (31, 99))),
    "a multiple": (lambda r: [2 * r.x + r.y <= 20], ((0, 10), (0, 20))),
    "two": (lambda r: [2 * r.x + 30 < r.y, r.y >= 100 - r.x], ((1, 34), (77, 99))),
    "a place, and a sum": (lambda r: [r.x == 10, r.y - 2 * r.x >= 5], ((10, 10), (25, 99))),
    "a quotient": (lambda r: [(r.x + r.y) // 2 <= 3], ((0, 7), (0, 7))),
}


@pytest.mark.parametrize(("conditions", "box"), CASES.values(), ids=CASES)
def test_an_input_is_as_large_as_what_conditions_leave(
    conditions: Conditions, box: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    image, f = reads(conditions)
    (left, right), (top, bottom) = box
    given = hl.Buffer(np.arange((right - left + 1) * (bottom - top + 1), dtype=np.int32).reshape(bottom - top + 1, -1))
    given.set_min([left, top])
    image.set(given)
    np.testing.assert_array_equal(np.asarray(f.realize([3])), f.evaluate([3]))
    certified(f)


def test_a_producer_is_computed_where_conditions_hold() -> None:
    g, f, r = hl.Func("g"), hl.Func("f"), hl.RDom([(0, 100), (0, 100)], "r")
    r.where(2 * r.x + 30 < r.y)
    r.where(r.y >= 100 - r.x)
    g[x, y] = x + y
    f[x, y] = x + y
    f[r.x, r.y] += 2 * g[r.x, r.y]
    g.compute_root()
    assert (cpu(f, "g", "x"), cpu(f, "g", "y")) == ("(1, 34)", "(77, 23)")


WRAPPING: dict[str, Conditions] = {
    "a product": lambda r: [r.x * 100000 + r.y <= 5],
    "on the way": lambda r: [(r.x * 100000 + r.y) // 100000 <= 5],
    "a Param": lambda r: [r.x + hl.Param(hl.Int(32), "p", 2**31 - 1) <= 5],
}


@pytest.mark.parametrize("condition", WRAPPING.values(), ids=WRAPPING)
def test_arithmetic_that_may_wrap_says_nothing(condition: Conditions) -> None:
    _, f = reads(condition, 50000)
    assert region(f, "image") == ("(0, 50000)", "(0, 50000)")


def test_what_wraps_is_read() -> None:
    """Where a sum wraps, a condition holds that numbers do not meet."""
    p, g, f, r = hl.Param(hl.Int(32), "p", 2**31 - 2), hl.Func("g"), hl.Func("f"), hl.RDom([(0, 4)], "r")
    r.where(r.x + p < 0)
    g[x] = x * 3
    f[x] = 0
    f[x] += g[r.x] + 1
    g.compute_root()
    np.testing.assert_array_equal(np.asarray(f.realize([2])), f.evaluate([2]))
    assert f.evaluate([1])[0] == 3 * (2 + 3) + 2
