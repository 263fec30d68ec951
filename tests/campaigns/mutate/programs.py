"""Programs of which each leans on one part of the compiler, small enough to be run by the interpreter in a moment.

In: nothing. Out: PROGRAMS: by name, a function that gives a Func with its schedule and its inputs, and a window.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import halide_core as hl

Window = list[tuple[int, int]]
Made = tuple[hl.Func, Window]
Tail = hl.TailStrategy

x, y, c, xo, xi, yo, yi, t = (hl.Var(n) for n in ("x", "y", "c", "xo", "xi", "yo", "yi", "t"))


def image(type: hl.Type, *sizes: int, low: int = 0, name: str = "im") -> hl.ImageParam:
    """An input with values drawn from a fixed seed, every dimension starting at ``low``."""
    result = hl.ImageParam(type, len(sizes), name)
    numbers = np.random.default_rng(len(sizes)).integers(0, 100, sizes[::-1])
    buffer = hl.Buffer(np.array(numbers, type.dtype))
    buffer.set_min([low] * len(sizes))
    result.set(buffer)
    return result


def blur(tail: hl.TailStrategy = Tail.ShiftInwards) -> tuple[hl.Func, hl.Func]:
    """Two stages of a separable blur; the second is tiled."""
    source = hl.BoundaryConditions.repeat_edge(image(hl.UInt(16), 20, 14))
    bx, by = hl.Func("bx"), hl.Func("by")
    bx[x, y] = (source[x - 1, y] + source[x, y] + source[x + 1, y]) // 3
    by[x, y] = (bx[x, y - 1] + bx[x, y] + bx[x, y + 1]) // 3
    by.split(x, xo, xi, 8, tail).split(y, yo, yi, 4, tail).reorder(xi, yi, xo, yo)
    return bx, by


def tiled() -> Made:
    bx, by = blur()
    by.vectorize(xi, 4).parallel(yo)
    bx.compute_at(by, xo).vectorize(x, 8)
    return by, [(-1, 19), (0, 9)]


def guarded() -> Made:
    bx, by = blur(Tail.GuardWithIf)
    by.vectorize(xi)
    bx.compute_at(by, yi).unroll(x, 2)
    return by, [(2, 11), (-3, 7)]


def rounded() -> Made:
    bx, by = blur(Tail.RoundUp)
    bx.compute_at(by, xo).store_at(by, yo)
    return by, [(0, 9), (1, 6)]


def wide_store() -> Made:
    bx, by = blur()
    bx.store_root().compute_at(by, yi)
    return by, [(0, 13), (0, 11)]


def fused() -> Made:
    bx, by = blur(Tail.GuardWithIf)
    by.fuse(xo, yo, t).parallel(t)
    bx.compute_at(by, t)
    return by, [(0, 17), (0, 6)]


def split_of_split() -> Made:
    f, g = hl.Func("f"), hl.Func("g")
    g[x] = x * 3 % 11
    f[x] = g[x] + g[x + 2]
    f.split(x, xo, xi, 6, Tail.GuardWithIf).split(xi, yo, yi, 4, Tail.GuardWithIf)
    g.compute_at(f, yo)
    return f, [(-4, 21)]


def by_param() -> Made:
    p, n = hl.Param(hl.Int(32), "p", 3), hl.Param(hl.Int(32), "n", 5)
    f, g = hl.Func("f"), hl.Func("g")
    g[x] = hl.cast(hl.Int(16), x + p)
    r = hl.RDom([(p - 1, n)], "r")
    f[x] = hl.cast(hl.Int(16), 0)
    f[x] += g[x + r.x]
    out = hl.Func("out")
    out[x] = f[x] - f[x + p]
    out.split(x, xo, xi, p, Tail.ShiftInwards)
    f.compute_at(out, xo)
    g.compute_at(out, xo)
    return out, [(0, 13)]


def matmul() -> Made:
    a, b, f = image(hl.Int(32), 7, 9), image(hl.Int(32), 9, 7, name="im2"), hl.Func("f")
    k = hl.RDom([(0, 7)], "k")
    f[x, y] = 0
    f[x, y] += a[k.x, y] * b[x, k.x]
    out = hl.Func("out")
    out[x, y] = f[x, y] + 1
    out.split(x, xo, xi, 4).split(y, yo, yi, 4).reorder(xi, yi, xo, yo).vectorize(xi)
    ko, ki = hl.RVar("ko"), hl.RVar("ki")
    f.compute_at(out, xo).update(0).split(k.x, ko, ki, 3).reorder(x, y, ki, ko)
    return out, [(0, 9), (0, 9)]


def histogram() -> Made:
    source, f, out = image(hl.UInt(8), 10, 6), hl.Func("f"), hl.Func("out")
    r = hl.RDom([(0, 10), (0, 6)], "r")
    f[x] = 0
    f[hl.i32(source[r.x, r.y]) // 8] += 1
    out[x] = f[x] + f[x + 1]
    f.compute_root().vectorize(x, 4)
    return out, [(0, 12)]


def scan() -> Made:
    f, g = hl.Func("f"), hl.Func("g")
    r = hl.RDom([(1, 12)], "r")
    f[x, y] = hl.cast(hl.Int(32), x * y % 7)
    f[r.x, y] = f[r.x - 1, y] * 3 + f[r.x, y]
    f[13 - r.x, y] += f[14 - r.x, y]
    g[x, y] = f[x + 1, y]
    f.compute_at(g, y)
    f.update(0).vectorize(y, 4, Tail.GuardWithIf)
    f.update(1).parallel(y)
    g.vectorize(x, 4, Tail.RoundUp)
    return g, [(1, 8), (-2, 6)]


def triangle() -> Made:
    f, g = hl.Func("f"), hl.Func("g")
    r = hl.RDom([(0, 5), (0, 6)], "r")
    r.where((r.x < r.y) & (r.x + r.y < 9))
    g[x, y] = x + 10 * y
    f[x] = 0
    f[x] += g[r.x + x, r.y]
    f.update(0).fuse(r.x, r.y, t).split(x, xo, xi, 3)
    g.compute_root().split(y, yo, yi, 4, Tail.ShiftInwards).unroll(yi)
    return f, [(0, 7)]


def pyramid() -> Made:
    base = hl.BoundaryConditions.mirror_image(image(hl.UInt(8), 24, low=-2))
    down, more, up, out = (hl.Func(n) for n in ("down", "more", "up", "out"))
    down[x] = hl.cast(hl.UInt(8), (hl.u16(base[2 * x - 1]) + base[2 * x] * 2 + base[2 * x + 1]) // 4)
    more[x] = down[2 * x] // 2 + down[2 * x + 1] // 2
    up[x] = down[x // 2] // 2 + more[x // 4] // 2
    out[x] = up[x] - base[x] // 4
    out.split(x, xo, xi, 8)
    for f in (down, more):
        f.compute_at(out, xo)
    up.compute_at(out, xo).vectorize(x, 4)
    return out, [(0, 27)]


def gather() -> Made:
    table, f, g, keys = image(hl.Int(16), 16), hl.Func("f"), hl.Func("g"), image(hl.Int(32), 13, low=-1, name="keys")
    f[x] = hl.clamp(keys[x], 0, 15)
    g[x] = table[f[x]] + table[hl.clamp(7 * x - 3, 2, 9)] + f[hl.i32(hl.u8(f[x - 1])) % 4]
    f.compute_root()
    g.split(x, xo, xi, 4, Tail.GuardWithIf)
    return g, [(1, 9)]


def mirrored() -> Made:
    f, g = hl.Func("f"), hl.Func("g")
    g[x, y] = x - 3 * y
    f[x, y] = g[5 - x, y // 3] + g[x % 4, (y + 1) % 5 - 2] + hl.select(x < y, g[x, y], g[y, x])
    f.split(x, xo, xi, 4).reorder(y, xi)
    g.compute_at(f, xo)
    return f, [(-2, 9), (-4, 8)]


def unrolled() -> Made:
    f, g = hl.Func("f"), hl.Func("g")
    r = hl.RDom([(-2, 5)], "r")
    g[x] = hl.cast(hl.UInt(8), x * 2 + 5)
    f[x] = 0
    f[x] = f[x] + hl.i32(g[x + r.x]) * hl.i32(g[x - r.x])
    out = hl.Func("out")
    out[x] = f[x] * 2
    f.compute_at(out, x).update(0).unroll(r.x)
    g.compute_at(out, x).store_root()
    return out, [(0, 7)]


def promised() -> Made:
    f, g, h = hl.Func("f"), hl.Func("g"), hl.Func("h")
    h[x, c] = x + c
    g[x, c] = h[x, c] * 2
    f[x, c] = hl.select(c == 0, g[x, 0], c == 1, g[x + 1, 1], g[x - 1, 2])
    f.bound(c, 0, 3).reorder(c, x).unroll(c).vectorize(x, 4)
    g.bound_extent(c, 3).compute_at(f, x)
    h.compute_root()
    return f, [(0, 9), (0, 3)]


def steady() -> Made:
    source, f, g = image(hl.Float(32), 30, 8), hl.Func("f"), hl.Func("g")
    edge = hl.BoundaryConditions.constant_exterior(source, 1.5)
    g[x, y] = edge[x - 2, y] + edge[x + 3, y] * 2
    f[x, y] = hl.max(g[x, y], g[x, y - 1])
    f.split(x, xo, xi, 8).vectorize(xi, 4)
    g.compute_at(f, y).split(x, xo, xi, 5, Tail.GuardWithIf)
    return f, [(-3, 37), (-1, 4)]


def updates() -> Made:
    f, g = hl.Func("f"), hl.Func("g")
    g[x, y] = x + y
    f[x, y] = g[x, y] + 1
    f[x, 3] = f[x, 3] * 2 + g[x + 1, 0]
    f[2, y] += g[7, y]
    f.update(0).split(x, xo, xi, 4, Tail.RoundUp).vectorize(xi)
    f.update(1).split(y, yo, yi, 3, Tail.RoundUp)
    out = hl.Func("out")
    out[x, y] = f[x, y] + f[x + 1, y]
    f.compute_at(out, y)
    g.compute_at(out, y).store_root()
    return out, [(0, 7), (0, 5)]


def inlined() -> Made:
    f, g, h = hl.Func("f"), hl.Func("g"), hl.Func("h")
    r = hl.RDom([(0, 3)], "r")
    h[x] = x * x
    g[x] = h[x] + 1
    g[x] += h[x + r.x]
    f[x] = g[x] - g[x + 1]
    out = hl.Func("out")
    out[x] = f[x] + g[x * 2]
    out.split(x, xo, xi, 4, Tail.GuardWithIf)
    return out, [(0, 6)]


def empty_reduction() -> Made:
    p, f, g = hl.Param(hl.Int(32), "p", 0), hl.Func("f"), hl.Func("g")
    r = hl.RDom([(0, p)], "r")
    g[x] = x + 3
    f[x] = 5
    f[x] += g[x + r.x * 2]
    g.compute_at(f, x).vectorize(x, 4, Tail.RoundUp)
    return f, [(0, 5)]


def floats() -> Made:
    source, f = image(hl.Float(32), 40), hl.Func("f")
    at = hl.f32(x) * 1.5 + 0.5
    low = hl.i32(hl.floor(at))
    f[x] = hl.lerp(source[hl.clamp(low, 0, 39)], source[hl.clamp(low + 1, 0, 39)], at - hl.f32(low))
    f.vectorize(x, 8)
    return f, [(0, 21)]


def single() -> Made:
    gain, f, g = image(hl.Int(32), name="gain"), hl.Func("f"), hl.Func("g")
    r = hl.RDom([(0, 5)], "r")
    g[x] = x * x
    f[()] = gain[()]
    f[()] += g[r.x]
    g.compute_root().vectorize(x, 4, Tail.RoundUp)
    return f, []


def chosen() -> Made:
    p, f, g = hl.Param(hl.Int(32), "p", 2), hl.Func("f"), hl.Func("g")
    p.set_range(1, 4)
    g[x, y] = x * 2 - y
    f[x, y] = hl.select(p > 1, g[x, y + p], g[x - 3, y]) + g[hl.select(x < 4, x, 4), hl.max(y, p)]
    f.split(y, yo, yi, 3, Tail.GuardWithIf)
    g.compute_at(f, yo)
    return f, [(-1, 8), (2, 7)]


def specialized() -> Made:
    n, f, g, h = hl.Param(hl.Int(32), "n", 6), hl.Func("f"), hl.Func("g"), hl.Func("h")
    h[x] = x * 3
    g[x] = h[x] + h[x + n]
    f[x] = hl.select(n > 4, g[x], g[x + 1]) + n
    f.split(x, xo, xi, 5, Tail.GuardWithIf)
    f.specialize(n > 8).vectorize(xi)
    wide = f.specialize(n > 2)
    wide.specialize(n == 6).unroll(xi)
    f.specialize(n < -3).split(xi, yo, yi, 2, Tail.GuardWithIf)
    g.compute_at(f, xo)
    h.compute_root().specialize(n < 9)
    return f, [(1, 11)]


def aligned() -> Made:
    f, g, h = hl.Func("f"), hl.Func("g"), hl.Func("h")
    h[x, y] = x - y
    g[x, y] = h[x + 1, y] * h[x - 1, y]
    f[x, y] = g[x, y] + g[x + 3, y]
    f.split(x, xo, xi, 6, Tail.GuardWithIf)
    g.compute_at(f, xo).align_bounds(x, 4, 1).split(x, yo, yi, 4).vectorize(yi)
    h.compute_at(f, y).align_extent(x, 3).reorder(y, x)
    return f, [(0, 13), (2, 4)]


def predicate() -> Made:
    f, low, near = hl.Func("f"), hl.Func("low"), hl.Func("near")
    r = hl.RDom([(0, 9), (1, 4)], "r")
    low[x] = x % 3
    near[x, y] = low[x] + low[y]
    r.where(near[r.x, r.y] < 3)
    r.where(~((r.x > 7) | (r.y > r.x + 3)))
    f[x] = x
    f[x] += low[r.x + x] * r.y
    f.update(0).split(r.x, hl.RVar("ro"), hl.RVar("ri"), 4, Tail.GuardWithIf)
    return f, [(-2, 5)]


def several() -> Made:
    f, g, out = hl.Func("f"), hl.Func("g"), hl.Func("out")
    f[x, y] = x * 8 + y
    f[x, 2] = f[x, 2] * 2
    g[x, y] = f[x, y] - f[y, x]
    out[x, y] = g[x, y] + f[x - 1, y + 1]
    out.split(x, xo, xi, 4, Tail.GuardWithIf)
    f.compute_root().split(y, yo, yi, 2).reorder(yi, x, yo).parallel(yo)
    g.compute_at(out, xo)
    return out, [(0, 6), (1, 5)]


def lanes() -> Made:
    f, g = hl.Func("f"), hl.Func("g")
    r = hl.RDom([(0, 3), (-1, 4)], "r")
    g[x, y] = x * 5 - y
    g[x, y] += g[x, y] // (r.x + 2) + r.y
    f[x, y] = g[x, y] - g[x + 1, y]
    f.split(x, xo, xi, 4).vectorize(xi)
    g.compute_at(f, xi)
    return f, [(0, 10), (1, 2)]


def masked() -> Made:
    f = hl.Func("f")
    r = hl.RDom([(0, 6)], "r")
    f[x, y] = x - y
    r.where((r.x < 4) | (r.x > 4))
    f[x, r.x] = f[x, r.x] * 2 + r.x
    f[2, y] += f[3, y]
    f.update(0).split(x, xo, xi, 8, Tail.GuardWithIf).vectorize(xi)
    f.update(1).split(y, yo, yi, 4, Tail.GuardWithIf).vectorize(yi)
    out = hl.Func("out")
    out[x, y] = f[x, y] + f[x + 1, y]
    out.split(x, xo, xi, 6, Tail.GuardWithIf).split(y, yo, yi, 3, Tail.GuardWithIf)
    out.reorder(xi, yi, xo, yo).vectorize(xi)
    f.compute_root()
    return out, [(-1, 16), (0, 7)]


def wide() -> Made:
    f, g = hl.Func("f"), hl.Func("g")
    g[x] = hl.cast(hl.UInt(8), x * 7)
    f[x] = hl.i32(g[x]) * x + hl.i32(g[x + 1])
    f.split(x, xo, xi, 40, Tail.GuardWithIf).vectorize(xi)
    g.compute_at(f, xo).vectorize(x, 64)
    return f, [(-3, 90)]


def fused_tiles() -> Made:
    f, g = hl.Func("f"), hl.Func("g")
    g[x, y] = x + y * 2
    f[x, y] = g[x, y] - g[x + 1, y + 1]
    f.split(x, xo, xi, 4, Tail.GuardWithIf).fuse(xo, y, t).split(t, yo, yi, 3, Tail.GuardWithIf)
    g.compute_at(f, yo)
    return f, [(0, 9), (2, 5)]


def lane_bounds() -> Made:
    f = hl.Func("f")
    r = hl.RDom([(0, 6)], "r")
    at, k = hl.cast(hl.Int(64), x), hl.cast(hl.Int(64), r.x)
    r.where((k < at) & (at + k < 12))
    f[x] = 0
    f[x] += r.x + 1
    f.compute_root().update(0).reorder(r.x, x).vectorize(x, 4)
    out = hl.Func("out")
    out[x] = f[x] + f[x + 1]
    return out, [(0, 14)]


PROGRAMS: dict[str, Callable[[], Made]] = {
    made.__name__: made
    for made in (
        split_of_split,
        tiled,
        matmul,
        guarded,
        triangle,
        rounded,
        scan,
        pyramid,
        updates,
        promised,
        gather,
        by_param,
        fused,
        inlined,
        steady,
        wide_store,
        mirrored,
        histogram,
        unrolled,
        floats,
        empty_reduction,
        single,
        chosen,
        specialized,
        aligned,
        predicate,
        several,
        lanes,
        masked,
        wide,
        fused_tiles,
        lane_bounds,
    )
}
