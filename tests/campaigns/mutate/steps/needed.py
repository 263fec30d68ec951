"""Producers whose loops go no further than somebody reads: what that rests on.

In: nothing. Out: NEEDED, a part of ``steps.STEPS``.
"""

from __future__ import annotations

import halide_core as hl
from halide_core.lowering.passes.needed import reads, trim
from tests.campaigns.mutate.steps.judges import Made
from tests.campaigns.mutate.steps.step import AutomaticStep, x, xi, xo, y


def parts() -> Made:
    """Two parts of a producer in vectors."""
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x * 3
    f[x] = hl.select(x < 5, g[x], hl.select(x < 9, g[x + 2], 7))
    g.compute_root().vectorize(x, 4)
    return f, [(0, 24)]


def scan() -> Made:
    """Each point follows from the one before."""
    g, f, r = hl.Func("g"), hl.Func("f"), hl.RDom([(1, 9)], "r")
    g[x] = x * 3
    g[r.x] = g[r.x - 1] + 1
    f[x] = hl.select(x >= 5, g[x], 7)
    g.compute_root()
    return f, [(0, 10)]


def places() -> Made:
    """Places in a table, which lanes compute where nobody reads the table, too."""
    table, at, f = hl.Func("table"), hl.Func("at"), hl.Func("f")
    table[x] = x * x
    at[x] = hl.clamp(x * 2, 0, 9)
    f[x] = hl.select(x < 4, table[hl.clamp(at[x], 0, 9)], 7)
    table.compute_root(), at.compute_root()
    return f, [(0, 8)]


def sliding() -> Made:
    """A window that slides in a loop begins with its first iteration."""
    p, g, f = hl.Func("p"), hl.Func("g"), hl.Func("f")
    p[x] = x * 3
    g[x] = p[x] + p[x + 1] + p[x + 2]
    f[x] = hl.select(x >= 5, g[x], 7)
    p.store_root().compute_at(g, x)
    g.compute_root()
    return f, [(0, 12)]


def triangle() -> Made:
    """Each row of the consumer reads more of the row that is kept from the iteration before."""
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x + 7 * y
    f[x, y] = hl.select(x < y, g[x, y] + g[x, y - 1], 7)
    g.store_root().compute_at(f, y)
    return f, [(0, 6), (0, 6)]


def tiles() -> Made:
    """One point of a tile is needed."""
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x * 3
    f[x] = hl.select(x < 17, g[x], 7)
    f.split(x, xo, xi, 8)
    g.compute_at(f, xo)
    return f, [(0, 32)]


def wrapping() -> Made:
    """A condition that holds since its sum wraps."""
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x * 3
    f[x] = hl.select(x + 2147483647 < 5, g[x], 7)
    g.compute_root()
    return f, [(0, 12)]


def remembered() -> Made:
    """Each row of the consumer reads more of what is the same for all."""
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x * 3
    f[x, y] = hl.select(x < y, g[x], 7)
    g.compute_at(f, y).memoize()
    return f, [(0, 6), (0, 6)]


def steering() -> Made:
    """Places in a table that a reduction of constant length, which stays whole, takes from its own Func."""
    table, g, f, r = hl.Func("table"), hl.Func("g"), hl.Func("f"), hl.RDom([(0, 9)], "r")
    table[x] = x * 3 % 10
    g[x] = hl.clamp(x, 0, 9)
    g[r.x] = table[hl.clamp(g[r.x], 0, 9)]
    f[x] = hl.select(x < 5, g[x], 7)
    table.compute_root(), g.compute_root()
    return f, [(0, 12)]


NEEDED: dict[str, AutomaticStep] = {
    "trim: no read that counts is beyond an end": AutomaticStep(
        trim._Trimming,
        "_needed",
        "_furthest(points, simplifier.facts, up=up)",
        "points[:1]",
        parts,
    ),
    "trim: an iteration that is left out makes nothing that counts": AutomaticStep(
        trim._TrimmedNests, "_loop", "low if side.up else high", "high if side.up else low", parts
    ),
    "trim: a Func is computed where there is something between its ends": AutomaticStep(
        trim._Trimming, "_where_needed", "ir.less_equal(low.at, high.at)", "ir.less(low.at, high.at)", tiles
    ),
    "trim: conditions are of numbers that do not wrap": AutomaticStep(
        reads, "understood", "ranges.is_int32) for e", "lambda _: True) for e", wrapping
    ),
    "trim: places to read from are always needed": AutomaticStep(
        reads.ReadSearch, "_valued", "if read.access in places", "if False", places
    ),
    "trim: no point that counts follows from one beyond": AutomaticStep(
        trim, "_is_pointwise", "return False", "continue", scan
    ),
    "trim: what a Func's own places are made of is there": AutomaticStep(
        trim, "_steers_itself", "e.callee is f", "False", steering
    ),
    "trim: a loop that is trimmed computes nothing else": AutomaticStep(
        trim, "_is_alone", "each.func in own", "True", sliding
    ),
    "trim: later iterations read nothing of it": AutomaticStep(
        trim._Trimming, "_block", "allocated.get(each.func, i) < i", "True", triangle
    ),
    "trim: what is remembered is whole": AutomaticStep(
        trim, "trim_producers", "DebugToFile | Memoize", "DebugToFile", remembered
    ),
}
