"""The conditions that claims are made of, at their edges: a claim that is too weak is proven all the same."""

from __future__ import annotations

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.ir import ExprNode, Interval
from halide_core.ir.boxes import contains, differs, fields, inside, within_limit
from halide_core.ir.logic import within
from halide_core.reference.concrete import evaluate

MOST = 1 << 30


@pytest.mark.parametrize(
    ("start", "extent", "allowed"),
    [
        (-MOST, 0, True),
        (-MOST - 1, 1, False),
        (MOST, 1, True),
        (MOST, 2, False),
        (-MOST, 2 * MOST + 1, True),
        (-MOST, 2 * MOST + 2, False),
    ],
)
@pytest.mark.parametrize("d", [0, 1])
def test_window_ends_within_the_limit(start: int, extent: int, allowed: bool, d: int) -> None:
    x, y = hl.Var("x"), hl.Var("y")
    f = hl.Func("f")
    f[x, y] = x + y
    leaves: dict[ExprNode, int | float] = {}
    for i, (low, length) in enumerate(fields(f.function)):
        leaves[low], leaves[length] = (start, extent) if i == d else (0, 1)
    assert evaluate(within_limit(f.function), leaves) == allowed


def box(*intervals: tuple[int, int]) -> tuple[Interval, ...]:
    """(min, length) of each dimension."""
    return tuple(Interval(ir.i64(low), ir.i64(length)) for low, length in intervals)


def point(*at: int) -> tuple[ExprNode, ...]:
    """A point."""
    return tuple(map(ir.i64, at))


@pytest.mark.parametrize(("at", "is_in"), [(1, False), (2, True), (4, True), (5, False)])
def test_interval_has_its_first_point_and_not_the_one_after_its_last(at: int, is_in: bool) -> None:
    (over,) = box((2, 3))
    assert evaluate(within(ir.i64(at), over), {}) == is_in
    assert evaluate(inside(point(0, at), box((0, 1), (2, 3))), {}) == is_in
    assert evaluate(inside(point(at, 0), box((2, 3), (0, 1))), {}) == is_in


@pytest.mark.parametrize(
    ("other", "does"),
    [
        (((0, 4), (0, 4)), True),
        (((0, 5), (0, 4)), False),
        (((-1, 4), (0, 4)), False),
        (((0, 4), (1, 4)), False),
        (((3, 1), (3, 1)), True),
        (((9, 0), (9, 4)), True),
        (((9, 4), (9, 0)), True),
    ],
)
def test_box_contains_what_lies_inside_and_what_is_empty(other: tuple[tuple[int, int], ...], does: bool) -> None:
    assert evaluate(contains(box((0, 4), (0, 4)), box(*other)), {}) == does


@pytest.mark.parametrize(("a", "b", "do"), [((1, 2), (1, 2), False), ((1, 2), (1, 3), True), ((0, 2), (1, 2), True)])
def test_points_differ_where_one_coordinate_does(a: tuple[int, int], b: tuple[int, int], do: bool) -> None:
    assert evaluate(differs(point(*a), point(*b)), {}) == do


def test_what_is_printed_is_its_value() -> None:
    x, n = ir.index_variable("x"), ir.index_variable("n")
    shown = ir.Print(x.type, x, ir.less(ir.ZERO, n), ("n is ", ir.i64(3)))
    assert evaluate(shown, {x: 7, n: 1}) == 7
    assert evaluate(shown, {x: 7, n: 0}) == 7
