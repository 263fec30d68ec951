"""Extern stages that a run's Params rule out: their C functions are not called, and no value changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import halide_core as hl
from halide_core.algorithm.model import Function
from halide_core.algorithm.read_by_params import segment_reads

x = hl.Var("x")
p, q = hl.Param(hl.Bool(), "p"), hl.Param(hl.Bool(), "q")


def _func(name: str, value: hl.Expr) -> hl.Func:
    f = hl.Func(name)
    f[x] = value
    return f


def _read(f: hl.Func, **params: bool) -> set[str] | None:
    found = segment_reads([f._function])
    if found is None:
        return None
    return {each.name for each in found.needed(lambda test: params[repr(test)]) if isinstance(each, Function)}


@pytest.fixture
def e() -> hl.Func:
    return _func("e", x * 2)


def test_cases_that_params_rule_out_are_not_read(e: hl.Func) -> None:
    f = _func("f", hl.select(p, e[x], 3))
    assert [_read(f, p=False), _read(f, p=True)] == [{"f"}, {"f", "e"}]


def test_what_is_not_read_reads_nothing(e: hl.Func) -> None:
    f = _func("f", hl.select(p, _func("g", hl.select(q, 1, e[x]))[x], 3))
    assert _read(f, p=False, q=False) == {"f"}
    assert [_read(f, p=True, q=True), _read(f, p=True, q=False)] == [{"f", "g"}, {"f", "g", "e"}]


@pytest.mark.parametrize(
    "value",
    [
        lambda e: hl.select(p, _func("table", x)[e[x]], 3),
        lambda e: hl.select(p, hl.print(e[x]), 3),
        lambda e: hl.select(p, e[x], 3) + hl.select(e[x] > 3, 1, 2),
        lambda e: hl.select(p, e[x], 3) + hl.select(q, 1, e[x]),
    ],
    ids=["index", "print", "condition", "other"],
)
def test_whatever_else_reads_it_reads_it_always(e: hl.Func, value: Callable[[hl.Func], hl.Expr]) -> None:
    read = _read(_func("f", value(e)), p=False, q=False)
    assert read is None or "e" in read


def test_what_is_known_of_points_rules_nothing_out(e: hl.Func) -> None:
    assert _read(_func("f", hl.select(p & (x > 3), e[x], 3))) is None


def test_what_is_shown_is_computed(e: hl.Func) -> None:
    f = _func("f", hl.select(p, e[x], 3))
    e.compute_root().trace_stores()
    assert _read(f) is None
