"""Found by the fuzzer as case 17464348/95, and made small."""

# ruff: noqa: RET504

from __future__ import annotations

import numpy as np  # inputs are made with it

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# A factor of a product that a truth of memory decides: no number is tried for it.


def build(scheduled: bool) -> Built:
    x = hl.Var("x")
    y = hl.Var("y")
    z = hl.Var("z")
    w = hl.Var("w")
    in1_data = hl.Buffer(
        np.asarray(np.random.default_rng(730).integers(0, 1, (2, 2, 3), np.uint8, endpoint=True), np.bool_)
    )
    in1 = hl.ImageParam(hl.Bool(), 3, "in1")
    in1.set(in1_data)
    f2 = hl.Func("f2")
    f2[x] = hl.Expr(hl.cast(hl.Int(16), hl.cast(hl.UInt(8), 0) / hl.cast(hl.UInt(8), in1[0, 0, x])))
    f11 = hl.Func("f11")
    f11[x, y, z, w] = hl.Expr(hl.is_inf(hl.cast(hl.Float(64), f2[hl.cast(hl.Int(32), f2[0])])))
    result = [f11], [[(0, 0), (0, 0), (0, 0), (0, 0)]]
    return result


def test_judges_agree() -> None:
    check(build, Judges.CERTIFICATE)
