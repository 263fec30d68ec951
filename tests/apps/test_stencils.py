"""Stencils under many schedules: a separable blur, an unsharp mask, corners; each schedule gives the same bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from tests.support.checking import Array, Window, check, computed, image, numbers, same, variables

x, y, xo, yo, xi, yi, t = variables("x y xo yo xi yi t")
Tail = hl.TailStrategy
TAILS = [Tail.Auto, Tail.GuardWithIf, Tail.ShiftInwards, Tail.RoundUp]
PICTURE = numbers((43, 61), np.uint16)


def blur(source: Array) -> tuple[hl.Func, hl.Func]:
    padded = hl.BoundaryConditions.repeat_edge(image(source))
    across, down = hl.Func("across"), hl.Func("down")
    across[x, y] = (padded[x - 1, y] + padded[x, y] + padded[x + 1, y]) / 3
    down[x, y] = (across[x, y - 1] + across[x, y] + across[x, y + 1]) / 3
    return across, down


def blurred(source: Array) -> Array:
    """The same with numpy; sums wrap at 16 bits in both."""
    p = np.pad(source, 1, mode="edge")
    across = (p[:, :-2] + p[:, 1:-1] + p[:, 2:]) // np.uint16(3)
    result: Array = (across[:-2] + across[1:-1] + across[2:]) // np.uint16(3)
    return result


def inline(_across: hl.Func, _down: hl.Func) -> None:
    pass


def root(across: hl.Func, down: hl.Func) -> None:
    across.compute_root().vectorize(x, 8)
    down.vectorize(x, 8)


def rows(across: hl.Func, down: hl.Func) -> None:
    across.compute_at(down, y)
    down.parallel(y)


def rows_kept(across: hl.Func, _down: hl.Func) -> None:
    across.store_root().compute_at(_down, y).vectorize(x, 16)


def strips_kept(across: hl.Func, down: hl.Func) -> None:
    down.split(y, yo, yi, 8).parallel(yo).vectorize(x, 16)
    across.store_at(down, yo).compute_at(down, yi).vectorize(x, 16)


def tiles(across: hl.Func, down: hl.Func) -> None:
    down.tile(x, y, xo, yo, xi, yi, 32, 8).vectorize(xi, 8).parallel(yo)
    across.compute_at(down, xo).vectorize(x, 8)


def fused_tiles(across: hl.Func, down: hl.Func) -> None:
    down.tile(x, y, xo, yo, xi, yi, 16, 4, Tail.GuardWithIf).fuse(xo, yo, t).parallel(t)
    across.compute_at(down, t).unroll(y, 2)


def columns(across: hl.Func, down: hl.Func) -> None:
    down.reorder(y, x).unroll(y, 3)
    across.compute_at(down, x).reorder(y, x)


def points(across: hl.Func, down: hl.Func) -> None:
    across.compute_at(down, x)


def rounded(across: hl.Func, down: hl.Func) -> None:
    down.tile(x, y, xo, yo, xi, yi, 8, 8, Tail.RoundUp).vectorize(xi).unroll(yi, 4)
    across.compute_at(down, yo).vectorize(x, 4, Tail.RoundUp)


SCHEDULES = [inline, root, rows, rows_kept, strips_kept, tiles, fused_tiles, columns, points, rounded]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: s.__name__)
def test_blur_is_the_same_when_the_schedule_varies(schedule: Callable[[hl.Func, hl.Func], None]) -> None:
    across, down = blur(PICTURE)
    schedule(across, down)
    check(down, [61, 43], blurred(PICTURE))


@pytest.mark.parametrize("schedule", [rows_kept, tiles, fused_tiles], ids=lambda s: s.__name__)
def test_blur_is_the_same_when_the_window_is_a_part(schedule: Callable[[hl.Func, hl.Func], None]) -> None:
    across, down = blur(PICTURE)
    schedule(across, down)
    window: Window = [(5, 50), (-3, 40)]  # beyond the picture's first rows: there its edge continues
    wanted = blurred(np.pad(PICTURE, ((3, 0), (0, 0)), mode="edge"))[0:40, 5:55]
    check(down, window, wanted)


@pytest.mark.parametrize("tail", TAILS, ids=lambda t: t.name)
def test_tails_give_the_same_when_sizes_are_odd(tail: hl.TailStrategy) -> None:
    f = hl.Func("f")
    padded = hl.BoundaryConditions.repeat_edge(image(PICTURE))
    f[x, y] = padded[x, y] * 3 + hl.u16(x) - hl.u16(y)
    f.split(y, yo, yi, 3, tail).vectorize(x, 8, tail).parallel(yo)
    base = PICTURE * np.uint16(3) + np.arange(61, dtype=np.uint16) - np.arange(43, dtype=np.uint16)[:, None]
    for w, h in ((13, 7), (16, 9), (17, 10), (1, 1), (7, 3), (8, 2)):
        check(f, [w, h], base[:h, :w])


@pytest.mark.parametrize("inner", TAILS, ids=lambda t: t.name)
@pytest.mark.parametrize("outer", [Tail.GuardWithIf, Tail.RoundUp], ids=lambda t: t.name)
def test_tails_of_a_producer_give_the_same_when_it_is_in_a_tile(inner: hl.TailStrategy, outer: hl.TailStrategy) -> None:
    across, down = blur(PICTURE)
    down.tile(x, y, xo, yo, xi, yi, 20, 6, outer)
    across.compute_at(down, xo).vectorize(x, 8, inner)
    check(down, [61, 43], blurred(PICTURE))


@pytest.mark.parametrize("tail", [Tail.Auto, Tail.GuardWithIf, Tail.RoundUp], ids=lambda t: t.name)
def test_tails_of_an_update_give_the_same_when_sizes_are_odd(tail: hl.TailStrategy) -> None:
    f, g = hl.Func("f"), hl.Func("g")
    r = hl.RDom([(0, 5)])
    f[x, y] = hl.u16(x)
    f[x, y] += image(PICTURE)[x + r.x, y]
    g[x, y] = f[x, y] + f[x + 1, y]
    f.compute_root().update().vectorize(x, 8, tail)
    sums = sum((PICTURE[:20, i : i + 40] for i in range(5)), np.arange(40, dtype=np.uint16))
    check(g, [23, 20], sums[:, :23] + sums[:, 1:24])


def test_split_twice_gives_the_same_when_nothing_divides() -> None:
    f = hl.Func("f")
    f[x, y] = image(PICTURE)[x, y] ^ hl.u16(x * y)
    f.split(x, xo, xi, 12, Tail.GuardWithIf).split(xi, xi, t, 5, Tail.GuardWithIf).unroll(t)
    wanted = PICTURE ^ (np.arange(61) * np.arange(43)[:, None]).astype(np.uint16)
    check(f, [61, 43], wanted)


def test_unsharp_is_the_same_when_scheduled() -> None:
    source = numbers((31, 45), np.float32, 3)
    amount = hl.Param(hl.Float(32), "amount", 1.5)
    padded = hl.BoundaryConditions.repeat_edge(image(source))
    across, soft, sharp = hl.Func("across"), hl.Func("soft"), hl.Func("sharp")
    across[x, y] = 0.25 * padded[x - 1, y] + 0.5 * padded[x, y] + 0.25 * padded[x + 1, y]
    soft[x, y] = 0.25 * across[x, y - 1] + 0.5 * across[x, y] + 0.25 * across[x, y + 1]
    sharp[x, y] = hl.clamp(padded[x, y] + amount * (padded[x, y] - soft[x, y]), -20.0, 20.0)
    sharp.tile(x, y, xo, yo, xi, yi, 16, 8).vectorize(xi, 8).parallel(yo)
    soft.compute_at(sharp, yi).vectorize(x, 8)
    across.compute_at(sharp, xo).vectorize(x, 8)

    def expected(strength: float) -> Array:
        q, h = np.float32(0.25), np.float32(0.5)
        p = np.pad(source, 1, mode="edge")
        a = q * p[:, :-2] + h * p[:, 1:-1] + q * p[:, 2:]
        s = q * a[:-2] + h * a[1:-1] + q * a[2:]
        result: Array = np.clip(source + np.float32(strength) * (source - s), np.float32(-20), np.float32(20))
        return result

    check(sharp, [45, 31], expected(1.5))
    amount.set(-0.3)
    check(sharp, [45, 31], expected(-0.3))


def test_harris_is_the_same_when_scheduled() -> None:
    source = numbers((26, 34), np.float32, 4)
    grey = hl.BoundaryConditions.repeat_edge(image(source))
    gx, gy, response = hl.Func("gx"), hl.Func("gy"), hl.Func("response")
    gx[x, y] = (grey[x + 1, y - 1] - grey[x - 1, y - 1]) + 2.0 * (grey[x + 1, y] - grey[x - 1, y])
    gy[x, y] = (grey[x - 1, y + 1] - grey[x - 1, y - 1]) + 2.0 * (grey[x, y + 1] - grey[x, y - 1])
    products = [hl.Func("xx"), hl.Func("xy"), hl.Func("yy")]
    for f, a, b in zip(products, (gx, gx, gy), (gx, gy, gy), strict=True):
        f[x, y] = a[x, y] * b[x, y]
    sums = []
    for f in products:
        s = hl.Func(f"sum_{f.name()}")
        s[x, y] = (f[x - 1, y] + f[x, y] + f[x + 1, y]) + (f[x, y - 1] + f[x, y + 1])
        sums.append(s)
    xx, xy, yy = (s[x, y] for s in sums)
    trace = xx + yy
    response[x, y] = xx * yy - xy * xy - 0.04 * trace * trace
    response.tile(x, y, xo, yo, xi, yi, 16, 8, Tail.GuardWithIf).parallel(yo).vectorize(xi, 8, Tail.GuardWithIf)
    for f in (gx, gy):
        f.compute_at(response, xo).vectorize(x, 4)
    for s in sums:
        s.compute_at(response, yi)

    def numpy_harris() -> Array:
        g = source
        two, k = np.float32(2), np.float32(0.04)
        nx = (g[:-2, 2:] - g[:-2, :-2]) + two * (g[1:-1, 2:] - g[1:-1, :-2])
        ny = (g[2:, :-2] - g[:-2, :-2]) + two * (g[2:, 1:-1] - g[:-2, 1:-1])

        def cross(p: Array) -> Array:
            q: Array = (p[1:-1, :-2] + p[1:-1, 1:-1] + p[1:-1, 2:]) + (p[:-2, 1:-1] + p[2:, 1:-1])
            return q

        a, b, c = cross(nx * nx), cross(nx * ny), cross(ny * ny)
        result: Array = a * c - b * b - k * (a + c) * (a + c)
        return result

    check(response, [(2, 30), (2, 22)], numpy_harris())


def guarded(h: hl.Func, f: hl.Func) -> None:
    f.split(x, xo, xi, 16, Tail.GuardWithIf)


def guarded_vectors(h: hl.Func, f: hl.Func) -> None:
    f.split(x, xo, xi, 16, Tail.GuardWithIf).vectorize(xi, 8, Tail.GuardWithIf)


def guarded_with_point(h: hl.Func, f: hl.Func) -> None:
    f.split(x, xo, xi, 16, Tail.GuardWithIf)
    h.compute_at(f, xi)


def guarded_vectors_with_point(h: hl.Func, f: hl.Func) -> None:
    f.split(x, xo, xi, 16, Tail.GuardWithIf).vectorize(xi, 8, Tail.GuardWithIf)
    h.compute_at(f, xi)


@pytest.mark.parametrize("factor", [1, 4])
@pytest.mark.parametrize(
    "schedule", [guarded, guarded_vectors, guarded_with_point, guarded_vectors_with_point], ids=lambda s: s.__name__
)
def test_input_is_read_no_further_when_tails_are_guarded(
    schedule: Callable[[hl.Func, hl.Func], None], factor: int
) -> None:
    source = numbers((32,), np.int32)
    g, h, f = hl.Func("g"), hl.Func("h"), hl.Func("f")
    ip = image(source)
    g[x] = ip[x - 1] + ip[x + 1]
    h[x] = g[x] * 2
    f[x] = h[x] + 1
    schedule(h, f)
    g.compute_at(f, xo)
    if factor > 1:
        g.vectorize(x, factor)
    check(f, [(1, 30)], (source[:-2] + source[2:]) * np.int32(2) + np.int32(1))


def test_chain_is_the_same_when_every_other_stage_is_placed() -> None:
    source = numbers((20, 50), np.int32, 5)
    stages = [hl.BoundaryConditions.repeat_edge(image(source))]
    wanted = np.pad(source, ((0, 0), (9, 9)), mode="edge")
    for i in range(9):
        f = hl.Func(f"s{i}")
        f[x, y] = stages[-1][x - 1, y] + 2 * stages[-1][x, y] - stages[-1][x + 1, y]
        stages.append(f)
        wanted = wanted[:, :-2] + np.int32(2) * wanted[:, 1:-1] - wanted[:, 2:]
    last = stages[-1]
    last.split(x, xo, xi, 16).vectorize(xi, 8).parallel(y)
    for i, f in enumerate(stages[2:-1]):
        if i % 2:
            f.compute_at(last, xo).vectorize(x, 8)
    same(computed(last, [50, 20]), wanted)
    same(last.evaluate([(45, 5), (10, 2)]), wanted[10:12, 45:])


def test_two_results_are_equal_when_only_the_directives_order_differs() -> None:
    results = []
    for swapped in (False, True):
        across, down = blur(PICTURE)
        if swapped:
            across.vectorize(x, 8).compute_at(down, y)
            down.parallel(y).vectorize(x, 8)
        else:
            down.vectorize(x, 8).parallel(y)
            across.compute_at(down, y).vectorize(x, 8)
        results.append(computed(down, [61, 43]))
    same(results[0], results[1])
