"""Found by the fuzzer as case 661177/276, and made small."""

# ruff: noqa: E501, RET504

from __future__ import annotations

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# A place that a hash gives: the sums in it are written in two ways, and bits of equal numbers are equal.


def build(scheduled: bool) -> Built:
    x = hl.Var("x")
    y = hl.Var("y")
    z = hl.Var("z")
    f6 = hl.Func("f6")
    f6[x, y, z] = hl.Expr(hl.cast(hl.UInt(32), hl.random_int(hl.i32(0))))
    f7 = hl.Func("f7")
    f7[x] = hl.Expr(hl.cast(hl.Float(32), 0.0))
    f7[0] = hl.Expr(hl.cast(hl.Float(32), 0.0))
    f9 = hl.Func("f9")
    f9[x, y, z] = (hl.Expr(hl.cast(hl.Int(16), 0)), hl.Expr(hl.cast(hl.Int(16), f7[hl.cast(hl.Int(32), f6[0, z, (z * 2) + 0])])))
    result = [f9], [[(0, 0), (0, 0), (0, 0)]]
    return result


def test_judges_agree() -> None:
    check(build, Judges.CERTIFICATE)
