"""``gather`` and ``scatter``: updates that give values to several points at once."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from tests.support.interpreted import run_program

x, y, xo, xi = hl.Var("x"), hl.Var("y"), hl.Var("xo"), hl.Var("xi")


def row(value: Callable[[hl.Var], hl.Expr] = lambda x: x * 7 % 10) -> hl.Func:
    f = hl.Func("f")
    f[x] = hl.i32(value(x))
    return f


def agreed(f: hl.Func, *window: int) -> np.ndarray:
    """The result of compiled code; the reference and every pass give the same."""
    result = np.asarray(f.realize(list(window)))
    box = [(0, n) for n in window]
    assert (f.evaluate(box) == result).all()
    for shuffled in (None, random.Random(3)):
        for name, each in run_program(f, box, rng=shuffled).items():
            assert (each == result).all(), name
    return result


def scheduled(f: hl.Func, directives: Callable[[], object]) -> None:
    """Compiles under some more directives."""
    directives()
    f.compile_jit()


def exchanged() -> hl.Func:
    f = row(lambda x: x)
    f[hl.scatter([0, 3])] = hl.gather([f[3], f[0]])
    return f


def rotated() -> hl.Func:
    f = row(lambda x: x)
    f[hl.scatter([0, 1, 2])] = hl.gather([f[1], f[2], f[0]])
    return f


def one_value() -> hl.Func:
    f = row(lambda x: x)
    f[hl.scatter([0, 3])] = 9
    return f


def last_stays() -> hl.Func:
    f = row(lambda x: x)
    f[1] = hl.gather([5, 6])
    return f


def inside_terms() -> hl.Func:
    f = row(lambda x: x)
    f[hl.scatter([0, 1]) + 1] = hl.gather([1, 2]) + hl.gather([5, 7])
    return f


def each_sees_what_was() -> hl.Func:
    f = row(lambda x: x)
    f[hl.scatter([1, 1])] += hl.gather([10, 20])
    return f


def places_in_memory() -> hl.Func:
    f = row(lambda x: (x + 1) % 6)
    f[hl.scatter([hl.clamp(f[i], 0, 5) for i in range(3)])] = hl.gather([f[3] + 10, f[4] + 20, f[5] + 30])
    return f


CASES: dict[Callable[[], hl.Func], list[int]] = {
    exchanged: [3, 1, 2, 0, 4, 5], rotated: [1, 2, 0, 3, 4, 5], one_value: [9, 1, 2, 9, 4, 5],
    last_stays: [0, 6, 2, 3, 4, 5], inside_terms: [0, 6, 9, 3, 4, 5], each_sees_what_was: [0, 21, 2, 3, 4, 5],
    places_in_memory: [1, 14, 25, 30, 5, 0],
}  # fmt: skip


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_points_get_their_values_at_once(make: Callable[[], hl.Func]):
    assert agreed(make(), 6).tolist() == CASES[make]


def sorting() -> tuple[hl.Func, hl.RDom]:
    f, r = row(), hl.RDom([(0, 9), (0, 9)], "r")
    r.where(r.x < 9 - r.y)
    a, b = f[r.x], f[r.x + 1]
    f[hl.scatter([r.x, r.x + 1])] = hl.gather([hl.min(a, b), hl.max(a, b)])
    return f, r


def test_neighbours_in_turn_sort_a_row():
    f, _ = sorting()
    assert agreed(f, 10).tolist() == list(range(10))


def test_points_stay_where_the_domain_has_none():
    f, r = row(lambda x: x), hl.RDom([(0, 1), (1, 1)], "r")
    r.where((r.x + r.y) % 2 == 0)
    f[hl.scatter([r.x, 2])] = hl.gather([5, 6])
    assert agreed(f, 4).tolist() == [0, 1, 2, 3]


def test_dimensions_may_have_the_name_of_the_variable_that_is_made():
    f, at_once = hl.Func("f"), hl.Var("at_once")
    f[at_once] = at_once
    f[hl.scatter([1, 2])] = hl.gather([f[2], f[1]])
    assert agreed(f, 4).tolist() == [0, 2, 1, 3]


def test_lanes_of_pure_dimensions_when_rows_are_exchanged():
    f = hl.Func("f")
    f[x, y] = x + 10 * y
    f[x, hl.scatter([0, 2, 1])] = hl.gather([f[x, 1], f[x, 0], f[x, 2]])
    f.update().split(x, xo, xi, 8).vectorize(xi, 4).parallel(xo)
    expected = np.add.outer(10 * np.arange(3), np.arange(16))[[1, 2, 0]]
    assert (agreed(f, 16, 3) == expected).all()


def test_components_of_tuples_take_part():
    f = hl.Func("f")
    f[x] = (x, hl.f32(x) / 2)
    f[hl.scatter([0, 3])] = (hl.gather([f[3][0], f[0][0]]), hl.gather([f[0][1], 7.5]))
    numbers, halves = (np.asarray(b) for b in f.realize([5]))
    assert numbers.tolist() == [3, 1, 2, 0, 4] and halves.tolist() == [0, 0.5, 1, 7.5, 2]
    assert all((a == b).all() for a, b in zip(f.evaluate([(0, 5)]), (numbers, halves), strict=True))


def test_a_func_with_consumers_is_computed_anywhere():
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = x * 3 + y
    f[x, hl.scatter([0, 2])] = hl.gather([f[x, 2], f[x, 0]])
    h = hl.Func("h")
    h[x] = x
    h[hl.scatter([2, 4])] = hl.gather([h[4], h[2]])
    g[x, y] = f[x, y] + h[x % 8]
    f.compute_at(g, y).vectorize(x, 4).update().vectorize(x, 4)
    h.compute_root()
    agreed(g, 16, 4)


def test_the_order_of_iterations_is_kept():
    f, r = sorting()
    with pytest.raises(hl.ScheduleError, match="parallel"):
        scheduled(f, lambda: f.update().parallel(r.x))


@pytest.mark.parametrize("override", [False, True])
def test_atomic_updates_are_of_one_point(override: bool):
    f, r = row(), hl.RDom([(0, 8)], "r")
    f[hl.scatter([r.x % 2, 1])] += hl.gather([10, 20])
    with pytest.raises(hl.ScheduleError, match=r"several points values at once"):
        scheduled(f, lambda: f.update().atomic(override).parallel(r.x))


def test_lists_are_as_long_as_each_other():
    f = row()
    with pytest.raises(hl.DefinitionError, match=r"3 in scatter\(\[0, 1, 2\]\) and 2 in gather\(\[1, 2\]\)"):
        f[hl.scatter([0, 1, 2])] = hl.gather([1, 2])
    assert f.num_update_definitions() == 0


def test_lists_have_values_of_one_type():
    with pytest.raises(hl.TypeMismatchError, match="uint8 and uint16"):
        hl.gather([hl.u8(1), hl.u16(2)])
    with pytest.raises(hl.DefinitionError, match="at least one value"):
        hl.scatter([])


def test_first_definitions_give_a_point_one_value():
    f = hl.Func("f")
    with pytest.raises(hl.DefinitionError, match="it is for updates"):
        f[x] = hl.gather([x, 2])


def test_pickled_funcs_are_the_same():
    f = exchanged()
    assert np.asarray(pickle.loads(pickle.dumps(f)).realize([6])).tolist() == CASES[exchanged]


def test_serialized_pipelines_are_the_same():
    data = hl.serialize_pipeline(hl.Pipeline(rotated()))
    assert np.asarray(hl.deserialize_pipeline(data).realize([6])).tolist() == CASES[rotated]


def test_certificates_hold_where_neighbours_are_sorted():
    f, _ = sorting()
    assert f.certify().ok


@pytest.mark.parametrize("how", ["auto", "model"])
def test_schedules_that_are_chosen_leave_the_points_together(how: str):
    f, g, r = hl.Func("f"), hl.Func("g"), hl.RDom([(0, 9)], "r")
    f[x, y] = x * 3 + y
    f[x, hl.scatter([r.x, r.x + 1])] = hl.gather([f[x, r.x + 1], f[x, r.x]])
    g[x, y] = f[x, y] + f[x + 1, y]
    result = np.asarray(g.realize([32, 8], schedule=how))
    assert (result == g.evaluate([(0, 32), (0, 8)])).all()
