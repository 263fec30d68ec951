"""Found by the fuzzer as case 1/68."""

# ruff: noqa: E501

from __future__ import annotations

import numpy as np  # inputs are made with it

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# certificate: undecided int64:
# The least int64 by -1 is itself.


def build(scheduled: bool) -> Built:
    x = hl.Var("x")
    y = hl.Var("y")
    in1_data = hl.Buffer(np.asarray(np.random.default_rng(567).normal(0, 10, (31, 12)), np.float32))
    in1_data.set_min([-6, 0])
    in1 = hl.ImageParam(hl.Float(32), 2, "in1")
    in1.set(in1_data)
    f6 = hl.Func("f6")
    f6[x] = hl.Expr(hl.cast(hl.UInt(64), in1[hl.clamp(x, hl.i32(-6), hl.i32(5)), hl.clamp(-x, hl.i32(0), hl.i32(30))]))
    f7 = hl.Func("f7")
    f7[x, y] = hl.Expr((hl.cast(hl.Float(32), hl.cast(hl.UInt(16), f6[x - 2])) // hl.cast(hl.Float(32), f6[x - 2])) - hl.cast(hl.Float(32), f6[x - 3]))
    f8 = hl.Func("f8")
    f8[x, y] = hl.Expr(hl.cast(hl.Int(64), in1[hl.clamp(x + 1, in1.dim(0).min(), in1.dim(0).max()), hl.clamp(hl.select(y != 2, y, 8 - y), hl.i32(0), hl.i32(30))]) / hl.cast(hl.Int(64), f7[x, hl.clamp(y + 1, hl.i32(-3), hl.i32(7))]))
    result = [f6, f8], [[(0, 16)], [(-3, 7), (0, 7)]]
    if not scheduled:
        return result
    f8.compute_root()
    f8.unscheduled()
    f8.fuse(hl.Var("x"), hl.Var("y"), hl.Var("xy"))
    f8.specialize(in1.dim(0).extent() == 12)
    f8.specialize(in1.dim(0).extent() == 12).unroll(hl.Var("xy"), 8, hl.TailStrategy.GuardWithIf)
    f8.parallel(hl.Var("xy"), 7, hl.TailStrategy.GuardWithIf)
    f8.set_estimate(hl.Var("x"), -1, 100)
    f7.compute_root()
    f7.fuse(hl.Var("y"), hl.Var("x"), hl.Var("yx"))
    f6.specialize(in1.dim(0).extent() == 5)
    f6.specialize(in1.dim(0).extent() == 5).split(hl.Var("x"), hl.Var("xo"), hl.Var("x"), 4)
    f6.specialize(in1.dim(0).extent() == 5).unroll(hl.Var("x"))
    return result


def test_judges_agree() -> None:
    check(build, Judges.CERTIFICATE)
