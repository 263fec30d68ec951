"""Coordinates that scale, leave the image or come from data: pyramids, boundary conditions, gathers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from tests.support.checking import Array, check, image, numbers, variables

x, y, i, xo, yo, xi, yi = variables("x y i xo yo xi yi")
Tail = hl.TailStrategy
SOURCE = numbers((24, 40), np.uint16)


def halved(p: Array) -> Array:
    """[1 2 1]/4 around every other point, along x; p has one more column at each side."""
    q = p.astype(np.uint32)
    n = (p.shape[1] - 1) // 2
    result = (q[:, 0 : 2 * n : 2] + 2 * q[:, 1 : 2 * n : 2] + q[:, 2 : 2 * n + 1 : 2]) // 4
    return result.astype(np.uint16)


@pytest.mark.parametrize("schedule", range(4))
def test_pyramid_is_the_same_when_scheduled(schedule: int) -> None:
    ip = image(SOURCE)
    padded = hl.BoundaryConditions.repeat_edge(ip)
    down, half, up = hl.Func("down"), hl.Func("half"), hl.Func("up")
    half_value = hl.u32(padded[2 * x - 1, y]) + 2 * hl.u32(padded[2 * x, y]) + hl.u32(padded[2 * x + 1, y])
    half[x, y] = hl.u16(half_value // 4)
    down[x, y] = hl.u16((hl.u32(half[x, 2 * y - 1]) + 2 * hl.u32(half[x, 2 * y]) + hl.u32(half[x, 2 * y + 1])) // 4)
    up[x, y] = hl.u16((hl.u32(down[x // 2, y // 2]) + hl.u32(down[(x + 1) // 2, (y + 1) // 2])) // 2)
    match schedule:
        case 1:
            half.compute_root().vectorize(x, 8)
            down.compute_root().vectorize(x, 8)
            up.vectorize(x, 8)
        case 2:
            up.tile(x, y, xo, yo, xi, yi, 16, 8).vectorize(xi, 8).parallel(yo)
            down.compute_at(up, xo)
            half.compute_at(down, y).vectorize(x, 4)
        case 3:
            up.split(y, yo, yi, 4, Tail.GuardWithIf).parallel(yo)
            down.compute_at(up, yi).store_at(up, yo)
            half.compute_at(up, yo).vectorize(x, 8, Tail.RoundUp)
    p = np.pad(SOURCE, ((1, 3), (1, 3)), mode="edge")  # one point beyond the picture's end is sampled
    small = halved(halved(p).T).T.astype(np.uint32)
    rows, columns = np.arange(24), np.arange(40)
    wanted = (small[rows // 2][:, columns // 2] + small[(rows + 1) // 2][:, (columns + 1) // 2]) // 2
    check(up, [40, 24], wanted.astype(np.uint16))


def test_every_third_point_is_right_when_the_stride_is_odd() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = image(SOURCE)[x, y] + 1
    g[x, y] = f[3 * x + 1, 23 - 2 * y]
    f.compute_at(g, y).vectorize(x, 8)
    g.vectorize(x, 4)
    check(g, [13, 12], (SOURCE + np.uint16(1))[::-2, 1::3])


B = hl.BoundaryConditions
MODES: list[tuple[str, Callable[..., hl.Func]]] = [
    ("edge", B.repeat_edge),
    ("wrap", B.repeat_image),
    ("symmetric", B.mirror_image),
    ("reflect", B.mirror_interior),
    ("constant", lambda source, bounds=None: B.constant_exterior(source, 7, bounds)),
]


def padded_by(mode: str, source: Array, amount: int) -> Array:
    if mode == "constant":
        return np.pad(source, amount, mode="constant", constant_values=7)
    return np.pad(source, amount, mode=mode)  # type: ignore[call-overload]  # one of numpy's modes


@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize(("mode", "condition"), MODES, ids=[m for m, _ in MODES])
def test_boundary_condition_equals_numpy_s_when_far_outside(
    mode: str, condition: Callable[..., hl.Func], vectors: bool
) -> None:
    source = numbers((5, 7), np.uint8)
    f = hl.Func("f")
    f[x, y] = condition(image(source))[x, y]
    if vectors:
        f.vectorize(x, 8, Tail.GuardWithIf).parallel(y)
    check(f, [(-12, 31), (-12, 29)], padded_by(mode, source, 12))


@pytest.mark.parametrize(("mode", "condition"), MODES, ids=[m for m, _ in MODES])
def test_boundary_condition_of_a_func_is_right_when_one_dimension_is_bounded(
    mode: str, condition: Callable[..., hl.Func]
) -> None:
    inner, f = hl.Func("inner"), hl.Func("f")
    inner[x, y] = x * 3 + y
    inner.compute_root()
    f[x, y] = condition(inner, [(2, 5)])[x, y]
    rows = padded_by(mode, np.arange(2, 7, dtype=np.int32)[None, :] * 3, 6)[6]
    wanted = rows + np.arange(3, dtype=np.int32)[:, None]
    if mode == "constant":
        wanted = np.where((np.arange(-4, 13) < 2) | (np.arange(-4, 13) > 6), np.int32(7), wanted)
    check(f, [(-4, 17), (0, 3)], wanted)


def test_boundary_condition_follows_the_image_when_its_coordinates_start_elsewhere() -> None:
    source = numbers((4, 6), np.int16)
    given = hl.Buffer(source)
    given.set_min([10, -3])
    ip = hl.ImageParam(hl.Int(16), 2, "input")
    ip.set(given)
    f = hl.Func("f")
    f[x, y] = B.repeat_edge(ip)[x, y]
    check(f, [(8, 10), (-5, 8)], np.pad(source, 2, mode="edge"))


def test_mirror_is_right_when_the_image_is_one_point() -> None:
    source = np.array([[5]], np.uint8)
    for condition in (B.repeat_edge, B.repeat_image, B.mirror_image, B.mirror_interior):
        f = hl.Func("f")
        f[x, y] = condition(image(source))[x, y]
        check(f, [(-3, 7), (-2, 5)], np.full((5, 7), 5, np.uint8))


@pytest.mark.parametrize("vectors", [False, True])
def test_lookup_table_is_right_when_the_index_is_data(vectors: bool) -> None:
    source = numbers((11, 23), np.uint8)
    table, f = hl.Func("table"), hl.Func("f")
    table[i] = hl.u16(i * i % 1000)
    f[x, y] = table[hl.i32(image(source)[x, y])]
    table.compute_root()
    if vectors:
        table.vectorize(i, 16)
        f.vectorize(x, 8).parallel(y)
    levels = np.arange(256)
    check(f, [23, 11], (levels * levels % 1000).astype(np.uint16)[source])


@pytest.mark.parametrize("vectors", [False, True])
def test_remap_is_right_when_displacements_are_clamped(vectors: bool) -> None:
    dx, dy = numbers((24, 40), np.int8, 2), numbers((24, 40), np.int8, 3)
    sx, sy = image(dx, "dx"), image(dy, "dy")
    f = hl.Func("f")
    at = (hl.clamp(x + sx[x, y], 0, 39), hl.clamp(y + sy[x, y] // 4, 0, 23))
    f[x, y] = image(SOURCE)[at]
    if vectors:
        f.tile(x, y, xo, yo, xi, yi, 8, 4).vectorize(xi).parallel(yo)
    rows = np.clip(np.arange(24)[:, None] + dy.astype(int) // 4, 0, 23)
    columns = np.clip(np.arange(40) + dx.astype(int), 0, 39)
    check(f, [40, 24], SOURCE[rows, columns])


def test_gather_of_a_producer_is_right_when_it_is_computed_in_tiles() -> None:
    dx = numbers((24, 40), np.int8, 2)
    shift, source, f = hl.Func("shift"), hl.Func("source"), hl.Func("f")
    shift[x, y] = image(dx, "dx")[x, y] // 64  # between -2 and 1
    source[x, y] = B.repeat_edge(image(SOURCE))[x, y] + 5
    f[x, y] = source[x + shift[x, y], y]
    f.tile(x, y, xo, yo, xi, yi, 8, 4).parallel(yo)
    source.compute_at(f, xo).vectorize(x, 8)
    shift.compute_at(f, yi)
    columns = np.clip(np.arange(40) + dx.astype(int) // 64, 0, 39)
    check(f, [40, 24], (SOURCE + np.uint16(5))[np.arange(24)[:, None], columns])


def test_scatter_is_right_when_places_are_data() -> None:
    places = numbers((50,), np.uint8, 5)
    ip = image(places)
    r = hl.RDom([(0, 50)])
    f = hl.Func("f")
    f[x] = -1
    f[hl.i32(ip[r.x]) % 16] = r.x
    f.vectorize(x, 8)
    wanted = np.full(20, -1, np.int32)
    for n, place in enumerate(places):
        wanted[place % 16] = n
    check(f, [20], wanted)
