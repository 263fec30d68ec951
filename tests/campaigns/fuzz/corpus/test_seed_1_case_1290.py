"""Found by the fuzzer as case 1/1290, and made small."""

# ruff: noqa: E501, RET504

from __future__ import annotations

import numpy as np  # inputs are made with it

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# certificate: undecided query:
# f8: stage 0 at max(min(int64(f7[0, 0] #1), in5.min.0 + in5.extent.0 - 1), in5.min.0) in ?mem in5.0; fails for


def build(scheduled: bool) -> Built:
    _0 = hl.Var("_0")
    _1 = hl.Var("_1")
    x = hl.Var("x")
    y = hl.Var("y")
    in5_data = hl.Buffer(np.asarray(np.random.default_rng(693).integers(-100, 100, (5, 12), np.int32, endpoint=True), np.int32))
    in5 = hl.ImageParam(hl.Int(32), 2, "in5")
    in5.set(in5_data)
    b6 = hl.BoundaryConditions.repeat_edge(in5)
    f7 = hl.Func("f7")
    f7[x, y] = (hl.Expr(hl.cast(hl.Bool(), False)), hl.Expr(hl.cast(hl.Float(64), 0.0)))
    f8 = hl.Func("f8")
    f8[x, y] = hl.Expr(hl.cast(hl.UInt(64), b6[hl.cast(hl.Int(32), f7[0, 0][0]), 0]))
    result = [f7, f8], [[(0, 0), (0, 0)], [(0, 0), (0, 0)]]
    return result


def test_judges_agree() -> None:
    check(build, Judges.CERTIFICATE)
