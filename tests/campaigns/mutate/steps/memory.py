"""Memory: where it stands, how large it is, who shares it, and what is prefetched of it: what each step rests on.

In: nothing. Out: MEMORY, a part of ``steps.STEPS``.
"""

from __future__ import annotations

import halide_core as hl
from halide_core.lowering.passes import allocation_bounds as limits
from halide_core.lowering.passes import (
    flatten,
    prefetch,
)
from halide_core.lowering.passes.asynchronous import fork, ring
from halide_core.lowering.passes.memory import hoist_storage as hoisted
from halide_core.lowering.passes.memory import reuse
from tests.campaigns.mutate.steps.judges import Made
from tests.campaigns.mutate.steps.step import AutomaticStep, Tail, image, x, xi, xo, y, yi, yo


def shared_memory() -> Made:
    """The first iteration of w's slide is peeled: p's memory is around both."""
    w, p, o = hl.Func("w"), hl.Func("p"), hl.Func("o")
    w[x] = x * 3
    p[x] = w[x] + 1
    o[x] = p[x] * 3 + w[x] + w[x + 1]
    p.compute_at(o, x).hoist_storage_root()
    w.compute_at(o, x).store_root()
    return o, [(2, 4)]


def read_behind() -> Made:
    """A Func that is read after another one is computed."""
    im, g, h, f = image(), hl.Func("g"), hl.Func("h"), hl.Func("f")
    g[x, y] = im[x, y] * 3
    h[x, y] = im[x, y + 1] + 1
    f[x, y] = g[x, y] + h[x, y]
    g.compute_root()
    h.compute_root()
    return f, [(0, 4), (0, 4)]


def small_then_large() -> Made:
    """A Func of one column is dead when a larger one is computed."""
    im, g, h, k, f = image(), hl.Func("g"), hl.Func("h"), hl.Func("k"), hl.Func("f")
    g[x, y] = im[x, y] * 3
    h[x, y] = g[0, y] + x
    k[x, y] = h[x, y] + h[x + 1, y]
    f[x, y] = k[x, y] + k[x, y + 1]
    for each in (g, h, k):
        each.compute_root()
    return f, [(0, 4), (0, 4)]


def growing() -> Made:
    """Memory of which each iteration of a loop takes more."""
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


def ring_in_strips() -> Made:
    """Guards skip six iterations between strips."""
    f, g = hl.Func("f"), hl.Func("g")
    g[x, y] = x * y + x
    f[x, y] = g[x, y] + g[x, y + 1] * 2
    f.split(x, xo, xi, 3, Tail.ShiftInwards).split(y, yo, yi, 4, Tail.GuardWithIf).reorder(xi, yi, yo, xo)
    g.compute_at(f, xi).hoist_storage_root().ring_buffer(4).async_()
    return f, [(0, 7), (0, 6)]


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


MEMORY: dict[str, AutomaticStep] = {
    "hoisted memory: once around all uses": AutomaticStep(
        hoisted, "_allocations", "s.buffer == buffer", "False", shared_memory
    ),
    "reuse: memory is dead": AutomaticStep(reuse._Reuse, "rewrite_Block", "b.used_until < i", "True", read_behind),
    "reuse: room for the largest": AutomaticStep(
        reuse._Reuse, "rewrite_Block", "ir.maximum(block.size, size)", "block.size", small_then_large
    ),
    "hoisted memory: the largest size": AutomaticStep(hoisted, "largest_over", "up=True", "up=False", growing),
    "threads: they share one Func": AutomaticStep(fork, "_check_apart", "if shared:", "if False:", read_by_two_threads),
    "rings: iterations are counted as they run": AutomaticStep(
        ring, "_number", "ir.mul(number, loop.bounds.len)", "number", ring_of_tiles
    ),
    "rings: what is skipped is not counted": AutomaticStep(
        fork, "_in_branches", "looped and isinstance(s, If)", "False and isinstance(s, If)", ring_in_strips
    ),
    "stack: a length has a constant limit": AutomaticStep(
        limits, "_limit", "return found", "return None if found is None else found - 1", tile
    ),
    "flatten: rows are as far apart as they are long": AutomaticStep(
        flatten._Flatten, "_length", "ir.i64(unit - 1)", "ir.ZERO", aligned_rows
    ),
    "prefetch: only of what there is": AutomaticStep(
        prefetch._Placing, "_placed", "return known if inside is ir.TRUE else", "return known if True else", ahead
    ),
}
