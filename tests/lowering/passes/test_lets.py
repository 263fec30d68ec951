"""Lets as places are measured by: put in where more cancels than appears, each with its last value."""

from __future__ import annotations

import halide_core as hl
from halide_core import ir
from halide_core.ir import ExprNode
from halide_core.ir.types import INT32
from halide_core.lowering.passes.lets import Lets

a, b, x, y = (ir.index_variable(n) for n in "abxy")
many = [ir.index_variable(f"v{i}") for i in range(9)]


def total(terms: list[ir.Variable]) -> ExprNode:
    found: ExprNode = terms[0]
    for each in terms[1:]:
        found = ir.add(found, each)
    return found


def test_let_is_put_in_where_more_cancels() -> None:
    lets = Lets()
    lets.bind(x, ir.add(a, ir.i64(3)))
    assert lets.distance(x, a) == ir.i64(3)
    lets.bind(y, ir.add(x, ir.i64(4)))
    assert lets.distance(y, a) == ir.i64(7)
    assert lets.substituted(y) is ir.add(x, ir.i64(4))


def test_let_stays_where_as_much_appears() -> None:
    lets = Lets()
    lets.bind(x, ir.add(a, ir.i64(3)))
    assert "x" in repr(lets.distance(x, b))
    assert "a" not in repr(lets.distance(x, b))


def test_let_of_few_terms_is_put_in_and_of_many_not() -> None:
    lets = Lets()
    lets.bind(x, total(many[:8]))
    assert lets.distance(x, total(many[:8])) is ir.ZERO
    lets.bind(y, total(many))
    assert lets.distance(y, total(many)) is not ir.ZERO


def test_variable_that_is_bound_again_has_its_last_value() -> None:
    lets = Lets()
    lets.bind(x, ir.add(a, ir.i64(3)))
    lets.bind(x, ir.add(a, ir.i64(5)))
    assert lets.distance(x, a) == ir.i64(5)
    lets.bind(x, total(many))
    assert "x" in repr(lets.distance(x, a))


def test_bind_says_whether_the_variable_stood_for_something_else() -> None:
    lets = Lets()
    assert not lets.bind(x, a)
    assert not lets.bind(x, a)
    assert lets.bind(x, b)
    word = ir.Variable(INT32, "w")
    assert not lets.bind(word, ir.IntImm(INT32, 3))
    assert lets.bind(word, ir.IntImm(INT32, 4))


def test_variable_that_a_loop_binds_again_has_no_value() -> None:
    lets = Lets()
    assert not lets.release(x)
    lets.bind(x, ir.add(a, ir.i64(3)))
    assert lets.release(x)
    assert "x" in repr(lets.distance(x, a))
    assert lets.substituted(x) is x


def test_loop_reads_other_places_than_its_first_iteration_that_became_a_let() -> None:
    v, first = hl.Var("v"), hl.Param(hl.Int(32), "first")
    table, step, f = hl.Func("table"), hl.Func("step"), hl.Func("f")
    r = hl.RDom([(first + 1, 8)], "r")
    table[v] = v * v
    step[v] = table[v] + 1
    f[()] = 0
    f[()] += step[r] + step[r + 1] + table[r] * 1000
    table.compute_root()
    step.store_root().compute_at(f, r)
    first.set(2)
    assert f.realize([])[()] == f.evaluate([])
