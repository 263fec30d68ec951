"""Found by the fuzzer as case 21/78, and made small."""

# ruff: noqa: E501

from __future__ import annotations

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# RaceError after fill:
# Race on "f9": in loop "f9.s1.yo", iteration 0 reads what 1 writes
#
# A loop of length 1 fused with another: the product looked like one dimension's length, and was rounded up into the next row.


def build(scheduled: bool) -> Built:
    x = hl.Var("x")
    y = hl.Var("y")
    f9 = hl.Func("f9")
    f9[x, y] = hl.Expr(hl.cast(hl.UInt(64), 0))
    f9[x, y] = hl.Expr(hl.max(f9[x, y], hl.cast(hl.UInt(64), 1)))
    result = [f9], [[(0, 1), (0, 2)]]
    if not scheduled:
        return result
    f9.update(0).parallel(hl.Var("y"), 1, hl.TailStrategy.GuardWithIf)
    f9.update(0).fuse(hl.Var("x"), hl.Var("y.t"), hl.Var("xy.t"))
    f9.update(0).tile(hl.Var("xy.t"), hl.Var("y"), hl.Var("xy.to"), hl.Var("yo"), hl.Var("xy.ti"), hl.Var("yi"), 3, 1)
    return result


def test_judges_agree() -> None:
    check(build, Judges.UNSCHEDULED)
