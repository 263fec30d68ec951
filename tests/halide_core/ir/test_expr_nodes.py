"""Expressions that are built alike are one object, whoever builds them, and no longer kept than they are used."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier
from time import sleep
from typing import Any, cast

import pytest

from halide_core import ir
from halide_core.ir import ExprNode, expr_nodes
from halide_core.ir.types import INT64


def sums(count: int, first: int = 0) -> list[ExprNode]:
    """Expressions of many nodes."""
    x = ir.index_variable("x")
    return [ir.add(ir.mul(x, ir.i64(i)), ir.sub(ir.i64(-i), x)) for i in range(first, first + count)]


def test_threads_build_the_same_objects() -> None:
    with ThreadPoolExecutor(4) as pool:
        built = list(pool.map(sums, [2000] * 8))
    for other in built[1:]:
        assert all(a is b for a, b in zip(built[0], other, strict=True))


def test_kind_of_node_that_extends_another_is_built_by_itself() -> None:
    number = ir.i64(3)

    @dataclass(frozen=True, slots=True, eq=False, repr=False)
    class Named(ir.IntImm):
        name: str

    named = Named(INT64, 3, "three")
    assert type(named) is Named and named.name == "three" and named is not number
    assert Named(INT64, 3, "three") is named is not Named(INT64, 3, "drei")
    assert ir.IntImm(INT64, 3) is number


def test_threads_that_are_first_share_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    written = expr_nodes._HashConsed._written

    def slowly(cls: Any) -> Any:
        sleep(0.05)
        return written(cls)

    @dataclass(frozen=True, slots=True, eq=False, repr=False)
    class Numbered(ir.IntImm):
        number: int

    monkeypatch.setattr(expr_nodes._HashConsed, "_written", slowly)
    together = Barrier(4)

    def make(_: int) -> ir.ExprNode:
        together.wait()
        return Numbered(INT64, 3, 7)

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(make, range(4)))) == 1


def test_the_table_forgets_nodes_that_nobody_has() -> None:
    table = cast(Any, type(ir.Binary)).__call__.__globals__["keep"].__self__.known
    kept, before = sums(100), len(table)
    for i in range(40):
        sums(2000, 2000 * i)
    assert len(table) < 2 * before + 40_000, "of 240,000 nodes at most 6,000 are alive at a time"
    assert all(a is b for a, b in zip(kept, sums(100), strict=True))
