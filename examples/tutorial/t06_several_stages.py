"""6. Several stages: where a producer is computed, and what that costs.

A Func that another uses can be computed at each use, before everything else, or inside one of the consumer's loops. The
table counts how often a producer's point is computed, and how much memory holds its values.
"""

from __future__ import annotations

import numpy as np
from showing import grey, save, table

import halide_core as hl

x, y, xo, yo, xi, yi = (hl.Var(n) for n in "x y xo yo xi yi".split())
W, H = 128, 96
image = hl.Buffer(grey(), "image")


def blur() -> tuple[hl.Func, hl.Func]:
    """Three pixels across, then three rows down."""
    across, down = hl.Func("across"), hl.Func("down")
    across[x, y] = (hl.u16(image[x, y]) + image[x + 1, y] + image[x + 2, y]) / 3
    down[x, y] = hl.u8((across[x, y] + across[x, y + 1] + across[x, y + 2]) / 3)
    return across, down


def inline(across: hl.Func, down: hl.Func) -> None:
    """At each of its three uses."""


def root(across: hl.Func, down: hl.Func) -> None:
    """All of it before the first use."""
    across.compute_root()


def per_row(across: hl.Func, down: hl.Func) -> None:
    """The three rows that a row of the result needs."""
    across.compute_at(down, y)


def per_tile(across: hl.Func, down: hl.Func) -> None:
    """Computes the stages that a tile of the result needs in that tile."""
    down.tile(x, y, xo, yo, xi, yi, 32, 16)
    across.compute_at(down, xo)


# Points of across for each way, by hand: rows and columns that are asked for, times how often.
COUNTS = {
    inline: (3 * W * H, 0),
    root: (W * (H + 2), W * (H + 2)),
    per_row: (W * 3 * H, W * 3),
    per_tile: (32 * 18 * (W // 32) * (H // 16), 32 * 18),
}
expected = blur()[1].evaluate([(0, 16), (0, 16)])
rows = []
for way, (points, values) in COUNTS.items():
    across, down = blur()
    way(across, down)
    result = np.asarray(down.realize([W, H]))
    assert (result[:16, :16] == expected).all()
    rows.append([way.__name__, f"{points / (W * H):.2f}", f"{values * 2} bytes", (way.__doc__ or "").strip()])
table(["across is computed", "times a pixel", "its memory", ""], rows)
across, down = blur()
per_tile(across, down)
down.print_loop_nest()
save("06_blurred.png", down.realize([W, H]))
