"""Points that a definition leaves undefined: they keep what the caller's buffer has, under every schedule."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from tests.support.interpreted import run_program

x, y, c, xo, xi = hl.vars("x y c xo xi")
I32 = hl.Int(32)
UNDEF = hl.undef(I32)
Tail = hl.TailStrategy


def of(value: object, name: str = "f") -> hl.Func:
    f = hl.Func(name)
    f[x] = value
    return f


def given(n: int = 13, start: int = 100) -> np.ndarray:
    return np.arange(start, start + n, dtype=np.int32)


def agrees(f: hl.Func, wanted: list[int] | None = None, array: np.ndarray | None = None) -> None:
    """Compares what is compiled, and the reference semantics, with what the buffer has and with zeros; the passes, with
    zeros. The certificate is demanded of all that is compiled here."""
    array = given() if array is None else array
    expected = f.evaluate(list(reversed(array.shape)), before=array)
    assert wanted is None or expected.tolist() == wanted
    f.realize(array)
    np.testing.assert_array_equal(array, expected)
    zeros = f.evaluate(list(reversed(array.shape)))
    np.testing.assert_array_equal(np.asarray(f.realize(list(reversed(array.shape)))), zeros)
    for result in run_program(f, [(0, n) for n in reversed(array.shape)], rng=random.Random(1)).values():
        np.testing.assert_array_equal(result, zeros)


def test_nothing_is_written_where_all_is_undefined() -> None:
    agrees(of(UNDEF), given().tolist())


SCHEDULES: list[Callable[[hl.Func], object]] = [
    lambda f: f,
    lambda f: f.vectorize(x, 4, Tail.GuardWithIf),
    lambda f: f.vectorize(x, 4, Tail.ShiftInwards),
    lambda f: f.vectorize(x, 4, Tail.PredicateStores),
    lambda f: f.split(x, xo, xi, 5, Tail.ShiftInwards).parallel(xo),
    lambda f: f.unroll(x, 3, Tail.GuardWithIf),
    lambda f: f.vectorize(x, 8).unroll(x, 1),
]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_undefined_side_of_a_select_keeps_the_value(schedule: Callable[[hl.Func], object]) -> None:
    f = of(hl.select(x % 3 == 0, x, x > 10, -x, UNDEF))
    schedule(f)
    agrees(f, [0, 101, 102, 3, 104, 105, 6, 107, 108, 9, 110, -11, 12])


@pytest.mark.parametrize("schedule", SCHEDULES[:3])
def test_condition_of_data(schedule: Callable[[hl.Func], object]) -> None:
    g, source = hl.Func("g"), hl.Buffer(np.array([3, 0, 5, -1, 0, 0, 2, 9, -4, 0, 0, 1, 1], np.int32), name="data")
    g[x] = source[x] * 2
    f = of(hl.select(g[x] > 0, g[x], UNDEF))
    schedule(f)
    g.compute_root()
    agrees(f, [6, 101, 10, 103, 104, 105, 4, 18, 108, 109, 110, 2, 2])


def test_scan_in_place() -> None:
    f, r = of(UNDEF), hl.RDom([(1, 12)])
    f[r.x] = f[r.x] + f[r.x - 1]
    agrees(f, np.cumsum(given()).tolist())


def test_scan_of_columns_in_place() -> None:
    f, r = hl.Func("f"), hl.RDom([(1, 4)])
    f[x, y] = UNDEF
    f[x, r.x] = f[x, r.x] * 2 + f[x, r.x - 1]
    f.update().vectorize(x, 4, Tail.GuardWithIf)
    agrees(f, array=np.arange(35, dtype=np.int32).reshape(5, 7))


def test_update_of_what_the_buffer_has() -> None:
    f = of(UNDEF)
    f[x] = hl.select(x < 3, x, UNDEF)
    f[x] = f[x] * 2
    agrees(f, [0, 2, 4, *(2 * v for v in range(103, 113))])


def test_what_is_computed_of_something_undefined_is_undefined() -> None:
    for place in (lambda f, g: f, lambda f, g: f.compute_root(), lambda f, g: f.compute_at(g, x)):
        f = of(hl.select(x < 4, x, UNDEF), "inner")
        g = of(f[x] + 1)
        place(f, g)
        agrees(g, [1, 2, 3, 4, *range(104, 113)])
    f, r = of(hl.select(x < 4, x, UNDEF), "inner"), hl.RDom([(0, 8)])
    g = of(0)
    g[x] += f[r.x]
    agrees(g, [6] * 13)
    h = of(f[f[x]])
    agrees(h, [0, 1, 2, 3, *range(104, 113)])


def test_point_of_a_func_with_updates_is_defined() -> None:
    f, g = of(UNDEF, "inner"), hl.Func("g")
    f[2] = 7
    g[x] = f[x] + 1
    agrees(g, [1, 1, 8, *[1] * 10])
    f.compute_root()
    agrees(g, [1, 1, 8, *[1] * 10])


def test_undefined_coordinates_write_nothing() -> None:
    f, r = of(0), hl.RDom([(0, 8)])
    f[hl.select(r.x % 2 == 0, r.x, UNDEF)] = r.x + 1
    f[UNDEF] = 9
    agrees(f, [1, 0, 3, 0, 5, 0, 7, 0, 0, 0, 0, 0, 0])
    inner = of(hl.select(x > 4, x, UNDEF), "inner")
    g = of(x)
    g[inner[r.x]] += 50
    agrees(g, [0, 1, 2, 3, 4, 55, 56, 57, 8, 9, 10, 11, 12])


TUPLES: list[tuple[object, object, list[int], list[int]]] = [
    (UNDEF, x, given().tolist(), list(range(13))),
    (hl.select(x < 4, x, UNDEF), hl.select(x < 4, -x, UNDEF), [0, 1, 2, 3, *range(104, 113)],
     [0, -1, -2, -3, *range(204, 213)]),
    (hl.select(x < 4, x, UNDEF), -x, [0, 1, 2, 3, *range(104, 113)], [*range(0, -13, -1)]),
    (UNDEF, hl.select(x < 2, UNDEF, -x), given().tolist(), [200, 201, *range(-2, -13, -1)]),
]


@pytest.mark.parametrize("way", [0, 1, 4])
@pytest.mark.parametrize("kind", range(len(TUPLES)))
def test_tuples(way: int, kind: int) -> None:
    a, b, *wanted = TUPLES[kind]
    f = of((a, b))
    SCHEDULES[way](f)
    arrays = [given(), given(13, 200)]
    assert [e.tolist() for e in f.evaluate([13], before=arrays)] == wanted
    if kind != 1 and way == 4:  # what is left undefined of a point is written back, which must not be repeated
        with pytest.raises(hl.ScheduleError, match="writes back the values of a point that it leaves undefined"):
            f.realize(arrays)
        return
    f.realize(arrays)
    assert [e.tolist() for e in arrays] == wanted


def test_buffers_that_go_through_copies_keep_their_values() -> None:
    f = of(hl.select(x % 2 == 0, x, UNDEF))
    array = given(26)
    f.realize(array[::2])
    assert array[::2].tolist() == [0, 102, 2, 106, 4, 110, 6, 114, 8, 118, 10, 122, 12]
    assert array[1::2].tolist() == list(range(101, 126, 2))
    g = hl.Func("g")
    g[x] = (hl.select(x % 2 == 0, x, UNDEF), UNDEF)
    one, other = given(7), given(14)
    g.realize([one, other[::2]])
    assert one.tolist() == [0, 101, 2, 103, 4, 105, 6]
    assert other.tolist() == given(14).tolist()


def test_outputs_that_read_each_other() -> None:
    f = of(UNDEF)
    f[3] = 7
    g = of(f[x] + f[12 - x], "g")
    arrays = [given(), given(13, 200)]
    pipeline = hl.Pipeline([f, g])
    expected = [e.tolist() for e in pipeline.evaluate([13], before=arrays)]
    pipeline.realize(arrays)
    assert [a.tolist() for a in arrays] == expected
    assert expected[1][3] == expected[1][9] == 7 + 109


def test_values_of_the_buffer_are_any_values() -> None:
    """Bounds take nothing for granted of what the caller's buffer has."""
    f = of(hl.select(x < 2, hl.u8(x), hl.undef(hl.UInt(8))), "f")
    table, g = hl.Buffer(np.arange(256, dtype=np.int32), name="table"), hl.Func("g")
    g[x] = table[hl.i32(f[x])]
    h = of(hl.undef(hl.UInt(8)), "h")
    h[0] = hl.u8(1)
    k = of(table[hl.i32(h[x])], "k")
    arrays = [np.array([9, 200, 255], np.uint8), np.zeros(3, np.int32)]
    hl.Pipeline([h, k]).realize(arrays)
    assert arrays[1].tolist() == [1, 200, 255]
    assert np.asarray(g.realize([2])).tolist() == [0, 1]


def test_specialized_stage_keeps_what_is_undefined() -> None:
    p = hl.Param(I32, "p")
    f = of(hl.select(x < p, x, UNDEF))
    f.specialize(p == 4).vectorize(x, 4, Tail.GuardWithIf)
    for value in (4, 6):
        p.set(value)
        agrees(f, [*range(value), *range(100 + value, 113)])


def test_floats_of_16_bits() -> None:
    f = of(hl.select(x < 2, hl.cast(hl.Float(16), x + 0.5), hl.undef(hl.Float(16))))
    agrees(f, [0.5, 1.5, 7, 7], np.full(4, 7, np.float16))


def test_zeros_where_strides_are_promised_that_leave_gaps() -> None:
    f = hl.Func("f")
    f[x, y, c] = hl.select(x < 2, x + y + c, UNDEF)
    f.output_buffer().dim(0).set_stride(4)
    f.output_buffer().dim(2).set_stride(1)
    before = np.full(79, 77, np.int32)  # numpy gives its memory to who asks for as much next
    del before
    np.testing.assert_array_equal(np.asarray(f.realize([5, 4, 3])), f.evaluate([5, 4, 3]))
