"""Neighbouring iterations go through a long reduction in step, where none reads what another writes."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core.lowering.driver import LoweringTrace, lower
from tests.support.interpreted import run_program

x, y, xo, xi = (hl.Var(n) for n in ("x", "y", "xo", "xi"))
LENGTH = 19


def jammed(f: hl.Func) -> bool:
    """True where the pass makes another tree of the one that it is given."""
    trace = LoweringTrace()
    lower(f._request(), trace=trace)
    trees = dict(trace.passes)
    return str(trees["jam"]) != str(trees["vectorize"])


def source(of: type = np.float32) -> hl.ImageParam:
    """Numbers with fractions where there are such, from (-6, -2) on."""
    buffer = hl.Buffer(np.random.default_rng(5).uniform(-90, 90, (24, 200)).astype(of))
    image = hl.ImageParam(buffer.type(), 2, "source")
    buffer.set_min([-6, -2])
    image.set(buffer)
    return image


def along(length: hl.Param | int = LENGTH) -> hl.RDom:
    return hl.RDom([(0, length)], "along")


def sums() -> hl.Func:
    f, near, im = hl.Func("f"), along(), source()
    f[x, y] = hl.sum(near, im[x + near.x, y] * im[near.x, y])
    return f


def sums_in_place() -> hl.Func:
    f, near, im = hl.Func("f"), along(), source()
    f[x, y] = im[x, y]
    f[x, y] += im[x + near.x, y] * im[near.x, y]
    return f


def sums_of_squares() -> hl.Func:
    """Over rows and columns."""
    f, near, im = hl.Func("f"), hl.RDom([(0, LENGTH), (0, 3)], "near"), source()
    f[x, y] = hl.sum(near, im[x + near.x, y + near.y] * im[x + near.x, y + near.y])
    return f


def places() -> hl.Func:
    """Of a Tuple: where the greatest is, and what."""
    f, near, im = hl.Func("f"), along(), source()
    best = hl.argmax(near, im[x + near.x, y])
    f[x, y] = hl.cast(hl.Float(32), best[0]) * 1000 + best[1]
    return f


def looked_up() -> hl.Func:
    """From rows that a table tells."""
    f, table, near, im = hl.Func("f"), hl.Func("table"), along(), source()
    table[x] = (x * 7) % 5
    f[x, y] = hl.maximum(near, im[x + near.x, y + hl.clamp(table[near.x], 0, 4)])
    table.compute_root()
    return f


def sums_of_all_above() -> hl.Func:
    f, above, im = hl.Func("f"), hl.RDom([(0, 22)], "above"), source()
    f[x, y] = im[x, y]
    f[x, above] += f[x, above - 1]
    return f


def along_columns() -> hl.Func:
    f, im = hl.Func("f"), source(np.uint8)
    f[x, y] = im[y + 3, x % 7] + hl.cast(hl.UInt(8), x)
    return f.reorder(y, x)


def in_lanes(make: Callable[[], hl.Func]) -> Callable[[], hl.Func]:
    def made() -> hl.Func:
        f = make()
        for stage in [f, *(f.update(i) for i in range(f.num_update_definitions()))]:
            stage.vectorize(x, 4)
        return f

    return made


MAKERS = [sums, sums_in_place, sums_of_squares, places, looked_up, sums_of_all_above, along_columns]


@pytest.mark.parametrize("make", [*MAKERS, *map(in_lanes, [sums, sums_in_place, places, sums_of_all_above])])
@pytest.mark.parametrize("width", [0, 1, 3, 4, 5, 11, 16])
def test_values_are_those_of_one_after_another(make: Callable[[], hl.Func], width: int) -> None:
    f = make()
    assert jammed(f)
    window = [(-3, width), (1, 2)]
    expected = f.evaluate(window)
    for name, found in run_program(f, window).items():
        assert np.array_equal(found, expected), name
    sizes = [max(width, 4), 2]
    assert np.array_equal(np.asarray(f.realize(sizes)), np.asarray(f.evaluate(sizes)))


@pytest.mark.parametrize("make", [sums, sums_in_place, places])
@pytest.mark.parametrize("width", [32, 96, 160])
def test_several_vectors_of_one_loop(make: Callable[[], hl.Func], width: int) -> None:
    f = make()
    f.vectorize(x, 32, hl.TailStrategy.RoundUp)
    for number in range(f.num_update_definitions()):
        f.update(number).vectorize(x, 32)
    assert jammed(f)
    window = [(-3, width), (1, 2)]
    expected = f.evaluate(window)
    for name, found in run_program(f, window).items():
        assert np.array_equal(found, expected), name
    assert np.array_equal(np.asarray(f.realize([width, 2])), np.asarray(f.evaluate([width, 2])))


@pytest.mark.parametrize("width", range(1, 8))
def test_constant_widths(width: int) -> None:
    f = sums().bound(x, 0, width)
    assert jammed(f), "where there is one column, rows are in step"
    assert np.array_equal(np.asarray(f.realize([width, 2])), np.asarray(f.evaluate([width, 2])))


@pytest.mark.parametrize("n", [0, 1, 18])
def test_lengths_of_a_run(n: int) -> None:
    f, near, im = hl.Func("f"), along(hl.Param(hl.Int(32), "n", n)), source()
    f[x, y] = 1.5
    f[x, y] = f[x, y] * 0.5 + im[x + near.x, y]
    assert jammed(f)
    assert np.array_equal(np.asarray(f.realize([9, 2])), np.asarray(f.evaluate([9, 2])))


def memory_that_all_share() -> hl.Func:
    f, g, near, im = hl.Func("f"), hl.Func("g"), along(), source()
    g[x, y] = 0.0
    g[x, y] += im[x + near.x, y]
    f[x, y] = g[x, y] * 2
    g.store_root().compute_at(f, x).fold_storage(x, 1)
    return f


def one_element() -> hl.Func:
    f, near, im = hl.Func("f"), hl.RDom([(0, LENGTH), (0, 6)], "near"), source()
    f[x, y] = 1.0
    f[0, y] = f[0, y] * 0.5 + im[near.x, near.y]
    f.update(0).reorder(near.x, y, near.y)
    return f


def elements_in_turn() -> hl.Func:
    f, near, im = hl.Func("f"), hl.RDom([(0, LENGTH), (0, 6)], "near"), source()
    f[x, y] = 1.0
    f[near.y % 3, y] = f[near.y % 3, y] * 0.5 + im[near.x, near.y]
    return f


def neighbours() -> hl.Func:
    f, near, im = hl.Func("f"), hl.RDom([(0, LENGTH), (1, 6)], "near"), source()
    f[x, y] = 1.0
    f[near.y, y] += f[near.y - 1, y] * im[near.x, near.y]
    return f


def shares_of_the_first() -> hl.Func:
    f, near, im = hl.Func("f"), hl.RDom([(0, LENGTH), (0, 6)], "near"), source()
    f[x, y] = 1.0
    f[near.y, y] = f[near.y, y] * 0.5 + f[0, y] * im[near.x, near.y]
    return f


def triangle() -> hl.Func:
    f, near, im = hl.Func("f"), hl.RDom([(0, LENGTH), (0, 6)], "near"), source()
    near.where(near.x < near.y)
    f[x, y] = 1.0
    f[near.y, y] += im[near.x, near.y]
    return f


def slanting() -> hl.Func:
    """Each column takes in the one before it, further down."""
    f, near, im = hl.Func("f"), hl.RDom([(0, LENGTH), (0, 8)], "near"), source()
    f[x, y] = im[x, y]
    f[near.y, near.x] += f[near.y - 1, near.x + 1]
    return f


def of_two_funcs() -> hl.Func:
    """Columns that are read as soon as they are there."""
    f, g, im = hl.Func("f"), hl.Func("g"), source()
    g[x, y] = im[x, y]
    f[x, y] = g[x - 1, y + 1] + g[x, y]
    g.store_root().compute_at(f, x).reorder(y, x)
    return f.reorder(y, x)


def short() -> hl.Func:
    f, near, im = hl.Func("f"), along(5), source()
    f[x, y] = hl.sum(near, im[x + near.x, y])
    return f


def of_integers() -> hl.Func:
    f, near, im = hl.Func("f"), along(), source(np.int32)
    f[x, y] = hl.sum(near, im[x + near.x, y])
    return f


def shown() -> hl.Func:
    f, near, im = hl.Func("f"), along(), source()
    f[x, y] = hl.sum(near, hl.print_when(im[x + near.x, y] > 1000.0, im[x + near.x, y], "large"))
    return f


@pytest.mark.parametrize(
    "make",
    [
        memory_that_all_share,
        one_element,
        elements_in_turn,
        neighbours,
        shares_of_the_first,
        triangle,
        slanting,
        of_two_funcs,
        short,
        of_integers,
        shown,
    ],
)
def test_others_go_one_by_one(make: Callable[[], hl.Func]) -> None:
    f = make()
    window = [(0, 9), (0, 3)]
    assert not jammed(f)
    for name, found in run_program(f, window).items():
        assert np.array_equal(found, f.evaluate(window)), name


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int) -> None:
    rng = random.Random(seed)
    make = rng.choice(MAKERS)
    f = make()
    for number in range(1 + f.num_update_definitions()):
        stage = f.update(number - 1) if number else f
        rows = [] if number and make is sums_of_all_above else [y]
        if rng.random() < 0.6:
            stage.split(x, xo, xi, rng.choice([3, 4, 6, 8]), hl.TailStrategy.GuardWithIf)
            stage.reorder(*rng.sample([xo, xi, *rows], 2 + len(rows)))
            if rng.random() < 0.4:
                stage.vectorize(xi)
        elif rows and rng.random() < 0.5:
            stage.reorder(y, x)
        if rows and rng.random() < 0.3:
            stage.parallel(y)
    window = [(rng.randint(-4, 2), rng.randint(1, 21)), (rng.randint(-1, 2), rng.randint(1, 6))]
    expected = f.evaluate(window)
    for name, found in run_program(f, window).items():
        assert np.array_equal(found, expected), name
    sizes = [n for _, n in window]
    assert np.array_equal(np.asarray(f.realize(sizes)), np.asarray(f.evaluate(sizes)))
