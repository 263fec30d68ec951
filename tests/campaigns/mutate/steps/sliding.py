"""Sliding windows, folds and producers that are skipped: what each step rests on.

In: nothing. Out: SLIDING, a part of ``steps.STEPS``.
"""

from __future__ import annotations

import numpy as np

import halide_core as hl
from halide_core.bounds.infer import folding, sliding
from halide_core.lowering.passes import (
    skip_producers,
)
from halide_core.scheduling import sliding as obstacles
from tests.campaigns.mutate.steps.judges import Made, certified
from tests.campaigns.mutate.steps.step import AutomaticStep, Tail, image, x, xi, xo, y, yi, yo


def rows() -> tuple[hl.Func, hl.Func]:
    """A producer, and a consumer of three of its rows."""
    im, g, f = image(), hl.Func("g"), hl.Func("f")
    g[x, y] = im[x, y] * 3
    f[x, y] = g[x, y - 1] + g[x, y] * 2 + g[x, y + 1]
    return g, f


def kept() -> Made:
    """An update at a constant place, run for each x inside y."""
    w, o = hl.Func("w"), hl.Func("o")
    w[x, y] = x + 10 * y
    w[0, y] += 1
    o[x, y] = w[x, y] + w[x, y + 1]
    w.store_root().compute_at(o, x)
    return o, [(0, 3), (0, 3)]


def first() -> Made:
    g, f = rows()
    g.store_root().compute_at(f, y)
    return f, [(1, 4), (-2, 5)]


def every_second() -> Made:
    """Rows that are kept, read in every second iteration."""
    im, g, h, f = image(), hl.Func("g"), hl.Func("h"), hl.Func("f")
    g[x, y] = im[x, y] * 3
    h[x, y] = im[x, y] * 5
    f[x, y] = hl.select(y % 2 == 0, g[x, y] + g[x, y - 1], h[x, y])
    g.store_root().compute_at(f, y)
    h.compute_at(f, y)
    return f, [(1, 4), (-2, 5)]


def places() -> Made:
    """Places in a table that one case of a select reads."""
    p, table, at, f = hl.Param(hl.Int(32), "p", 0), hl.Func("table"), hl.Func("at"), hl.Func("f")
    table[x] = x * x
    at[x] = hl.clamp(x * 2, 0, 9)
    f[x] = hl.select(p > 0, table[hl.clamp(at[x], 0, 9)], 7)
    table.compute_root(), at.compute_root()
    return f, [(0, 8)]


def kept_inside() -> Made:
    """Rows of which some are not computed, out of rows of another Func that are kept for the next one."""
    k, g, o = hl.Func("k"), hl.Func("g"), hl.Func("o")
    k[x, y] = x + 100 * y
    g[x, y] = k[x, y] + k[x, y + 1]
    o[x, y] = hl.select(y % 3 != 1, g[x, y], 7)
    g.compute_at(o, y)
    k.store_root().compute_at(g, y)
    return o, [(0, 3), (0, 6)]


def no_iteration() -> Made:
    """A choice by an element that is read only if a reduction has any iterations, which it has not."""
    n, marks, f, o = hl.Param(hl.Int(32), "n", 0), hl.ImageParam(hl.Int(32), 1, "marks"), hl.Func("f"), hl.Func("o")
    r = hl.RDom([(0, n)], "r")
    f[x] = x * 3
    o[y] = y
    o[y] += hl.select(marks[y] > 0, f[r.x], 1)
    f.compute_at(o, y)
    marks.set(hl.Buffer(np.ones(2, np.int32)))
    return o, [(0, 4)]


def computed_later() -> Made:
    """A choice by what is computed behind the Func that it is about."""
    f, g, o = hl.Func("f"), hl.Func("g"), hl.Func("o")
    f[x] = x * 3
    g[y] = y % 2
    o[x, y] = hl.select(g[y] > 0, f[x], 7)
    f.compute_at(o, y)
    g.compute_at(o, x)
    return o, [(0, 3), (0, 3)]


def one_of_two() -> Made:
    """Two who read one Func, of which one asks for an element, and has no iteration to read it in."""
    n, p, marks = hl.Param(hl.Int(32), "n", 0), hl.Param(hl.Int(32), "p", 1), hl.ImageParam(hl.Int(32), 1, "marks")
    f, g, o, r = hl.Func("f"), hl.Func("g"), hl.Func("o"), hl.RDom([(0, n)], "r")
    f[x] = x * 3
    g[x] = x
    g[x] += hl.select(marks[5] > 0, f[r.x], 1)
    o[x] = hl.select(p > 0, f[x], 1) + g[x]
    f.compute_root(), g.compute_root()
    marks.set(hl.Buffer(np.ones(2, np.int32)))
    return o, [(0, 4)]


def diagonal() -> Made:
    im, g, f = image(), hl.Func("g"), hl.Func("f")
    g[x, y] = im[x, y] * 3
    f[x, y] = g[x + y, y] + g[x + y + 1, y + 1]
    g.store_root().compute_at(f, y)
    return f, [(1, 4), (-2, 5)]


def downwards() -> Made:
    """Rows are rounded up over those that are kept above, of which the producer's are not there."""
    im, p, g, f = image(), hl.Func("p"), hl.Func("g"), hl.Func("f")
    p[x, y] = im[x, y] * 3
    g[x, y] = p[x, y] + 1
    f[x, y] = g[x, 3 - y] + g[x, 5 - y]
    g.store_root().compute_at(f, y).split(y, yo, yi, 4, Tail.RoundUp)
    p.compute_at(f, y)
    return f, [(1, 4), (-2, 5)]


def scan() -> Made:
    im, g, f, r = image(), hl.Func("g"), hl.Func("f"), hl.RDom([(1, 4)], "r")
    g[x, y] = im[x, y]
    g[x, r.x] += g[x, r.x - 1]
    f[x, y] = g[x, y - 1] + g[x, y + 1]
    g.store_root().compute_at(f, y)
    return f, [(1, 2), (-2, 5)]


def both_ways() -> Made:
    im, g, f = image(), hl.Func("g"), hl.Func("f")
    g[x, y] = im[x, y] * 3
    f[x, y] = g[x - 1, y] + g[x + 1, y - 1] + g[x, y + 2]
    g.store_root().compute_at(f, x)
    return f, [(1, 4), (-2, 5)]


def corner() -> Made:
    """An update at a constant place of one dimension reads the point that the other dimension's new rows name."""
    w, o = hl.Func("w"), hl.Func("o")
    w[x, y] = x + 10 * y
    w[0, y] = w[y, y] + 7
    o[x, y] = w[x, y] + w[x, y + 1]
    w.store_root().compute_at(o, y)
    return o, [(0, 3), (0, 4)]


def with_gaps() -> Made:
    """A loop along which a window slides, some of whose iterations a split's guard leaves out."""
    g, f, t = hl.Func("g"), hl.Func("f"), hl.Var("t")
    g[x] = x * 3
    f[x, y] = sum((g[x + 5 * y + i] for i in range(5)), hl.i32(0))
    f.bound(x, 0, 5)
    f.split(x, xo, xi, 3, Tail.GuardWithIf).fuse(xo, y, t).reorder(t, xi)
    g.store_root().compute_at(f, t)
    return f, [(0, 5), (0, 3)]


def triangle() -> Made:
    """A loop inside the one that a window slides along is one longer in each iteration."""
    im, g, p, f = image(), hl.Func("g"), hl.Func("p"), hl.Func("f")
    g[x, y] = im[x, y] * 3
    p[x, y] = g[x, y] + g[x, y + 1]
    f[y] = p[0, y] + p[y, y]
    p.compute_at(f, y).reorder(y, x)
    g.store_root().compute_at(p, x)
    return f, [(0, 5)]


def halves() -> Made:
    """Rows in twos, where one is new: of the other one the producer's are not there."""
    im, p, g, f = image(), hl.Func("p"), hl.Func("g"), hl.Func("f")
    p[x, y] = im[x, y] * 3
    g[x, y] = p[x, y] + 1
    f[x, y] = g[x, y] + g[x, y + 1] + g[x, y + 2]
    g.store_root().compute_at(f, y).split(y, yo, yi, 2)
    p.compute_at(f, y)
    return f, [(1, 4), (-2, 5)]


SLIDING: dict[str, AutomaticStep] = {
    "slide: nothing is run on what is kept": AutomaticStep(
        sliding._Sliding, "_renews", "return facts.proves_le(low, least)", "return True or (low, least)", kept
    ),
    "slide: other dimensions stay": AutomaticStep(
        sliding._Sliding, "_refusal", "not step.stays(other)", "False", diagonal
    ),
    "slide: no other dimension follows from what is new": AutomaticStep(
        sliding._Sliding, "_follower", "if answer.dim != d", "if False", corner, certified
    ),
    "slide: the iteration before ran": AutomaticStep(
        sliding._LoopStep, "_passed", "before is not ir.TRUE", "False", with_gaps
    ),
    "slide: loops further in ran as well": AutomaticStep(
        sliding._LoopStep, "_entered", "outside is not ir.FALSE", "False", triangle
    ),
    "slide: a first iteration computes all": AutomaticStep(
        sliding._LoopStep, "_chosen", "Select(INT64, restart, whole, new)", "new", first
    ),
    "slide: rounding up spares what is kept": AutomaticStep(
        sliding._Sliding, "_rounds_in", "n.overcomputes and", "False and", downwards
    ),
    "slide: loops are as long as shifted splits need": AutomaticStep(
        sliding._Sliding, "_least", "if needed else None", "if False else None", halves
    ),
    "slide: every stage passes through": AutomaticStep(
        obstacles, "_obstacle", "not func.pure_dims(stage)[d]", "False", scan
    ),
    "fold: slots are enough": AutomaticStep(folding.Folding, "_constant", "return most.value if", "return 1 if", first),
    "fold: no loop further in moves it": AutomaticStep(
        folding.Folding, "refusal", "inner.var in moving", "False", both_ways
    ),
    "skip: later iterations read nothing of it": AutomaticStep(
        skip_producers._Skipping, "_condition", "free_variables(e) <= known", "True", every_second
    ),
    "skip: what is computed with a Func lives on": AutomaticStep(
        skip_producers._Skipping, "_condition", "lives.values()", "[lives[s.func]]", kept_inside
    ),
    "skip: a condition is known before": AutomaticStep(
        skip_producers, "_is_known", "isinstance(e.callee, Image) and", "", computed_later
    ),
    "skip: an element that decides is there": AutomaticStep(
        skip_producers, "_asked", "s = If(all_of(there), s, None)", "pass", no_iteration
    ),
    "skip: an element decides for all who read": AutomaticStep(
        skip_producers._Skipping, "_condition", "len(_least(kept)) > 1", "False", one_of_two
    ),
    "skip: places to read from are always computed": AutomaticStep(
        skip_producers._Skipping, "_values", "add(_ALWAYS)", "add(under)", places
    ),
}
