"""Filling holes (definition 2.15): every hole becomes a value that is bound where its Func stands."""

from __future__ import annotations

import pytest

from halide_core.bounds.infer.substitute import fill
from halide_core.errors import InternalError
from halide_core.ir import Hole, Let
from halide_core.ir.visitor import stmt_exprs, subexpressions, walk
from tests.support.dumps import filled, histogram, tiled_blur, traced


@pytest.mark.parametrize("make", [lambda: tiled_blur()[1], lambda: histogram()[1]], ids=["blur", "histogram"])
def test_no_hole_is_left_when_all_are_answered(make) -> None:  # type: ignore[no-untyped-def]  # a lambda
    trace = traced(make())
    assert trace.query is not None and trace.answers is not None
    for stmt in walk(fill(trace.query.program, trace.answers)):
        assert not any(isinstance(e, Hole) for e in subexpressions(stmt_exprs(stmt)))


def test_answer_is_bound_inside_the_loop_where_its_func_is_computed() -> None:
    _bx, by = tiled_blur()
    lines = filled(by).splitlines()
    bound = next(i for i, line in enumerate(lines) if "let bx.s0.x.min" in line)
    loop = next(i for i, line in enumerate(lines) if "for by.s0.x.x" in line)
    used = next(i for i, line in enumerate(lines) if "let bx.s0.x = bx.s0.x.min" in line)
    assert loop < bound < used


def test_lets_come_before_what_uses_them() -> None:
    trace = traced(tiled_blur()[1])
    assert trace.query is not None and trace.answers is not None
    bound: list[object] = []
    for stmt in walk(fill(trace.query.program, trace.answers)):
        if isinstance(stmt, Let):
            assert stmt.var not in bound
            bound.append(stmt.var)


def test_error_when_an_engine_left_a_hole_open() -> None:
    trace = traced(tiled_blur()[1])
    assert trace.query is not None and trace.answers is not None
    missing = next(a for a in trace.answers.holes if a.func.name == "bx")
    trace.answers.holes.remove(missing)
    with pytest.raises(InternalError, match=r"hole \?cpu bx\.s0\.x\.(min|len) was not answered"):
        fill(trace.query.program, trace.answers)
