"""Several Vars or Funcs by one call."""

from __future__ import annotations

from typing import Any

import halide_core as hl
from tests.support.raising import raised


def test_each_name_is_one() -> None:
    x, y = hl.vars("x y")
    f, g = hl.funcs("f  g")
    assert (x.name(), y.name(), f.name(), g.name()) == ("x", "y", "f", "g")
    f[x, y] = x + y
    g[x] = f[x, 1]
    assert g.realize([3])[2] == 3


def test_names_are_one_text() -> None:
    bad: Any = ["x", "y"]
    raised(hl.TypeMismatchError, lambda: hl.vars(bad), "vars()", "'x', 'y'")
    raised(hl.TypeMismatchError, lambda: hl.funcs(bad), "funcs()", "'x', 'y'")


def test_there_is_a_name() -> None:
    raised(hl.DefinitionError, lambda: hl.vars(""), "vars()", "at least one name")
    raised(hl.DefinitionError, lambda: hl.funcs("  "), "funcs()", "at least one name")
