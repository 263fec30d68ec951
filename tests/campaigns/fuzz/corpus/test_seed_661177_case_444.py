"""Found by the fuzzer as case 661177/444, and made small."""

# ruff: noqa: E501, RET504

from __future__ import annotations

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# A shift by a negative number: of 0 as a cast and of 0 as a constant it is the same.


def build(scheduled: bool) -> Built:
    x = hl.Var("x")
    y = hl.Var("y")
    f6 = hl.Func("f6")
    f6[()] = (hl.Expr(hl.cast(hl.UInt(64), 0)), hl.Expr(hl.cast(hl.UInt(8), hl.cast(hl.UInt(8), 0) >> hl.i32(-3))), hl.Expr(0))
    f8 = hl.Func("f8")
    f8[x, y] = hl.Expr(hl.cast(hl.Int(64), 0))
    f9 = hl.Func("f9")
    f9[x, y] = hl.Expr(hl.cast(hl.Float(32), 0.0))
    r10 = hl.RDom([(0, 1)], "r10")
    f9[0, r10[0]] = hl.Expr(hl.cast(hl.Float(32), f8[0, hl.cast(hl.Int(32), f6[()][1])]))
    result = [f8, f9], [[(0, 0), (0, 0)], [(0, 0), (0, 0)]]
    return result


def test_judges_agree() -> None:
    check(build, Judges.CERTIFICATE)
