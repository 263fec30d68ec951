"""The condition for all lanes at once: it holds exactly where that of each lane does."""

from __future__ import annotations

import pytest

from halide_core import ir
from halide_core.analysis.simplify import simplify
from halide_core.ir import BinaryOp, ExprNode
from halide_core.ir.types import BOOL
from halide_core.ir.visitor import Substitution
from halide_core.lowering.passes.vectorize.vectorize import _for_all_lanes

lane, n, start = (ir.index_variable(name) for name in ("lane", "n", "start"))
LANES = 4


def truth(e: ExprNode, **values: int) -> int:
    """A condition's value."""
    found = simplify(Substitution({ir.index_variable(k): ir.i64(v) for k, v in values.items()}).expr(e))
    assert isinstance(found, ir.IntImm)
    return found.value


@pytest.mark.parametrize(
    "condition",
    [
        ir.less(lane, n),
        ir.less_equal(lane, n),
        ir.less(n, lane),
        ir.less_equal(n, lane),
        ir.less(ir.sub(n, lane), ir.mul(lane, ir.i64(2))),
        ir.less(ir.mul(lane, ir.i64(3)), ir.add(n, lane)),
        ir.conjunction(ir.less(lane, n), ir.less(ir.i64(2), lane)),
        ir.conjunction(ir.less(ir.i64(2), lane), ir.less(lane, n)),
        ir.less(n, ir.i64(3)),
    ],
)
def test_condition_of_all_lanes(condition: ExprNode) -> None:
    certain = _for_all_lanes(condition, lane, start, LANES)
    assert certain is not None
    for first in range(-3, 8):
        for size in range(-3, 12):
            wanted = all(truth(condition, lane=first + i, n=size) for i in range(LANES))
            assert truth(certain, start=first, n=size) == wanted


@pytest.mark.parametrize(
    "condition",
    [
        ir.less(ir.mod(lane, ir.i64(3)), n),
        ir.equal(lane, n),
        ir.binary(BinaryOp.OR, ir.less(lane, n), ir.less(n, lane)),
        ir.conjunction(ir.less(lane, n), ir.equal(lane, n)),
        ir.conjunction(ir.equal(lane, n), ir.less(lane, n)),
        ir.Not(BOOL, ir.less(lane, n)),
    ],
)
def test_condition_that_is_no_plain_bound(condition: ExprNode) -> None:
    assert _for_all_lanes(condition, lane, start, LANES) is None
