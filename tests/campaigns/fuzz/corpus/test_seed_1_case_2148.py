"""Found by the fuzzer as case 1/2148, and made small."""

# ruff: noqa: E501

from __future__ import annotations

import numpy as np  # noqa: F401  # inputs are made with it

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# certificate: undecided value range:
# f2: stage 0 gives values from 0.0 to 6.000001430511475; fails for f9.min.0 = -1, f9.extent.0 = 3, p1 = 0, f9.s


def build(scheduled: bool) -> Built:
    x = hl.Var("x")
    p1 = hl.Param(hl.Int(32), "p1", 0)
    p1.set_range(0, 6)
    f2 = hl.Func("f2")
    f2[x] = hl.Expr(hl.cast(hl.Float(64), p1))
    f9 = hl.Func("f9")
    f9[x] = (hl.Expr(hl.cast(hl.Int(64), 0)), hl.Expr(hl.cast(hl.Bool(), False)))
    r10 = hl.RDom([(0, 1), (0, 1)], "r10")
    f9[r10[0]] = (hl.Expr(hl.cast(hl.Int(64), f2[hl.cast(hl.Int(32), hl.cast(hl.UInt(64), f2[r10[1] - 3]))])), hl.Expr(f9[r10[1]][1] & hl.cast(hl.Bool(), hl.random_float(hl.i32(2)))))
    result = [f9], [[(0, 0)]]
    if not scheduled:
        return result
    f2.compute_root()
    return result


def test_judges_agree() -> None:
    check(build, Judges.CERTIFICATE)
