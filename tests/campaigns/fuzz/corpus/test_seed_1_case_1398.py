"""Found by the fuzzer as case 1/1398, and made small."""

# ruff: noqa: E501

from __future__ import annotations

import numpy as np  # inputs are made with it

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# floor: argument_bounds:
# the baseline's program runs, and gives the reference's values


def build(scheduled: bool) -> Built:
    _0 = hl.Var("_0")
    _1 = hl.Var("_1")
    x = hl.Var("x")
    p3 = hl.Param(hl.Int(64), "p3", 0)
    in6_data = hl.Buffer(np.asarray(np.random.default_rng(217).integers(-100, 100, (24, 5), np.int64, endpoint=True), np.int64))
    in6_data.set_min([3, 0])
    in6 = hl.ImageParam(hl.Int(64), 2, "in6")
    in6.set(in6_data)
    b7 = hl.BoundaryConditions.mirror_interior(in6, [(4, 4), (0, 24)])
    f9 = hl.Func("f9")
    f9[x] = hl.Expr(hl.cast(hl.Int(16), 0))
    r12 = hl.RDom([(0, 5)], "r12")
    f9[r12[0]] = hl.Expr(hl.cast(hl.Int(16), b7[r12[0], r12[0]]))
    result = [f9], [[(0, 0)]]
    if not scheduled:
        return result
    b7.compute_root()
    b7.split(hl.Var("_0"), hl.Var("_0o"), hl.Var("_0i"), 5, hl.TailStrategy.ShiftInwards)
    b7.specialize(p3 >= hl.cast(hl.Int(64), -1)).split(hl.Var("_0o"), hl.Var("_0oo"), hl.Var("_0oi"), 1, hl.TailStrategy.RoundUp)
    b7.unroll(hl.Var("_0o"), 3, hl.TailStrategy.ShiftInwards)
    return result


def test_judges_agree() -> None:
    check(build, Judges(0))
