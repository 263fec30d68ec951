"""Found by the fuzzer as case 1076188691/5930, and made small."""

# ruff: noqa: RET504

from __future__ import annotations

import numpy as np

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# certificate: undecided query:
# w: stage 1 at max(min(w.s1.y, in1.min.0 + in1.extent.0 - 1), in1.min.0) in ?mem in1.0; fails for m.min.0 = 0,


def build(scheduled: bool) -> Built:
    _0 = hl.Var("_0")
    _1 = hl.Var("_1")
    x = hl.Var("x")
    y = hl.Var("y")
    in1_data = hl.Buffer(np.asarray(np.random.default_rng(625).normal(0, 10, (12, 12)), np.float64))
    in1 = hl.ImageParam(hl.Float(64), 2, "in1")
    in1.set(in1_data)
    b = hl.BoundaryConditions.repeat_edge(in1)
    w = hl.Func("w")
    w[x, y] = (hl.Expr(hl.cast(hl.Float(64), 0.0)), hl.Expr(hl.cast(hl.Float(64), 0.0)))
    w[0, y] = (hl.Expr(b[y, 0]), hl.Expr(hl.cast(hl.Float(64), 0.0)))
    m = hl.Func("m")
    m[x, y] = hl.Expr(w[0, hl.cast(hl.Int(32), hl.cast(hl.Float(64), y) * hl.cast(hl.Float(64), y + -1))][0])
    result = [m], [[(0, 0), (0, 0)]]
    return result


def test_judges_agree() -> None:
    check(build, Judges.CERTIFICATE)
