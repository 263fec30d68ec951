"""Programs whose schedule changed the answer elsewhere, by their numbers in Halide's tracker: right here, or refused.

``make peer-test`` runs several of them with Halide too, and shows what it answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

import halide_core as hl
from tests.support.counting import counted
from tests.support.sliding import certified, source, window, x, xi, xo, y, yi, yo

Tail = hl.TailStrategy


def right_or_refused(f: hl.Func, size: Sequence[int], schedule: Callable[[], object], told: str) -> bool:
    """True where a schedule is accepted; then every answer is the definition's, and otherwise the error names the
    call."""
    try:
        schedule()
        counted(f, window(f, *size))
    except hl.HalideError as error:
        refusal: str | None = error.message
    else:
        refusal = None
        certified(f)
    assert refusal is None or told in refusal
    return refusal is None


def sums() -> tuple[hl.Func, hl.Func, hl.Func, hl.RDom]:
    """A Func, its sums over 3 by 3 points, and their means."""
    a, b, c = hl.Func("a"), hl.Func("b"), hl.Func("c")
    r = hl.RDom([(-1, 3), (-1, 3)], "r")
    a[x, y] = 2 * x + 5 * y
    b[x, y] = 0
    b[x, y] += a[x + r.x, y + r.y]
    c[x, y] = b[x, y] // 9
    return a, b, c, r


def test_loops_of_one_step_around_two_slides() -> None:
    """#8140: no loop starts earlier than it did, so nothing is read that no iteration wrote."""
    a, b, c = hl.Func("a"), hl.Func("b"), hl.Func("c")
    a[x, y] = hl.BoundaryConditions.repeat_edge(source())[x, y]
    b[x, y] = (a[x + 1, y + 1] + a[x - 1, y - 1]) * 2
    c[x, y] = a[x + 1, y + 1] + a[x - 1, y - 1] + b[x + 1, y + 1] + b[x - 1, y - 1]
    c.split(y, yo, yi, 1, hl.TailStrategy.RoundUp)
    a.store_at(c, yo).compute_at(c, x)
    b.store_root().compute_at(c, x)
    for size in (1, 5):
        counted(c, window(c, size, size))
    certified(c)


@pytest.mark.parametrize("tail", [hl.TailStrategy.RoundUp, hl.TailStrategy.ShiftInwards, hl.TailStrategy.GuardWithIf])
def test_no_vector_of_a_walk_backwards_writes_over_what_is_kept(tail: hl.TailStrategy) -> None:
    """#7819: what is above the window is still needed."""
    s, a, g, f = source(60, 9), hl.Func("a"), hl.Func("g"), hl.Func("f")
    a[x] = s[x, 0]
    g[x] = a[x]
    f[x] = g[30 - x] + g[31 - x] + g[32 - x]
    a.compute_root()
    g.store_root().compute_at(f, x).vectorize(x, 4, tail)
    counted(f, [(0, 30)])
    certified(f)


def test_a_producer_inside_a_producer_that_slides() -> None:
    """#7909: a chain in which the second slide is along a loop of the first Func that slides."""
    a, b, c = hl.Func("a"), hl.Func("b"), hl.Func("c")
    r = hl.RDom([(-2, 3), (-2, 3)], "r")
    a[x, y] = 2 * x + 5 * y
    b[x, y] = 0
    b[x, y] += a[x + r.x, y + r.y]
    c[x, y] = b[x, y] // 9
    c.split(y, yo, yi, 1)
    b.compute_at(c, yo).store_root()
    a.compute_at(b, x).store_root()
    counted(c, window(c))
    certified(c)


def test_stages_that_sample_each_other_up_and_down() -> None:
    """#8140: five stages, each of stencils of two before it, all sliding along the rows of the last."""
    a, b, c, d, e = (hl.Func(n) for n in "abcde")
    a[x, y] = hl.BoundaryConditions.repeat_edge(source())[x, y]
    b[x, y] = a[x // 2 + 2, y // 2 + 1] + a[x // 2, y // 2 + 2] + a[x * 2, y * 2] + a[x * 2 - 1, y * 2]
    c[x, y] = a[x + 1, y + 2] + a[x + 1, y + 1] + b[x // 2 - 2, y // 2 - 1] + b[x // 2, y // 2 - 2]
    d[x, y] = b[x - 1, y + 2] + b[x + 1, y - 1] + b[x // 2, y // 2] + b[x // 2 - 1, y // 2 - 2]
    e[x, y] = d[x * 2 + 1, y * 2] + d[x * 2 - 2, y * 2 + 2] + c[x // 2, y // 2] + c[x // 2 + 1, y // 2 + 1]
    for each in (a, b, c, d):
        each.store_root().compute_at(e, y)
    counted(e, window(e, 3, 5))
    certified(e)


def test_slides_along_columns_in_rows_of_one() -> None:
    """#8140 without a boundary: memory of one producer lives for a row of one, that of the other for the whole run."""
    a, b, c = hl.Func("a"), hl.Func("b"), hl.Func("c")
    a[x, y] = source()[x, y]
    b[x, y] = (a[x + 1, y] + a[x - 1, y]) * 2
    c[x, y] = a[x + 1, y] + a[x - 1, y] + b[x + 1, y] + b[x - 1, y]
    c.split(y, yo, yi, 1, Tail.RoundUp)
    a.store_at(c, yo).compute_at(c, x)
    b.store_root().compute_at(c, x)
    for size in (1, 4):
        counted(c, window(c, size, size))
    certified(c)


@pytest.mark.parametrize("tail", [Tail.PredicateLoads, Tail.PredicateStores, Tail.Predicate])
def test_predicates_of_a_walk_backwards(tail: hl.TailStrategy) -> None:
    """#7819: lanes whose loads are off must not write over what the window still needs."""
    s, a, g, f = source(60, 9), hl.Func("a"), hl.Func("g"), hl.Func("f")
    a[x] = s[x, 0]
    g[x] = a[x]
    f[x] = g[10 - x] + g[11 - x] + g[12 - x]
    a.compute_root()
    g.store_root().compute_at(f, x)
    right_or_refused(f, [10, 1], lambda: g.vectorize(x, 4, tail), f"g.vectorize(x, 4, TailStrategy.{tail.name})")


@pytest.mark.parametrize("tail", [t for t in Tail if t is not Tail.Auto])
def test_an_inner_split_that_is_longer_than_the_outer(tail: hl.TailStrategy) -> None:
    """#7764: what is beyond an inner loop of two steps belongs to the next one, which lies there already."""
    a, f = hl.Func("a"), hl.Func("f")
    xio, xii = hl.Var("xio"), hl.Var("xii")
    a[x] = source()[x, 0]
    f[x] = a[x] * 2
    f.split(x, xo, xi, 2, Tail.GuardWithIf)

    def split() -> None:
        f.split(xi, xio, xii, 4, tail).reorder(xo, xio, xii)

    accepted = right_or_refused(f, [9, 1], split, f"f.split(xi, xio, xii, 4, TailStrategy.{tail.name})")
    assert accepted or tail is not Tail.GuardWithIf


@pytest.mark.parametrize("tail", [Tail.GuardWithIf, Tail.ShiftInwards, Tail.RoundUp])
def test_memory_at_the_root_and_computation_in_an_inner_split(tail: hl.TailStrategy) -> None:
    """#7872: the inner loop starts anew for each outer one, and what it left out must have been computed."""
    _, b, c, _ = sums()
    c.split(x, xo, xi, 2, tail).store_root()
    b.compute_at(c, xi).store_root()
    counted(c, window(c, 7, 4))
    certified(c)


def test_memory_of_a_row_and_computation_in_an_inner_split() -> None:
    """#7872, with memory that lives for one row."""
    _, b, c, _ = sums()
    c.split(x, xo, xi, 2, Tail.GuardWithIf)
    b.store_at(c, y).compute_at(c, xi)
    counted(c, window(c, 7, 4))
    certified(c)


def test_memory_outside_of_several_splits() -> None:
    """#7891: two producers in the loops of one, of which one has its memory outside of all."""
    a, b, c, _ = sums()
    xio, xii, xiio, xiii = (hl.Var(n) for n in ("xio", "xii", "xiio", "xiii"))
    c.split(y, yo, yi, 4).split(x, xo, xi, 1).split(xi, xio, xii, 4, Tail.GuardWithIf)
    a.store_root()

    def split() -> None:
        c.split(xii, xiio, xiii, 1, Tail.RoundUp)
        b.compute_at(c, xiio)
        a.compute_at(c, xiio)

    right_or_refused(c, [7, 5], split, "c.split(xii, xiio, xiii, 1, TailStrategy.RoundUp)")


@pytest.mark.parametrize("size", [[5, 5], [8, 6]])
def test_a_vectorized_loop_is_fused_with_a_reduction_loop_around_its_lanes(size: list[int]) -> None:
    """#7871: only the loop over whole vectors becomes a reduction loop; no lanes are of a reduction."""
    _, b, c, r = sums()
    b.compute_root()
    told = "b.update().fuse(y, r.y, t)"
    assert right_or_refused(c, size, lambda: b.update().vectorize(y, 4).fuse(y, r.y, hl.RVar("t")), told)


@pytest.mark.parametrize("tail", [Tail.PredicateStores, Tail.GuardWithIf])
def test_a_rounded_split_around_a_split_of_a_vector(tail: hl.TailStrategy) -> None:
    """#7892: lanes are split further, and rounded up outside."""
    _, b, c, _ = sums()
    xoo, xoi = hl.Var("xoo"), hl.Var("xoi")

    def split() -> None:
        b.compute_root().split(x, xo, xi, 2, tail).split(xo, xoo, xoi, 4, Tail.RoundUp)
        b.vectorize(xi).unroll(xoi)

    right_or_refused(c, [7, 5], split, "b.split(x")


@pytest.mark.parametrize("verb", ["rfactor", "parallel", "vectorize"])
def test_an_update_that_overwrites_is_no_reduction(verb: str) -> None:
    """#7893: the last value counts; there is none that changes nothing, with which parts could start."""
    f, s, r = hl.Func("f"), source(), hl.RDom([(0, 6)], "r")
    f[x] = -1
    f[x] = s[x + r.x, 0]
    update = f.update()
    args: dict[str, tuple[object, ...]] = {
        "rfactor": (r.x, hl.Var("u")), "parallel": (r.x,), "vectorize": (r.x, 3)
    }  # fmt: skip
    assert not right_or_refused(f, [4, 1], lambda: getattr(update, verb)(*args[verb]), verb)
