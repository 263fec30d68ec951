"""Slides of Funcs with updates that write elsewhere than their loops say: taken where no stage runs on what is kept.

An update that does not bear repetition shows a slide that it should have stopped: compiled code, and what every pass
left, are the definition's.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from tests.lowering.report.test_explain import of_slides
from tests.support.checking import check
from tests.support.counting import counted
from tests.support.interpreted import run_program
from tests.support.sliding import certified, x, xi, xo, y

z = hl.Var("z")
Guarded = hl.TailStrategy.GuardWithIf


def plane() -> hl.Func:
    w = hl.Func("w")
    w[x, y] = x + 10 * y
    return w


def rows_of(w: hl.Func) -> hl.Func:
    """A consumer of two rows; x is the loop further in."""
    o = hl.Func("o")
    o[x, y] = w[x, y] + w[x, y + 1] * 3
    return o


def columns_of(w: hl.Func) -> hl.Func:
    """A consumer of two columns; y is the loop further in."""
    o = hl.Func("o")
    o[x, y] = w[x, y] + w[x + 1, y] * 3
    return o.reorder(y, x)


def column() -> tuple[hl.Func, hl.Func, hl.Var]:
    w = plane()
    w[0, y] += 1
    return w, rows_of(w), x


def row() -> tuple[hl.Func, hl.Func, hl.Var]:
    w = plane()
    w[x, 0] *= 3
    return w, columns_of(w), y


def reduction_along_rows() -> tuple[hl.Func, hl.Func, hl.Var]:
    w, r = plane(), hl.RDom([(0, 2)], "r")
    w[x, r.x] += 100
    return w, columns_of(w), y


def reads_what_it_writes() -> tuple[hl.Func, hl.Func, hl.Var]:
    w, r = plane(), hl.RDom([(0, 3)], "r")
    w[r.x, y] += w[r.x, y]
    return w, rows_of(w), x


def scan() -> tuple[hl.Func, hl.Func, hl.Var]:
    w, r = plane(), hl.RDom([(1, 3)], "r")
    w[r.x, y] += w[r.x - 1, y]
    return w, rows_of(w), x


def where_it_holds() -> tuple[hl.Func, hl.Func, hl.Var]:
    w, r = plane(), hl.RDom([(0, 3)], "r")
    r.where((r.x + y) % 2 == 0)
    w[r.x, y] += 7
    return w, rows_of(w), x


def then_all() -> tuple[hl.Func, hl.Func, hl.Var]:
    w = plane()
    w[1, y] += 5
    w[x, y] *= 2
    return w, rows_of(w), x


def tiles() -> tuple[hl.Func, hl.Func, hl.Var]:
    w = plane()
    w[0, y] += 1
    return w, rows_of(w).split(x, xo, xi, 2, Guarded), xo


def pair() -> tuple[hl.Func, hl.Func, hl.Var]:
    w, o = hl.Func("w"), hl.Func("o")
    w[x, y] = (x + 10 * y, x - y)
    w[0, y] = (w[0, y][0] + 1, w[0, y][0] + w[0, y][1])
    o[x, y] = w[x, y][1] + w[x, y + 1][0] * 3
    return w, o, x


CASES = (
    column, row, reduction_along_rows, reads_what_it_writes, scan, where_it_holds, then_all, tiles, pair,
)


@pytest.mark.parametrize("make", CASES, ids=lambda m: m.__name__)
@pytest.mark.parametrize("hoisted", [False, True], ids=["", "hoisted"])
def test_no_stage_runs_on_what_an_iteration_further_in_keeps(
    make: Callable[[], tuple[hl.Func, hl.Func, hl.Var]], hoisted: bool
) -> None:
    w, o, at = make()
    w.compute_at(o, at).store_root()
    if hoisted:
        w.hoist_storage_root()
    assert any("may write beyond what is computed in" in told for told in of_slides(o))
    box = [(0, 3), (-1, 4)]
    wanted = o.evaluate(box)
    for name, found in run_program(o, box).items():
        np.testing.assert_array_equal(found, wanted, err_msg=name)


def test_compiled_code_repeats_no_update() -> None:
    w, o, at = column()
    w.compute_at(o, at).store_root()
    check(o, [3, 3], o.evaluate([3, 3]))
    certified(o)


def three() -> tuple[hl.Func, hl.Func]:
    w, o = hl.Func("w"), hl.Func("o")
    w[x, y, z] = x + 10 * y + 100 * z
    w[x, 1, z] += 1
    o[x, y, z] = w[x, y, z] + w[x, y + 1, z + 1] * 3
    return w, o


@pytest.mark.parametrize("stored", [None, y, z], ids=["root", "y", "z"])
def test_three_dimensions(stored: hl.Var | None) -> None:
    w, o = three()
    w.compute_at(o, x)
    if stored is None:
        w.store_root()
    else:
        w.store_at(o, stored)
    box = [(0, 2), (0, 3), (0, 3)]
    wanted = o.evaluate(box)
    for name, found in run_program(o, box).items():
        np.testing.assert_array_equal(found, wanted, err_msg=name)


def test_a_write_elsewhere_bears_a_slide_along_the_innermost_loop() -> None:
    w, o, _ = column()
    w.compute_at(o, y).store_root()
    count = counted(o, [(0, 3), (-1, 4)])
    assert count.once(w)
    assert count.once(w, 1)
    certified(o)


def test_a_write_elsewhere_bears_a_slide_where_its_dimension_stands_still() -> None:
    """Each x asks for the same three places, so that none asks for what stage 1 of another one left at the fourth."""
    w, o, r, s = hl.Func("w"), hl.Func("o"), hl.RDom([(0, 4)], "r"), hl.RDom([(0, 3)], "s")
    w[x, y] = x + 10 * y
    w[r.x, y] += 7
    o[x, y] = 0
    o[x, y] += w[s.x, y] * x + w[s.x, y + 1]
    o.update(0).reorder(s.x, x, y)
    w.compute_at(o, x).store_root()
    count = counted(o, [(0, 3), (-1, 4)])
    assert count.total(w) == 3 * 3 * 5
    assert of_slides(o)[-1] == '"y" slides along o.s1.y'
    certified(o)


def test_a_write_elsewhere_bears_a_slide_inside_what_every_iteration_computes() -> None:
    """Stage 1 reads columns 0 and 2, so that each x computes column 1, which it writes, anew."""
    w = plane()
    w[1, y] = w[0, y] + w[1, y] + w[2, y]
    o = rows_of(w)
    w.compute_at(o, x).store_root()
    assert of_slides(o)[-1] == '"y" slides along o.s0.y'
    box = [(0, 3), (-1, 4)]
    for name, found in run_program(o, box).items():
        np.testing.assert_array_equal(found, o.evaluate(box), err_msg=name)
    certified(o)
