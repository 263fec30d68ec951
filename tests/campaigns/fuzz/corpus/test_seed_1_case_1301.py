"""Found by the fuzzer as case 1/1301, and made smaller."""

from __future__ import annotations

import numpy as np  # inputs are made with it

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# certificate: undecided computed before read:
# f8$1: stage 0 reads constant_exterior$1[(f8$1.s0.x + 1)/3, f8$1.s0.z + 3] where it is computed in dimension 1


def build(scheduled: bool) -> Built:
    x = hl.Var("x")
    y = hl.Var("y")
    z = hl.Var("z")
    p1 = hl.Param(hl.Int(32), "p1", 4)
    in2_data = hl.Buffer(np.zeros((12, 7), np.int8))
    in2 = hl.ImageParam(hl.Int(8), 2, "in2")
    in2.set(in2_data)
    b3 = hl.BoundaryConditions.constant_exterior(in2, hl.cast(hl.Int(8), 8))
    f8 = hl.Func("f8")
    f8[x, y, z] = hl.Expr(b3[hl.select(x < 2, x, 8 - x), y] - b3[x - 1, y + 1] + b3[(x + 1) // 3, z + 3])
    f9 = hl.Func("f9")
    f9[x] = hl.Expr(hl.cast(hl.Float(64), f8[x % p1, x, x]))
    result = [f9], [[(0, 13)]]
    if not scheduled:
        return result
    f9.specialize(p1 >= 3)
    f9.specialize(p1 >= 3).split(
        hl.Var("x"), hl.Var("xo"), hl.Var("x"), hl.max(p1, hl.i32(1)), hl.TailStrategy.ShiftInwards
    )
    f9.specialize(p1 >= 3).split(hl.Var("xo"), hl.Var("xoo"), hl.Var("xoi"), 2, hl.TailStrategy.RoundUp)
    f9.specialize_fail("no case is taken")
    f8.compute_at(f9, hl.Var("x"))
    f8.store_at(f9, hl.Var("xoo"))
    f8.reorder(hl.Var("y"), hl.Var("x"), hl.Var("z"))
    b3.compute_at(f9, hl.Var("xoo"))
    return result


def test_judges_agree() -> None:
    check(build, Judges.CERTIFICATE)
