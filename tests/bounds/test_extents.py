"""Ranges along paths whose lets are kept within an interval, and of remainders by what may be negative."""

from __future__ import annotations

import pytest

from bounds.extents import Extents
from bounds.query import Define, ForAll
from halide_core import ir
from halide_core.ir import Expr, Interval
from tests.bounds.paths import Drawn, p, x, y, z
from tests.lowering.integers import value


def ends(drawn: Drawn, e: Expr) -> tuple[int, int]:
    """The range of an expression, where it is constant."""
    top, inside = drawn.path()
    low, high = Extents().of(e, inside, top)
    assert low is not None and high is not None
    return value(low, {p: 100}), value(high, {p: 100})


@pytest.mark.parametrize(
    ("within", "wanted"), [((6, 5), (1, 2)), ((0, 20), (0, 4)), ((0, 9), (0, 2)), ((9, 11), (2, 4)), ((7, 1), (1, 1))]
)
def test_interval_of_a_let_narrows_the_loops_that_it_is_made_of(
    within: tuple[int, int], wanted: tuple[int, int]
) -> None:
    split = Define(z, ir.add(ir.mul(x, ir.i64(4)), y), Interval(ir.i64(within[0]), ir.i64(within[1])))
    loops = (ForAll(x, Interval(ir.ZERO, ir.i64(5))), ForAll(y, Interval(ir.ZERO, ir.i64(4))))
    assert ends(Drawn((*loops, split)), x) == wanted


@pytest.mark.parametrize(
    ("low", "length", "wanted"), [(-5, 4, 4), (2, 4, 4), (-3, 9, 4), (-6, 12, 5), (-1, 1, 0), (1, 1, 0), (-1, 3, 0)]
)
def test_remainder_is_below_the_size_of_the_modulus(low: int, length: int, wanted: int) -> None:
    modulus = ForAll(y, Interval(ir.i64(low), ir.i64(length)))
    assert ends(Drawn((modulus,)), ir.mod(p, y)) == (0, wanted)
