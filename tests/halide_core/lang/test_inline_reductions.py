"""Inline reductions: the Func that is made, and its values by the reference semantics."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import halide_core as hl
from tests.support.raising import raised

x, y = hl.Var("x"), hl.Var("y")


def ramp() -> hl.Func:
    g = hl.Func("g")
    g[x] = x
    return g


def of(e: hl.Expr) -> hl.Func:
    f = hl.Func("f")
    f[x] = e
    return f


@pytest.mark.parametrize(
    ("reduce", "expected"),
    [(hl.sum, [10, 15, 20]), (hl.product, [0, 120, 720]), (hl.maximum, [4, 5, 6]), (hl.minimum, [0, 1, 2])],
)
def test_value_when_reduced_over_an_rdom(reduce: Callable[..., hl.Expr], expected: list[int]) -> None:
    g, r = ramp(), hl.RDom([(0, 5)])
    assert of(reduce(g[x + r.x])).evaluate([3]).tolist() == expected
    assert of(reduce(r, g[x + r.x], "named")).evaluate([3]).tolist() == expected


def test_func_when_made_for_a_reduction() -> None:
    g, r, s = ramp(), hl.RDom([(0, 5)], "r"), hl.RDom([(0, 4)], "s")
    assert repr(hl.sum(g[x + r.x])) == "sum[x]"
    assert repr(hl.sum(g[x + r.x], "foo")) == "foo[x]"
    assert repr(hl.sum(r, g[x + r.x] + s.x)) == "sum[x, s.x]"
    assert repr(hl.sum(hl.RDom([(0, 3), (0, 3)]).x)) == "sum[]"
    assert hl.sum(hl.u8(r.x)).type() is hl.UInt(8)


def test_value_when_reductions_nest() -> None:
    r, s = hl.RDom([(0, 3)], "r"), hl.RDom([(0, 2)], "s")
    inner = hl.sum(s, x + 10 * r.x + s.x)
    assert of(hl.sum(r, inner)).evaluate([2]).tolist() == [63, 69]
    r, s = hl.RDom([(0, 3)]), hl.RDom([(0, 2)])  # both called "r"
    assert of(hl.sum(r, hl.sum(s, x + 10 * r.x + s.x))).evaluate([2]).tolist() == [63, 69]


def test_value_when_the_domain_has_a_predicate() -> None:
    r = hl.RDom([(0, 5)])
    r.where(r.x < x)
    assert of(hl.sum(r.x)).evaluate([4]).tolist() == [0, 0, 1, 3]
    assert of(hl.maximum(hl.f32(r.x))).evaluate([1]).tolist() == [float("-inf")]


def test_error_when_the_domain_is_not_clear() -> None:
    g, r, s = ramp(), hl.RDom([(0, 5)], "r"), hl.RDom([(0, 4)], "s")
    raised(hl.DefinitionError, lambda: hl.sum(g[x]), "sum()", "RDom")
    raised(hl.DefinitionError, lambda: hl.sum(g[x + r.x] + s.x), '"r.x"', '"s.x"')
    raised(hl.DefinitionError, lambda: hl.sum(name="s"), "value")
    raised(hl.DefinitionError, lambda: hl.argmax(r, r.x, "name", 3), "argmax()")
