"""Found by the fuzzer as case 1368983/2555, and made small."""

from __future__ import annotations

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

# A quotient by the number of iterations of a loop that never runs: the range of the divisor is empty.


def build(scheduled: bool) -> Built:
    x = hl.Var("x")
    y = hl.Var("y")
    z = hl.Var("z")
    p1 = hl.Param(hl.Int(32), "p1", 0)
    f8 = hl.Func("f8")
    f8[x, y, z] = hl.Expr(0)
    r9 = hl.RDom([(0, hl.clamp(p1, hl.i32(0), hl.i32(3))), (0, 0)], "r9")
    r9.where(hl.cast(hl.Bool(), r9[0]))
    f8[x, 0, r9[0]] = hl.Expr(0)
    result = [f8], [[(0, 0), (0, 0), (0, 0)]]
    if not scheduled:
        return result
    f8.update(0).specialize(p1 >= 1).vectorize(hl.Var("x"), 1)
    f8.update(0).fuse(hl.Var("r9.x"), hl.Var("r9.y"), hl.Var("r9.xr9.y"))
    return result


def test_judges_agree() -> None:
    check(build, Judges(0))
