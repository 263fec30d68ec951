"""Found by the fuzzer as case 1/801."""

# ruff: noqa: E501

from __future__ import annotations

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# certificate: undecided value range:
# A bitwise exclusive or has no more bits than its operands.


def build(scheduled: bool) -> Built:
    x = hl.Var("x")
    y = hl.Var("y")
    z = hl.Var("z")
    w = hl.Var("w")
    f1 = hl.Func("f1")
    f1[x, y] = hl.Expr((hl.i32(0) * -7) ^ 2)
    f6 = hl.Func("f6")
    f6[x, y, z, w] = hl.Expr(hl.cast(hl.UInt(16), f1[x, x - 3]))
    f6[hl.clamp(hl.cast(hl.Int(32), hl.cast(hl.Int(8), f1[hl.min(hl.cast(hl.Int(32), hl.cast(hl.UInt(8), hl.cast(hl.Int(64), f1[-2, w - 2])) >> hl.i32(5)), hl.i32(2)), w - 3])), hl.i32(0), hl.i32(2)), y, z, w] -= hl.Expr(hl.mux(-2147483647, [hl.cast(hl.UInt(16), f1[((y * 3) // 3) - 1, w]), hl.cast(hl.UInt(16), f1[y, -w]), hl.cast(hl.UInt(16), 7), hl.cast(hl.UInt(16), 0)]))
    result = [f6], [[(-3, 3), (0, 1), (0, 3), (-7, 1)]]
    if not scheduled:
        return result
    f6.reorder(hl.Var("w"), hl.Var("x"), hl.Var("y"), hl.Var("z"))
    f6.update(0).vectorize(hl.Var("w"), 4)
    f1.compute_root()
    f1.parallel(hl.Var("x"))
    f1.parallel(hl.Var("y"))
    return result


def test_judges_agree() -> None:
    check(build, Judges.CERTIFICATE)
