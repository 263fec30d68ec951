"""Reduction variables that keep iterations apart: which are found, by hand, and against every pair of iterations."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core.scheduling.dependence import variables_apart

x, y = hl.Var("x"), hl.Var("y")


def apart(f: hl.Func, stage: int = 1) -> str:
    """The variables of an update that keep iterations apart: ``"x z"``."""
    return " ".join(sorted(name.removeprefix("r.") for name in variables_apart(f.function, stage)))


def over(*lengths: Any) -> hl.RDom:
    """A domain from 0."""
    return hl.RDom([(0, n) for n in lengths], "r")


def line() -> hl.Func:
    """``f[x] = x``."""
    f = hl.Func("f")
    f[x] = x
    return f


def plane() -> hl.Func:
    """``f[x, y] = x + y``."""
    f = hl.Func("f")
    f[x, y] = x + y
    return f


# ---------------------------------------------------------------------------------------------------------
# What is found, case by case.


def test_a_coordinate_of_its_own() -> None:
    f, r = line(), over(9)
    f[r.x] = r.x
    assert apart(f) == "x"


def test_odd_points_are_never_even() -> None:
    f, r = line(), over(9)
    f[2 * r.x + 1] = f[2 * r.x]
    assert apart(f) == "x"


@pytest.mark.parametrize(("length", "found"), [(3, "x y"), (4, "x y"), (5, "")])
def test_digits_of_a_number(length: int, found: str) -> None:
    f, r = line(), over(9, length)
    f[4 * r.x + r.y] = r.x
    assert apart(f) == found


@pytest.mark.parametrize(("by", "found"), [(0, "x y"), (1, "x"), (-1, "x"), (7, "x y")])
def test_a_walk_along_one_of_two(by: int, found: str) -> None:
    f, r = plane(), over(9, 7)
    f[r.x, r.y] = f[r.x, r.y - by]
    assert apart(f) == found


@pytest.mark.parametrize(("by", "found"), [(1, ""), (-1, ""), (8, ""), (9, "x"), (-9, "x")])
def test_a_scan_reaches_as_far_as_it_is_long(by: int, found: str) -> None:
    f, r = line(), over(9)
    f[r.x] = f[r.x - by]
    assert apart(f) == found


@pytest.mark.parametrize(
    ("written", "read", "found"),
    [
        ((4, 0, 1), (6, 0, 0), "x"),  # odd and even
        ((2, 0, 1), (3, 0, 0), ""),
        ((4, 2, 1), (4, 4, 0), ""),  # these are too, but f[4x + 2y + 1] is written twice
        ((8, 2, 1), (8, 4, 0), "x y"),
        ((8, 2, 1), (8, 3, 0), ""),
        ((9, 1, 0), (9, 5, 0), ""),
    ],
)
def test_factors_that_differ(written: tuple[int, int, int], read: tuple[int, int, int], found: str) -> None:
    f, r = line(), over(9, 4)
    (a, b, c), (d, e, g) = written, read
    f[a * r.x + b * r.y + c] = f[d * r.x + e * r.y + g]
    assert apart(f) == found


@pytest.mark.parametrize(
    ("at", "found"),
    [
        (lambda r, w: 17 - r.x, "x"),
        (lambda r, w: 16 - r.x, ""),  # the last iteration reads what it writes
        (lambda r, w: 2 * r.x + 9, "x"),
        (lambda r, w: r.x % 4 + 9, "x"),
        (lambda r, w: r.x % 4 + 8, ""),
        (lambda r, w: hl.clamp(w[r.x], 9, 17), "x"),
        (lambda r, w: hl.clamp(w[r.x], 8, 17), ""),
        (lambda r, w: w[r.x], ""),
    ],
)
def test_points_beyond_all_that_is_written(at: Any, found: str) -> None:
    w, f, r = hl.Buffer(hl.Int(32), [9]), line(), over(9)
    f[r.x] = f[at(r, w)]
    assert apart(f) == found


@pytest.mark.parametrize(("by", "found"), [(8, ""), (9, "x")])
def test_points_beyond_a_window_that_only_a_run_knows(by: int, found: str) -> None:
    w, f, p = hl.Buffer(hl.Int(32), [100]), line(), hl.Param(hl.Int(32), "p")
    r = hl.RDom([(p, 9)], "r")
    f[r.x] = f[r.x + by + hl.clamp(w[r.x], 0, 7)]
    assert apart(f) == found


def test_points_of_the_other_half_are_read_by_threads_and_lanes() -> None:
    f, r = plane(), over(10, 10)
    f[r.x, r.y] += f[20 - r.y, 20 - r.x]
    f.update().parallel(r.y).vectorize(r.x, 4, hl.TailStrategy.GuardWithIf)
    assert np.array_equal(np.asarray(f.realize([24, 24])), f.evaluate([24, 24]))
    assert f.certify().ok


def test_points_taken_in_turn() -> None:
    f, r = plane(), over(9, 9)
    f[r.x % 4, 0] = r.x
    f[r.x % 4, r.y] = r.x
    f[r.x % 4 + r.y, 0] = r.x
    assert [apart(f, stage) for stage in (1, 2, 3)] == ["", "y", ""]


def test_points_that_memory_names() -> None:
    g, f, r = hl.Func("g"), plane(), over(9, 9)
    g[x] = x
    f[g[r.x], r.y] = r.x
    assert apart(f) == "y"


def test_points_that_the_func_itself_names() -> None:
    f, r = plane(), over(9, 9)
    f[r.x, f[0, r.y]] = r.x
    assert apart(f) == ""


@pytest.mark.parametrize(("lengths", "found"), [("nn", ""), ("n4", "x y"), ("4n", ""), ("n5", "")])
def test_lengths_of_run_time(lengths: str, found: str) -> None:
    f, r = line(), over(*(hl.Param(hl.Int(32), n) if n == "n" else int(n) for n in lengths))
    f[4 * r.x + r.y] = r.x
    assert apart(f) == found


def test_a_start_of_run_time_cancels() -> None:
    p, f, r = hl.Param(hl.Int(32), "p"), line(), over(9)
    f[2 * r.x + p] = f[2 * r.x + p + 3]
    assert apart(f) == "x"
    f[2 * r.x + p] = f[2 * r.x + 3]
    assert apart(f, 2) == ""


@pytest.mark.parametrize(("reads", "found"), [("x", "x y"), ("y", "x")])
def test_conditions_read_too(reads: str, found: str) -> None:
    f, r = plane(), over(9, 9)
    r.where(f[r.x, r.y + (1 if reads == "y" else 0)] > 0)
    f[r.x, r.y] = 1
    assert apart(f) == found


def test_values_of_a_tuple_are_of_one_point() -> None:
    f, r = hl.Func("f"), over(9)
    f[x] = (x, x)
    f[r.x] = (f[r.x][1], f[r.x][0])
    f[r.x] = (f[r.x + 1][1], f[r.x][1])
    assert [apart(f, stage) for stage in (1, 2)] == ["x", ""]


def test_negative_factors() -> None:
    f, r = line(), over(9, 3)
    f[-3 * r.x - r.y] = r.x
    f[9 - 3 * r.x] = f[9 - 3 * r.x] + r.y
    f[3 - r.x] = f[r.x]
    f[-2 * r.x - 1] = f[2 * r.x]
    assert [apart(f, stage) for stage in (1, 2, 3, 4)] == ["x y", "x", "", "x"]


def test_sums_of_variables() -> None:
    f, r = line(), over(9, 9)
    f[r.x + r.y] = 1
    assert apart(f) == ""


def test_a_pure_variable_is_the_same_in_both() -> None:
    f, r = plane(), over(9)
    f[x, r.x + x] = f[x, r.x + x] + 1
    f[x, r.x] = f[x, r.x + x]
    assert [apart(f, stage) for stage in (1, 2)] == ["x", ""]


def test_a_stage_without_a_domain() -> None:
    f = line()
    f[3] = f[4]
    assert [apart(f, stage) for stage in (0, 1)] == ["", ""]


# ---------------------------------------------------------------------------------------------------------
# What is found, against every pair of iterations.

RUN_TIME = 7
"""The value of a run-time length where iterations are listed."""


@dataclass(frozen=True)
class Coordinate:
    """``const + Σ factors·r + pure·x``."""

    factors: tuple[int, ...]
    const: int
    pure: int = 0

    def at(self, iteration: Sequence[Any], pure: Any) -> Any:
        """Its value, or an expression."""
        terms = [c * v for c, v in zip((*self.factors, self.pure), (*iteration, pure), strict=True) if c]
        return sum(terms, start=self.const if not terms else terms[0] * 0 + self.const)


Point = tuple[Coordinate, ...]


@dataclass(frozen=True)
class Update:
    """``f[x, *written] = … f[x, *read] …``, without ``x`` where there is no pure dimension. A length of None is one of
    run time."""

    starts: tuple[int, ...]
    lengths: tuple[int | None, ...]
    pure: bool
    written: Point
    read: tuple[Point, ...]

    def func(self) -> hl.Func:
        """The Func."""
        lengths = [hl.Param(hl.Int(32), f"n{i}") if n is None else n for i, n in enumerate(self.lengths)]
        r = hl.RDom(list(zip(self.starts, lengths, strict=True)), "r")
        over = [r[i] for i in range(len(lengths))]
        args = [hl.Var(f"v{d}") for d in range(len(self.written) + self.pure)]
        f = hl.Func("f")
        f[tuple(args)] = 0

        def at(point: Point) -> tuple[Any, ...]:
            return (*args[: self.pure], *(c.at(over, args[0]) for c in point))

        f[at(self.written)] = sum((f[at(p)] for p in self.read), start=sum(over, start=hl.Expr(0)))
        return f

    def apart(self) -> set[str]:
        """The variables that keep iterations apart, of which there are two values, by listing all points."""
        spans = [range(m, m + (RUN_TIME if n is None else n)) for m, n in zip(self.starts, self.lengths, strict=True)]
        iterations = list(itertools.product(*spans))
        meeting: set[int] = set()
        for pure in (-3, 0, 2) if self.pure else (0,):
            writers: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
            for i in iterations:
                writers.setdefault(tuple(c.at(i, pure) for c in self.written), []).append(i)
            touching = {point: list(each) for point, each in writers.items()}
            for read, i in itertools.product(self.read, iterations):
                point = tuple(c.at(i, pure) for c in read)
                if point in writers:
                    touching[point].append(i)
            for each in touching.values():
                meeting |= {v for v in range(len(spans)) if any(i[v] != each[0][v] for i in each)}
        return {f"r.{'xyz'[v]}" for v, span in enumerate(spans) if v not in meeting and len(span) > 1}


def drawn(rng: random.Random, *, factors: int) -> Update:
    """An update whose coordinates have about so many terms; most of its reads are of points near those it writes."""
    variables, pure = rng.randint(1, 3), rng.random() < 0.3

    def coordinate() -> Coordinate:
        each = [0] * variables
        for _ in range(rng.choice((factors - 1, factors, factors, factors, factors + 1))):
            each[rng.randrange(variables)] = rng.choice((1, 1, 1, -1, -1, 2, 3, 4, -2, -3, -4))
        return Coordinate(tuple(each), rng.randint(-4, 4), rng.randint(-2, 2) if pure and rng.random() < 0.2 else 0)

    def near(c: Coordinate) -> Coordinate:
        if rng.random() < 0.5:
            return c
        return Coordinate(c.factors, c.const + rng.randint(-5, 5), c.pure) if rng.random() < 0.8 else coordinate()

    written = tuple(coordinate() for _ in range(rng.randint(1, 3)))
    return Update(
        tuple(rng.randint(-3, 3) for _ in range(variables)),
        tuple(rng.choice((None, 1, 2, 3, 4, 5)) for _ in range(variables)),
        pure,
        written,
        tuple(tuple(map(near, written)) for _ in range(rng.randint(0, 2))),
    )


@pytest.mark.parametrize(("factors", "least"), [(1, 0.85), (2, 0.7)], ids=["one_each", "several"])
def test_what_is_said_to_keep_apart_does(factors: int, least: float) -> None:
    rng = random.Random(factors)
    found = there = 0
    for _ in range(800):
        update = drawn(rng, factors=factors)
        said, true = variables_apart(update.func().function, 1), update.apart()
        many = {f"r.{'xyz'[v]}" for v, n in enumerate(update.lengths) if n != 1}
        assert said & many <= true, update
        found, there = found + len(said & many), there + len(true)
    assert there > 500
    assert found >= least * there
