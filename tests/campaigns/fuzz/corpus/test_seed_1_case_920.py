"""Found by the fuzzer as case 1/920, and made small."""

# ruff: noqa: E501

from __future__ import annotations

import numpy as np  # noqa: F401  # inputs are made with it

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# certificate: undecided value range:
# f2: stage 0 gives values from 0 to 0; fails for f3.min.0 = -1, f3.extent.0 = 1, p1 = -3, f3.stride.0 = 0, f3.e


def build(scheduled: bool) -> Built:
    x = hl.Var("x")
    y = hl.Var("y")
    z = hl.Var("z")
    p1 = hl.Param(hl.Int(32), "p1", 0)
    f2 = hl.Func("f2")
    f2[x, y, z] = hl.Expr(hl.cast(hl.UInt(8), hl.cast(hl.UInt(8), 0) >> hl.cast(hl.UInt(16), 0)))
    f3 = hl.Func("f3")
    f3[x, y] = hl.Expr(hl.cast(hl.Bool(), False))
    r4 = hl.RDom([(0, 1), (0, 1)], "r4")
    f3[x, r4[0]] = hl.Expr(hl.cast(hl.Bool(), f2[0, hl.clamp(hl.cast(hl.Int(32), f2[hl.unsafe_promise_clamped(hl.min(hl.cast(hl.Int(32), hl.cast(hl.UInt(8), hl.cast(hl.UInt(16), f2[x, r4[1], r4[0] - hl.clamp(p1, hl.i32(-2), hl.i32(3))])) >> hl.i32(5)), hl.i32(7)), hl.i32(0), hl.i32(7)), r4[1] % 4, r4[0] + 3]), hl.i32(0), hl.i32(6)), r4[0]]))
    result = [f3], [[(0, 0), (0, 0)]]
    if not scheduled:
        return result
    f2.compute_root()
    return result


def test_judges_agree() -> None:
    check(build, Judges.CERTIFICATE)
