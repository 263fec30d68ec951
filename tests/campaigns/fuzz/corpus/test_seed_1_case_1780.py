"""Found by the fuzzer as case 1/1780, and made small."""

# ruff: noqa: E501

from __future__ import annotations

import numpy as np  # inputs are made with it

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# floor: argument_bounds:
# the baseline's program runs, and gives the reference's values


def build(scheduled: bool) -> Built:
    _0 = hl.Var("_0")
    _1 = hl.Var("_1")
    x = hl.Var("x")
    y = hl.Var("y")
    p1 = hl.Param(hl.Int(32), "p1", 0)
    in4_data = hl.Buffer(np.asarray(np.random.default_rng(570).integers(0, 1, (24, 12), np.uint8, endpoint=True), np.bool_))
    in4_data.set_min([0, 3])
    in4 = hl.ImageParam(hl.Bool(), 2, "in4")
    in4.set(in4_data)
    b5 = hl.BoundaryConditions.mirror_interior(in4, [(0, 12), (3, 24)])
    f6 = hl.Func("f6")
    f6[x] = hl.Expr(hl.select(b5[hl.cast(hl.Int(32), hl.cast(hl.UInt(8), hl.clamp(x, hl.i32(-6), hl.i32(0)))), 0], hl.cast(hl.UInt(64), b5[x + hl.clamp(p1, hl.i32(-1), hl.i32(2)), (x + 1) // 3]), hl.cast(hl.UInt(64), 8)))
    f7 = hl.Func("f7")
    f7[x, y] = hl.Expr(hl.cast(hl.UInt(32), f6[x]) * hl.cast(hl.UInt(32), 0))
    result = [f7], [[(0, 1), (0, 1)]]
    if not scheduled:
        return result
    b5.compute_at(f7, hl.Var("x"))
    b5.vectorize(hl.Var("_0"), 1, hl.TailStrategy.RoundUp)
    b5.specialize(p1 >= 1)
    return result


def test_judges_agree() -> None:
    check(build, Judges(0))
