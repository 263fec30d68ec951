"""Found by the fuzzer as case 1076188691/1990, and made small."""


from __future__ import annotations

import numpy as np  # inputs are made with it

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# floor: assertion_failed:
# the baseline's program runs, and gives the reference's values


def build(scheduled: bool) -> Built:
    _0 = hl.Var("_0")
    _1 = hl.Var("_1")
    x = hl.Var("x")
    y = hl.Var("y")
    in1_data = hl.Buffer(np.asarray(np.random.default_rng(374).normal(0, 10, (12, 3)), np.float16))
    in1 = hl.ImageParam(hl.Float(16), 2, "in1")
    in1.set(in1_data)
    b = hl.BoundaryConditions.repeat_edge(in1)
    s = hl.Func("s")
    s[x, y] = hl.Expr(b[0, y] + b[0, y + 1])
    w = hl.Func("w")
    w[x, y] = hl.Expr(hl.cast(hl.Float(16), ((y * -2) + x) + y) / s[x, y])
    o = hl.Func("o")
    o[x, y] = hl.Expr(w[x, y])
    twin = hl.Func("twin")
    twin[x, y] = hl.Expr(w[x, y])
    result = [o, twin], [[(0, 1), (0, 1)], [(0, 1), (5, 1)]]
    if not scheduled:
        return result
    s.align_bounds(hl.Var("y"), 3, 2)
    s.compute_at(o, hl.Var("y"))
    b.compute_at(o, hl.Var("y"))
    b.fold_storage(hl.Var("_1"), 9)
    twin.compute_with(o, hl.Var("y"), hl.LoopAlignStrategy.Auto)
    return result


def test_judges_agree() -> None:
    check(build, Judges(0))
