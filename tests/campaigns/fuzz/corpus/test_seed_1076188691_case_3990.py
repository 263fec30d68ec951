"""Found by the fuzzer as case 1076188691/3990, and made small."""

# ruff: noqa: RET504

from __future__ import annotations

import numpy as np  # noqa: F401  # inputs are made with it

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# certificate: undecided int64:
# o: index arithmetic stays in int64: w[0, 0] #1*2; fails for o.stride.0 = 0, o.extent.0 = 1, o.extent.1 = 1, o.


def build(scheduled: bool) -> Built:
    x = hl.Var("x")
    y = hl.Var("y")
    w = hl.Func("w")
    w[x, y] = hl.Expr(hl.cast(hl.Int(64), 0))
    w[0, 0] = hl.Expr(hl.cast(hl.Int(64), 0))
    o = hl.Func("o")
    o[x, y] = hl.Expr(w[0, 0] * hl.cast(hl.Int(64), 2))
    result = [o], [[(0, 0), (0, 0)]]
    return result


def test_judges_agree() -> None:
    check(build, Judges.CERTIFICATE)
