"""Found by the fuzzer as case 661177/108, and made small."""


from __future__ import annotations

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# A hash's square under a root: a float times itself is not negative.


def build(scheduled: bool) -> Built:
    x = hl.Var("x")
    y = hl.Var("y")
    f2 = hl.Func("f2")
    f2[x] = hl.Expr(hl.hypot(hl.cast(hl.Float(32), hl.random_int(hl.i32(0))), hl.cast(hl.Float(32), 0.0)))
    f7 = hl.Func("f7")
    f7[x, y] = hl.Expr(hl.cast(hl.UInt(16), f2[hl.clamp(hl.cast(hl.Int(32), f2[0]), hl.i32(0), hl.i32(2))]))
    result = [f7], [[(0, 0), (0, 0)]]
    if not scheduled:
        return result
    f7.tile(hl.Var("y"), hl.Var("x"), hl.Var("yo"), hl.Var("xo"), hl.Var("yi"), hl.Var("xi"), 8, 5)
    f7.tile(hl.Var("xo"), hl.Var("yi"), hl.Var("xoo"), hl.Var("yio"), hl.Var("xoi"), hl.Var("yii"), 8, 4)
    f2.compute_at(f7, hl.Var("xoo"))
    return result


def test_judges_agree() -> None:
    check(build, Judges.CERTIFICATE)
