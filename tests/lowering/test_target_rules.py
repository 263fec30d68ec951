"""Figure 2.8, rule by rule: what one step of the target language does. The stuck states are in ``test_interpreter``."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.algorithm.model import Function, Image, ScalarParam
from halide_core.errors import UNKNOWN_LOCATION
from halide_core.ir import (
    Access,
    Allocate,
    Assert,
    Block,
    ExprNode,
    Failure,
    For,
    If,
    Interval,
    Label,
    Let,
    LoopKind,
    LoopName,
    Provide,
    Stmt,
    i64,
)
from halide_core.ir.types import INT32
from halide_core.lowering.interpreter.machine import interpret
from halide_core.lowering.interpreter.memory_model import AssertionFailure, MemoryFault, RDomFailure, UndefinedValue
from halide_core.run.backend import Argument, ArgumentKind

x, v = ir.index_variable("x"), ir.index_variable("v")
out, g = (Function(n, ("x",), (INT32,)) for n in ("out", "g"))
image = Image("in", INT32, 1, UNKNOWN_LOCATION)
p = ScalarParam("p", INT32, UNKNOWN_LOCATION)
ARGUMENTS = (
    Argument.of(ArgumentKind.InputBuffer, "in", INT32, 1, image),
    Argument.of(ArgumentKind.InputScalar, "p", INT32, 0, p),
    Argument.of(ArgumentKind.OutputBuffer, "out", INT32, 1, out),
)


def run(*stmts: Stmt) -> list[int]:
    """The output's points 0 … 3 after some statements; ``in`` is 10, 11, 12, 13 and ``p`` is 7."""
    given = hl.Buffer(np.array([10, 11, 12, 13], np.int32))
    outcome = interpret(Block(stmts), ARGUMENTS, [given, 7], [hl.Buffer(INT32, [4])])
    values: list[int] = outcome.result(0, [(0, 4)]).tolist()
    return values


def i32(value: int) -> ExprNode:
    """A value."""
    return ir.const(value, INT32)


def at(f: ir.Callee, index: ExprNode) -> ExprNode:
    """A point of memory."""
    return Access(INT32, f, (index,), 0, ir.LAST_STAGE)


def put(index: ExprNode, value: ExprNode, f: Function = out) -> Stmt:
    """An assignment."""
    return Provide(f, 0, (index,), (value,))


def loop(low: ExprNode, length: ExprNode, *body: Stmt) -> Stmt:
    """A serial loop over ``x``."""
    return For(LoopName("f", 0, 0, "x"), x, Interval(low, length), LoopKind.SERIAL, True, Block(body))


FILL = loop(i64(0), i64(4), put(x, i32(1)))


def test_reduce_evaluates_what_stands_inside_first() -> None:
    # E[…]: the coordinate, the value, the bounds, the condition and the assertion are all expressions that step first.
    index = ir.cast(ir.ZERO.type, ir.binary(ir.BinaryOp.SUB, at(image, i64(1)), i32(9)))
    assert run(FILL, put(index, ir.add(at(image, i64(0)), i32(1)))) == [1, 1, 11, 1]
    bounds = ir.sub(ir.cast(ir.ZERO.type, at(image, i64(2))), i64(8))
    assert run(FILL, loop(i64(0), bounds, put(x, i32(5)))) == [5, 5, 5, 5]


def test_var_reads_the_environment() -> None:
    assert run(FILL, Let(v, i64(2), None), put(v, i32(8))) == [1, 1, 8, 1]


def test_nop_does_nothing() -> None:
    assert run(ir.NOTHING, FILL, ir.NOTHING) == [1, 1, 1, 1]


def test_assert_true_goes_on_and_assert_false_is_stuck() -> None:
    seven = ir.equal(ir.ParamRef(INT32, p), i32(7))
    assert run(Assert(seven, Failure.ASSERTION, ("no",)), FILL) == [1, 1, 1, 1]
    with pytest.raises(AssertionFailure, match="no"):
        run(Assert(ir.Not(seven.type, seven), Failure.ASSERTION, ("no",)), FILL)


def test_let_binds_for_what_follows() -> None:
    assert run(FILL, Let(v, i64(1), None), put(v, ir.cast(INT32, ir.add(v, v)))) == [1, 2, 1, 1]


def test_realize_binds_the_parameters() -> None:
    assert run(FILL, put(i64(0), ir.ParamRef(INT32, p))) == [7, 1, 1, 1]


def test_end_gives_the_output_of_the_store() -> None:
    with pytest.raises(UndefinedValue, match="never written"):
        run(ir.NOTHING)
    assert run(loop(i64(0), i64(4), put(x, at(image, x)))) == [10, 11, 12, 13]


def test_for_iterates_from_the_minimum_upward() -> None:
    # Each iteration sees what the one before it stored.
    chained = ir.Select(INT32, ir.less(i64(1), x), ir.add(at(out, ir.sub(x, i64(1))), i32(1)), i32(0))
    assert run(FILL, loop(i64(1), i64(3), put(x, chained))) == [1, 0, 1, 2]


def test_for_stops_at_length_zero_and_is_stuck_below() -> None:
    assert run(FILL, loop(i64(2), i64(0), put(i64(99), i32(0)))) == [1, 1, 1, 1]
    with pytest.raises(RDomFailure):
        run(FILL, loop(i64(2), i64(-1), put(x, i32(0))))


def test_if_takes_one_branch() -> None:
    def branch(condition: ExprNode) -> list[int]:
        return run(FILL, If(condition, put(i64(0), i32(3)), put(i64(1), i32(4))))

    assert branch(ir.less(i64(1), i64(2))) == [3, 1, 1, 1]
    assert branch(ir.less(i64(2), i64(1))) == [1, 4, 1, 1]
    assert run(FILL, If(ir.FALSE, put(i64(0), i32(3)), None)) == [1, 1, 1, 1]


def test_assignment_shadows_one_point_inside_the_bounds() -> None:
    assert run(FILL, put(i64(3), i32(6)), put(i64(3), i32(9))) == [1, 1, 1, 9]
    with pytest.raises(MemoryFault):
        run(FILL, put(i64(4), i32(6)))


def test_allocate_gives_memory_without_values() -> None:
    box = (Interval(i64(-1), i64(2)),)
    stored = Block((Allocate(g, box), put(i64(-1), i32(5), g), put(i64(0), at(g, i64(-1)))))
    assert run(FILL, stored) == [5, 1, 1, 1]
    anew = Block((Allocate(g, box), put(i64(0), at(g, i64(-1)))))
    with pytest.raises(UndefinedValue):
        run(FILL, stored, anew)


def test_read_gives_what_is_stored_inside_the_bounds() -> None:
    assert run(FILL, put(i64(1), at(image, i64(3)))) == [1, 13, 1, 1]
    with pytest.raises(MemoryFault):
        run(FILL, put(i64(1), at(image, i64(-1))))


def test_eval_applies_total_operators() -> None:
    by_zero = ir.binary(ir.BinaryOp.DIV, at(image, i64(0)), i32(0))
    remainder = ir.binary(ir.BinaryOp.MOD, at(image, i64(0)), i32(-4))
    assert run(FILL, put(i64(0), by_zero), put(i64(1), remainder)) == [0, 2, 1, 1]


def test_label_is_its_statement() -> None:
    assert run(Label(out, None, Label(out, 0, FILL))) == [1, 1, 1, 1]
