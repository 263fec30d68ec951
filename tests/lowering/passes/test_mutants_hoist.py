"""Leading statements of a loop's body leave it where nothing ties them to the loop: trees by hand, one step each."""

from __future__ import annotations

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.ir import Access, Block, ExprNode, For, If, Interval, Let, LoopKind, LoopName, Provide, Stmt
from halide_core.ir.printer import format_stmt
from halide_core.ir.types import INT32
from halide_core.lowering.passes.hoist import hoist_invariants

X, J, U, V, W = (ir.index_variable(n) for n in "xjuvw")
F = hl.Func("f")
F[hl.Var("x")] = 0


def write(at: ExprNode) -> Stmt:
    """``f[at] = 1``."""
    return Provide(F.function, 0, (at,), (ir.const(1, INT32),))


def loop(body: Stmt, var: ir.Variable = X) -> For:
    """``for var in (0, 9): body``."""
    bounds = Interval(ir.ZERO, ir.i64(9))
    return For(LoopName("f", 0, 0, var.name), var, bounds, LoopKind.SERIAL, pure=True, body=body)


def let(var: ir.Variable, value: ExprNode) -> Let:
    """``let var = value``."""
    return Let(var, value, None)


def block(*stmts: Stmt) -> Block:
    """Statements in order."""
    return Block(stmts)


READS = Access(INT32, F.function, (J,), 0, None)
TIED, FREE, MEMORY = ir.less(X, J), ir.less(J, ir.i64(5)), ir.equal(READS, ir.const(0, INT32))


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (block(let(V, J), write(V)), block(let(V, J), loop(write(V)))),
        (block(let(V, X), write(V)), loop(block(let(V, X), write(V)))),
        (
            block(let(V, X), let(W, J), write(ir.add(V, W))),
            block(let(W, J), loop(block(let(V, X), write(ir.add(V, W))))),
        ),
        (block(let(V, X), let(W, V), write(W)), loop(block(let(V, X), let(W, V), write(W)))),
        (block(let(V, J), let(W, V), write(W)), block(let(V, J), let(W, V), loop(write(W)))),
        (If(FREE, write(X), None), If(FREE, loop(write(X)), None)),
        (If(TIED, write(X), None), loop(If(TIED, write(X), None))),
        (If(MEMORY, write(X), None), loop(If(MEMORY, write(X), None))),
        (If(FREE, write(X), write(J)), loop(If(FREE, write(X), write(J)))),
        (If(TIED, If(FREE, write(X), None), None), If(FREE, loop(If(TIED, write(X), None)), None)),
        (block(let(V, J), If(FREE, write(V), None)), block(let(V, J), If(FREE, loop(write(V)), None))),
        (If(FREE, block(let(V, J), write(V)), None), If(FREE, block(let(V, J), loop(write(V))), None)),
        (If(TIED, block(let(V, X), write(V)), None), loop(If(TIED, block(let(V, X), write(V)), None))),
        (
            block(let(V, J), let(W, V), let(U, W), write(U)),
            block(let(V, J), let(W, V), let(U, W), loop(write(U))),
        ),
        (block(let(V, J)), block(let(V, J), loop(block()))),
        (block(), loop(block())),
        (block(write(X), let(V, J), write(V)), loop(block(write(X), let(V, J), write(V)))),
        (block(let(V, J), write(V), write(X)), block(let(V, J), loop(block(write(V), write(X))))),
    ],
)
def test_step_leaves_the_loop_where_nothing_ties_it(body: Stmt, wanted: Stmt) -> None:
    assert format_stmt(hoist_invariants(loop(body))) == format_stmt(wanted)


def test_step_leaves_every_loop_that_it_can() -> None:
    nest = loop(loop(block(let(V, J), let(W, X), write(ir.add(V, W))), ir.index_variable("k")))
    wanted = block(let(V, J), loop(block(let(W, X), loop(write(ir.add(V, W)), ir.index_variable("k")))))
    assert format_stmt(hoist_invariants(nest)) == format_stmt(wanted)


def test_loop_without_such_steps_stays_the_same_object() -> None:
    nest = loop(write(X))
    assert hoist_invariants(nest) is nest
