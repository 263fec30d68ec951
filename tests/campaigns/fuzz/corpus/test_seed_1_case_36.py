"""Found by the fuzzer as case 1/36."""

# ruff: noqa: E501

from __future__ import annotations

import numpy as np  # inputs are made with it

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# certificate: undecided int32:
# A coordinate that mirrors: what is chosen among int32 numbers is one, whatever it is chosen by.


def build(scheduled: bool) -> Built:
    _0 = hl.Var("_0")
    _1 = hl.Var("_1")
    x = hl.Var("x")
    p1 = hl.Param(hl.Int(32), "p1", -2)
    p1.set_range(-2, 6)
    in4_data = hl.Buffer(np.asarray(np.random.default_rng(248).integers(0, 1, (31, 7), np.uint8, endpoint=True), np.bool_))
    in4_data.set_min([-6, -6])
    in4 = hl.ImageParam(hl.Bool(), 2, "in4")
    in4.set(in4_data)
    b5 = hl.BoundaryConditions.mirror_interior(in4)
    f12 = hl.Func("f12")
    f12[x] = hl.Expr(hl.select(b5[x, x - 2], b5[-x, hl.cast(hl.Int(32), hl.cast(hl.Int(16), hl.clamp(x, hl.i32(-3), hl.i32(7))))], b5[x + 2, x]))
    r13 = hl.RDom([(-2, 0), (2, hl.clamp(p1, hl.i32(0), hl.i32(3)))], "r13")
    r13.where((r13[0] * 2) <= 0)
    f12[x] = hl.Expr(f12[x] & (hl.cast(hl.Bool(), r13[0]) | hl.max(hl.cast(hl.Bool(), x), hl.cast(hl.Bool(), p1))))
    result = [f12], [[(5, 8)]]
    if not scheduled:
        return result
    f12.unroll(hl.Var("x"), 2)
    f12.update(0).split(hl.Var("x"), hl.Var("xo"), hl.Var("xi"), 2)
    f12.update(0).vectorize(hl.Var("xi"))
    b5.compute_inline()
    return result


def test_judges_agree() -> None:
    check(build, Judges.CERTIFICATE)
