"""Walks over trees: the order in which nodes come, and when two trees are one."""

from __future__ import annotations

from dataclasses import replace

import halide_core as hl
from halide_core import ir
from halide_core.ir.visitor import alike, parts, subexpressions, walk
from halide_core.lowering.driver import LoweringTrace, lower

a, b, c = (ir.index_variable(name) for name in "abc")


def test_operands_come_before_their_users_and_each_node_once() -> None:
    shared = ir.mul(a, b)
    whole = ir.add(ir.minimum(shared, c), ir.maximum(c, ir.add(shared, a)))
    order = list(subexpressions((whole, shared, c, whole)))
    assert len(order) == len(set(order))
    assert order[:4] == [a, b, shared, c]
    assert order[-1] is whole
    for at, e in enumerate(order):
        assert set(parts(e)) <= set(order[:at])
    assert list(subexpressions(())) == []


def test_trees_are_alike_where_all_of_their_statements_are() -> None:
    x, f, trace = hl.Var("x"), hl.Func("f"), LoweringTrace()
    f[x] = hl.i32(x) + 1
    f.vectorize(x, 4)
    lower(f._request(), trace=trace)
    for _, tree in trace.passes:
        copy = replace(tree)  # type: ignore[type-var]
        assert copy is not tree and alike(copy, tree)
        assert not any(alike(tree, s) for s in walk(tree) if s is not tree)


def test_trees_differ_where_an_expression_does() -> None:
    def written(value: ir.ExprNode, *, atomic: bool = False) -> ir.Stmt:
        return ir.block([ir.Store("f", a, value, atomic), ir.Store("g", a, b, False)])

    assert alike(written(a), written(a))
    assert not alike(written(a), written(b))
    assert not alike(written(a), written(a, atomic=True))
    assert not alike(written(a), ir.Store("f", a, a, False))
    assert not alike(ir.Let(a, b, None), ir.Let(a, b, ir.Interval(b, c)))
    assert alike(ir.Let(a, b, ir.Interval(b, c)), ir.Let(a, b, ir.Interval(b, c)))
