"""Found by the fuzzer as case 1/85."""

# ruff: noqa: E501

from __future__ import annotations

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# certificate: undecided in bounds:
# (q - 1)*k is q*k - k.


def build(scheduled: bool) -> Built:
    x = hl.Var("x")
    y = hl.Var("y")
    p1 = hl.Param(hl.Int(32), "p1", 3)
    f2 = hl.Func("f2")
    f2[x, y] = hl.Expr(hl.clamp(hl.cast(hl.Float(32), 1.0), hl.cast(hl.Float(32), 6.25), hl.cast(hl.Float(32), 0.25)))
    f7 = hl.Func("f7")
    f7[x] = hl.Expr(hl.cast(hl.UInt(32), hl.cast(hl.UInt(32), f2[hl.cast(hl.Int(32), hl.cast(hl.UInt(8), hl.cast(hl.Int(8), f2[hl.min(x, hl.i32(8)) - 0, x])) % hl.cast(hl.UInt(8), 3)), x]) + hl.cast(hl.Float(64), f2[6, x + 3])) * hl.cast(hl.UInt(32), f2[x + 1, x - 3]))
    r8 = hl.RDom([(0, hl.clamp(p1, hl.i32(0), hl.i32(5)))], "r8")
    f7[r8[0]] = hl.Expr(hl.min(f7[r8[0]], hl.cast(hl.UInt(32), f2[r8[0], r8[0]]) - hl.cast(hl.UInt(32), 9)))
    f11 = hl.Func("f11")
    f11[x, y] = hl.Expr(hl.cast(hl.UInt(8), hl.cast(hl.Int(64), y) ^ hl.cast(hl.Int(64), f2[x, y + hl.clamp(p1, hl.i32(-1), hl.i32(3))])))
    r12 = hl.RDom([(1, 5)], "r12")
    f11[r12[0], y] = hl.Expr(f11[hl.clamp(hl.cast(hl.Int(32), f11[r12[0], y]), hl.i32(0), hl.i32(2)), y] + hl.cast(hl.UInt(8), f7[(r12[0] + 1) // 2]))
    r13 = hl.RDom([(1, 2), (-1, 2)], "r13")
    r13.where(r13[0] <= r13[1])
    f11[r13[0], y] = hl.Expr(f11[r13[1], y] + (hl.cast(hl.UInt(8), f7[r13[0]]) - hl.cast(hl.UInt(8), f2[hl.min(r13[0], hl.i32(1)) - 2, -1])))
    r14 = hl.RDom([(2, hl.clamp(p1, hl.i32(0), hl.i32(3))), (2, 1)], "r14")
    r14.where(r14[0] < r14[1])
    f11[r14[0], y] = hl.Expr(f11[r14[1], y] + hl.cast(hl.UInt(8), hl.cast(hl.UInt(16), f7[hl.min(r14[1], hl.i32(4)) - 0])))
    result = [f11], [[(-7, 8), (0, 7)]]
    if not scheduled:
        return result
    f11.reorder(hl.Var("x"), hl.Var("y"))
    f11.rename(hl.Var("x"), hl.Var("xn"))
    f11.split(hl.Var("y"), hl.Var("yo"), hl.Var("yi"), 4, hl.TailStrategy.GuardWithIf)
    f11.update(0).unscheduled()
    f11.update(0).specialize(p1 >= 3)
    f11.update(0).specialize(p1 >= 3).split(hl.Var("r12.x"), hl.Var("r12.xo"), hl.Var("r12.x"), 2, hl.TailStrategy.GuardWithIf)
    f11.update(0).reorder(hl.Var("y"), hl.Var("r12.x"))
    f11.update(0).serial(hl.Var("y"))
    f11.update(1).parallel(hl.Var("y"))
    f11.update(1).reorder(hl.Var("r13.x"), hl.Var("y"), hl.Var("r13.y"))
    f11.update(1).reorder(hl.Var("r13.x"), hl.Var("r13.y"))
    f11.set_estimates([(0, 50), (0, 51)])
    f7.compute_root()
    f7.split(hl.Var("x"), hl.Var("xo"), hl.Var("xi"), 2)
    f7.parallel(hl.Var("xi"))
    f7.parallel(hl.Var("xo"))
    f7.update(0).specialize(p1 >= 4)
    f7.update(0).specialize(p1 >= 4).unroll(hl.Var("r8.x"), 4, hl.TailStrategy.GuardWithIf)
    f7.update(0).split(hl.Var("r8.x"), hl.Var("r8.xo"), hl.Var("r8.xi"), 2)
    f2.compute_root()
    f2.vectorize(hl.Var("x"), 4)
    f2.parallel(hl.Var("y"), hl.max(p1, hl.i32(1)), hl.TailStrategy.ShiftInwards)
    return result


def test_judges_agree() -> None:
    check(build, Judges.CERTIFICATE)
