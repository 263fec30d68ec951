"""Reductions: histograms, matrix products, scans, inline reductions, and domains whose extents are Params."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core.reference.fma import fused_product
from tests.support.checking import Array, check, computed, image, numbers, same, variables

x, y, i, xo, yo, xi, yi = variables("x y i xo yo xi yi")
Tail = hl.TailStrategy


@pytest.mark.parametrize("vectors", [False, True])
def test_histogram_equalises_when_scheduled(vectors: bool) -> None:
    luma = (numbers((37, 53), np.uint8) // 3 + 40).astype(np.uint8)
    source = image(luma)
    r = hl.RDom(source)
    levels = hl.RDom([(1, 255)], "levels")
    histogram, below, result = hl.Func("histogram"), hl.Func("below"), hl.Func("result")
    histogram[i] = hl.u32(0)
    histogram[hl.i32(source[r.x, r.y])] += hl.u32(1)
    below[i] = histogram[i]
    below[levels.x] = below[levels.x - 1] + histogram[levels.x]
    result[x, y] = hl.u8(below[hl.i32(source[x, y])] * hl.u32(255) // hl.u32(luma.size))
    histogram.compute_root()
    below.compute_root()
    if vectors:
        histogram.vectorize(i, 8)
        below.vectorize(i, 16)
        result.vectorize(x, 16).parallel(y)
    counts = np.bincount(luma.ravel(), minlength=256).astype(np.uint32)
    wanted = (np.cumsum(counts)[luma] * 255 // luma.size).astype(np.uint8)
    same(computed(result, [53, 37]), wanted)
    same(computed(histogram, [256]), counts)
    small = image(np.ascontiguousarray(luma[:4, :5]), "small")  # the reference counts pixel by pixel
    q = hl.RDom(small, "q")
    few = hl.Func("few")
    few[i] = hl.u32(0)
    few[hl.i32(small[q.x, q.y])] += hl.u32(1)
    same(few.evaluate([256]), np.bincount(luma[:4, :5].ravel(), minlength=256).astype(np.uint32))


def plain(c: hl.Func, k: hl.RVar) -> None:
    pass


def reordered(c: hl.Func, k: hl.RVar) -> None:
    c.compute_root().vectorize(x, 8)
    c.update().reorder(x, k, y).vectorize(x, 8, Tail.GuardWithIf).parallel(y)


def tiled(c: hl.Func, k: hl.RVar) -> None:
    c.compute_root()
    tiles = c.update().tile(x, y, xo, yo, xi, yi, 16, 4, Tail.RoundUp).reorder(xi, yi, k, xo, yo)
    tiles.vectorize(xi, 8).unroll(yi).parallel(yo)


def guarded(c: hl.Func, k: hl.RVar) -> None:
    ko, ki = hl.RVar("ko"), hl.RVar("ki")
    c.compute_root()
    c.update().split(k, ko, ki, 4).unroll(ki).split(x, xo, xi, 8, Tail.GuardWithIf).reorder(xi, ki, ko, xo, y)
    c.update().vectorize(xi).parallel(y)


def rounded_once(a: Array, b: Array, c: Array) -> Array:
    """``a*b + c``; of floats, a fused multiply-add."""
    if c.dtype != np.float32:
        return np.asarray(a * b + c)
    fused = np.frompyfunc(fused_product(hl.Float(32)), 3, 1)
    return np.asarray(fused(*(v.astype(float) for v in (a, b, c)))).astype(np.float32)


@pytest.mark.parametrize("dtype", [np.float32, np.int32], ids=lambda d: d.__name__)
@pytest.mark.parametrize("schedule", [plain, reordered, tiled, guarded], ids=lambda s: s.__name__)
def test_matrix_product_is_the_same_when_scheduled(schedule: Callable[[hl.Func, hl.RVar], None], dtype: type) -> None:
    a, b = numbers((19, 23), dtype, 1), numbers((23, 29), dtype, 2)  # rows of 23 times columns of 29
    given = image(a, "left"), image(b, "right")
    left, right = (hl.BoundaryConditions.constant_exterior(i, 0) for i in given)  # tiles that round up read further
    k = hl.RDom([(0, 23)], "k")
    product, out = hl.Func("product"), hl.Func("out")
    product[x, y] = hl.cast(left.type(), 0)
    product[x, y] += left[k.x, y] * right[x, k.x]
    out[x, y] = product[x, y]
    schedule(product, k.x)
    wanted = np.zeros((19, 29), dtype)
    for n in range(23):
        wanted = rounded_once(a[:, n : n + 1], b[n : n + 1, :], wanted)
    check(out, [29, 19], wanted)


@pytest.mark.parametrize("parallel", [False, True])
def test_recursive_filter_is_the_same_when_columns_are_vectors(parallel: bool) -> None:
    source = numbers((21, 17), np.float32)
    ip = hl.BoundaryConditions.repeat_edge(image(source))  # vectors that round up read further
    down, up = hl.RDom([(1, 20)], "down"), hl.RDom([(0, 20)], "up")
    f, out = hl.Func("f"), hl.Func("out")
    f[x, y] = ip[x, y]
    f[x, down.x] = 0.75 * f[x, down.x - 1] + 0.25 * ip[x, down.x]
    f[x, 19 - up.x] = 0.5 * f[x, 20 - up.x] + 0.5 * f[x, 19 - up.x]
    out[x, y] = f[x, y] * 2.0
    f.compute_root()
    for n in range(2):
        stage = f.update(n).vectorize(x, 8)
        if parallel:
            stage.parallel(x)
    wanted = source.copy()
    for n in range(1, 21):
        wanted[n] = np.float32(0.75) * wanted[n - 1] + np.float32(0.25) * source[n]
    for n in range(19, -1, -1):
        wanted[n] = np.float32(0.5) * wanted[n + 1] + np.float32(0.5) * wanted[n]
    check(out, [17, 21], wanted * np.float32(2))


def test_scan_is_right_when_the_window_is_one_point_of_it() -> None:
    source = numbers((30,), np.int32)
    ip = image(source)
    r = hl.RDom([(1, 29)])
    f, out = hl.Func("f"), hl.Func("out")
    f[x] = ip[x]
    f[r.x] = f[r.x - 1] + ip[r.x]
    out[x] = f[x]
    wanted = np.cumsum(source, dtype=np.int32)
    for at in (0, 1, 17, 29):
        check(out, [(at, 1)], wanted[at : at + 1])


@pytest.mark.parametrize("factor", [0, 8])
def test_inline_reductions_are_the_same_when_the_consumer_is_vectorized(factor: int) -> None:
    source = numbers((16, 24), np.int16)
    ip = image(source)
    r = hl.RDom([(-1, 3), (-2, 5)])
    window = hl.i32(ip[x + r.x, y + r.y])
    results = [hl.sum(window), hl.maximum(window), hl.minimum(window), hl.product(r, window)]
    views = [source[2 + dy : 14 + dy, 1 + dx : 23 + dx].astype(np.int32) for dy in range(-2, 3) for dx in range(-1, 2)]
    wanted = [np.sum(views, 0, np.int32), np.max(views, 0), np.min(views, 0), np.prod(views, 0, np.int32)]
    for n, (value, expected) in enumerate(zip(results, wanted, strict=True)):
        f = hl.Func(f"f{n}")
        f[x, y] = value
        if factor:
            f.vectorize(x, factor).parallel(y)
        check(f, [(1, 22), (2, 12)], expected)


def test_float_sum_adds_in_order_when_the_loop_is_unrolled() -> None:
    source = numbers((40,), np.float32)
    r = hl.RDom([(0, 9)])
    f, out = hl.Func("f"), hl.Func("out")
    f[x] = 0.0
    f[x] += image(source)[x + r.x]
    out[x] = f[x]
    f.compute_at(out, x).update().unroll(r.x, 4)
    wanted = np.zeros(32, np.float32)
    for n in range(9):
        wanted = wanted + source[n : n + 32]
    check(out, [32], wanted)


def windowed(count: hl.Param) -> tuple[hl.Func, Array]:
    source = numbers((40,), np.int32)
    r = hl.RDom([(0, count)], "window")
    f = hl.Func("f")
    f[x] = 0
    f[x] += image(source)[x + r.x]
    return f, source


def test_domain_follows_its_param_when_the_value_changes() -> None:
    count = hl.Param(hl.Int(32), "count")
    f, source = windowed(count)
    f.vectorize(x, 4).update().vectorize(x, 4)
    for n in (0, 1, 2, 7):
        count.set(n)
        wanted = np.zeros(30, np.int32)
        for k in range(n):
            wanted = wanted + source[k : k + 30]
        check(f, [30], wanted)


@pytest.mark.parametrize("declared", [False, True])
def test_domain_is_empty_where_its_param_is_negative(declared: bool) -> None:
    count = hl.Param(hl.Int(32), "count")
    f, _ = windowed(count)
    if declared:
        count.set_range(-5, 10)
    count.set(0)
    nothing = np.asarray(f.realize([30]))
    count.set(-1)
    same(np.asarray(f.realize([30])), nothing)
    count.set(2)
    assert (np.asarray(f.realize([30])) != nothing).any()


def test_domain_covers_an_image_when_made_of_it() -> None:
    source = numbers((7, 9), np.int64)
    ip = image(source)
    r = hl.RDom(ip)
    total = hl.Func("total")
    total[()] = hl.i64(0)
    total[()] += ip[r.x, r.y]
    check(total, [], np.array(source.sum()))
    ip.set(np.zeros((0, 9), np.int64))
    check(total, [], np.array(0))


def test_domain_skips_points_when_it_has_a_predicate() -> None:
    source = numbers((12, 12), np.int32)
    ip = image(source)
    bound = hl.Param(hl.Int(32), "bound", 5)
    r = hl.RDom([(0, 12), (0, 12)])
    r.where(r.x + r.y < bound)
    f = hl.Func("f")
    f[i] = 0
    f[i] += ip[r.x, r.y] * i
    low = sum(int(source[b, a]) for a in range(12) for b in range(12) if a + b < 5)
    check(f, [4], (np.arange(4) * low).astype(np.int32))
