"""Found by the fuzzer as case 1/197."""

# ruff: noqa: E501

from __future__ import annotations

import numpy as np  # inputs are made with it

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# certificate: undecided int64:
# A fused loop is no longer than int64 can count: a start-up check, made without the product.


def build(scheduled: bool) -> Built:
    _0 = hl.Var("_0")
    _1 = hl.Var("_1")
    x = hl.Var("x")
    y = hl.Var("y")
    in2_data = hl.Buffer(np.asarray(np.random.default_rng(989).integers(0, 100, (5, 3), np.uint32, endpoint=True), np.uint32))
    in2 = hl.ImageParam(hl.UInt(32), 2, "in2")
    in2.set(in2_data)
    b3 = hl.BoundaryConditions.repeat_edge(in2, [(1, 2), (1, 4)])
    f8 = hl.Func("f8")
    f8[x, y] = hl.Expr(hl.min(hl.clamp(hl.cast(hl.UInt(8), b3[hl.clamp(hl.cast(hl.Int(32), b3[hl.max(x, x - 1), y - 2]), hl.i32(0), hl.i32(7)), y + 3]), hl.cast(hl.UInt(8), b3[x, y + 1]), hl.cast(hl.UInt(8), b3[x - 2, y])), hl.cast(hl.UInt(8), b3[x + 1, -y])))
    result = [f8], [[(0, 0), (0, 0)]]
    if not scheduled:
        return result
    f8.vectorize(hl.Var("x"), 1, hl.TailStrategy.ShiftInwards)
    f8.split(hl.Var("y"), hl.Var("yo"), hl.Var("y"), 4, hl.TailStrategy.RoundUp)
    f8.fuse(hl.Var("y"), hl.Var("x"), hl.Var("yx"))
    f8.split(hl.Var("yx"), hl.Var("yxo"), hl.Var("yxi"), 7)
    f8.unroll(hl.Var("yxi"))
    b3.compute_root()
    b3.fuse(hl.Var("_0"), hl.Var("_1"), hl.Var("_0_1"))
    b3.unroll(hl.Var("_0_1"), 5, hl.TailStrategy.GuardWithIf)
    b3.split(hl.Var("_0_1"), hl.Var("_0_1o"), hl.Var("_0_1i"), 5)
    b3.split(hl.Var("_0_1o"), hl.Var("_0_1o"), hl.Var("_0_1oi"), 8)
    return result


def test_judges_agree() -> None:
    check(build, Judges.CERTIFICATE)
