"""Tuples: the values of a point, how they are defined, updated, read and asked for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from tests.support.raising import raised

x, y = hl.Var("x"), hl.Var("y")
I32, F32, U8 = hl.Int(32), hl.Float(32), hl.UInt(8)


def pair() -> hl.Func:
    f = hl.Func("f")
    f[x] = (x, hl.f32(x) / 2)
    return f


def test_tuple_when_made() -> None:
    for made in (hl.Tuple(x, 1), hl.Tuple((x, 1)), hl.Tuple([x, 1])):
        assert (repr(made), len(made), made.size(), repr(made[1])) == ("Tuple(x, 1)", 2, 2, "1")
    assert repr(hl.Tuple(pair()[y])) == "Tuple(f[y].0, f[y].1)"
    assert hl.Tuple(x).size() == 1
    raised(hl.DefinitionError, lambda: hl.Tuple(*()), "at least one value")
    raised(hl.TypeMismatchError, lambda: hl.Tuple(x, "text"), "str")


def test_func_when_it_has_several_values() -> None:
    f = pair()
    assert (f.outputs(), f.types(), f.dimensions()) == (2, [I32, F32], 1)
    assert [repr(v) for v in f.values()] == ["x", "float32(x)/2.0f"]
    point = f[x + 1]
    assert (len(point), point.size(), [repr(v) for v in point]) == (2, 2, ["f[x + 1][0]", "f[x + 1][1]"])
    assert (point[1].index(), point[1].type(), repr(hl.Expr(point[1]))) == (1, F32, "f[x + 1].1")
    first, second = f[y]
    assert repr(first + 1) == "f[y].0 + 1"
    assert repr(second * 2) == "f[y].1*2.0f"


def test_func_of_one_value_when_it_is_given_a_tuple_of_one() -> None:
    f = hl.Func("f")
    f[x] = (x + 1,)
    assert (f.outputs(), repr(f[x] * 2)) == (1, "f[x]*2")
    raised(hl.DefinitionError, lambda: f[x][0], "one value")
    raised(hl.DefinitionError, lambda: list(f[x]), "one value")


def test_values_of_another_func_when_copied() -> None:
    f, g = pair(), hl.Func("g")
    g[x] = f[x + 1]
    assert g.types() == f.types()
    assert [a.tolist() for a in g.evaluate([3])] == [[1, 2, 3], [0.5, 1.0, 1.5]]


def test_update_when_every_right_side_is_read_first() -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 3)])
    f[x] = (x, 10 * x, 100)
    f[r.x] = (f[r.x][1], f[r.x][2], f[r.x][0])
    assert [a.tolist() for a in f.evaluate([4])] == [[0, 10, 20, 3], [100, 100, 100, 30], [0, 1, 2, 100]]
    assert [repr(v) for v in f.update_values(0)] == ["f[r.x].1", "f[r.x].2", "f[r.x].0"]


def test_update_when_numbers_take_the_type_of_their_component() -> None:
    f = hl.Func("f")
    f[x] = (hl.u8(x), hl.f32(x))
    f[1] = (7, 2)
    assert [v.type() for v in f.update_values(0)] == [U8, F32]
    assert [a.tolist() for a in f.evaluate([3])] == [[0, 7, 2], [0.0, 2.0, 2.0]]


def test_accumulation_when_it_is_of_several_values() -> None:
    f, g, r = pair(), hl.Func("g"), hl.RDom([(0, 3)])
    f[x] += (r.x, 1)
    g[x] *= (r.x + 1, hl.f32(2))
    assert [a.tolist() for a in f.evaluate([2])] == [[3, 4], [3.0, 3.5]]
    assert [a.tolist() for a in g.evaluate([1])] == [[6], [8.0]]
    assert g.values()[1].type() is F32


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [(lambda: x < 1, "Tuple(select(x < 1, x, 1), select(x < 1, y, 2))"),
     (lambda: (x < 1, y < 1), "Tuple(select(x < 1, x, 1), select(y < 1, y, 2))")],
)  # fmt: skip
def test_select_when_its_values_are_tuples(condition: Callable[[], hl.Expr], wanted: str) -> None:
    assert repr(hl.select(condition(), (x, y), (1, 2))) == wanted


def test_choice_when_its_values_are_tuples() -> None:
    f = pair()
    chosen = hl.select(x < 1, f[x], y < 2, (3, 0.5), f[y])
    assert repr(chosen[0]) == "select(x < 1, f[x].0, select(y < 2, 3, f[y].0))"
    assert repr(hl.mux(x, [(x, y), (y, x)])) == "Tuple(select(x == 0, x, y), select(x == 0, y, x))"
    two = hl.Func("two")
    two[x] = (x, x * 2)
    assert repr(hl.mux(y, two[x])) == repr(hl.mux(y, hl.Tuple(two[x]))) == "select(y == 0, two[x].0, two[x].1)"
    raised(hl.TypeMismatchError, lambda: hl.select(x < 1, (x, y), (1, 2, 3)), "2 and 3 values")
    raised(hl.TypeMismatchError, lambda: hl.select(x < 1, (x, y), 1), "2 and 1 values")
    raised(hl.TypeMismatchError, lambda: hl.select((x < 1, x < 2, x < 3), (x, y), (1, 2)), "2 and 3 values")
    raised(hl.TypeMismatchError, lambda: hl.mux(x, [(x, y), x]), "2 and 1 values")


def test_func_when_made_of_types_or_of_a_tuple() -> None:
    f = hl.Func([I32, F32], 1, "f")
    assert (f.types(), f.outputs(), f.dimensions()) == ([I32, F32], 2, 1)
    f[x] = (x, hl.f32(x))
    g = hl.Func([I32, F32], 1, "g")

    def other() -> None:
        g[x] = (x, x)

    with pytest.raises(hl.TypeMismatchError, match=r"\(int32, float32\) but is defined .* \(int32, int32\)"):
        other()
    raised(hl.DefinitionError, lambda: hl.Func([], 1, "f"), "Types")
    assert [int(v) for v in hl.Func(hl.Tuple(3, 4)).evaluate([])] == [3, 4]
    assert hl.evaluate((3, hl.f32(1) / 4)) == (3, 0.25)


def test_error_when_one_value_is_needed() -> None:
    f = pair()
    raised(hl.DefinitionError, lambda: f[x] + 1, '"f"', "2 values", "f[x][0]")
    raised(hl.DefinitionError, lambda: f[x] == f[y], "2 values")
    raised(hl.DefinitionError, lambda: hl.sqrt(f[x]), "2 values")
    raised(hl.DefinitionError, lambda: [f.type()], "types()")
    raised(hl.DefinitionError, lambda: [f.value()], "values()")
    raised(hl.DefinitionError, lambda: [f.output_buffer()], "output_buffers()")
    assert [(b.name(), b.type()) for b in f.output_buffers()] == [("f.0", I32), ("f.1", F32)]


def test_implicit_variables_when_a_tuple_has_them() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = (x + y, x - y)
    g[hl._] = (f[hl._][0], f[hl._][1] + 1)
    assert g.dimensions() == 2
    h = hl.Func("h")
    h[x, hl._] = f[x, hl._]
    assert (h.dimensions(), h.outputs()) == (2, 2)


@pytest.mark.parametrize("reduce", [hl.argmin, hl.argmax])
def test_place_of_an_extreme(reduce: Callable[..., hl.Tuple]) -> None:
    g, f, r = hl.Func("g"), hl.Func("f"), hl.RDom([(0, 5), (0, 2)])
    g[x, y] = hl.u8(hl.abs(x - 3) + y * 5)
    f[()] = reduce(r, g[r.x, r.y], "extreme")
    assert f.types() == [I32, I32, U8]
    values = np.abs(np.arange(5) - 3) + 5 * np.arange(2)[:, None]
    at = values.argmin() if reduce is hl.argmin else values.argmax()
    assert [int(v) for v in f.evaluate([])] == [at % 5, at // 5, values.flat[at]]


def test_place_of_an_extreme_when_several_are_equal_or_none_counts() -> None:
    r, f = hl.RDom([(2, 4)]), hl.Func("f")
    r.where(r.x < x)
    f[x] = hl.Tuple(*hl.argmax(r, hl.i32(r.x > 3) + hl.i32(x) * 0), *hl.argmin(r, hl.f32(r.x / 4)))
    found = [a.tolist() for a in f.evaluate([(0, 7)])]
    assert found[0] == [0, 0, 0, 2, 2, 4, 4]
    assert found[1][:3] == [-(2**31)] * 3
    assert found[2] == [0, 0, 0, 2, 2, 2, 2]
    assert found[3][:4] == [float("inf")] * 3 + [0.0]


def test_name_of_the_place_of_an_extreme() -> None:
    r = hl.RDom([(0, 5)])
    assert repr(hl.argmax(x + r.x)) == "Tuple(argmax[x].0, argmax[x].1)"
    assert repr(hl.argmin(r, x + r.x, "best")[1]) == "best[x].1"
    raised(hl.DefinitionError, lambda: hl.argmin(x), "argmin()", "RDom")
