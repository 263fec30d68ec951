"""Numbers: what wraps, what a narrower type holds, and regions without points: what each step rests on.

In: nothing. Out: NUMBERS, a part of ``steps.STEPS``.
"""

from __future__ import annotations

import numpy as np

import halide_core as hl
from halide_core.bounds.infer import boxes, fused_lengths, sliding
from halide_core.bounds.infer import inference as answering
from halide_core.bounds.infer.computed_spans import ComputedSpans
from halide_core.lowering.passes.narrow import arithmetic, conversions, limits
from tests.campaigns.mutate.steps.judges import Made, certified
from tests.campaigns.mutate.steps.step import AutomaticStep, Tail, image, x, xi, y


def wide() -> Made:
    im, f = image(), hl.Func("f")
    f[x] = hl.i32(hl.u8(im[x, 0] * 7))
    return f, [(0, 8)]


def leaves_int32() -> Made:
    """A clamp of a coordinate that wraps where it is an int32, and not where it is an index."""
    im, f = image(), hl.Func("f")
    f[x] = im[hl.clamp(x * 100000, 0, 5), 0]
    return f, [(30000, 2)]


def far_apart() -> Made:
    """A region whose bounds are looser than what is needed of it: rows of tiles, mirrored."""
    im = hl.ImageParam(hl.Int(8), 1, "im")
    b = hl.BoundaryConditions.repeat_edge(im)
    s, w, m, f, yo, yi = hl.Func("s"), hl.Func("w"), hl.Func("m"), hl.Func("f"), hl.Var("yo"), hl.Var("yi")
    s[y] = b[y + 2] + b[y - 1]
    w[y] = s[y + 1]
    m[y] = w[2 - y] + w[1 - y]
    f[y] = m[y] + m[y + 2] + w[y]
    f.split(y, yo, yi, 4, hl.TailStrategy.GuardWithIf)
    m.compute_at(f, yo)
    w.compute_at(f, yo).unroll(y, 8, hl.TailStrategy.RoundUp)
    s.compute_root()
    im.set(np.zeros(3, np.int8))
    return f, [(0, 3)]


def some_rows() -> Made:
    """Regions of two stages, the second of which may have no iteration."""
    g, f, r = hl.Func("g"), hl.Func("f"), hl.RDom([(0, hl.Param(hl.Int(32), "n", 2))], "r")
    g[x] = x * 3
    f[x] = g[x]
    f[x] += g[x + r.x + 5]
    g.compute_root()
    return f, [(0, 3)]


def fused() -> Made:
    f, z, t = hl.Func("f"), hl.Var("z"), hl.Var("t")
    f[x, y, z] = x + y + z
    f.fuse(x, y, t).fuse(t, z, t)
    return f, [(0, 4), (0, 3), (0, 2)]


def of_both_signs() -> Made:
    im, f = image(), hl.Func("f")
    a, b = (hl.i8(hl.u8(im[x, k] + 100)) for k in (0, 1))
    f[x] = hl.i32((a + b + hl.i8(1)) >> 1)
    return f, [(0, 8)]


def of_three() -> tuple[hl.Expr, hl.Expr, hl.Expr]:
    im = image()
    return im[x, 0], im[x, 1], im[x, 2]


def other_bits() -> Made:
    f, (a, b, c) = hl.Func("f"), of_three()
    f[x] = (a | b) - ((a ^ c) >> 1)
    return f, [(0, 8)]


def other_difference() -> Made:
    f, (a, b, c) = hl.Func("f"), of_three()
    f[x] = hl.select(a < b, b - a, c - b)
    return f, [(0, 8)]


def unsigned() -> Made:
    """Limits of numbers of 32 bits of which int32 does not hold each."""
    im, f = hl.ImageParam(hl.UInt(32), 1, "im"), hl.Func("f")
    im.set(hl.Buffer(np.array([3, 3_000_000_000, 7, 4_000_000_000], np.uint32)))
    f[x] = hl.max(hl.i64(im[x]), hl.i64(5))
    return f, [(0, 4)]


def in_one_case() -> Made:
    """Two producers of one consumer. The second is three points long in a case that is not taken, and of the first two
    more than the second has is read."""
    p, w, m, o = hl.Param(hl.Int(32), "p", 1), hl.Func("w"), hl.Func("m"), hl.Func("o")
    w[x, y] = x + 10 * y
    m[x, y] = w[x, 0]
    o[x, y] = m[x, 4 - y] + w[x, y] + w[x + 2, y]
    m.compute_at(o, x).store_at(o, y).specialize(p <= 0).split(x, x, xi, 3, Tail.ShiftInwards)
    w.compute_at(o, x)
    return o, [(0, 4), (0, 3)]


def nearly_limited() -> Made:
    """Floats that are limited to more than bytes hold."""
    im, f = image(), hl.Func("f")
    f[x] = hl.u8(hl.clamp(hl.f32(im[x, 0]) * 9.5 - 300.0, 0.0, 300.0))
    f.vectorize(x, 16)
    return f, [(0, 16)]


def limited_above() -> Made:
    """Floats that are limited to less than some of them are."""
    im, f = image(), hl.Func("f")
    f[x] = hl.min(hl.f32(hl.u8(im[x, 0])) * 0.5, 20.0)
    return f, [(0, 16)]


NUMBERS: dict[str, AutomaticStep] = {
    "narrow: a cast keeps every value": AutomaticStep(arithmetic, "_keeps", "to.can_represent(source)", "True", wide),
    "overflow: coordinates are checked where they may wrap": AutomaticStep(
        answering._Answering,
        "_overflow_check",
        "ir.conjunction(ir.less_equal(least, ends.low), ir.less_equal(ends.high, most))",
        "ir.TRUE",
        leaves_int32,
    ),
    "overflow: loops are over what is looked at": AutomaticStep(
        ComputedSpans, "are_within", "self._query.program.keys(f)", "()", far_apart, certified
    ),
    "regions: what one case needs is not said of others": AutomaticStep(
        sliding._Sliding,
        "_least",
        "by_case(self._query.program, needs, ir.ZERO, facts)",
        "[least for _, least in needs]",
        in_one_case,
    ),
    "regions: one without points does not widen": AutomaticStep(
        boxes, "_where_any", "_choice(simplifier, some_b, both, end_a)", "end_a", some_rows
    ),
    "fuse: the length is an int64": AutomaticStep(fused_lengths, "limits", "so_far > most", "False", fused, certified),
    "narrow: a mean of what does not wrap": AutomaticStep(
        arithmetic, "_narrowed", "wide.bits() > x.type.bits() and _keeps(wide, x.type)", "wide", of_both_signs
    ),
    "narrow: a mean of two numbers' bits": AutomaticStep(
        arithmetic, "_mean_of_bits", "x is p and y is q", "(p or q)", other_bits
    ),
    "narrow: a difference of what is compared": AutomaticStep(
        arithmetic._Narrow, "rewrite_Select", "less is p", "p", other_difference
    ),
    "conversions: a float is a number of the type": AutomaticStep(
        conversions._Conversions, "rewrite_Cast", "if is_number else made", "", nearly_limited
    ),
    "conversions: no value is beyond a limit": AutomaticStep(
        conversions._Conversions, "rewrite_Binary", "if is_inside else made", "", limited_above
    ),
    "narrow: a limit of what int32 holds": AutomaticStep(
        limits._Limits, "rewrite_Binary", "n.type is INT32", "n.type.bits() == 32", unsigned
    ),
}
