"""Lemmas about products between their corners: true wherever the facts of their context are, and enough."""

from __future__ import annotations

from itertools import product

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.algorithm.model import ScalarParam
from halide_core.bounds.smt.corners import corner_lemmas
from halide_core.bounds.verify.vc import Claim, ClaimKind, Context, Status, nothing
from halide_core.errors import UNKNOWN_LOCATION
from halide_core.ir import ExprNode, Interval, ParamRef, Variable
from halide_core.ir.types import INT64
from halide_core.reference.concrete import evaluate

p, x, y = (Variable(INT64, name) for name in ("p", "x", "y"))
low, high = (ParamRef(INT64, ScalarParam(name, INT64, UNKNOWN_LOCATION)) for name in ("low", "high"))
NUMBERS = range(-2, 3)
ROWS = nothing().ranges(x, Interval(low, ir.add(ir.sub(high, low), ir.ONE)))
FORMS = [
    ir.mul(x, x),
    ir.mul(x, p),
    ir.mul(ir.sub(x, p), ir.add(x, ir.ONE)),
    ir.mul(ir.sub(p, x), x),
    ir.mul(ir.minimum(x, p), ir.maximum(x, p)),
    ir.mul(x, ir.mul(x, p)),
    ir.mul(p, ir.sub(p, x)),
]


def claim(e: ExprNode, context: Context) -> Claim:
    return Claim(ClaimKind.MEMORY, "f", ("it is there",), context, ir.less_equal(e, p))


def holds(context: Context, values: dict[ExprNode, int]) -> bool:
    return all(evaluate(fact, values) for fact in context.unchecked())


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_lemmas_hold_where_the_facts_do(form: ExprNode) -> None:
    lemmas = corner_lemmas(claim(form, ROWS))
    assert lemmas
    for values in product(NUMBERS, repeat=4):
        at: dict[ExprNode, int] = dict(zip((low, high, p, x), values, strict=True))
        assert not holds(ROWS, at) or all(evaluate(e, at) for e in lemmas)


def test_lemmas_go_from_the_innermost_loop_outwards_through_lets() -> None:
    """``y`` is between ``x`` and ``x + 2``: its corners vary with x, and a let names one of its ends."""
    last = Variable(INT64, "last")
    context = ROWS.defines(last, ir.add(x, ir.i64(2))).holds(ir.less_equal(x, y), ir.less_equal(y, last))
    lemmas = corner_lemmas(claim(ir.mul(y, p), context))
    assert any("high" in str(e) and "y" not in str(e) for e in lemmas)
    for values in product(NUMBERS, repeat=5):
        at: dict[ExprNode, int] = dict(zip((low, high, p, x, y), values, strict=True))
        at[last] = at[x] + 2
        assert not holds(context, at) or all(evaluate(e, at) for e in lemmas)


def test_there_are_no_lemmas_of_what_grows_and_falls_or_has_one_end() -> None:
    assert corner_lemmas(claim(ir.mul(ir.mod(x, p), p), ROWS)) == []
    assert corner_lemmas(claim(ir.mul(x, p), nothing().holds(ir.less_equal(low, x)))) == []
    assert corner_lemmas(claim(ir.mul(x, ir.i64(3)), ROWS)) == []


def coordinates(x: hl.Var, y: hl.Var, p: hl.Param) -> dict[str, hl.Expr]:
    return {"square": y * y, "product": x * y, "of neighbours": (y + 1) * (x - 1), "of Params": p * p + y}


@pytest.mark.parametrize("name", ["square", "product", "of neighbours", "of Params"])
def test_reads_at_a_product_of_coordinates_are_certified(name: str) -> None:
    x, y = hl.Var("x"), hl.Var("y")
    image = hl.ImageParam(hl.Float(32), 2, "image")
    w, o, twin = hl.Func("w"), hl.Func("o"), hl.Func("twin")
    w[x, y] = hl.BoundaryConditions.repeat_edge(image)[x, y]
    at = coordinates(x, y, hl.Param(hl.Int(32), "p"))[name]
    o[x, y] = w[x, y + 1] + w[x + 1, at]
    twin[x, y] = w[x, y + 1] + w[x + 1, at]
    w.compute_root()
    results = hl.Pipeline([o, twin]).certify().results
    assert {r.status for r in results} <= {Status.PROVEN, Status.ASSERTED}


def test_reads_at_a_multiple_of_a_param_of_any_sign_are_certified_where_loops_are_shared() -> None:
    """At some points of the shared loops one of the two outputs needs nothing of ``w``."""
    x, y = hl.Var("x"), hl.Var("y")
    image, p = hl.ImageParam(hl.UInt(8), 2, "image"), hl.Param(hl.Int(32), "p")
    w, o, twin = hl.Func("w"), hl.Func("o"), hl.Func("twin")
    w[x, y] = hl.BoundaryConditions.repeat_edge(image)[(y + 2) * p, y]
    o[x, y] = w[x, -y] + w[x, 1 - y]
    twin[x, y] = w[x, -y] + w[x, 1 - y]
    w.clone_in(o)
    twin.compute_with(o, x)
    results = hl.Pipeline([o, twin]).certify().results
    assert {r.status for r in results} <= {Status.PROVEN, Status.ASSERTED}
