"""Implicit variables: what ``_`` stands for on either side of a definition."""

from __future__ import annotations

import numpy as np

import halide_core as hl
from tests.support.raising import raised

x, y = hl.Var("x"), hl.Var("y")


def _two_dimensional(name: str = "f") -> hl.Func:
    f = hl.Func(name)
    f[x, y] = x * 10 + y
    return f


def test_placeholder_stands_for_all_dimensions() -> None:
    f, g = _two_dimensional(), hl.Func("g")
    g[hl._] = f[hl._] + 1
    assert [v.name() for v in g.args()] == ["_0", "_1"]
    assert np.array_equal(np.asarray(g.realize([3, 4])), np.asarray(f.realize([3, 4])) + 1)


def test_placeholder_stands_for_the_last_or_the_first_dimension() -> None:
    f, last, first = _two_dimensional(), hl.Func("last"), hl.Func("first")
    last[x, hl._] = f[x, hl._]
    first[hl._, y] = f[hl._, y]
    assert [v.name() for v in last.args()] == ["x", "_0"]
    assert [v.name() for v in first.args()] == ["_0", "y"]
    expected = [[10 * i + j for i in range(2)] for j in range(3)]
    assert np.asarray(last.realize([2, 3])).tolist() == expected
    assert np.asarray(first.realize([2, 3])).tolist() == expected


def test_placeholder_in_inputs_and_updates() -> None:
    data = np.arange(6, dtype=np.uint8).reshape(2, 3)
    ip, f = hl.ImageParam(hl.UInt(8), 2, "ip"), hl.Func("f")
    f[hl._] = ip[hl._] + hl.Buffer(data)[hl._]
    f[hl._] = f[hl._] * 2
    ip.set(data)
    assert np.asarray(f.realize([3, 2])).tolist() == (data * 4).tolist()


def test_placeholder_of_nothing() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[hl._] = 7
    g[x, y, hl._] = _two_dimensional()[x, y, hl._]
    assert (f.dimensions(), g.dimensions(), hl.evaluate(f[()])) == (0, 2, 7)


def test_implicit_variables_by_name() -> None:
    f = hl.Func("f")
    f[hl._0, hl._1] = hl._0 * 10 + hl._1
    assert np.asarray(f.realize([2, 2])).tolist() == [[0, 10], [1, 11]]
    assert [hl.Var.implicit(3).name(), hl._9.implicit_index(), x.implicit_index()] == ["_3", 9, -1]
    assert (hl._.is_placeholder(), hl._0.is_placeholder(), hl._0.is_implicit(), x.is_implicit()) == (
        True, False, True, False,
    )  # fmt: skip


def test_accumulation_in_all_dimensions_of_its_value() -> None:
    f, g, h = _two_dimensional(), hl.Func("g"), hl.Func("h")
    g[hl._] += f[hl._]
    h[x, hl._] -= f[x, hl._]
    for each, sign in ((g, 1), (h, -1)):
        assert each.dimensions() == 2
        assert each.num_update_definitions() == 1
        np.testing.assert_array_equal(np.asarray(each.realize([3, 4])), sign * f.evaluate([3, 4]))


def test_placeholder_where_it_means_nothing() -> None:
    f, undefined = _two_dimensional(), hl.Func("undefined")
    raised(hl.DefinitionError, lambda: f[hl._, x, hl._], '"f"', '"_"', "2 times")
    raised(hl.DefinitionError, lambda: f[x, y, x, hl._], '"f"', "2 dimensions", "3")
    raised(hl.DefinitionError, lambda: 1 + undefined[hl._], '"undefined"', '"_"')
    raised(hl.DefinitionError, lambda: hl.Var.implicit(10), "10")


def test_implicit_variables_of_an_expression_are_the_dimensions_of_the_func_made_of_it() -> None:
    f, of_func, pair = hl.Func(hl._0 * 2 + hl._1), hl.Func(_two_dimensional()[hl._] + 1), hl.Func(hl.Tuple(hl._0, 3))
    assert [v.name() for v in f.args()] == ["_0", "_1"]
    assert np.asarray(f.realize([3, 2])).tolist() == [[0, 2, 4], [1, 3, 5]]
    assert np.asarray(of_func.realize([2, 2])).tolist() == [[1, 11], [2, 12]]
    assert [np.asarray(v).tolist() for v in pair.realize([2])] == [[0, 1], [3, 3]]
    assert hl.Func(hl.Expr(3)).dimensions() == 0
