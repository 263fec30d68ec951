"""Reduction domains: names, bounds that are start-up expressions (definition 2.9), predicates."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from tests.support.raising import raised

x = hl.Var("x")


def test_variables_when_made_from_pairs_and_ranges() -> None:
    r = hl.RDom([(0, 3), hl.Range(1, 4), (2, 5), (3, 6), (4, 7)], "q")
    assert [v.name() for v in r] == ["q.x", "q.y", "q.z", "q.w", "q.4"]
    assert repr(r.y.min()) == "1"
    assert repr(r.w.extent()) == "6"
    assert len(r) == r.dimensions() == 5
    assert r[4].type() is hl.Int(32)
    assert hl.RDom([(0, 3)]).x.name() == "r.x"


def test_bounds_when_made_from_buffers() -> None:
    ip = hl.ImageParam(hl.UInt(8), 2, "ip")
    assert repr(hl.RDom(ip).y.extent()) == "int32(ip.extent.1)"
    b = hl.Buffer(np.zeros((3, 4)))
    b.set_min([5, 6])
    assert [(repr(v.min()), repr(v.extent())) for v in hl.RDom(b)] == [("5", "4"), ("6", "3")]


def test_bounds_become_int32_when_they_are_start_up_expressions() -> None:
    p, q = hl.Param(hl.Int(64), "p"), hl.Param(hl.UInt(8), "q")
    r = hl.RDom([(p, q + 1)])
    assert r.x.min().type() is r.x.extent().type() is hl.Int(32)


def test_bounds_error_when_they_are_not_known_at_the_start() -> None:
    g, r = hl.Func("g"), hl.RDom([(0, 3)], "outer")
    g[x] = x
    ip = hl.ImageParam(hl.Int(32), 1, "ip")
    raised(hl.DefinitionError, lambda: hl.RDom([(0, x)], "q"), '"q.x"', '"x"')
    raised(hl.DefinitionError, lambda: hl.RDom([(g[0], 3)]), '"g"')
    raised(hl.DefinitionError, lambda: hl.RDom([(0, ip[0])]), '"ip"')
    raised(hl.DefinitionError, lambda: hl.RDom([(0, r.x)]), '"outer.x"')
    raised(hl.DefinitionError, lambda: hl.RDom([(0, 2.5)]), "2.5")
    raised(hl.DefinitionError, lambda: hl.RDom([(0, 2**40)]), str(2**40))


def test_constructor_error_when_the_list_is_missing() -> None:
    raised(hl.DefinitionError, lambda: hl.RDom(0, 10), "[(min, extent), …]")  # type: ignore[arg-type]  # on purpose
    raised(hl.DefinitionError, lambda: hl.RDom([3]))  # type: ignore[list-item]  # on purpose


def test_expression_when_the_rdom_has_one_dimension() -> None:
    assert repr(hl.RDom([(0, 3)]) + 1) == "r.x + 1"
    raised(hl.DefinitionError, lambda: hl.RDom([(0, 1), (0, 2)]) + 1, "2 dimensions")


def test_missing_dimension_when_asked_for() -> None:
    r = hl.RDom([(0, 1)])
    raised(hl.DefinitionError, lambda: r.z, ".z")
    with pytest.raises(IndexError):
        r[1]


def test_where_joins_predicates_until_the_domain_is_used() -> None:
    r, f = hl.RDom([(0, 9)]), hl.Func("f")
    r.where(r.x > 1)
    r.where(r.x < 5)
    assert repr(r.domain.predicate) == "1 < r.x && r.x < 5"
    f[x] = 0
    f[r.x] = 1
    raised(hl.DefinitionError, lambda: r.where(r.x < 3), f"{__file__}:")


def test_rvar_when_it_only_names_a_loop() -> None:
    v = hl.RVar("v")
    assert v.name() == "v"
    raised(hl.DefinitionError, lambda: v + 1, '"v"')


def test_last_variable_by_a_negative_index() -> None:
    r = hl.RDom([(0, 3), (0, 4)], "r")
    assert repr(r[1]) == repr(r.y)
    with pytest.raises(KeyError, match="no dimension -1"):
        r[-1]
    with pytest.raises(IndexError, match="no dimension -3"):
        r[-3]
