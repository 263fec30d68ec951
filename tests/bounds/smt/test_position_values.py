"""Positions made of numbers: what they are worth where a guard, and no range, says how far they go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import z3

import halide_core as hl
from halide_core import ir
from halide_core.bounds.smt.terms import Z3Terms
from halide_core.bounds.smt.z3_api import number_of, unknowns_in
from halide_core.ir.types import INT64
from halide_core.lang.expr import as_node
from halide_core.reference.concrete import evaluate

x = hl.Var("x")
Position = Callable[[hl.Expr], hl.Expr]


def real(e: hl.Expr) -> hl.Expr:
    return hl.cast(hl.Float(32), e)


def whole(e: hl.Expr) -> hl.Expr:
    return hl.cast(hl.Int(32), e)


POSITIONS: dict[str, Position] = {
    "grows": lambda i: whole(hl.floor((real(i + 1) + 0.5) * 0.5 - 0.5)),
    "falls": lambda i: whole(hl.trunc(real(i) * -1.5 + 0.25)),
    "at whole numbers": lambda i: whole(real(i) * 0.5),
    "of a root": lambda i: whole(hl.sqrt(real(i * 3))),
}


def reading(position: Position, length: int, tail: hl.TailStrategy) -> hl.Func:
    """A Func that reads another at positions of a reduction whose last step is not whole."""
    b, w, r = hl.Func("b"), hl.Func("w"), hl.RDom([(1, length)], "r")
    b[x] = x
    w[x] = 0
    w[x] += b[position(r.x)]
    b.compute_root()
    w.update(0).unroll(r.x, 4, tail)
    return w


@pytest.mark.parametrize("tail", [hl.TailStrategy.GuardWithIf, hl.TailStrategy.PredicateLoads])
@pytest.mark.parametrize("length", [2, 9])
@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_position_under_a_guard_is_proven(position: Position, length: int, tail: hl.TailStrategy) -> None:
    assert not reading(position, length, tail).certify().failures


@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_what_is_said_holds_of_the_function(position: Position) -> None:
    """Whatever a state says that it is worth somewhere, the facts against it are true of the function everywhere."""
    context = z3.Context()
    terms = Z3Terms(context=context)
    variable = ir.pure_variable("x")
    e = ir.cast(INT64, as_node(position(x)))
    term = terms.of(e)
    (unknown,) = (z for z in unknowns_in(term.z) if str(z).startswith("o"))
    argument = terms.of(ir.cast(INT64, variable)).z
    said: set[int] = set()
    for at in range(0, 40, 7):
        state = {unknown.get_id(): -1000, argument.get_id(): at}
        said.update(terms.placed.broken(term.axioms, lambda z, state=state: _worth(z, state), 10))
    assert len(said) == 2 * len(range(0, 40, 7))
    for at in range(40):
        solver = z3.Solver(ctx=context)
        solver.add(argument == at, term.z == int(evaluate(e, {variable: at})))
        solver.add(z3.Not(z3.And(*(terms.axioms[n] for n in said))))
        assert solver.check() == z3.unsat


def _worth(z: Any, state: dict[int, int]) -> int:
    """The value of a term where its unknowns are worth what a state says."""
    values = [(u, z3.IntVal(state[u.get_id()], u.ctx)) for u in unknowns_in(z) if u.get_id() in state]
    return number_of(z3.simplify(z3.substitute(z, *values)))
