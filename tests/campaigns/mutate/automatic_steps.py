"""The automatic steps of the compiler, each with the obligation that a mutant takes from it.

In: nothing. Out: STEPS: for each step a function of the compiler, an edit of its text that removes or spoils what the
step rests on, and a small program whose answer then is wrong, or which gets stuck.

    with STEPS["slide: what is kept"].spoilt(): …     the slide is taken without the proof
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

import halide_core as hl
from halide_core.bounds.infer import boxes, folding, fused_lengths, sliding
from halide_core.bounds.infer import inference as answering
from halide_core.lowering.passes import allocation_bounds as limits
from halide_core.lowering.passes import (
    constant_lengths,
    flatten,
    hoist,
    lets,
    partition,
    prefetch,
    simplify_stmt,
    skip_producers,
    unroll,
)
from halide_core.lowering.passes import find_intrinsics as narrow
from halide_core.lowering.passes import hoist_divisions as divisions
from halide_core.lowering.passes import peel_first_iteration as warm_up
from halide_core.lowering.passes.asynchronous import fork, ring
from halide_core.lowering.passes.memory import hoist_storage as hoisted
from halide_core.lowering.passes.vectorize import gather_address, interleave, reduction_match, vectorize
from halide_core.scheduling import sliding as obstacles
from tests.campaigns.mutate.step_judges import Made, certified, interpreted
from tests.support.spoiling import spoilt

Tail = hl.TailStrategy

x, y, xo, xi, yo, yi = (hl.Var(n) for n in ("x", "y", "xo", "xi", "yo", "yi"))


@dataclass(frozen=True)
class AutomaticStep:
    """A step: its check stands in ``function`` of ``owner``, a module or a class; ``old`` becomes ``new`` there."""

    owner: Any
    function: str
    old: str
    new: str
    make: Callable[[], Made]
    judge: Callable[[Made], str] = interpreted

    @property
    def place(self) -> str:
        """The check as the table of docs/internals/passes.md names it."""
        return self.function if inspect.ismodule(self.owner) else f"{self.owner.__name__}.{self.function}"

    def spoilt(self) -> AbstractContextManager[None]:
        """The compiler without the obligation."""
        return spoilt(self.owner, self.function, self.old, self.new)


def image(width: int = 24, height: int = 24) -> hl.ImageParam:
    """Numbers below 100, from (-6, -8) on."""
    result = hl.ImageParam(hl.Int(32), 2, "im")
    buffer = hl.Buffer(np.ascontiguousarray(np.random.default_rng(3).integers(0, 100, (height, width), np.int32)))
    buffer.set_min([-6, -8])
    result.set(buffer)
    return result


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


def no_steps() -> Made:
    """A loop along which a window slides, and which has no iteration."""
    im, g, f, r = image(), hl.Func("g"), hl.Func("f"), hl.RDom([(0, image_rows)], "r")
    g[x] = im[x, 0] * 3
    f[x] = 0
    f[x] += g[x + r.x] + g[x + r.x + 1] + 1
    g.store_root().compute_at(f, r.x)
    return f, [(1, 4)]


image_rows = hl.Param(hl.Int(32), "rows", 0)


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


def every_second_twice() -> Made:
    """Lanes in pairs at places that are two apart from the next pair's."""
    f = hl.Func("f")
    f[x] = image()[2 * (x / 2) + 3 * (x % 2), 0]
    f.vectorize(x, 8)
    return f, [(0, 8)]


def stopped() -> Made:
    """A long body whose reads stop moving halfway, so that several iterations are behind the steady part."""
    f, source = hl.Func("f"), image()
    at = hl.min(2 * x, 9)
    total = source[at, y]
    for k in range(1, 8):
        total = total * 3 + source[at + k, y] * k
    f[x, y] = total
    return f, [(0, 9), (0, 2)]


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


def shared_memory() -> Made:
    """The first iteration of w's slide is peeled: p's memory is around both."""
    w, p, o = hl.Func("w"), hl.Func("p"), hl.Func("o")
    w[x] = x * 3
    p[x] = w[x] + 1
    o[x] = p[x] * 3 + w[x] + w[x + 1]
    p.compute_at(o, x).hoist_storage_root()
    w.compute_at(o, x).store_root()
    return o, [(2, 4)]


def growing() -> Made:
    """What a loop's iterations take of one memory grows."""
    im, g, f, r = image(), hl.Func("g"), hl.Func("f"), hl.RDom([(0, 4)], "r")
    g[x] = im[x, 0]
    f[x, y] = 0
    f[x, y] += g[r.x * y]
    g.compute_at(f, y).hoist_storage_root()
    return f, [(0, 2), (1, 4)]


def read_by_two_threads() -> Made:
    """One Func has a thread of its own, and what it reads is read elsewhere too."""
    im, h, g, f = image(), hl.Func("h"), hl.Func("g"), hl.Func("f")
    h[x, y] = im[x, y] * 3
    g[x, y] = h[x, y] + h[x, y + 1]
    f[x, y] = g[x, y] + g[x, y + 1] + h[x, y]
    h.store_root().compute_at(f, y)
    g.store_root().compute_at(f, y).async_()
    return f, [(0, 4), (0, 4)]


def ring_of_tiles() -> Made:
    """Memory of two iterations, of loops of three and of two."""
    im, g, f = image(), hl.Func("g"), hl.Func("f")
    g[x, y] = im[x, y] * 3
    f[x, y] = g[x, y] + g[x, y + 1]
    f.tile(x, y, xo, yo, xi, yi, 2, 2)
    g.compute_at(f, xo).hoist_storage_root().ring_buffer(2).async_()
    return f, [(0, 4), (0, 6)]


def tile() -> Made:
    im, g, f = image(), hl.Func("g"), hl.Func("f")
    g[x] = im[x, 0] * 3
    f[x] = g[x - 1] + g[x + 1]
    f.split(x, xo, xi, 3, Tail.GuardWithIf)
    g.compute_at(f, xo)
    return f, [(1, 5)]


def wide() -> Made:
    im, f = image(), hl.Func("f")
    f[x] = hl.i32(hl.u8(im[x, 0] * 7))
    return f, [(0, 8)]


def lanes_guarded() -> Made:
    f = hl.Func("f")
    r = hl.RDom([(0, 3)], "r")
    r.where(r.x * 2 < x)
    f[x] = 0
    f[x] += r.x + 1
    f.update(0).vectorize(x, 4, Tail.GuardWithIf)
    return f, [(0, 7)]


def lanes_of_memory() -> Made:
    """Vectors go through an inline reduction's loop in step, each with memory of its own."""
    im, f, near = image(160), hl.Func("f"), hl.RDom([(0, 3)], "near")
    f[x, y] = hl.maximum(near, im[x + near.x, y])
    f.vectorize(x, 2 * hl.get_host_target().natural_vector_size(hl.Int(32)))
    return f, [(-4, 64), (0, 1)]


def lanes_that_stop() -> Made:
    """Vectors that are made of several, each of which goes through a reduction as far as its own number says."""
    f, r, lanes = hl.Func("f"), hl.RDom([(0, 3)], "r"), hl.get_host_target().natural_vector_size(hl.Int(32))
    r.where(r.x < x / lanes)
    f[x] = 0
    f[x] += r.x + 1
    f.bound(x, 0, 4 * lanes)
    f.update(0).vectorize(x, 2 * lanes)
    return f, [(0, 4 * lanes)]


def taken_away() -> Made:
    """What lanes take away from one element, all at once."""
    im, f, r = image(), hl.Func("f"), hl.RDom([(0, 8)], "r")
    f[x] = 0
    f[x] -= im[r.x, x]
    f.update(0).atomic().vectorize(r.x, 8)
    return f, [(0, 3)]


def leaves_int32() -> Made:
    """A clamp of a coordinate that wraps where it is an int32, and not where it is an index."""
    im, f = image(), hl.Func("f")
    f[x] = im[hl.clamp(x * 100000, 0, 5), 0]
    return f, [(30000, 2)]


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


def arms() -> Made:
    """Each copy takes one side of a choice, and not all the same."""
    f = hl.Func("f")
    f[x] = hl.select(x % 3 == 0, x + 7, x * 2)
    f.bound(x, 0, 4).unroll(x)
    return f, [(0, 4)]


def ahead() -> Made:
    im, f = image(12, 12), hl.Func("f")
    f[x, y] = im[x, y] + 1
    f.prefetch(im, y, y, 2, hl.PrefetchBoundStrategy.GuardWithIf)
    return f, [(0, 4), (-8, 12)]


def aligned_rows() -> Made:
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x + y
    f[x, y] = g[x, y] + g[x + 1, y + 1]
    g.compute_root().align_storage(x, 4)
    return f, [(0, 4), (0, 3)]


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


def far_lanes() -> Made:
    """Places whose first lane int32 holds, and whose last lane it does not."""
    at, im, f, least = image(), hl.ImageParam(hl.Int(32), 2, "far"), hl.Func("f"), 2**31 - 48
    buffer = hl.Buffer(np.arange(24 * 24, dtype=np.int32).reshape(24, 24))
    buffer.set_min([least, 0])
    im.set(buffer)
    im.dim(1).set_stride(24)
    f[x] = im[hl.clamp(at[x, 0] + least - 40, least, least + 23), x]
    f.vectorize(x, 4)
    return f, [(0, 8)]


STEPS: dict[str, AutomaticStep] = {
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
    "slide: every stage passes through": AutomaticStep(
        obstacles, "_obstacle", "not func.pure_dims(stage)[d]", "False", scan
    ),
    "fold: slots are enough": AutomaticStep(folding.Folding, "_constant", "return most if", "return ir.ONE if", first),
    "fold: no loop further in moves it": AutomaticStep(
        folding.Folding, "refusal", "inner.var in moving", "False", both_ways
    ),
    "skip: later iterations read nothing of it": AutomaticStep(
        skip_producers._Skipping, "_condition", "free_variables(e) <= life.known", "True", every_second
    ),
    "skip: places to read from are always computed": AutomaticStep(
        skip_producers._Skipping, "_values", "(a, _ALWAYS) for a in args", "(a, under) for a in args", places
    ),
    "peel: the parts are the loop": AutomaticStep(
        warm_up._WarmUps, "rewrite_For", "simplify(ir.minimum(length, ir.ONE))", "ir.ONE", no_steps
    ),
    "partition: the steady part decides for all lanes": AutomaticStep(
        partition._Steady, "_worst", "bounds.min if c > 0 else last", "last if c > 0 else bounds.min", clamped
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
    "partition: coordinates do not wrap": AutomaticStep(
        partition, "exact_index", "exact if is_int32(exact) else None", "exact", wrapping
    ),
    "partition: quotients are rounded down": AutomaticStep(
        partition._Steady, "_without_divisions", "ir.sub(a, ir.i64(k - 1)) if c > 0 else a", "a", thinned
    ),
    "divisions: what reads memory stays": AutomaticStep(
        divisions._Lifted, "_moves", "isinstance(each, _FIXED)", "False", counted
    ),
    "hoist: guards that read memory stay": AutomaticStep(
        hoist, "_reads_memory", "isinstance(s, Access)", "False", while_small
    ),
    "hoisted memory: once around all uses": AutomaticStep(
        hoisted, "_allocations", "s.buffer == buffer", "False", shared_memory
    ),
    "hoisted memory: the largest size": AutomaticStep(hoisted, "largest_over", "up=True", "up=False", growing),
    "threads: they share one Func": AutomaticStep(fork, "_check_apart", "if shared:", "if False:", read_by_two_threads),
    "rings: iterations are counted as they run": AutomaticStep(
        ring, "_number", "ir.mul(number, loop.bounds.len)", "number", ring_of_tiles
    ),
    "stack: a length has a constant limit": AutomaticStep(
        limits, "_limit", "return found", "return None if found is None else found - 1", tile
    ),
    "narrow: a cast keeps every value": AutomaticStep(narrow, "_keeps", "to.can_represent(source)", "True", wide),
    "vectors: a guard holds for all lanes": AutomaticStep(vectorize, "_for_all_lanes", "lanes - 1", "0", lanes_guarded),
    "in step: each vector has its own memory": AutomaticStep(
        vectorize._FindLoops, "_vectors", "own_memory(body, self._names)", "body", lanes_of_memory
    ),
    "in step: loops are the same": AutomaticStep(
        interleave,
        "_same_loop",
        "b.bounds.min is a.bounds.min and b.bounds.len is a.bounds.len",
        "True",
        lanes_that_stop,
    ),
    "lanes of one element: they are combined first": AutomaticStep(
        reduction_match, "taken_in", "_COMBINED[op], new", "op, new", taken_away
    ),
    "overflow: coordinates are checked where they may wrap": AutomaticStep(
        answering._Answering, "_overflow_check", "if ends.low is None", "if True or ends.low is None", leaves_int32
    ),
    "regions: one without points does not widen": AutomaticStep(
        boxes, "_where_any", "_choice(simplifier, some_b, both, end_a)", "end_a", some_rows
    ),
    "fuse: the length is an int64": AutomaticStep(fused_lengths, "limits", "so_far > most", "False", fused, certified),
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
    "flatten: each copy has lets of its own": AutomaticStep(
        lets.Lets, "bind", "self._forms[var] = form", "self._forms.setdefault(var, form)", copies
    ),
    "flatten: rows are as far apart as they are long": AutomaticStep(
        flatten._Flatten, "_length", "ir.i64(unit - 1)", "ir.ZERO", aligned_rows
    ),
    "prefetch: only of what there is": AutomaticStep(
        prefetch._Placing, "_placed", "return known if inside is ir.TRUE else", "return known if True else", ahead
    ),
    "narrow: a mean of what does not wrap": AutomaticStep(
        narrow, "_narrowed", "wide.bits() > x.type.bits() and _keeps(wide, x.type)", "wide", of_both_signs
    ),
    "narrow: a mean of two numbers' bits": AutomaticStep(
        narrow, "_mean_of_bits", "x is p and y is q", "(p or q)", other_bits
    ),
    "narrow: a difference of what is compared": AutomaticStep(
        narrow._Narrow, "rewrite_Select", "less is p", "p", other_difference
    ),
    "narrow: a limit of what int32 holds": AutomaticStep(
        narrow._Limits, "rewrite_Binary", "n.type is INT32", "n.type.bits() == 32", unsigned
    ),
    "gathers: places that int32 holds in all lanes": AutomaticStep(
        gather_address, "narrow_lanes", "high + max(far, 0) > INT32.range[1]", "False", far_lanes
    ),
    "pairs of lanes: two lanes on is one element on": AutomaticStep(
        gather_address, "pairs_of_lanes", "moved != 1 or ", "", every_second_twice
    ),
}
