"""What holds inside a loop: its variable's range, and that it runs at least once."""

from __future__ import annotations

import pytest

from halide_core import ir
from halide_core.facts import Facts
from halide_core.ir import Expr, Interval
from halide_core.simplify import simplify
from lowering.scoped import assume_loop

x, n, m = (ir.index_variable(name) for name in "xnm")


@pytest.mark.parametrize(
    ("low", "length", "e", "wanted"),
    [
        (ir.ZERO, n, ir.maximum(n, ir.ONE), n),
        (ir.ZERO, n, ir.maximum(n, ir.i64(2)), ir.maximum(n, ir.i64(2))),
        (ir.ZERO, n, ir.minimum(x, ir.sub(n, ir.ONE)), x),
        (ir.ZERO, n, ir.maximum(x, ir.ZERO), x),
        (m, n, ir.maximum(x, m), x),
        (m, n, ir.maximum(n, ir.ONE), n),
        (ir.i64(3), ir.i64(4), ir.minimum(x, ir.i64(6)), x),
        (ir.i64(3), ir.i64(4), ir.maximum(x, ir.i64(3)), x),
        (ir.i64(3), ir.i64(4), ir.less(x, ir.i64(7)), ir.TRUE),
        (ir.i64(3), ir.i64(4), ir.less(x, ir.i64(6)), ir.less(x, ir.i64(6))),
    ],
)
def test_what_holds_in_a_loop(low: Expr, length: Expr, e: Expr, wanted: Expr) -> None:
    facts = Facts()
    assume_loop(facts, x, Interval(low, length))
    assert simplify(e, facts) is simplify(wanted)
