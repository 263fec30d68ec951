"""Loops that are peeled, divided, unrolled and emptied: what each step rests on.

In: nothing. Out: LOOPS, a part of ``steps.STEPS``.
"""

from __future__ import annotations

import numpy as np

import halide_core as hl
from halide_core.analysis import index
from halide_core.lowering.passes import (
    constant_lengths,
    hoist,
    jam,
    lets,
    loop_shapes,
    simplify_stmt,
    unroll,
)
from halide_core.lowering.passes import hoist_divisions as divisions
from halide_core.lowering.passes import peel_first_iteration as warm_up
from halide_core.lowering.passes.partition import once, partition
from halide_core.lowering.passes.partition.steady_part import SteadyPart
from halide_core.lowering.passes.vectorize import side_by_side, turn, widen
from tests.campaigns.mutate.steps.judges import Made
from tests.campaigns.mutate.steps.step import AutomaticStep, Tail, image, x, xi, xo, y, yi

image_rows = hl.Param(hl.Int(32), "rows", 0)
along = hl.RDom([(0, 19)], "along")


def no_steps() -> Made:
    """A loop along which a window slides, and which has no iteration."""
    im, g, f, r = image(), hl.Func("g"), hl.Func("f"), hl.RDom([(0, image_rows)], "r")
    g[x] = im[x, 0] * 3
    f[x] = 0
    f[x] += g[x + r.x] + g[x + r.x + 1] + 1
    g.store_root().compute_at(f, r.x)
    return f, [(1, 4)]


def in_a_row() -> Made:
    """A row of whole vectors, and what is left of it."""
    f = hl.Func("f")
    f[x] = image(60)[x, 0] * 3
    f.vectorize(x, 4, Tail.GuardWithIf)
    return f, [(-2, 51)]


def clamped() -> Made:
    """Vectors of an input whose edges are inside the steady part of no vector but those further in."""
    f = hl.Func("f")
    f[x, y] = hl.BoundaryConditions.repeat_edge(image(9, 12))[x - 1, y]
    f.split(x, xo, xi, 4, Tail.GuardWithIf).vectorize(xi)
    return f, [(-8, 26), (0, 2)]


def inside_on_one_side() -> Made:
    """Tiles that are inside their input on the left, and not on the right, whose columns no loop inside moves."""
    f, g = hl.Func("f"), hl.Func("g")
    g[x, y] = hl.BoundaryConditions.repeat_edge(image(24, 30))[x, y]
    f[x, y] = g[x, y / 2] + g[x, (y + 1) / 2]
    f.tile(x, y, xi, yi, 8, 3)
    g.compute_at(f, x).vectorize(x, 8)
    return f, [(0, 32), (0, 6)]


def shifted_in_a_tile() -> Made:
    """A tile whose last vector is shifted inwards by less than a vector, at its input's end."""
    f, g = hl.Func("f"), hl.Func("g")
    g[x, y] = hl.BoundaryConditions.repeat_edge(image(24, 24))[x, y]
    f[x, y] = g[x, y] + g[x - 1, y]
    f.tile(x, y, xi, yi, 8, 3)
    g.compute_at(f, x).vectorize(x, 8)
    return f, [(-5, 40), (-8, 3)]


def stopped() -> Made:
    """A long body whose reads stop moving halfway, so that several iterations are behind the steady part."""
    f, source = hl.Func("f"), image()
    at = hl.min(2 * x, 9)
    total = source[at, y]
    for k in range(1, 8):
        total = total * 3 + source[at + k, y] * k
    f[x, y] = total
    return f, [(0, 9), (0, 2)]


def long_ends() -> Made:
    """A body that is written once for the head and the tail."""
    im, f = image(), hl.Func("f")
    padded = hl.BoundaryConditions.repeat_edge(im)
    f[x, y] = sum((padded[x + k, y] * (k + 5) for k in range(-3, 4)), hl.Expr(0))
    return f, [(-8, 30), (0, 2)]


def left_out() -> Made:
    """A guard that asks of each iteration what memory has for it, beside clamps that end where the loop does not."""
    im, f, r = image(60), hl.Func("f"), hl.RDom([(0, 50)], "r")
    r.where(hl.i64(r.x) < im[r.x, 0])
    f[x] = 0
    f[x] += im[hl.clamp(x + r.x, 0, 5), 1]
    return f, [(0, 7)]


def wrapping() -> Made:
    """A comparison whose int32 arithmetic wraps in the middle of the window."""
    f = hl.Func("f")
    f[x, y] = hl.select((x + 2147483600 < 0) | (x < -100), x, -y)
    return f, [(0, 90), (0, 2)]


def thinned() -> Made:
    """Two quotients, which together are less than what they are quotients of."""
    f = hl.Func("f")
    f[x, y] = hl.BoundaryConditions.repeat_edge(image())[x / 2 + x / 3 - 15, y]
    return f, [(0, 30), (0, 2)]


def behind_an_edge() -> Made:
    """A choice that changes some points behind the place from which on a clamp is its operand."""
    f, im = hl.Func("f"), image()
    f[x, y] = hl.select(x < 5, 1000, 0) + im[hl.max(x - 3, -2), y]
    return f, [(-6, 20), (0, 2)]


def half_of_a_clamp() -> Made:
    """Lanes of a place that is half of theirs, up to an end that is known when it runs."""
    f, near, of = hl.Func("f"), image(21), hl.ImageParam(hl.UInt(8), 1, "of")
    of.set(hl.Buffer(np.arange(7, dtype=np.uint8)))
    f[x, y] = near[hl.clamp(y + hl.min(x / 2, of.dim(0).extent() - 1) - 6, -6, 14), 0] + of[0]
    f.bound(x, 8, 8).vectorize(x, 8)
    return f, [(8, 8), (-10, 40)]


def thinned_by_two() -> Made:
    """Every second element, from one on that is not the first."""
    f, im = hl.Func("f"), image()
    f[x, y] = im[hl.max(2 * x - 1, im.dim(0).min()), y]
    return f, [(-8, 10), (0, 2)]


def counted() -> Made:
    """A remainder of what the loop writes."""
    f, r = hl.Func("f"), hl.RDom([(0, 6)], "r")
    f[x] = 1
    f[0] += f[0] % 5 + r * 0
    return f, [(0, 3)]


def while_small() -> Made:
    """A guard that reads what the loop writes."""
    f, r = hl.Func("f"), hl.RDom([(0, 6)], "r")
    f[x] = 0
    r.where(f[0] < 3)
    f[0] += 1 + r.x
    return f, [(0, 3)]


def remainder() -> Made:
    """Tiles that vectors don't divide."""
    f = hl.Func("f")
    f[x] = image()[x, 0]
    f.split(x, xo, xi, 6).vectorize(xi, 4, Tail.GuardWithIf)
    return f, [(0, 12)]


def other_branch() -> Made:
    """A number that is three at least in one branch, and zero in the other one."""
    n = hl.Param(hl.Int(32), "n", 0)
    im, f = image(), hl.Func("f")
    f[x] = im[hl.max(n, 1), 0]
    f.specialize(n >= 3)
    return f, [(0, 3)]


def cut_short() -> Made:
    """The producer in a tile, of which the last one is shorter."""
    im, g, f = image(12), hl.Func("g"), hl.Func("f")
    g[x] = im[x, 0] * 3
    f[x] = g[x] + 1
    f.split(x, xo, xi, 4, Tail.GuardWithIf)
    g.compute_at(f, xo).unroll(x)
    return f, [(-6, 11)]


def every_fourth() -> Made:
    """Points four apart, of which the last rows have one less, behind clamps."""
    im, f = image(60), hl.Func("f")
    f[x] = im[hl.clamp(x, 0, 5), 0]
    f.split(x, xo, xi, 4, Tail.GuardWithIf).reorder(xo, xi)
    return f, [(0, 23)]


def in_rows() -> Made:
    f = hl.Func("f")
    f[x, y] = x + y
    f.split(x, xo, xi, 4, Tail.GuardWithIf)
    return f, [(0, 6), (0, 2)]


def copies() -> Made:
    """Each copy of an unrolled loop has memory of another length."""
    im, g, f = image(), hl.Func("g"), hl.Func("f")
    g[x, y] = im[x, y] * 3
    f[x] = g[x * x, 0] + g[x * x + 1, x]
    f.bound(x, 0, 4).unroll(x)
    g.compute_at(f, x)
    return f, [(0, 4)]


def first_apart() -> Made:
    """The first iteration of a reduction is a let, and the others a loop: both read a table of their own width."""
    table, g, f, r = hl.Func("table"), hl.Func("g"), hl.Func("f"), hl.RDom([(image_rows + 3, 8)], "r")
    table[x] = x * x
    g[x] = table[x] + 1
    f[x] = 0
    f[x] += g[r.x] + g[r.x + 1] + table[r.x] * 100
    table.compute_root()
    g.store_root().compute_at(f, r.x)
    return f, [(0, 1)]


def arms() -> Made:
    """Each copy takes one side of a choice, and not all the same."""
    f = hl.Func("f")
    f[x] = hl.select(x % 3 == 0, x + 7, x * 2)
    f.bound(x, 0, 4).unroll(x)
    return f, [(0, 4)]


def fractions() -> hl.Expr:
    """The image's numbers, a tenth of each."""
    return hl.cast(hl.Float(32), image(60)[x + along.x, y]) * 0.1


def memory_of_all() -> Made:
    """Each iteration of a loop adds up in memory that the one before it has read."""
    f, g = hl.Func("f"), hl.Func("g")
    g[x, y] = 0.0
    g[x, y] += fractions()
    f[x, y] = g[x, y] * 2
    g.store_root().compute_at(f, x).fold_storage(x, 1)
    return f, [(0, 9), (0, 2)]


def one_sum() -> Made:
    """Rows that are added to one element in their order, which rounds differently in another one."""
    im, f, r = image(60), hl.Func("f"), hl.RDom([(0, 19), (0, 4)], "r")
    f[x] = 1.0
    f[0] = f[0] * 0.5 + hl.cast(hl.Float(32), im[r.x, r.y])
    return f, [(0, 4)]


def shares_of_the_first() -> Made:
    """Rows that are added to elements, the first of which all others read: it is done before they begin."""
    im, f, r = image(60), hl.Func("f"), hl.RDom([(0, 19), (0, 4)], "r")
    f[x] = 1.0
    f[r.y] = f[r.y] * 0.5 + f[0] * hl.cast(hl.Float(32), im[r.x, r.y])
    return f, [(0, 4)]


def slanting() -> Made:
    """Columns each of which reads the one before it, further down."""
    im, f, r = image(60, 60), hl.Func("f"), hl.RDom([(0, 19), (0, 8)], "r")
    f[x, y] = im[x, y]
    f[r.y, r.x] += f[r.y - 1, r.x + 1] * 3
    return f, [(-1, 9), (0, 20)]


def sums_side_by_side() -> Made:
    f = hl.Func("f")
    f[x, y] = hl.sum(along, fractions())
    return f, [(-5, 11), (0, 2)]


def columns_of_two() -> Made:
    """Rows of two points, which the next row's do not follow in memory."""
    im, f = image(), hl.Func("f")
    f[x, y] = im[x, y] * 3
    f.bound(x, 0, 2).vectorize(x)
    return f, [(0, 2), (0, 9)]


def steps_of_two() -> Made:
    """Each step reads what the one before it made of the points beside its own."""
    f, r = hl.Func("f"), hl.RDom([(0, 2), (1, 12)], "r")
    f[x] = x
    f[r.x + 2 * r.y] += f[r.x + 2 * r.y - 2]
    f.compute_root().update().allow_race_conditions().vectorize(r.x)
    return f, [(0, 26)]


def steps_in_columns() -> Made:
    """Down each column, a step reads what the one before it made; columns are a row's elements."""
    f, r = hl.Func("f"), hl.RDom([(1, 16)], "r")
    f[x, y] = x + 3 * y
    f[r, y] += f[r - 1, y]
    f.compute_root().update().vectorize(y, 8)
    return f, [(0, 17), (0, 16)]


def steps_in_copies() -> Made:
    """Each of four copies reads what the one before it made."""
    f, r = hl.Func("f"), hl.RDom([(1, 16)], "r")
    f[x] = x
    f[r] += f[r - 1]
    f.compute_root().update().unroll(r.x, 4)
    return f, [(0, 17)]


def steps_with_functions() -> Made:
    """A step takes the sine of what the one before it made."""
    f, r = hl.Func("f"), hl.RDom([(1, 40)], "r")
    f[x] = hl.f32(x)
    f[r] += hl.sin(f[r - 1])
    return f, [(0, 41)]


def pairs_of_points() -> Made:
    im, f = image(), hl.Func("f")
    f[x] = im[x, 0] * 3
    f.vectorize(x, 2)
    return f, [(0, 11)]


LOOPS: dict[str, AutomaticStep] = {
    "peel: the parts are the loop": AutomaticStep(
        warm_up._WarmUps, "rewrite_For", "simplify(ir.minimum(length, ir.ONE))", "ir.ONE", no_steps
    ),
    "once: the loop runs at most once": AutomaticStep(
        once._Once, "rewrite_For", "not Facts().proves_le(known, ir.ONE)", "False", in_a_row
    ),
    "partition: the steady part decides for all lanes": AutomaticStep(
        SteadyPart, "_least", "bounds.min if c > 0 else last", "last if c > 0 else bounds.min", clamped
    ),
    "partition: a choice is made by the thresholds of others": AutomaticStep(
        SteadyPart, "_is_required", "known.const <= form.const", "True", behind_an_edge
    ),
    "partition: a multiple is one of the whole form": AutomaticStep(
        SteadyPart,
        "_least",
        "self._without_clamps(form, clamps - 1)",
        "self._without_divisions(self._without_clamps(form, clamps - 1))[1]",
        half_of_a_clamp,
    ),
    "partition: from its threshold on a form is not negative": AutomaticStep(
        loop_shapes,
        "threshold",
        "ir.sub(ir.ZERO, ir.div(rest, ir.i64(c)))",
        "ir.div(ir.sub(ir.ZERO, rest), ir.i64(c))",
        thinned_by_two,
    ),
    "partition: a clamp of lanes is between its ends": AutomaticStep(
        SteadyPart, "_end_of", "linear_of(e).times(sign)", "linear_of(e)", shifted_in_a_tile
    ),
    "partition: a tile is inside for all lanes": AutomaticStep(
        partition._Partition,
        "_inside_and_not",
        "in whole.gaps.values()",
        "in [*whole.gaps.values()][-1:]",
        inside_on_one_side,
    ),
    "partition: behind the steady part each iteration is one part": AutomaticStep(
        partition._Partition,
        "_shifted",
        "ir.sub(tail, start), ir.ONE",
        "ir.sub(tail, start), ir.sub(end, tail)",
        stopped,
    ),
    "partition: ends that have one body are both": AutomaticStep(
        partition._Partition, "_joined_ends", "ir.less(part, ir.ONE)", "ir.less_equal(ir.ZERO, part)", long_ends
    ),
    "partition: behind its guard a loop is over": AutomaticStep(
        loop_shapes, "ends_of_guard", "not varies", "True", left_out
    ),
    "partition: a guard fails behind its threshold": AutomaticStep(
        loop_shapes, "threshold", "ir.div(rest, ir.i64(-c))", "ir.sub(ir.div(rest, ir.i64(-c)), ir.ONE)", every_fourth
    ),
    "partition: coordinates do not wrap": AutomaticStep(
        index, "_exact_binary", "exact if is_int32(exact) else None", "exact", wrapping
    ),
    "partition: quotients are rounded down": AutomaticStep(
        SteadyPart, "_without_divisions", "ir.sub(a, ir.i64(k - 1)) if c > 0 else a", "a", thinned
    ),
    "divisions: what reads memory stays": AutomaticStep(
        divisions._Lifted, "_moves", "not kinds & _FIXED", "True", counted
    ),
    "hoist: guards that read memory stay": AutomaticStep(
        hoist, "_reads_memory", "has(e, Access)", "False", while_small
    ),
    "simplify: facts hold where they stand": AutomaticStep(
        simplify_stmt, "_where", "(inner, test, holds)", "(inner, test)", other_branch
    ),
    "simplify: iterations behind a guard are idle": AutomaticStep(
        simplify_stmt, "_end", "gap.const + (", "gap.const - 1 + (", remainder
    ),
    "constant lengths: those beyond its own do nothing": AutomaticStep(
        constant_lengths._ConstantLengths, "rewrite_For", "If(ir.less(loop.var, end), body, None)", "body", cut_short
    ),
    "constant lengths: none is longer": AutomaticStep(
        constant_lengths._ConstantLengths, "_limit", "return best", "return best and best - 1", cut_short
    ),
    "hoist: what the loop changes stays": AutomaticStep(hoist._LetHoist, "rewrite_For", "{loop.var}", "set()", in_rows),
    "unroll: a copy for each iteration": AutomaticStep(
        unroll._Unroll, "rewrite_For", "range(count)", "range(1, count)", copies
    ),
    "unroll: a copy chooses what its iteration decides": AutomaticStep(
        unroll._Copy, "rewrite_Select", "e.a if decided.value else e.b", "e.a", arms
    ),
    "widen: lanes and iterations are neighbours": AutomaticStep(
        widen._Together, "_sum", "!= self._count * times", "!= self._count * times and False", columns_of_two
    ),
    "widen: iterations have no order": AutomaticStep(
        widen, "lanes_alone", "loop.pure and inner.pure and", "", steps_of_two
    ),
    "turn: iterations have no order": AutomaticStep(turn, "_is_turned", "loop.pure and", "", steps_in_columns),
    "copies: iterations have no order": AutomaticStep(
        side_by_side._Copies, "_is_side_by_side", "not loop.pure or", "", steps_in_copies
    ),
    "functions: iterations have no order": AutomaticStep(
        widen, "lanes_alone", "loop.pure and inner.pure and", "", steps_with_functions
    ),
    "widen: iterations that are left come last": AutomaticStep(
        widen, "_loops", "[several] if left is ir.ZERO else", "[several] if True else", pairs_of_points
    ),
    "jam: no iteration reads what another writes": AutomaticStep(
        jam, "_are_apart", "not moves and", "False and", memory_of_all
    ),
    "jam: an element is one iteration's": AutomaticStep(
        jam, "_move_on", "abs(form.terms.get(var, 0)) >= span", "True", one_sum
    ),
    "jam: what an iteration touches lies side by side": AutomaticStep(
        jam, "_move_on", "other.terms != form.terms", "False", shares_of_the_first
    ),
    "jam: columns don't read one another": AutomaticStep(jam, "_are_columns", "not loop.pure or", "False or", slanting),
    "jam: each iteration has its own memory": AutomaticStep(
        jam._Jam, "rewrite_For", "own_memory(loop.body, self._names)", "loop.body", sums_side_by_side
    ),
    "jam: iterations that are left come last": AutomaticStep(
        jam._Jam, "rewrite_For", "ir.mul(groups, each)", "groups", sums_side_by_side
    ),
    "flatten: each copy has lets of its own": AutomaticStep(
        lets.Lets, "bind", "self._forms[var] = form", "self._forms.setdefault(var, form)", copies
    ),
    "flatten: a loop's variable has no one value": AutomaticStep(
        lets.Lets, "release", "self._forms.pop(var, None)", "pass", first_apart
    ),
}
