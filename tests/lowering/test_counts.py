"""Listed schedules: how often each Func's points are computed, and how much memory holds them, derived by hand.

The window has W columns and H rows. A derivation stands beside each schedule. BEYOND marks where a program computes or
keeps more than a walk that computes each row once would, and says why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

import halide_core as hl
from tests.support.counting import counted
from tests.support.sliding import H, W, blur, certified, chain, source, window, x, xi, xo, y, yi, yo

GUARD, SHIFT, ROUND = hl.TailStrategy.GuardWithIf, hl.TailStrategy.ShiftInwards, hl.TailStrategy.RoundUp
assert (W, H) == (7, 9), "derivations count tiles of 4 and 3"


@dataclass(frozen=True)
class Derived:
    """``computed``: for each Func how many points each of its stages computes. ``memory``: how many points it holds at
    most. ``height``: of the window. ``again``: the Funcs of which some point is computed more than once."""

    output: hl.Func
    computed: dict[hl.Func, tuple[int, ...]]
    memory: dict[hl.Func, int]
    height: int = H
    again: tuple[hl.Func, ...] = ()


LISTED: list[Callable[[], Derived]] = []


def listed(schedule: Callable[[], Derived]) -> Callable[[], Derived]:
    """Lists a schedule."""
    LISTED.append(schedule)
    return schedule


def around() -> tuple[hl.Func, hl.Func]:
    """A producer, and a consumer of 3 by 3 of its points."""
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = sum((g[x + i, y + j] for i in (-1, 0, 1) for j in (-1, 0, 1)), start=hl.Expr(0))
    return g, f


def beside() -> tuple[hl.Func, hl.Func]:
    """A producer, and a consumer of points one column before and two after."""
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x - 1, y] + g[x + 2, y]
    return g, f


# -- Without a slide, to compare with.


@listed
def all_before() -> Derived:
    g, f = blur()
    g.compute_root()
    # A row above and one below the window; all are kept.
    return Derived(f, {g: (W * (H + 2),)}, {g: W * (H + 2)})


@listed
def each_row_anew() -> Derived:
    g, f = blur()
    g.compute_at(f, y)
    # Three rows for each of H, and memory for three.
    return Derived(f, {g: (W * H * 3,)}, {g: W * 3}, again=(g,))


# -- One dimension.


@listed
def rows() -> Derived:
    g, f = blur()
    g.store_root().compute_at(f, y)
    # Three for the first row, then one new row for each.
    return Derived(f, {g: (W * (3 + H - 1),)}, {g: W * 3})


@listed
def columns() -> Derived:
    g, f = beside()
    g.store_at(f, y).compute_at(f, x)
    # In each row, columns -1 to +2 of the first point, then one new column for each.
    return Derived(f, {g: ((4 + W - 1) * H,)}, {g: 4})


@listed
def rows_backwards() -> Derived:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x, 2 - y] + g[x, 4 - y]
    g.store_root().compute_at(f, y)
    # Rows 2 - y to 4 - y, which move down by one.
    return Derived(f, {g: (W * (3 + H - 1),)}, {g: W * 3})


@listed
def every_second_row() -> Derived:
    s, g, f = source(40, 60), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x, 2 * y - 1] + g[x, 2 * y + 2]
    g.store_root().compute_at(f, y)
    # Four rows for the first, then two new ones for each.
    return Derived(f, {g: (W * (4 + 2 * (H - 1)),)}, {g: W * 4})


@listed
def a_new_row_every_other_time() -> Derived:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x, y // 2] + g[x, y // 2 + 1]
    g.store_root().compute_at(f, y)
    # The window starts at -2: y // 2 goes from -1 to 3, so rows -1 to 4 are needed.
    return Derived(f, {g: (W * 6,)}, {g: W * 2})


@listed
def rows_apart() -> Derived:
    s, g, f = source(40, 60), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x, 3 * y] + g[x, 3 * y + 1]
    g.store_root().compute_at(f, y)
    # Two of three rows, none of them twice; nothing is kept, so two places do.
    return Derived(f, {g: (W * 2 * H,)}, {g: W * 2})


# -- Two dimensions.


@listed
def points_of_a_square() -> Derived:
    g, f = around()
    g.store_root().compute_at(f, x)
    # A new point is one that is new in both dimensions. BEYOND: rows are kept whole, three of them, where two rows
    # and three points would do: folds are of rows.
    return Derived(f, {g: ((W + 2) * (H + 2),)}, {g: (W + 2) * 3})


@listed
def columns_of_a_square() -> Derived:
    g, f = around()
    g.store_at(f, y).compute_at(f, x)
    # Memory of a row's own: in each row columns of three points, W + 2 of them; three columns fold by four.
    return Derived(f, {g: ((W + 2) * 3 * H,)}, {g: 4 * 3}, again=(g,))


@listed
def a_ragged_window() -> Derived:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    g[x, y] = s[x, y] * 3
    f[x, y] = g[x - 1, y] + g[x + 1, y - 1] + g[x, y + 2]
    g.store_root().compute_at(f, x)
    # As if the window were the box around it: columns -1 to 1, rows -1 to 2.
    return Derived(f, {g: ((W + 2) * (H + 3),)}, {g: (W + 2) * 4})


@listed
def rows_from_an_inner_loop() -> Derived:
    g, f = blur()
    g.store_root().compute_at(f, x)
    # Three points of a column for each point, of which one is new after the first row.
    return Derived(f, {g: (W * (H + 2),)}, {g: W * 3})


# -- Chains.


@listed
def a_chain_of_rows() -> Derived:
    a, b, c = chain()
    for each in (a, b):
        each.store_root().compute_at(c, y)
    # c reads b from y - 1 to y + 2, b reads a from y - 1 to y + 1: b has 3 rows beyond the window, a 5. BEYOND: a holds
    # 6 rows, where 3 would do from the second step on: the first step computes all that b's first 4 rows need.
    return Derived(c, {b: (W * (H + 3),), a: (W * (H + 5),)}, {b: W * 4, a: W * 6})


@listed
def a_chain_of_columns() -> Derived:
    s, a, b, c = source(), *(hl.Func(n) for n in "abc")
    a[x, y] = s[x, y] * 2
    b[x, y] = a[x - 1, y] + a[x + 1, y]
    c[x, y] = b[x - 1, y] + b[x, y] + b[x + 2, y]
    for each in (a, b):
        each.store_at(c, y).compute_at(c, x)
    # As above, in each row. BEYOND: a holds 6 columns, its warm-up, where 3 would do; they fold by 8.
    return Derived(c, {b: ((W + 3) * H,), a: ((W + 5) * H,)}, {b: 4, a: 8})


@listed
def a_chain_that_is_computed_in_the_loops_of_each_other() -> Derived:
    a, b, c = chain()
    b.store_root().compute_at(c, y)
    a.store_root().compute_at(b, y)
    # b's loop over rows runs over 4 rows in the first step and 1 in each other one, and each time a slides along it
    # from the start: 3 rows for its first, 1 for each other. BEYOND: what a kept from the step before is not used.
    return Derived(c, {b: (W * (H + 3),), a: (W * ((3 + 3) + 3 * (H - 1)),)}, {b: W * 4, a: W * 3}, again=(a,))


@listed
def a_diamond() -> Derived:
    s, a, b, c, d = source(), *(hl.Func(n) for n in "abcd")
    a[x, y] = s[x, y] * 2
    b[x, y] = a[x, y - 1] + a[x, y + 1]
    c[x, y] = a[x, y] + a[x, y + 2]
    d[x, y] = b[x, y] + c[x, y]
    for each in (a, b, c):
        each.store_root().compute_at(d, y)
    # b and c are needed at one row each, and keep nothing; a from y - 1 to y + 2.
    return Derived(d, {b: (W * H,), c: (W * H,), a: (W * (H + 3),)}, {b: W, c: W, a: W * 4})


@listed
def two_consumers_of_one() -> Derived:
    a, b, c = chain()
    d = hl.Func("d")
    d[x, y] = c[x, y] + b[x, y - 1]
    for each in (a, b, c):
        each.store_root().compute_at(d, y)
    # c one row, b rows y - 1 to y + 2 for both, and a two more. BEYOND: a's warm-up, as in the chain.
    return Derived(d, {c: (W * H,), b: (W * (H + 3),), a: (W * (H + 5),)}, {c: W, b: W * 4, a: W * 6})


# -- Tails.


@listed
def guarded_tiles_of_rows() -> Derived:
    g, f = blur()
    f.split(y, yo, yi, 4, GUARD)
    g.store_root().compute_at(f, yo)
    # Tiles of 4, 4 and 1 rows: 6 rows of g for the first, then 4 and 1.
    return Derived(f, {g: (W * (6 + 4 + 1),)}, {g: W * 6})


@listed
def shifted_tiles_of_rows() -> Derived:
    g, f = blur()
    f.split(y, yo, yi, 4, SHIFT)
    g.store_root().compute_at(f, yo)
    # Tiles at rows 0, 4 and 5: the last needs one new row.
    return Derived(f, {g: (W * (6 + 4 + 1),)}, {g: W * 6})


@listed
def rounded_tiles_of_rows() -> Derived:
    g, f = blur()
    f.split(y, yo, yi, 4, ROUND)
    g.store_root().compute_at(f, yo)
    # 8 rows are 2 tiles.
    return Derived(f, {g: (W * (6 + 4),)}, {g: W * 6}, height=8)


@listed
def rows_of_guarded_tiles() -> Derived:
    g, f = blur()
    f.split(y, yo, yi, 4, GUARD)
    g.store_at(f, yo).compute_at(f, yi)
    # Memory of a tile's own: 3 rows for its first, 1 for each other; tiles of 4, 4 and 1.
    return Derived(f, {g: (W * (6 + 6 + 3),)}, {g: W * 3}, again=(g,))


@listed
def rows_of_guarded_tiles_with_memory_outside() -> Derived:
    g, f = blur()
    f.split(y, yo, yi, 4, GUARD)
    g.store_root().compute_at(f, yi)
    # BEYOND: both loops move the window, and it slides along the inner one, so that each tile starts anew: 15 rows,
    # where 11 would do.
    return Derived(f, {g: (W * (6 + 6 + 3),)}, {g: W * 3}, again=(g,))


@listed
def rows_of_square_tiles() -> Derived:
    g, f = blur()
    f.tile(x, y, xo, yo, xi, yi, 4, 4, GUARD)
    g.store_at(f, xo).compute_at(f, yi)
    # Tiles of 4 and 3 columns together have W; in each the rows of a tile, as above. Memory is for 4 columns.
    return Derived(f, {g: (W * (6 + 6 + 3),)}, {g: 4 * 3}, again=(g,))


@listed
def strips_in_parallel() -> Derived:
    g, f = blur()
    f.split(y, yo, yi, 3).parallel(yo)
    g.store_at(f, yo).compute_at(f, yi)
    # Three strips of 3 rows, each with 2 rows of its neighbours.
    return Derived(f, {g: (W * 3 * 5,)}, {g: W * 3}, again=(g,))


@listed
def vectors_of_columns() -> Derived:
    g, f = blur()
    f.vectorize(x, 4)
    g.store_root().compute_at(f, y).vectorize(x, 4)
    # Vectors at columns 0 and 3 of 7 write 8 points of each row, column 3 twice; the rows are each new once.
    return Derived(f, {g: (8 * (H + 2),)}, {g: W * 3}, again=(g,))


@listed
def unrolled_rows() -> Derived:
    g, f = blur()
    f.split(y, yo, yi, 3).unroll(yi)
    g.store_at(f, yo).compute_at(f, yi)
    # As strips.
    return Derived(f, {g: (W * 3 * 5,)}, {g: W * 3}, again=(g,))


# -- Reductions.


@listed
def rows_of_sums() -> Derived:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    r = hl.RDom([(-2, 5)], "r")
    g[x, y] = 0
    g[x, y] += s[x + r.x, y]
    f[x, y] = g[x, y - 1] + g[x, y + 1]
    g.store_root().compute_at(f, y)
    # Each row is set to 0 once, and added to five times at each point.
    return Derived(f, {g: (W * (H + 2), 5 * W * (H + 2))}, {g: W * 3})


@listed
def rows_for_the_sums_of_a_consumer() -> Derived:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    r = hl.RDom([(0, 3)], "r")
    g[x, y] = s[x, y] * 3
    f[x, y] = 0
    f[x, y] += g[x, y + r.x]
    g.store_root().compute_at(f, y)
    # Only the update reads g, rows y to y + 2.
    return Derived(f, {g: (W * (H + 2),)}, {g: W * 3})


@listed
def points_along_a_reduction() -> Derived:
    s, g, f = source(), hl.Func("g"), hl.Func("f")
    r = hl.RDom([(0, 6)], "r")
    g[x] = s[x, 0] * 3
    f[x] = 0
    f[x] += g[x + r.x] * g[x + r.x + 2]
    g.store_root().compute_at(f, r.x)
    # Three points that move by one in six steps, for each of the W columns anew. BEYOND: a walk along both loops would
    # compute 1 new point for each column after the first; windows slide along the loop that moves them innermost.
    return Derived(f, {g: (W * (3 + 5),)}, {g: 4}, again=(g,))  # three fold by four


@pytest.mark.parametrize("schedule", LISTED, ids=lambda s: s.__name__)
def test_each_point_is_computed_as_often_as_derived(schedule: Callable[[], Derived]) -> None:
    derived = schedule()
    count = counted(derived.output, window(derived.output, W, derived.height))
    stages = {f: tuple(count.total(f, s) for s in range(1 + f.num_update_definitions())) for f in derived.computed}
    assert stages == derived.computed
    assert tuple(f for f in derived.computed if not count.once(f)) == derived.again
    assert {f: count.largest[f.name()] for f in derived.memory} == derived.memory
    certified(derived.output)


def test_there_are_enough_schedules() -> None:
    assert len(LISTED) >= 25
