"""The ends of loops that are raised to a factor: where a consumer reads both ways, what cancels must cancel."""

from __future__ import annotations

import halide_core as hl
from tests.support.dumps import filled

x, y, yo, yi = (hl.Var(n) for n in ("x", "y", "yo", "yi"))


def mirrored() -> tuple[hl.Func, hl.Func]:
    """``h`` is read forwards and backwards; its rows are shifted inwards, and so at least 8."""
    g, h, f = hl.Func("g"), hl.Func("h"), hl.Func("f")
    g[x, y] = x + y
    h[x, y] = g[x, y] - g[x, y + 1]
    f[x, y] = h[x, 2 - y] + h[x, y - 1]
    g.compute_root()
    h.compute_at(f, y).split(y, yo, yi, 8, hl.TailStrategy.ShiftInwards)
    return g, f


def test_a_row_further_is_asked_for_and_not_a_window_further() -> None:
    """From the least row of any iteration to the greatest, or eight rows from the last iteration's least one."""
    (length,) = [line.strip() for line in filled(mirrored()[1]).splitlines() if "let g.s0.y.len" in line]
    assert length == (
        "let g.s0.y.len = max(max(4 - f.min.1, f.min.1 + f.extent.1) - 7, min(4 - f.min.1, f.min.1 + f.extent.1)) "
        "- min(4 - f.min.1 - f.extent.1, f.min.1) + 8"
    )


def test_coordinates_stay_in_int32_in_every_window() -> None:
    assert mirrored()[1].certify().failures == ()
