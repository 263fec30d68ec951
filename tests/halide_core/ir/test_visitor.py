"""Walks over trees: the order in which nodes come, and when two trees are one."""

from __future__ import annotations

from dataclasses import replace

import halide_core as hl
from halide_core import ir
from halide_core.ir import Access, Binary, BinaryOp, ExprNode, IntImm, Load, Print, Ramp
from halide_core.ir.types import INT32, INT64
from halide_core.ir.visitor import (
    Rewriter,
    Substitution,
    alike,
    any_has,
    has,
    nodes_of,
    parts,
    subexpressions,
    walk,
)
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


def _table(index: ExprNode) -> ExprNode:
    return ir.cast(INT64, Load(INT32, "table", index))


def test_an_expression_knows_the_kinds_of_its_nodes() -> None:
    said = Print(INT64, a, ir.TRUE, ("x is", _table(b)))
    whole = ir.add(ir.minimum(a, ir.i64(7)), said)
    assert has(whole, Print) and has(whole, Load) and has(whole, IntImm) and has(whole, BinaryOp.MIN, BinaryOp.MAX)
    assert not has(whole, BinaryOp.MAX) and not has(whole, Access, Ramp)
    assert has(ir.Event(INT64, a, ir.TRUE, (), ir.EventCode.TAG, "f", False, 0, ""), Print)
    assert any_has([a, whole], Load) and not any_has([a, b], Load) and not any_has([], Load)


def test_nodes_of_a_kind_come_in_the_order_of_all() -> None:
    inner = _table(ir.add(_table(c), a))
    roots = [ir.add(inner, ir.mul(_table(b), _table(c))), b, _table(b), Load(INT32, "other", inner)]
    for kind in (Load, Binary, IntImm, ir.Variable, Ramp):
        assert list(nodes_of(roots, kind)) == [e for e in subexpressions(roots) if isinstance(e, kind)]
    assert len(list(nodes_of(roots, Load))) == 4


class _DoubledPlaces(Rewriter):
    def rewrite_Load(self, e: Load) -> ExprNode:
        return Load(e.type, e.buffer, ir.mul(self.expr(e.index), ir.i64(2)))


def test_rewriter_does_not_look_at_what_it_cannot_change() -> None:
    doubled = _DoubledPlaces()
    plain, mixed = ir.minimum(a, b), ir.add(ir.maximum(a, b), _table(_table(a)))
    assert doubled.expr(plain) is plain
    assert doubled._memo == {}
    twice = _table(ir.mul(_table(ir.mul(a, ir.i64(2))), ir.i64(2)))
    assert doubled.expr(mixed) is ir.add(ir.maximum(a, b), twice)


def test_substitution_finds_leaves_of_every_kind() -> None:
    table = _table(ir.add(a, c))
    whole = ir.add(ir.mul(table, b), ir.i64(5))
    assert Substitution({}).expr(whole) is whole
    assert Substitution({a: b}).expr(whole) is ir.add(ir.mul(_table(ir.add(b, c)), b), ir.i64(5))
    assert Substitution({a: c, b: a}).expr(whole) is ir.add(ir.mul(_table(ir.add(c, c)), a), ir.i64(5))
    assert Substitution({ir.i64(5): a, b: c}).expr(whole) is ir.add(ir.mul(table, c), a)
    assert Substitution({table: a}).expr(whole) is ir.add(ir.mul(a, b), ir.i64(5))
    unknown = ir.index_variable("d")
    assert Substitution({unknown: a}).expr(whole) is whole
