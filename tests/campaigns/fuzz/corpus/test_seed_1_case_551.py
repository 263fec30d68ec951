"""Found by the fuzzer as case 1/551."""

# ruff: noqa: E501

from __future__ import annotations

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# certificate: undecided value range:
# A bitwise and is at most either operand.


def build(scheduled: bool) -> Built:
    x = hl.Var("x")
    y = hl.Var("y")
    z = hl.Var("z")
    f5 = hl.Func("f5")
    f5[x, y, z] = hl.Expr(hl.min(hl.cast(hl.UInt(16), 0), hl.cast(hl.UInt(16), 0)))
    f6 = hl.Func("f6")
    f6[z, y, x] = hl.Expr(hl.clamp(hl.cast(hl.Int(64), f5[z + 2, (y + 1) // 2, (x + 1) // 2]), hl.cast(hl.Int(64), f5[z, (z * 2) + 1, hl.max(x, x - 3)]), hl.cast(hl.Int(64), y)) & hl.cast(hl.Int(64), f5[-z, y, x - 3]))
    f7 = hl.Func("f7")
    f7[x, y] = hl.Expr(hl.cast(hl.UInt(8), f5[hl.cast(hl.Int(32), hl.cast(hl.UInt(8), f6[x, y, x - 3]) % hl.cast(hl.UInt(8), 6)), y - x, 6 - x]))
    result = [f7], [[(0, 0), (0, 7)]]
    if not scheduled:
        return result
    f7.fuse(hl.Var("x"), hl.Var("y"), hl.Var("xy"))
    f7.set_estimate(hl.Var("x"), -1, 100)
    f6.compute_at(f7, hl.Var("xy"))
    f6.fuse(hl.Var("z"), hl.Var("y"), hl.Var("zy"))
    f5.compute_at(f7, hl.Var("xy"))
    f5.store_root()
    return result


def test_judges_agree() -> None:
    check(build, Judges.CERTIFICATE)
