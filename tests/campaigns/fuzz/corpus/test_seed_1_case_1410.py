"""Found by the fuzzer as case 1/1410, and made small."""

# ruff: noqa: E501

from __future__ import annotations

import numpy as np  # noqa: F401  # inputs are made with it

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# certificate: undecided value range:
# f8: stage 0 gives values from 0.0 to 6.000001430511475; fails for f12.min.0 = 8, f12.extent.0 = 1, p1 = 0, f12


def build(scheduled: bool) -> Built:
    x = hl.Var("x")
    y = hl.Var("y")
    p1 = hl.Param(hl.Int(32), "p1", 0)
    p1.set_range(0, 6)
    p2 = hl.Param(hl.Float(64), "p2", 0.0)
    f8 = hl.Func("f8")
    f8[x, y] = hl.Expr(hl.cast(hl.Float(64), p1))
    f11 = hl.Func("f11")
    f11[x, y] = hl.Expr(hl.cast(hl.Int(32), f8[0, x]))
    f12 = hl.Func("f12")
    f12[x] = hl.Expr(hl.lerp(hl.cast(hl.Float(64), p1), p2, hl.cast(hl.Float(32), hl.cast(hl.UInt(8), f11[hl.cast(hl.Int(32), hl.cast(hl.UInt(8), f11[x, x]) % hl.cast(hl.UInt(8), 8)), x]) % hl.cast(hl.UInt(8), 5)) / hl.cast(hl.Float(32), 4.0)))
    result = [f12], [[(0, 0)]]
    if not scheduled:
        return result
    f8.compute_root()
    return result


def test_judges_agree() -> None:
    check(build, Judges.CERTIFICATE)
